import { createRoute, lazyRouteComponent, notFound, Outlet } from '@tanstack/react-router'
import { accountQuery } from '../api/session.ts'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'

/** The pages of those who run the gateway. What may be done is decided there: for others they only do not exist. */
export const operatorRoute = createRoute({
  getParentRoute: () => frameRoute,
  id: 'operate',
  beforeLoad: async ({ context: { queryClient } }) => {
    const { role } = await queryClient.ensureQueryData(accountQuery())
    if (role !== 'admin') throw notFound()
  },
  // On the way at once, beside the account that says whether they are seen.
  component: lazyRouteComponent(() => withTexts(() => Promise.resolve({ Outlet }), 'operate'), 'Outlet'),
})
