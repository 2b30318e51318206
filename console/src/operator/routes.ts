import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../texts/languages.ts'
import { operatorRoute } from './operator-route.ts'
import { readOperatorSearch } from './search.ts'

const chains = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/chains',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./chains/chains-page.tsx'), 'chains'),
    'ChainsPage',
  ),
})

const accounts = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/operate/accounts',
  validateSearch: readOperatorSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./accounts/accounts-page.tsx'), 'accounts', 'keys'),
    'AccountsPage',
  ),
})

export const operatorRoutes = operatorRoute.addChildren([chains, accounts])
