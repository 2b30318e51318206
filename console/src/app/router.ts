import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { callsRoute } from '../calls/route.ts'
import { keysRoute } from '../keys/route.ts'
import { modelsRoute } from '../models/route.ts'
import { operatorRoutes } from '../operator/routes.ts'
import { organisationRoute } from '../organisation/route.ts'
import { overviewRoute } from '../overview/route.ts'
import { playgroundRoute } from '../playground/route.ts'
import { settingsRoute } from '../settings/route.ts'
import { signInRoutes } from '../sign-in/routes.ts'
import { usageRoute } from '../usage/route.ts'
import { walletRoute } from '../wallet/route.ts'
import { frameRoute } from './frame-route.ts'
import { PageProblem } from './page-problem.tsx'
import { rootRoute } from './root-route.tsx'
import { signedOutRoute } from './signed-out-route.ts'

const routeTree = rootRoute.addChildren([
  signedOutRoute.addChildren(signInRoutes),
  frameRoute.addChildren([
    operatorRoutes,
    overviewRoute,
    keysRoute,
    callsRoute,
    usageRoute,
    modelsRoute,
    playgroundRoute,
    walletRoute,
    organisationRoute,
    settingsRoute,
  ]),
])

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: 'intent',
    // The queries decide how long preloaded data is fresh.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageProblem,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof createConsoleRouter>
  }
}
