import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { explainOwn } from '../api/calls.ts'
import { keysQuery } from '../api/keys.ts'
import { pricingQuery } from '../api/models.ts'
import { useOrganisationId } from '../api/session.ts'
import { ExplainPart } from '../parts/calls/explain-part.tsx'
import { CallLog } from '../parts/calls/call-log.tsx'
import type { CallsSearch } from '../parts/calls/filter.ts'
import { useSheetAddress } from '../parts/page/use-sheet-address.ts'
import { Conversation } from './conversation.tsx'
import { ownLog } from './own-log.ts'
import { useTranslation } from '../texts/use-translation.ts'

const route = getRouteApi('/frame/calls')

/** The calls of the person, or of the active organisation. */
export function CallsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const [change, sheet] = useSheetAddress<CallsSearch, 'call'>('call')
  const organisation = useOrganisationId()
  const { data: keys = [] } = useQuery(keysQuery(organisation))
  const { data: offers = [] } = useQuery(pricingQuery(organisation))
  return (
    <CallLog
      title={t('pages.calls')}
      source={ownLog(organisation)}
      search={search}
      models={offers.map(({ model_id: id }) => id)}
      keys={keys}
      details={(call) => (
        <>
          <Conversation call={call} />
          <ExplainPart
            key={call.request_id}
            call={call}
            ask={(question) => explainOwn(question, organisation)}
          />
        </>
      )}
      onChange={change}
      sheet={sheet}
    />
  )
}
