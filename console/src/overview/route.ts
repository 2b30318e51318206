import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { keysQuery } from '../api/keys.ts'
import { admissionQuery, pricingQuery } from '../api/models.ts'
import { accountQuery } from '../api/session.ts'
import { frameRoute } from '../app/frame-route.ts'
import { choiceField, present } from '../parts/lists/search-fields.ts'
import { DEFAULT_PERIOD, PERIODS } from './periods.ts'
import { announcementsQuery, lastCallsQuery } from './queries.ts'
import { spendQuery } from './spend-query.ts'

export const overviewRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    present({ period: choiceField(search['period'], PERIODS) }),
  loaderDeps: ({ search: { org, period } }) => ({ org, period }),
  loader: ({ context: { queryClient }, deps: { org, period = DEFAULT_PERIOD } }) => {
    const timeZone = queryClient.getQueryData(accountQuery().queryKey)?.time_zone ?? undefined
    askAhead(queryClient, lastCallsQuery(org))
    askAhead(queryClient, keysQuery(org))
    askAhead(queryClient, pricingQuery(org))
    askAhead(queryClient, admissionQuery(org))
    askAhead(queryClient, spendQuery({ period, openedAt: Date.now(), timeZone, organisation: org }))
    askAhead(queryClient, announcementsQuery)
  },
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})
