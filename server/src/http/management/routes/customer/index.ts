import { accountRoutes, type AccountContext } from './account.ts'
import { alertRoutes, type AlertsContext } from './alerts.ts'
import { byokRoutes } from './byok.ts'
import { exchangeRoutes } from './exchange.ts'
import { explainRoutes, type ExplainContext } from './explain.ts'
import { keyRoutes } from './keys.ts'
import { logConversationRoutes } from './log-conversation.ts'
import { logRoutes, type LogsContext } from './logs.ts'
import { organisationRoutes, type OrganisationsContext } from '../organisations/index.ts'
import { ownKeyRoutes } from './own-key.ts'
import { redeemRoutes } from './redeem.ts'
import { sessionKeyRoutes } from './session-key.ts'
import { statementRoutes } from './statements.ts'
import { subscriptionRoutes } from './subscription.ts'
import { topUpRoutes, type TopUpsContext } from './top-ups.ts'
import { usageRoutes } from './usage.ts'
import { verificationRoutes, type VerificationContext } from './verification.ts'
import type { Api } from '../../api-context.ts'

export type CustomersContext = OrganisationsContext &
  AccountContext &
  TopUpsContext &
  AlertsContext &
  VerificationContext &
  ExplainContext &
  LogsContext

/** Routes with which a customer reads and changes an account, below `/api/v1/user/user/`. */
export function customerRoutes(app: Api, context: CustomersContext): void {
  accountRoutes(app, context)
  keyRoutes(app, context)
  ownKeyRoutes(app, context)
  sessionKeyRoutes(app, context)
  alertRoutes(app, context)
  byokRoutes(app, context)
  exchangeRoutes(app, context)
  redeemRoutes(app, context)
  topUpRoutes(app, context)
  subscriptionRoutes(app, context)
  verificationRoutes(app, context)
  logRoutes(app, context)
  logConversationRoutes(app, context)
  explainRoutes(app, context)
  statementRoutes(app, context)
  usageRoutes(app, context)
  organisationRoutes(app, context)
}
