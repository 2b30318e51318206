import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { keysQuery } from '../api/keys.ts'
import { pricingQuery } from '../api/models.ts'
import { accountQuery } from '../api/session.ts'
import { frameRoute } from '../app/frame-route.ts'
import { filterOf, readSearch } from '../parts/calls/filter.ts'
import { rowsOf } from '../parts/calls/log-source.ts'
import { withTexts } from '../texts/languages.ts'
import { ownLog } from './own-log.ts'

export const callsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/calls',
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps: { org, ...search } }) => {
    const timeZone = queryClient.getQueryData(accountQuery().queryKey)?.time_zone ?? undefined
    const filter = filterOf(search, { openedAt: Date.now(), timeZone })
    askAhead(queryClient, rowsOf(ownLog(org), filter, search.before))
    askAhead(queryClient, keysQuery(org))
    askAhead(queryClient, pricingQuery(org))
  },
  component: lazyRouteComponent(() => withTexts(() => import('./calls-page.tsx')), 'CallsPage'),
})
