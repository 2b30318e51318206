import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { normalEmail } from '../../../../core/identity/email-address.ts'
import { UNLIMITED } from '../../../../core/limits/policy.ts'
import { ZERO } from '../../../../core/money.ts'
import {
  acceptInvitation,
  type Inviting,
  invite,
  previewInvitation,
  resendInvitation,
} from '../../../../management/organisations/invitations.ts'
import { viewInvitation, viewOrganisation } from '../../../../management/organisations/member-view.ts'
import { rolesBelow } from '../../../../management/organisations/roles.ts'
import type { Invitation, Member, Organisation } from '../../../../storage/stores/organisations.ts'
import { personOf } from '../../access/acts-for-organisations.ts'
import type { MemberCaller, SessionCaller } from '../../access/caller.ts'
import { definePage, defineRoute, type RouteContext } from '../../define-route.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { isoTime, pageQuery, nextCursor } from '../../answers/wire-values.ts'
import { requireOrganisation } from './own-organisations.ts'
import {
  invitationParams,
  invitationShape,
  checkChange,
  monthOptions,
  ONE,
  organisationParams,
  organisationShape,
  PATH,
  requireThemself,
  roleInput,
  shown,
  TAG,
  termsInput,
  termsOf,
  type ShapesContext,
} from './shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type InvitationsContext = RouteContext & ShapesContext & Pick<ApiContext, 'consoleUrl' | 'publicUrl'>

const INVITATIONS = `${ONE}/invitations`

/** Invitations to become a member, and the answers. */
export function invitationRoutes(app: Api, context: InvitationsContext): void {
  inviting(app, context)
  listing(app, context)
  resending(app, context)
  revoking(app, context)
  previewing(app, context)
  accepting(app, context)
}

function inviting(app: Api, context: InvitationsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: INVITATIONS,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Invite somebody by e-mail',
    description:
      'Valid for seven days. The answer is the same whether or not the address has an account; the invitation itself is only in the mail.',
    status: 201,
    params: organisationParams,
    body: z.strictObject({
      email: z.string().min(1).max(320),
      role: roleInput.default('member'),
      ...termsInput,
    }),
    errors: [40900, 42908],
    data: invitationShape,
    handle: async ({ caller, body }) => {
      const email = normalEmail(body.email)
      if (email === undefined)
        throw refuseFields([{ in: 'body', path: 'email', message: say('must-be-an-email') }])
      if (!rolesBelow(caller.member.role).includes(body.role)) checkChange('other-role')
      const organisation = await requireOrganisation(context, caller.account)
      const { monthlyCap = ZERO, policy = UNLIMITED } = termsOf(context, body)
      const request = { organisation, inviter: caller.person, email, role: body.role, monthlyCap, policy }
      const outcome = await invite(means(context), request, context.now())
      switch (outcome.kind) {
        case 'invited':
          return viewOf(context, outcome.invitation)
        case 'pending':
          throw new GatewayError(40900, {
            message: say('already-invited'),
          })
        case 'member':
          throw new GatewayError(40900, { message: say('already-member-address') })
        case 'none':
          throw new GatewayError(40403)
        case 'too-many':
          throw new GatewayError(42908, { retryAfterMs: outcome.retryAfterMs })
      }
    },
  })
}

function listing(app: Api, context: InvitationsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: INVITATIONS,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'List invitations, newest first',
    params: organisationParams,
    query: z.strictObject({
      ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
      status: z.enum(['pending', 'accepted', 'revoked']).optional(),
    }),
    row: invitationShape,
    handle: async ({ caller, query: { limit, cursor: after, status } }) => {
      const invitations = await storage.organisations.invitations(caller.account.id, {
        limit,
        after,
        ...(status === undefined ? {} : { status }),
      })
      return {
        rows: invitations.map((invitation) => viewOf(context, invitation)),
        next: nextCursor(invitations, limit),
      }
    },
  })
}

function resending(app: Api, context: InvitationsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${INVITATIONS}/:invitation/resend`,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Send an invitation again',
    description: 'Valid for seven days from now. The earlier one becomes invalid.',
    params: invitationParams,
    errors: [40900, 42908],
    data: invitationShape,
    handle: async ({ caller, params }) => {
      const invitation = await requireInvitationOf(context, caller, params.invitation)
      const organisation = await requireOrganisation(context, caller.account)
      const request = { organisation, inviter: caller.person, invitation }
      const outcome = await resendInvitation(means(context), request, context.now())
      switch (outcome.kind) {
        case 'invited':
          return viewOf(context, outcome.invitation)
        case 'gone':
          throw noMorePending()
        case 'too-many':
          throw new GatewayError(42908, { retryAfterMs: outcome.retryAfterMs })
      }
    },
  })
}

function revoking(app: Api, context: InvitationsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${INVITATIONS}/:invitation`,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Take an invitation back',
    params: invitationParams,
    errors: [40900],
    data: z.strictObject({ id: z.string(), revoked: z.literal(true) }),
    handle: async ({ caller, params }) => {
      const { id } = await requireInvitationOf(context, caller, params.invitation)
      if (!(await storage.organisations.revokeInvitation(id))) throw noMorePending()
      return { id, revoked: true as const }
    },
  })
}

