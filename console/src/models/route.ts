import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { readSearch } from './search.ts'

export const modelsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/models',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./models-page.tsx'), 'ModelsPage'),
})
