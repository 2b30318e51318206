/** Organisations: people who share Credits. What an organisation does beside is done with the header `Gw-Organisation`. */
import { invitationRoutes } from './invitations.ts'
import { memberRoutes } from './members.ts'
import { memberUsageRoutes } from './member-usage.ts'
import { ownOrganisationRoutes } from './own-organisations.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export function organisationRoutes(app: Api, context: ApiContext): void {
  ownOrganisationRoutes(app, context)
  memberRoutes(app, context)
  memberUsageRoutes(app, context)
  invitationRoutes(app, context)
}
