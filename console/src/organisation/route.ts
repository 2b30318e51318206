import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const organisationRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/organisation',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./organisation-page.tsx'), 'organisation', 'keys'),
    'OrganisationPage',
  ),
})
