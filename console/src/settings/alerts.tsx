import { Button, NumberInput, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { type Alert, alertsQuery, testAlerts } from '../api/alerts.ts'
import { type Account, accountQuery, useOrganisationId } from '../api/session.ts'
import { changeAccount } from '../api/wallet.ts'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import table from '../parts/lists/table.module.css'
import { Done } from '../parts/page/done.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { useFormat } from '../parts/values/format.ts'
import { Section } from './section.tsx'
import styles from './settings.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** How often the state of deliveries is refreshed. */
const LOOK_MS = 3_000
/** Conflict: no channel of alerts is on. */
const NOWHERE = 40900

/** Alert thresholds, channels, and past alerts. */
export function Alerts() {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const account = useQuery(accountQuery(organisation))
  const alerts = useQuery({ ...alertsQuery(organisation), refetchInterval: LOOK_MS })
  return (
    <>
      <Section title={t('settings.alerts')} hint={t('settings.alertsHint')}>
        <Loaded query={account} height={280}>
          {(data) => <AlertForm key={data.id} account={data} />}
        </Loaded>
        {typeof alerts.data?.webhook_secret === 'string' && (
          <p className={styles.secret}>
            {t('settings.webhookSecret')} <code>{alerts.data.webhook_secret}</code>
            <CopyIcon value={alerts.data.webhook_secret} label={t('settings.copySecret')} />
          </p>
        )}
      </Section>
      <Section title={t('settings.told')} hint={t('settings.toldHint')}>
        <Test />
        <Loaded query={alerts} height={120}>
          {({ alerts: rows }) =>
            rows.length === 0 ? <p className={styles.none}>{t('settings.noAlerts')}</p> : <Told rows={rows} />
          }
        </Loaded>
      </Section>
    </>
  )
}

function Test() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const textOf = (error: unknown): string =>
    error instanceof ApiError && error.code === NOWHERE ? t('settings.testNowhere') : problemText(error)
  const send = useMutation({
    mutationFn: () => testAlerts(organisation),
    onSuccess: () =>
      inBackground(queryClient.invalidateQueries({ queryKey: alertsQuery(organisation).queryKey })),
  })
  return (
    <div className={styles.acts}>
      <Button variant="default" loading={send.isPending} onClick={() => send.mutate()}>
        {t('settings.test')}
      </Button>
      <Done
        text={send.data === undefined ? undefined : t('settings.testSent', { count: send.data.deliveries })}
      />
      <FormProblem text={send.error === null ? undefined : textOf(send.error)} />
    </div>
  )
}

function AlertForm({ account }: { readonly account: Account }) {
  const { t } = useTranslation()
  const { form, submit, isPending, problem, saved } = useAlerts(account)
  return (
    <FormFrame sending={{ submit, isPending, problem }} ready={form.isDirty()} done={saved}>
      <div className={forms.row}>
        <NumberInput
          label={t('settings.lowCredits')}
          suffix=" Credits"
          min={0}
          placeholder={t('settings.never')}
          {...form.getInputProps('alerts.low_credits')}
        />
        <NumberInput
          label={t('settings.failures')}
          min={1}
          allowDecimal={false}
          placeholder={t('settings.never')}
          {...form.getInputProps('alerts.failures_per_hour')}
        />
      </div>
      <Switch label={t('settings.byMail')} {...form.getInputProps('alerts.email', { type: 'checkbox' })} />
      <TextInput
        label={t('settings.webhook')}
        description={t('settings.webhookHint')}
        placeholder="https://"
        inputMode="url"
        {...form.getInputProps('alerts.webhook_url')}
      />
    </FormFrame>
  )
}

function useAlerts(account: Account) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const [saved, setSaved] = useState<string>()
  const form = useForm({ initialValues: valuesOf(account), onValuesChange: () => setSaved(undefined) })
  const sending = useSubmit(form, {
    send: ({ alerts: { low_credits: low, failures_per_hour: failures, webhook_url: url, email } }) =>
      changeAccount(
        {
          alerts: {
            email,
            low_credits: low === '' ? null : String(low),
            failures_per_hour: failures === '' ? null : Number(failures),
            webhook_url: url.trim() === '' ? null : url.trim(),
          },
        },
        organisation,
      ),
    onDone: (changed) => {
      queryClient.setQueryData(accountQuery(organisation).queryKey, changed)
      inBackground(queryClient.invalidateQueries({ queryKey: alertsQuery(organisation).queryKey }))
      form.setInitialValues(valuesOf(changed))
      form.setValues(valuesOf(changed))
      setSaved(t('saved'))
    },
  })
  return { form, saved, ...sending }
}

/**
 * A type, not an interface: the form library requires an index signature. Field names are the gateway's, so that errors
 * are shown beside them.
 */
type AlertValues = {
  readonly alerts: {
    readonly email: boolean
    readonly low_credits: string | number
    readonly failures_per_hour: string | number
    readonly webhook_url: string
  }
}

function valuesOf({ alerts }: Account): AlertValues {
  return {
    alerts: {
      email: alerts.email,
      low_credits: alerts.low_credits === null ? '' : Number(alerts.low_credits),
      failures_per_hour: alerts.failures_per_hour ?? '',
      webhook_url: alerts.webhook_url ?? '',
    },
  }
}

function Told({ rows }: { readonly rows: readonly Alert[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const columns: readonly Column<Alert>[] = [
    {
      id: 'type',
      head: t('settings.alert'),
      cell: ({ type, raised_at: at }) => (
        <>
          <span className={table.first}>{t(`settings.alertTypes.${type}`)}</span>
          <span className={table.second}>{format.moment(at)}</span>
        </>
      ),
    },
    {
      id: 'deliveries',
      head: t('settings.deliveries'),
      cell: ({ deliveries }) =>
        deliveries.length === 0
          ? '–'
          : format.list(
              deliveries.map(
                ({ channel, outcome }) => `${t(`settings.ways.${channel}`)}: ${t(`deliveries.${outcome}`)}`,
              ),
            ),
    },
  ]
  return <DataTable label={t('settings.told')} columns={columns} rows={rows} idOf={({ id }) => id} />
}
