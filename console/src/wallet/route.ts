import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const walletRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/wallet',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./wallet-page.tsx'), 'wallet'), 'WalletPage'),
})
