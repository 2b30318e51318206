import { createRoute, lazyRouteComponent, notFound, Outlet } from '@tanstack/react-router'
import { accountQuery } from '../api/session.ts'
import { frameRoute } from '../app/frame-route.ts'
import { withTexts } from '../texts/languages.ts'

/** The operator's pages. The gateway enforces permissions; here the pages are only hidden from others. */
export const operatorRoute = createRoute({
  getParentRoute: () => frameRoute,
  id: 'operate',
  beforeLoad: async ({ context: { queryClient } }) => {
    const { role } = await queryClient.ensureQueryData(accountQuery())
    if (role !== 'admin') throw notFound()
  },
  // Loaded in parallel with the account, which decides whether they are shown.
  component: lazyRouteComponent(() => withTexts(() => Promise.resolve({ Outlet }), 'operate'), 'Outlet'),
})
