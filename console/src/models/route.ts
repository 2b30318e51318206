import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const modelsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/models',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => withTexts(() => import('./models-page.tsx'), 'models'), 'ModelsPage'),
})
