import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FreeCall, freeCallsQuery } from '../../api/operator/money.ts'
import { useTimeColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { shortId } from '../../parts/values/short-id.ts'
import { AccountLink } from '../parts/account-link.tsx'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Answered calls that cost nothing, and why. */
export function FreeCalls() {
  const { t } = useTranslation()
  const columns = useColumns()
  const calls = useInfiniteQuery(freeCallsQuery)
  return (
    <FoundList
      query={calls}
      height={320}
      none={{ icon: 'gift', title: t('money.noFree'), hint: t('money.noFreeHint') }}
      label={t('money.tabs.free')}
      columns={columns}
      rows={rowsOf(calls)}
      idOf={({ request_id: id }) => id}
    />
  )
}

function useColumns(): readonly Column<FreeCall>[] {
  const { t } = useTranslation()
  const time = useTimeColumn<FreeCall>(({ created_at: at }) => at)
  return [
    time,
    {
      id: 'call',
      head: t('calls.model'),
      cell: ({ request_id: id, model }) => (
        <Link
          to="/operate/calls"
          search={{ request_id: id, call: id, period: 'all' }}
          className={operator.accountLink}
        >
          {model ?? shortId(id)}
        </Link>
      ),
    },
    {
      id: 'account',
      head: t('operate.account'),
      wide: true,
      cell: ({ account_id: id }) => (id === null ? '–' : <AccountLink id={id} />),
    },
    {
      id: 'worth',
      head: t('money.worth'),
      kind: 'number',
      cell: ({ amount }) => <Amount value={amount} digits={6} />,
    },
    { id: 'why', head: t('money.why'), cell: ({ why }) => t(`money.whys.${why}`) },
  ]
}
