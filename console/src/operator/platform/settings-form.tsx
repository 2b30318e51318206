import { ActionIcon, Button, NumberInput, Select, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { changeSettings, type PlatformSettings, settingsQuery } from '../../api/operator/settings.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PolicyFields } from '../../parts/limits/policy-fields.tsx'
import { policyBodyOf } from '../../parts/limits/policy-values.ts'
import { usePolicyWords } from '../../parts/limits/use-policy-words.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { Changes } from '../parts/differences.tsx'
import { Trail } from '../parts/trail.tsx'
import styles from './platform.module.css'
import {
  settingsChangeOf,
  settingsDifferences,
  type SettingsValues,
  settingsValuesOf,
} from './settings-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Settings of the platform, with the pending differences beside the form. */
export function PlatformSettingsForm() {
  const settings = useQuery(settingsQuery)
  return (
    <Loaded query={settings} height={520}>
      {/* After a change the form is remounted with the stored values. */}
      {(stored) => <Fields key={JSON.stringify(stored)} of={stored} />}
    </Loaded>
  )
}

function useSettingsForm(before: SettingsValues) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<SettingsValues>({
    initialValues: before,
    validate: {
      rates: {
        currency: (currency, { rates }) => {
          if (currency.trim() === '') return t('platform.currencyWanted')
          const isTwice = rates.filter((rate) => rate.currency === currency).length > 1
          return isTwice ? t('platform.currencyTwice') : null
        },
        credits: (credits) => (credits === '' ? t('platform.rateWanted') : null),
      },
      key_prefix: (prefix) => (prefix.trim() === '' ? t('platform.prefixWanted') : null),
    },
  })
  const sending = useSubmit(values, {
    send: (next) => changeSettings(settingsChangeOf(next, before)),
    placeOf: (path) => {
      const at = values.getValues().rates.findIndex(({ currency }) => path === `currencies.${currency}`)
      return at < 0 ? path : `rates.${at}.credits`
    },
    onDone: () => {
      for (const key of ['settings', 'audit'])
        inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
    },
  })
  return { values, sending }
}

function Fields({ of }: { readonly of: PlatformSettings }) {
  const { t } = useTranslation()
  const before = settingsValuesOf(of)
  const { values, sending } = useSettingsForm(before)
  return (
    <form noValidate className={styles.columns} onSubmit={sending.submit}>
      <div className={form.stack}>
        <Money values={values} />
        <Plain values={values} />
        <div className={form.part}>
          <h3>{t('platform.limits')}</h3>
          <p className={form.hint}>{t('platform.limitsHint')}</p>
          <PolicyFields form={values} place="limits" of={values.values.limits} />
        </div>
      </div>
      <div className={styles.beside}>
        <Preview of={values.values} before={before}>
          <FormProblem text={sending.problem} />
          <div className={form.foot}>
            <Button variant="default" onClick={() => values.reset()}>
              {t('platform.discard')}
            </Button>
            <Button type="submit" loading={sending.isPending}>
              {t('save')}
            </Button>
          </div>
        </Preview>
        <Trail subject="settings" />
      </div>
    </form>
  )
}

interface PartProps {
  readonly values: UseFormReturnType<SettingsValues>
}

function Money({ values }: PartProps) {
  const { t } = useTranslation()
  const { currency: own, rates } = values.values
  const known = new Set([own, ...rates.map(({ currency }) => currency).filter((one) => one !== '')])
  return (
    <>
      <Select
        label={t('platform.currency')}
        description={t('platform.currencyHint')}
        data={[...known]}
        allowDeselect={false}
        {...values.getInputProps('currency')}
      />
      <div className={form.part}>
        <h3>{t('platform.rates')}</h3>
        <p className={form.hint}>{t('platform.ratesHint')}</p>
        {rates.map((_, at) => (
          <Rate key={at} values={values} at={at} />
        ))}
        <div>
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => values.insertListItem('rates', { currency: '', credits: '' })}
          >
            {t('platform.addRate')}
          </Button>
        </div>
      </div>
    </>
  )
}

/** A stored currency cannot be renamed; only its rate changes. */
function Rate({ values, at }: PartProps & { readonly at: number }) {
  const { t } = useTranslation()
  const isNew = at >= values.getInitialValues().rates.length
  return (
    <div className={styles.rate}>
      <TextInput
        aria-label={t('operate.currency')}
        maxLength={3}
        placeholder="USD"
        readOnly={!isNew}
        {...values.getInputProps(`rates.${at}.currency`)}
      />
      <NumberInput
        aria-label={t('platform.creditsFor', { currency: values.values.rates[at]?.currency ?? '' })}
        suffix=" Credits"
        min={0}
        {...values.getInputProps(`rates.${at}.credits`)}
      />
      {isNew && (
        <ActionIcon aria-label={t('platform.removeRate')} onClick={() => values.removeListItem('rates', at)}>
          <Icon name="close" />
        </ActionIcon>
      )}
    </div>
  )
}

function Plain({ values }: PartProps) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <Select
        label={t('platform.timezone')}
        description={t('platform.timezoneHint')}
        data={[...new Set([values.values.timezone, ...Intl.supportedValuesOf('timeZone')])]}
        searchable
        allowDeselect={false}
        {...values.getInputProps('timezone')}
      />
      <TextInput
        label={t('platform.prefix')}
        description={t('platform.prefixHint')}
        {...values.getInputProps('key_prefix')}
      />
    </div>
  )
}

interface PreviewProps {
  readonly of: SettingsValues
  readonly before: SettingsValues
  /** How to fix it. */
  readonly children: ReactNode
}

function Preview({ of, before, children }: PreviewProps) {
  const { t } = useTranslation()
  const policyWords = usePolicyWords()
  const differences = settingsDifferences(of, before, (limits) => policyWords(policyBodyOf(limits)))
  const names = {
    currency: t('platform.currency'),
    timezone: t('platform.timezone'),
    key_prefix: t('platform.prefix'),
    limits: t('platform.limits'),
  }
  return (
    <>
      <Changes
        of={differences}
        nameOf={(field) =>
          Object.entries(names).find(([name]) => name === field)?.[1] ??
          t('platform.creditsFor', { currency: field.replace('currencies.', '') })
        }
      />
      {differences.length > 0 && children}
    </>
  )
}
