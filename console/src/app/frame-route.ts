import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { accountQuery, organisationsQuery } from '../api/session.ts'
import { rootRoute } from './root-route.tsx'

/** Everything that needs somebody signed in: the bars, and the page between them. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  beforeLoad: async ({ context: { queryClient }, location }) => {
    try {
      await Promise.all([
        queryClient.ensureQueryData(accountQuery()),
        queryClient.ensureQueryData(organisationsQuery),
      ])
    } catch (error) {
      if (error instanceof ApiError && error.isSignedOut) {
        throw redirect({ to: '/sign-in', search: { next: location.publicHref } })
      }
      throw error
    }
  },
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
})
