import { createRoute, notFound } from '@tanstack/react-router'
import { accountQuery } from '../api/session.ts'
import { frameRoute } from '../app/frame-route.ts'

/** The pages of those who run the gateway. What may be done is decided there: for others they only do not exist. */
export const operatorRoute = createRoute({
  getParentRoute: () => frameRoute,
  id: 'operate',
  beforeLoad: async ({ context: { queryClient } }) => {
    const { role } = await queryClient.ensureQueryData(accountQuery())
    if (role !== 'admin') throw notFound()
  },
})
