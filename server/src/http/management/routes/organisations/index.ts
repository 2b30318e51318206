/**
 * Organisations: people who share Credits. Everything else an organisation does is done with the header
 * `Gw-Organisation`.
 */
import { invitationRoutes, type InvitationsContext } from './invitations.ts'
import { memberRoutes } from './members.ts'
import { memberUsageRoutes } from './member-usage.ts'
import { ownOrganisationRoutes } from './own-organisations.ts'
import type { Api } from '../../api-context.ts'

export type OrganisationsContext = InvitationsContext

export function organisationRoutes(app: Api, context: OrganisationsContext): void {
  ownOrganisationRoutes(app, context)
  memberRoutes(app, context)
  memberUsageRoutes(app, context)
  invitationRoutes(app, context)
}
