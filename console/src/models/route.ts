import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { admissionQuery, pricingQuery } from '../api/models.ts'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const modelsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/models',
  validateSearch: readSearch,
  loaderDeps: ({ search: { org } }) => ({ org }),
  loader: ({ context: { queryClient }, deps: { org } }) => {
    askAhead(queryClient, pricingQuery(org))
    askAhead(queryClient, admissionQuery(org))
  },
  component: lazyRouteComponent(() => withTexts(() => import('./models-page.tsx'), 'models'), 'ModelsPage'),
})
