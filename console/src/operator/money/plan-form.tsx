import { ActionIcon, Button, NumberInput, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { addPlan, changePlan, type Plan } from '../../api/operator/plans.ts'
import { settingsQuery } from '../../api/operator/settings.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

type PlanValues = {
  readonly code: string
  readonly level: number | string
  readonly price: number | string
  readonly currency: string
  readonly period_days: number | string
  readonly quota: { readonly credits: number | string; readonly seconds: number | string }[]
}

interface PlanFormProps {
  /** undefined: a new plan. */
  readonly of: Plan | undefined
  readonly onClose: () => void
}

/** Price and quota of a plan, by default in the gateway's currency; running subscriptions keep their terms. */
export function PlanForm(props: PlanFormProps) {
  const { data: settings } = useQuery(settingsQuery)
  return settings === undefined ? null : <Form {...props} currency={settings.currency} />
}

function Form({ of, currency, onClose }: PlanFormProps & { readonly currency: string }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<PlanValues>({
    initialValues: {
      code: of?.code ?? '',
      level: of?.level ?? 1,
      price: of?.price ?? '',
      currency: of?.currency ?? currency,
      period_days: of?.period_days ?? 30,
      quota: (of?.quota ?? []).map((one) => ({ ...one })),
    },
    validate: {
      code: (code) => (code.trim() === '' ? t('money.codeWanted') : null),
      price: (price) => (price === '' ? t('money.amountWanted') : null),
    },
  })
  const sending = useSubmit(values, {
    send: ({ code, ...next }) => {
      const body = {
        level: Number(next.level),
        price: String(next.price),
        currency: next.currency,
        period_days: Number(next.period_days),
        quota: next.quota.map(({ credits, seconds }) => ({
          credits: String(credits),
          seconds: Number(seconds),
        })),
      }
      return of === undefined ? addPlan({ code: code.trim(), ...body }) : changePlan(of.code, body)
    },
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['plans'] }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={of === undefined ? t('money.addPlan') : t('money.editPlan', { plan: of.code })}
      sending={sending}
      onClose={onClose}
    >
      <Fields values={values} isNew={of === undefined} />
    </FormSheet>
  )
}

function Quota({ values }: { readonly values: UseFormReturnType<PlanValues> }) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('money.quota')}</h3>
      {values.values.quota.map((_, at) => (
        <div key={at} className={form.row}>
          <NumberInput label="Credits" min={0} {...values.getInputProps(`quota.${at}.credits`)} />
          <NumberInput
            label={t('money.seconds')}
            min={1}
            allowDecimal={false}
            {...values.getInputProps(`quota.${at}.seconds`)}
          />
          <ActionIcon aria-label={t('money.removeQuota')} onClick={() => values.removeListItem('quota', at)}>
            <Icon name="close" />
          </ActionIcon>
        </div>
      ))}
      <div>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => values.insertListItem('quota', { credits: '', seconds: 2_592_000 })}
        >
          {t('money.addQuota')}
        </Button>
      </div>
    </div>
  )
}

interface FieldsProps {
  readonly values: UseFormReturnType<PlanValues>
  readonly isNew: boolean
}

function Fields({ values, isNew }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      {isNew && <TextInput label={t('money.code')} {...values.getInputProps('code')} />}
      <div className={form.row}>
        <NumberInput label={t('money.price')} min={0} decimalScale={6} {...values.getInputProps('price')} />
        <TextInput label={t('operate.currency')} maxLength={3} {...values.getInputProps('currency')} />
      </div>
      <div className={form.row}>
        <NumberInput
          label={t('money.level')}
          description={t('money.levelHint')}
          min={0}
          allowDecimal={false}
          {...values.getInputProps('level')}
        />
        <NumberInput
          label={t('money.days')}
          min={1}
          allowDecimal={false}
          {...values.getInputProps('period_days')}
        />
      </div>
      <Quota values={values} />
    </>
  )
}