const tokenBody = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: 'As in the mail.' }),
})

function previewing(app: Api, context: InvitationsContext): void {
  const { clientAddress } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/invitations/preview`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Look up an invitation',
    description: 'For people who have the mail and no account yet: `email` is the address the account needs.',
    body: tokenBody,
    errors: [40005, 42908],
    data: z.strictObject({
      organisation: z.string().meta({ description: 'Its name.' }),
      email: z.string(),
      role: roleInput,
      expires_at: isoTime,
    }),
    handle: async ({ body, request, reply }) => {
      reply.header('cache-control', 'no-store')
      const asked = { token: body.token.trim(), address: clientAddress(request.raw) }
      const preview = await previewInvitation(context.storage, asked, context.now())
      switch (preview.kind) {
        case 'found':
          return {
            organisation: preview.organisation.name,
            email: preview.invitation.email,
            role: preview.invitation.role,
            expires_at: new Date(preview.invitation.expiresAt).toISOString(),
          }
        case 'none':
          throw notValid()
        case 'too-many':
          throw new GatewayError(42908, { retryAfterMs: preview.retryAfterMs })
      }
    },
  })
}

function accepting(app: Api, context: InvitationsContext): void {
  const { clientAddress } = context
  const { storage } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/invitations/accept`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Accept an invitation',
    description:
      'Signed in with the account that has the invited address. Accepted again, it changes nothing.',
    body: tokenBody,
    errors: [40005, 40900, 42908],
    data: organisationShape,
    handle: async ({ body, caller, request }) => {
      requireThemself(caller)
      const at = context.now()
      const asked = {
        token: body.token.trim(),
        person: caller.person.id,
        address: clientAddress(request.raw),
      }
      const outcome = await acceptInvitation(storage, asked, at)
      switch (outcome.kind) {
        case 'accepted': {
          const { organisation, member } = outcome
          if (!outcome.repeated) await noteJoining(context, { organisation, member, caller, request, at })
          return shown(organisationShape, viewOrganisation({ organisation, member }, monthOptions(context)))
        }
        case 'none':
          throw notValid()
        case 'other-address':
          throw new GatewayError(40304, {
            message: say('invitation-of-another'),
          })
        case 'member-already':
          throw new GatewayError(40900, { message: say('already-member') })
        case 'too-many':
          throw new GatewayError(42908, { retryAfterMs: outcome.retryAfterMs })
      }
    },
  })
}

async function noteJoining(
  context: Pick<ApiContext, 'clientAddress' | 'storage'>,
  joined: {
    readonly organisation: Organisation
    readonly member: Member
    readonly caller: SessionCaller
    readonly request: FastifyRequest
    readonly at: number
  },
): Promise<void> {
  const { organisation, member, at } = joined
  await context.storage.audit.record({
    at,
    actor: personOf(context, joined),
    action: 'organisation.join',
    subject: organisation.id,
    changes: [
      { field: 'member', from: null, to: member.id },
      { field: 'role', from: null, to: member.role },
    ],
  })
}

function means({ storage, identity, publicUrl, consoleUrl }: InvitationsContext): Inviting {
  return { storage, identity, publicUrl, consoleUrl }
}

/** Invitations of other organisations are not found; one to a role above the caller's own cannot be changed. */
async function requireInvitationOf(
  context: Pick<ApiContext, 'storage'>,
  { account, member }: MemberCaller,
  id: string,
): Promise<Invitation> {
  const invitation = await context.storage.organisations.findInvitationById(id)
  if (invitation === undefined || invitation.organisationId !== account.id) throw new GatewayError(40403)
  if (!rolesBelow(member.role).includes(invitation.role)) checkChange('other-role')
  return invitation
}

function viewOf(context: Pick<ApiContext, 'catalogue' | 'now'>, invitation: Omit<Invitation, 'tokenHash'>) {
  const { currency, creditsPerUnit } = context.catalogue().settings
  return shown(invitationShape, viewInvitation(invitation, { currency, creditsPerUnit, at: context.now() }))
}

function notValid(): GatewayError {
  return new GatewayError(40005, { message: say('invitation-not-valid') })
}

function noMorePending(): GatewayError {
  return new GatewayError(40900, { message: say('invitation-not-pending') })
}
