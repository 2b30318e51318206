import { accountRoutes } from './account.ts'
import { alertRoutes } from './alerts.ts'
import { byokRoutes } from './byok.ts'
import { exchangeRoutes } from './exchange.ts'
import { explainRoutes } from './explain.ts'
import { keyRoutes } from './keys.ts'
import { logRoutes } from './logs.ts'
import { organisationRoutes } from './organisations/index.ts'
import { ownKeyRoutes } from './own-key.ts'
import { redeemRoutes } from './redeem.ts'
import { statementRoutes } from './statements.ts'
import { subscriptionRoutes } from './subscription.ts'
import { topUpRoutes } from './top-ups.ts'
import { usageRoutes } from './usage.ts'
import { verificationRoutes } from './verification.ts'
import type { ApiContext, Api } from '../api-context.ts'

/** What a customer sees and changes of an account, below `/api/v1/user/user/`. */
export function customerRoutes(app: Api, context: ApiContext): void {
  accountRoutes(app, context)
  keyRoutes(app, context)
  ownKeyRoutes(app, context)
  alertRoutes(app, context)
  byokRoutes(app, context)
  exchangeRoutes(app, context)
  redeemRoutes(app, context)
  topUpRoutes(app, context)
  subscriptionRoutes(app, context)
  verificationRoutes(app, context)
  logRoutes(app, context)
  explainRoutes(app, context)
  statementRoutes(app, context)
  usageRoutes(app, context)
  organisationRoutes(app, context)
}
