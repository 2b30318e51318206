import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { chainsQuery } from '../api/operator/chains.ts'
import { findingsQuery, healthQuery } from '../api/operator/health.ts'
import { accountQuery } from '../api/session.ts'
import { rowsOf } from '../parts/calls/log-source.ts'
import { withTexts } from '../texts/languages.ts'
import { ANY_LOG, anyFilterOf } from './calls/any-log.ts'
import { readAnyCallsSearch } from './calls/search.ts'
import { operatorRoute } from './operator-route.ts'
import { readOperatorSearch } from './search.ts'
import { readAnyUsageSearch } from './usage/search.ts'

const health = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/health',
  loader: ({ context: { queryClient } }) => {
    askAhead(queryClient, healthQuery)
    askAhead(queryClient, chainsQuery)
    askAhead(queryClient, findingsQuery)
  },
  component: lazyRouteComponent(
    () => withTexts(() => import('./health/health-page.tsx'), 'health', 'chains'),
    'HealthPage',
  ),
})

const chains = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/chains',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./chains/chains-page.tsx'), 'chains'),
    'ChainsPage',
  ),
})

const vendors = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/vendors',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./vendors/vendors-page.tsx'), 'vendors', 'keys'),
    'VendorsPage',
  ),
})

const models = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/models',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./models/models-page.tsx'), 'catalogue'),
    'ModelsPage',
  ),
})

const calls = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/calls',
  validateSearch: readAnyCallsSearch,
  loaderDeps: ({ search: { call: _call, tail: _tail, ...search } }) => search,
  loader: ({ context: { queryClient }, deps: search }) => {
    const timeZone = queryClient.getQueryData(accountQuery().queryKey)?.time_zone ?? undefined
    const filter = anyFilterOf(search, { openedAt: Date.now(), timeZone })
    askAhead(queryClient, rowsOf(ANY_LOG, filter, search.before))
  },
  component: lazyRouteComponent(() => withTexts(() => import('./calls/any-calls-page.tsx')), 'AnyCallsPage'),
})

const accounts = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/accounts',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./accounts/accounts-page.tsx'), 'accounts', 'keys', 'signIn'),
    'AccountsPage',
  ),
})

const keys = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/keys',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./accounts/any-keys-page.tsx'), 'accounts', 'keys'),
    'AnyKeysPage',
  ),
})

const usage = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/usage',
  validateSearch: readAnyUsageSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./usage/any-usage-page.tsx'), 'usage'),
    'AnyUsagePage',
  ),
})

const money = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/money',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./money/money-page.tsx'), 'money', 'catalogue'),
    'MoneyPage',
  ),
})

const videos = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/videos',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./videos/videos-page.tsx'), 'videos'),
    'VideosPage',
  ),
})

const trust = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/trust',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./trust/trust-page.tsx'), 'trust'),
    'TrustPage',
  ),
})

const announcements = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/announcements',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./announcements/announcements-page.tsx'), 'notices'),
    'NoticesPage',
  ),
})

const platform = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/settings',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./platform/platform-page.tsx'), 'platform', 'keys'),
    'PlatformPage',
  ),
})

export const operatorRoutes = operatorRoute.addChildren([
  health,
  chains,
  vendors,
  models,
  accounts,
  keys,
  calls,
  usage,
  money,
  videos,
  trust,
  announcements,
  platform,
])
