import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { choiceField, present, textField } from '../parts/lists/search-fields.ts'
import { withTexts } from '../texts/languages.ts'

export const organisationRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/organisation',
  validateSearch: (search: Record<string, unknown>) =>
    present({
      /** The member whose details are open. */
      member: textField(search['member']),
      open: choiceField(search['open'], ['invite', 'fund']),
    }),
  component: lazyRouteComponent(
    () => withTexts(() => import('./organisation-page.tsx'), 'organisation', 'keys'),
    'OrganisationPage',
  ),
})
