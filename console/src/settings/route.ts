import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'
import { readSearch } from './search.ts'

export const settingsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/settings',
  validateSearch: readSearch,
  component: lazyRouteComponent(
    () => withTexts(() => import('./settings-page.tsx'), 'settings', 'signIn'),
    'SettingsPage',
  ),
})
