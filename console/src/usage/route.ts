import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const usageRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/usage',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./usage-page.tsx'), 'usage'), 'UsagePage'),
})
