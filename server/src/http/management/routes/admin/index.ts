/** Everything under `/api/v1/admin/`: for sessions of role admin only (docs/reference/contract.md#D-accounts-114). */
import { adminAccountRoutes } from './accounts.ts'
import { announcementRoutes } from './announcements.ts'
import { adminAuditRoutes } from './audit.ts'
import { adminCatalogueRoutes } from './catalogue.ts'
import { adminChainRoutes } from './chains.ts'
import { adminCodeRoutes } from './codes.ts'
import { adminLogRoutes } from './logs.ts'
import { adminOperationRoutes } from './operations.ts'
import { adminOrganisationRoutes } from './organisations.ts'
import { adminPresetRoutes } from './presets.ts'
import { adminPriceRoutes } from './prices.ts'
import { adminTopUpRoutes } from './top-ups.ts'
import { adminVideoRoutes } from './videos.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export function adminRoutes(app: Api, context: ApiContext): void {
  adminAccountRoutes(app, context)
  adminOrganisationRoutes(app, context)
  adminCatalogueRoutes(app, context)
  adminPresetRoutes(app, context)
  adminChainRoutes(app, context)
  adminPriceRoutes(app, context)
  adminCodeRoutes(app, context)
  adminTopUpRoutes(app, context)
  adminLogRoutes(app, context)
  adminVideoRoutes(app, context)
  adminOperationRoutes(app, context)
  adminAuditRoutes(app, context)
  announcementRoutes(app, context)
}
