import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { type FreeCall, freeCallsQuery } from '../../api/operator/money.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { shortId } from '../../parts/values/short-id.ts'
import { AccountLink } from '../parts/account-link.tsx'
import { MoreRows } from '../parts/more-rows.tsx'
import operator from '../parts/operator.module.css'

/** Answered calls that cost nothing, and why. */
export function FreeCalls() {
  const { t } = useTranslation()
  const columns = useColumns()
  const calls = useInfiniteQuery(freeCallsQuery)
  return (
    <Loaded query={calls} height={320}>
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data)
        return (
          <>
            {rows.length === 0 ? (
              <Empty icon="gift" title={t('money.noFree')}>
                {t('money.noFreeHint')}
              </Empty>
            ) : (
              <DataTable
                label={t('money.tabs.free')}
                columns={columns}
                rows={rows}
                idOf={({ request_id: id }) => id}
              />
            )}
            <MoreRows query={calls} />
          </>
        )
      }}
    </Loaded>
  )
}

function useColumns(): readonly Column<FreeCall>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    { id: 'time', head: t('calls.time'), kind: 'muted', cell: ({ created_at: at }) => format.recent(at) },
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
