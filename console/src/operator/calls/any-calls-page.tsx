import { Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { anyAccountQuery } from '../../api/operator/accounts.ts'
import { explainAny } from '../../api/operator/calls.ts'
import { anyModelsQuery } from '../../api/operator/catalogue.ts'
import { ExplainPart } from '../../parts/calls/explain-part.tsx'
import { CallLog } from '../../parts/calls/call-log.tsx'
import type { LoggedCall } from '../../parts/calls/log-source.ts'
import type { Column } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { useSheetAddress } from '../../parts/page/use-sheet-address.ts'
import { shortId } from '../../parts/values/short-id.ts'
import { AccountFilter } from '../parts/account-filter.tsx'
import operator from '../parts/operator.module.css'
import { alsoOf, ANY_LOG } from './any-log.ts'
import { CallAffairs } from './call-affairs.tsx'
import type { AnyCallsSearch } from './search.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const route = getRouteApi('/frame/operate/operate/calls')

/** The calls of all accounts, with the vendors' error texts. */
export function AnyCallsPage() {
  const { t } = useTranslation()
  // Filters of this log, in addition to those of every log.
  const { account, suspect, ...search } = route.useSearch()
  const [change, sheet] = useSheetAddress<AnyCallsSearch, 'call'>('call')
  const { data: models = [] } = useQuery(anyModelsQuery)
  const columns = useColumns()
  // Keys can be filtered once one account is chosen.
  const { data: of } = useQuery({ ...anyAccountQuery(account ?? ''), enabled: account !== undefined })
  return (
    <CallLog
      title={t('operate.pages.calls')}
      source={ANY_LOG}
      search={search}
      also={alsoOf({ account, suspect })}
      models={models.map(({ model_id: id }) => id)}
      {...(account === undefined || of === undefined ? {} : { keys: of.keys })}
      filters={
        <>
          <AccountFilter
            value={account}
            onChange={(id) => change({ account: id, key_id: undefined, before: undefined })}
          />
          <Switch
            className={operator.inFilters ?? ''}
            label={t('operate.suspect')}
            checked={suspect === true}
            onChange={({ currentTarget: { checked } }) =>
              change({ suspect: checked ? true : undefined, before: undefined })
            }
          />
        </>
      }
      columns={columns}
      details={(call) => (
        <Fragment key={call.request_id}>
          <CallAffairs of={call} />
          <ExplainPart call={call} ask={explainAny} />
        </Fragment>
      )}
      onChange={change}
      sheet={sheet}
    />
  )
}

function useColumns(): readonly Column<LoggedCall>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'account',
      head: t('operate.account'),
      wide: true,
      cell: ({ account_id: id, account_name: name }) =>
        id === null || id === undefined ? (
          <span className={table.muted}>–</span>
        ) : (
          <Link to="/operate/accounts" search={{ open: id }} className={operator.accountLink}>
            {name ?? shortId(id)}
          </Link>
        ),
    },
  ]
}
