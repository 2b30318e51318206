import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type AnyTopUp, topUpsQuery } from '../../api/operator/money.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { useTimeColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { Amount } from '../../parts/values/amount.tsx'
import { Balance } from '../../parts/values/balance.tsx'
import { shortId } from '../../parts/values/short-id.ts'
import { AccountFilter } from '../parts/account-filter.tsx'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import operator from '../parts/operator.module.css'
import { useAddress } from '../parts/use-address.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const STATES = [
  'open',
  'paid',
  'review',
  'failed',
  'expired',
  'partly-refunded',
  'refunded',
  'disputed',
  'charged-back',
] as const

/** Top-ups of all accounts. */
export function TopUps() {
  const { t } = useTranslation()
  const [{ state, find }, change] = useAddress()
  const columns = useColumns()
  const status = choiceField(state, STATES)
  const topUps = useInfiniteQuery({
    ...topUpsQuery({
      ...(status === undefined ? {} : { status }),
      ...(find === undefined ? {} : { account_id: find }),
    }),
    refetchInterval: LIVE_MS,
  })
  return (
    <>
      <Filters>
        <AccountFilter value={find} onChange={(id) => change({ find: id })} />
        <Filter
          label={t('operate.state')}
          value={status}
          options={STATES.map((value) => ({ value, label: t(`money.topUpStates.${value}`) }))}
          onChange={(value) => change({ state: value })}
        />
      </Filters>
      <FoundList
        query={topUps}
        height={320}
        none={{ icon: 'wallet', title: t('money.noTopUps'), hint: t('money.noTopUpsHint') }}
        label={t('money.tabs.topUps')}
        columns={columns}
        rows={rowsOf(topUps)}
        idOf={({ id }) => id}
      />
    </>
  )
}

function useColumns(): readonly Column<AnyTopUp>[] {
  const { t } = useTranslation()
  const time = useTimeColumn<AnyTopUp>(({ created_at: at }) => at)
  return [
    time,
    {
      id: 'account',
      head: t('operate.account'),
      cell: ({ account_id: id }) => (
        <Link to="/operate/accounts" search={{ open: id }} className={operator.accountLink}>
          {shortId(id)}
        </Link>
      ),
    },
    { id: 'state', head: t('operate.state'), cell: ({ status }) => t(`money.topUpStates.${status}`) },
    {
      id: 'price',
      head: t('money.paid'),
      kind: 'number',
      cell: ({ price, currency }) => <Amount value={price} currency={currency} />,
    },
    { id: 'worth', head: t('money.worth'), kind: 'number', cell: (topUp) => <Worth of={topUp} /> },
    {
      id: 'provider',
      head: t('money.provider'),
      kind: 'muted',
      cell: ({ provider, checkout }) => <span title={checkout ?? undefined}>{provider}</span>,
    },
  ]
}

interface WorthProps {
  readonly of: { readonly credits: string | null; readonly yuan: string | null }
}

/** In Credits, or in balance. */
export function Worth({ of: { credits, yuan } }: WorthProps) {
  if (yuan !== null) return <Balance value={yuan} />
  return credits === null ? '–' : <>{<Amount value={credits} />} Credits</>
}
