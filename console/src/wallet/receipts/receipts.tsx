import { Switch } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { type Alert, alertsQuery } from '../../api/alerts.ts'
import { accountQuery, useOrganisationId } from '../../api/session.ts'
import { changeAccount } from '../../api/wallet.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Empty } from '../../parts/page/empty.tsx'
import { late } from '../../parts/page/late.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from '../wallet.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Receipts by mail: whether they are on, and those sent so far. */
export function Receipts() {
  const { t } = useTranslation()
  const alerts = useQuery(alertsQuery(useOrganisationId()))
  return (
    <>
      <Wanted />
      <Loaded query={alerts} height={200}>
        {({ alerts: all }) => {
          const rows = all.filter(({ type }) => type === 'receipt')
          return rows.length === 0 ? (
            <Empty icon="mail" title={t('wallet.noReceipts')}>
              {t('wallet.noReceiptsHint')}
            </Empty>
          ) : (
            <Rows rows={rows} />
          )
        }}
      </Loaded>
    </>
  )
}

function Wanted() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const { data: account } = useQuery(accountQuery(organisation))
  const change = useMutation({
    mutationFn: (receipts: boolean) => changeAccount({ alerts: { receipts } }, organisation),
    onSuccess: (changed) => queryClient.setQueryData(accountQuery(organisation).queryKey, changed),
  })
  return (
    <div className={styles.tools}>
      <Switch
        label={t('wallet.mailReceipts')}
        description={t('wallet.mailReceiptsHint')}
        checked={change.isPending ? change.variables : account?.alerts.receipts === true}
        onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
      />
      <FormProblem text={change.error === null ? undefined : problemText(change.error)} />
    </div>
  )
}

const ReceiptDialog = late(async () => (await import('./receipt-dialog.tsx')).ReceiptDialog)

function Rows({ rows }: { readonly rows: readonly Alert[] }) {
  const { t } = useTranslation()
  const [shown, show] = useState<Alert>()
  return (
    <>
      <DataTable
        label={t('wallet.tabs.receipts')}
        columns={useColumns()}
        rows={rows}
        idOf={({ id }) => id}
        onChoose={show}
      />
      {shown !== undefined && (
        <Suspense>
          <ReceiptDialog of={shown} onClose={() => show(undefined)} />
        </Suspense>
      )}
    </>
  )
}

function useColumns(): readonly Column<Alert>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'item',
      head: t('wallet.bought'),
      cell: ({ data, raised_at: at }) => (
        <>
          <span className={table.first}>{data['item']}</span>
          <span className={table.second}>{format.moment(at)}</span>
        </>
      ),
    },
    { id: 'paid', head: t('wallet.price'), kind: 'number', cell: ({ data }) => data['paid'] },
    {
      id: 'reference',
      head: t('wallet.reference'),
      wide: true,
      cell: ({ data: { reference = '' } }) => (
        <span className={styles.copied}>
          <code className={styles.reference} title={String(reference)}>
            {reference}
          </code>
          <CopyIcon value={String(reference)} label={t('copyId')} size="sm" />
        </span>
      ),
    },
    {
      id: 'mail',
      head: t('wallet.mail'),
      kind: 'muted',
      cell: ({ deliveries }) => {
        const [outcome] = deliveries.map((delivery) => delivery.outcome)
        return outcome === undefined ? '–' : t(`deliveries.${outcome}`)
      },
    },
  ]
}
