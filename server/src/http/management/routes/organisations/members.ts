import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { memberId } from '../../../../core/ids.ts'
import { viewMember } from '../../../../management/organisations/member-view.ts'
import { rolesBelow } from '../../../../management/organisations/roles.ts'
import type { ListedMember, Member } from '../../../../storage/stores/organisations.ts'
import type { MemberCaller } from '../../access/caller.ts'
import { definePage, defineRoute, type RouteContext } from '../../define-route.ts'
import { pageQuery, nextCursor } from '../../answers/wire-values.ts'
import {
  checkChange,
  memberParams,
  memberShape,
  monthOptions,
  ONE,
  organisationParams,
  roleInput,
  shown,
  TAG,
  termsInput,
  termsOf,
  type ShapesContext,
} from './shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type MembersContext = RouteContext & ShapesContext

const MEMBERS = `${ONE}/members`

/** The members of an organisation, as seen and changed by its admins. */
export function memberRoutes(app: Api, context: MembersContext): void {
  listing(app, context)
  reading(app, context)
  changing(app, context)
  removing(app, context)
}

function listing(app: Api, context: MembersContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: MEMBERS,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'List the members, in order of joining',
    params: organisationParams,
    query: z.strictObject(pageQuery({ rowsDefault: 50, rowsMax: 200 })),
    row: memberShape,
    handle: async ({ caller, query: { limit, cursor: after } }) => {
      const options = monthOptions(context)
      const members = await storage.organisations.members(caller.account.id, { limit, after })
      return {
        rows: members.map((member) => shown(memberShape, viewMember(member, options))),
        next: nextCursor(members, limit),
      }
    },
  })
}

function reading(app: Api, context: MembersContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${MEMBERS}/:member`,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Read a member',
    params: memberParams,
    data: memberShape,
    handle: async ({ caller, params }) =>
      viewOf(context, await requireMemberOf(context, caller, params.member)),
  })
}

function changing(app: Api, context: MembersContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${MEMBERS}/:member`,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Change a member’s role, cap or limits, or suspend them',
    description:
      'Seen by the next call, on every instance. Members that are absent stay as they are. Only owners make owners and change them; there is always one who can act.',
    params: memberParams,
    body: z.strictObject({
      role: roleInput.optional(),
      status: z.enum(['active', 'suspended']).optional(),
      ...termsInput,
    }),
    errors: [40900],
    data: memberShape,
    handle: async ({ caller, params, body }) => {
      const { id } = await requireMemberOf(context, caller, params.member)
      const roles = rolesBelow(caller.member.role)
      if (body.role !== undefined && !roles.includes(body.role)) checkChange('other-role')
      const patch = {
        ...(body.role === undefined ? {} : { role: body.role }),
        ...(body.status === undefined ? {} : { status: body.status }),
        ...termsOf(context, body),
      }
      checkChange(await storage.organisations.patchMember(id, patch, { roles }))
      return viewOf(context, await requireMemberOf(context, caller, params.member))
    },
  })
}

function removing(app: Api, context: MembersContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${MEMBERS}/:member`,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Remove a member',
    description:
      'The next call of their keys is refused. With `keys=keep` the keys become the organisation’s own and continue to work: rotate those the person has seen.',
    params: memberParams,
    query: z.strictObject({ keys: z.enum(['delete', 'keep']).default('delete') }),
    errors: [40900],
    data: z.strictObject({ id: z.string(), removed: z.literal(true) }),
    handle: async ({ caller, params, query }) => {
      const { id } = await requireMemberOf(context, caller, params.member)
      if (id === caller.member.id && query.keys === 'keep')
        throw new GatewayError(40900, {
          message: say('keys-known-to-you'),
        })
      const roles = rolesBelow(caller.member.role)
      checkChange(await storage.organisations.removeMember(id, { keys: query.keys, roles }))
      return { id, removed: true as const }
    },
  })
}

/** Members of other organisations are not found. */
export async function requireMemberOf(
  context: Pick<ApiContext, 'storage'>,
  caller: MemberCaller,
  id: string,
): Promise<Member> {
  const member = await context.storage.organisations.findMember(memberId(id))
  if (member === undefined || member.organisationId !== caller.account.id) throw new GatewayError(40403)
  return member
}

async function viewOf(context: MembersContext, member: Member): Promise<z.output<typeof memberShape>> {
  const { storage } = context
  const person = await storage.accounts.find(member.accountId)
  const profile = await storage.customers.profiles.find(member.accountId)
  const listed: ListedMember = {
    ...member,
    email: person?.email,
    phone: person?.phone,
    name: profile?.name,
    personStatus: person?.status ?? 'suspended',
  }
  return shown(memberShape, viewMember(listed, monthOptions(context)))
}
