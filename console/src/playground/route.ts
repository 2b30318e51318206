import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const playgroundRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/playground',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./playground-page.tsx'), 'playground'),
    'PlaygroundPage',
  ),
})
