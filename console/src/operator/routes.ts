import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../texts/languages.ts'
import { operatorRoute } from './operator-route.ts'
import { readOperatorSearch } from './search.ts'

const accounts = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/accounts',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./accounts/accounts-page.tsx'), 'accounts', 'keys'),
    'AccountsPage',
  ),
})

export const operatorRoutes = operatorRoute.addChildren([accounts])
