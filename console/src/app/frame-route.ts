import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { ApiError } from '../api/api-error.ts'
import { accountQuery, organisationsQuery } from '../api/session.ts'
import { subscriptionQuery } from '../api/subscription.ts'
import { loadTexts } from '../texts/languages.ts'
import { rootRoute } from './root-route.tsx'

/** The parent of all pages that need a session: the bars around the page. */
export const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  beforeLoad: async ({ context: { queryClient }, location }) => {
    try {
      const [{ role }] = await Promise.all([
        queryClient.ensureQueryData(accountQuery()),
        queryClient.ensureQueryData(organisationsQuery),
      ])
      // The side bar lists the operator's pages.
      if (role === 'admin') await loadTexts('operate')
    } catch (error) {
      if (error instanceof ApiError && error.isSignedOut) {
        throw redirect({ to: '/sign-in', search: { next: location.publicHref } })
      }
      throw error
    }
  },
  // The frame shows how much of the plan is used.
  loaderDeps: ({ search: { org } }) => ({ org }),
  loader: ({ context: { queryClient }, deps: { org } }) => {
    if (org === undefined) askAhead(queryClient, subscriptionQuery(org))
  },
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
})
