import { Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { useOrganisationId } from '../../api/session.ts'
import { type Entry, exportStatement, statementQuery } from '../../api/wallet.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { ExportMenu } from '../../parts/lists/export-menu.tsx'
import { Pages } from '../../parts/lists/pages.tsx'
import type { Change } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { classes } from '../../parts/marks/classes.ts'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { isZero } from '../../parts/values/decimal.ts'
import { TimeZone, useFormat } from '../../parts/values/format.ts'
import { lastMonths } from './months.ts'
import type { WalletSearch } from '../search.ts'
import styles from '../wallet.module.css'
import { useCurrency } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The number of months in the list. */
const MONTHS = 24

interface StatementProps {
  readonly month: string | undefined
  readonly after: string | undefined
  readonly onChange: (fields: Change<WalletSearch>) => void
}

/** A month's statement: opening balance, movements, closing balance. */
export function Statement({ month, after, onChange }: StatementProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const organisation = useOrganisationId()
  const months = lastMonths(MONTHS, { now: Date.now(), timeZone: useContext(TimeZone) })
  const shown = month ?? months[0] ?? ''
  const statement = useQuery({
    ...statementQuery({ month: shown, after }, organisation),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <div className={styles.tools}>
        <Select
          size="xs"
          aria-label={t('wallet.monthOf')}
          value={shown}
          data={months.map((value) => ({ value, label: format.month(value) }))}
          onChange={(value) => onChange({ month: value ?? undefined, after: undefined })}
        />
        <ExportMenu name={`statement-${shown}`} read={(kind) => exportStatement(shown, kind, organisation)} />
      </div>
      <Loaded query={statement} height={320}>
        {({ opening, closing, entries, next_cursor: next }) => (
          <>
            <dl className={styles.sums}>
              <Sum name={t('wallet.opening')} sums={opening} />
              <Sum name={t('wallet.closing')} sums={closing} />
            </dl>
            {entries.length === 0 ? (
              <Empty icon="wallet" title={t('wallet.noEntries')}>
                {t('wallet.noEntriesHint')}
              </Empty>
            ) : (
              <Entries rows={entries} />
            )}
            <Pages
              next={next}
              isFirst={after === undefined}
              onTurn={(cursor) => onChange({ after: cursor })}
            />
          </>
        )}
      </Loaded>
    </>
  )
}

interface SumProps {
  readonly name: string
  readonly sums: { readonly credits: string; readonly balance: string }
}

function Sum({ name, sums: { credits, balance } }: SumProps) {
  const currency = useCurrency()
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Amount value={credits} /> Credits · <Amount value={balance} currency={currency} />
      </dd>
    </div>
  )
}

const KINDS = [
  'charge',
  'grant',
  'exchange',
  'refund',
  'adjustment',
  'top-up',
  'subscription',
  'transfer',
  'owed-charge',
  'charge-correction',
] as const

function Entries({ rows }: { readonly rows: readonly Entry[] }) {
  const { t } = useTranslation()
  const currency = useCurrency()
  const format = useFormat()
  const columns: readonly Column<Entry>[] = [
    { id: 'at', head: t('calls.time'), kind: 'muted', wide: true, cell: ({ at }) => format.moment(at) },
    {
      id: 'kind',
      head: t('wallet.entry'),
      cell: ({ kind, reference, at }) => {
        const known = KINDS.find((each) => each === kind)
        return (
          <>
            <span className={table.first}>{known === undefined ? kind : t(`wallet.kinds.${known}`)}</span>
            {reference !== null && (
              <span className={table.second}>
                <code className={styles.reference} title={reference}>
                  {reference}
                </code>
              </span>
            )}
            <span className={classes(table.second, table.phone)}>{format.moment(at)}</span>
          </>
        )
      },
    },
    { id: 'credits', head: 'Credits', kind: 'number', cell: ({ credits }) => <Moved value={credits} /> },
    {
      id: 'balance',
      head: t('overview.balance'),
      kind: 'number',
      cell: ({ balance }) => <Moved value={balance} currency={currency} />,
    },
  ]
  return <DataTable label={t('wallet.tabs.statement')} columns={columns} rows={rows} idOf={({ id }) => id} />
}

interface MovedProps {
  readonly value: string
  /** Absent: Credits. */
  readonly currency?: string | undefined
}

/** A movement; incoming ones with a plus. */
function Moved({ value, currency }: MovedProps) {
  if (isZero(value)) return <span className={table.muted}>–</span>
  return (
    <span className={value.startsWith('-') ? undefined : styles.came}>
      {value.startsWith('-') ? '−' : '+'}
      <Amount value={value.replace('-', '')} currency={currency} />
    </span>
  )
}
