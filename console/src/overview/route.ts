import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { choiceField, present } from '../parts/lists/search-fields.ts'
import { PERIODS } from './periods.ts'

export const overviewRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    present({ period: choiceField(search['period'], PERIODS) }),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})
