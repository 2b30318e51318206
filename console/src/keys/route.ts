import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const keysRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/keys',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./keys-page.tsx'), 'keys'), 'KeysPage'),
})
