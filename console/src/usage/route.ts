import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readUsageSearch } from '../parts/usage/search.ts'

export const usageRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/usage',
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./usage-page.tsx'), 'usage'), 'UsagePage'),
})
