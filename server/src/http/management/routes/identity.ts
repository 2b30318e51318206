import { enteringRoutes, type EnteringContext } from './identity/entering.ts'
import { optionsRoute } from './identity/options.ts'
import { ownAccessRoutes } from './identity/own-access.ts'
import { secondFactorRoutes } from './identity/second-factors.ts'
import { resetFactorsRoute } from './identity/reset-factors.ts'
import { serviceRoutes } from './identity/services.ts'
import { secondStepRoutes } from './identity/second-step.ts'
import type { Api } from '../api-context.ts'

type IdentityContext = EnteringContext

/** Who is at the other end: ways in, and what the owner of an account changes about them. */
export function identityRoutes(app: Api, context: IdentityContext): void {
  optionsRoute(app, context)
  enteringRoutes(app, context)
  secondStepRoutes(app, context)
  ownAccessRoutes(app, context)
  secondFactorRoutes(app, context)
  serviceRoutes(app, context)
  resetFactorsRoute(app, context)
}
