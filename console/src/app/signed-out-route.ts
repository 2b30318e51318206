import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root-route.tsx'

/** The parent of the pages that need no session. */
export const signedOutRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-out',
  component: lazyRouteComponent(() => import('./signed-out/signed-out.tsx'), 'SignedOut'),
})
