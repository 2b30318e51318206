import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { LIVE_MS } from '../../api/query-client.ts'
import { useOrganisationId } from '../../api/session.ts'
import { type TopUp, topUpsQuery } from '../../api/wallet.ts'
import { useActionsColumn } from '../../parts/lists/columns.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Pages } from '../../parts/lists/pages.tsx'
import type { Change } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import tags from '../../parts/marks/tag.module.css'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import type { WalletSearch } from '../search.ts'
import { worthWords } from '../worth.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface TopUpsProps {
  readonly after: string | undefined
  readonly onChange: (fields: Change<WalletSearch>) => void
}

/** Card payments: finished ones, and those still to be paid. */
export function TopUps({ after, onChange }: TopUpsProps) {
  const { t } = useTranslation()
  const topUps = useQuery({
    ...topUpsQuery(after, useOrganisationId()),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={topUps} height={240}>
      {({ data: rows, next_cursor: next }) =>
        rows.length === 0 ? (
          <Empty icon="wallet" title={t('wallet.noTopUps')}>
            {t('wallet.noTopUpsHint')}
          </Empty>
        ) : (
          <>
            <Rows rows={rows} />
            <Pages
              next={next}
              isFirst={after === undefined}
              onTurn={(cursor) => onChange({ after: cursor })}
            />
          </>
        )
      }
    </Loaded>
  )
}

function Rows({ rows }: { readonly rows: readonly TopUp[] }) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const columns: readonly Column<TopUp>[] = [
    {
      id: 'what',
      head: t('wallet.bought'),
      cell: (topUp) => (
        <>
          <span className={table.first}>{topUp.package ?? worthWords(topUp, { format, sign })}</span>
          <span className={table.second}>{format.moment(topUp.created_at)}</span>
        </>
      ),
    },
    {
      id: 'price',
      head: t('wallet.price'),
      kind: 'number',
      cell: ({ price, currency }) => `${format.number(price, 2)} ${currency}`,
    },
    {
      id: 'booked',
      head: t('wallet.booked'),
      kind: 'number',
      wide: true,
      cell: ({ booked }) => worthWords(booked, { format, sign }) || '–',
    },
    {
      id: 'status',
      head: t('wallet.state'),
      cell: ({ status }) => <span className={tags.tag}>{t(`wallet.topUpStates.${status}`)}</span>,
    },
    useActionsColumn<TopUp>((topUp) => <PayLink of={topUp} />),
  ]
  return (
    <DataTable
      label={t('wallet.tabs.top-ups')}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      isQuiet={({ status }) => status === 'expired' || status === 'failed'}
    />
  )
}

function PayLink({ of: { status, checkout_url: address } }: { readonly of: TopUp }) {
  const { t } = useTranslation()
  if (status !== 'open' || address === null) return null
  return (
    <a className={page.link} href={address}>
      {t('wallet.pay')}
    </a>
  )
}
