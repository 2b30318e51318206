/** Everything under `/api/v1/admin/`: for sessions of role admin only (docs/reference/contract.md#D-accounts-114). */
import { adminAccountRoutes, type AccountsContext } from './customers/accounts.ts'
import { announcementRoutes } from './announcements.ts'
import { adminAuditRoutes } from './audit.ts'
import { adminCatalogueRoutes } from './catalogue/catalogue.ts'
import { adminChainRoutes, type ChainsContext } from './catalogue/chains.ts'
import { adminKeyRoutes } from './customers/keys.ts'
import { adminCodeRoutes } from './customers/codes.ts'
import { adminExplainRoutes, type AdminExplainContext } from './explain.ts'
import { adminGatewayFileRoutes } from './catalogue/gateway-file.ts'
import { adminHealthRoutes, type HealthContext } from './health.ts'
import { adminLogRoutes } from './logs.ts'
import { adminOperationRoutes, type OperationsContext } from './operations.ts'
import { adminOrganisationRoutes } from './customers/organisations.ts'
import { adminPresetRoutes, type PresetsContext } from './catalogue/presets.ts'
import { adminPriceRoutes } from './catalogue/prices.ts'
import { adminStatisticRoutes } from './statistics.ts'
import { adminTopUpRoutes } from './customers/top-ups.ts'
import { adminVideoRoutes } from './videos.ts'
import type { Api } from '../../api-context.ts'

export type AdminContext = ChainsContext &
  AccountsContext &
  PresetsContext &
  OperationsContext &
  HealthContext &
  AdminExplainContext

export function adminRoutes(app: Api, context: AdminContext): void {
  adminAccountRoutes(app, context)
  adminKeyRoutes(app, context)
  adminOrganisationRoutes(app, context)
  adminCatalogueRoutes(app, context)
  adminPresetRoutes(app, context)
  adminGatewayFileRoutes(app, context)
  adminChainRoutes(app, context)
  adminPriceRoutes(app, context)
  adminCodeRoutes(app, context)
  adminTopUpRoutes(app, context)
  adminHealthRoutes(app, context)
  adminLogRoutes(app, context)
  adminStatisticRoutes(app, context)
  adminExplainRoutes(app, context)
  adminVideoRoutes(app, context)
  adminOperationRoutes(app, context)
  adminAuditRoutes(app, context)
  announcementRoutes(app, context)
}
