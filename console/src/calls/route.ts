import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from '../parts/calls/filter.ts'

export const callsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/calls',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./calls-page.tsx')), 'CallsPage'),
})
