import { enteringRoutes, type EnteringContext } from './entering.ts'
import { optionsRoute } from './options.ts'
import { ownAccessRoutes } from './own-access.ts'
import { secondFactorRoutes } from './second-factors.ts'
import { resetFactorsRoute } from './reset-factors.ts'
import { serviceRoutes } from './services.ts'
import { secondStepRoutes } from './second-step.ts'
import type { Api } from '../../api-context.ts'

type IdentityContext = EnteringContext

/** Routes for signing in, and for changing the ways to sign in. */
export function identityRoutes(app: Api, context: IdentityContext): void {
  optionsRoute(app, context)
  enteringRoutes(app, context)
  secondStepRoutes(app, context)
  ownAccessRoutes(app, context)
  secondFactorRoutes(app, context)
  serviceRoutes(app, context)
  resetFactorsRoute(app, context)
}
