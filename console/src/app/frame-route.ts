import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { accountQuery, organisationsQuery } from '../api/session.ts'
import { loadTexts } from '../texts/languages.ts'
import { rootRoute } from './root-route.tsx'

/** Everything that needs somebody signed in: the bars, and the page between them. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  beforeLoad: async ({ context: { queryClient }, location }) => {
    try {
      const [{ role }] = await Promise.all([
        queryClient.ensureQueryData(accountQuery()),
        queryClient.ensureQueryData(organisationsQuery),
      ])
      // The bars name the operator's pages.
      if (role === 'admin') await loadTexts('operate')
    } catch (error) {
      if (error instanceof ApiError && error.isSignedOut) {
        throw redirect({ to: '/sign-in', search: { next: location.publicHref } })
      }
      throw error
    }
  },
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
})
