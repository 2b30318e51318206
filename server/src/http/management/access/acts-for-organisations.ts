/** Records acts for an organisation: every changing request of a member is in the audit log under the person's name. */
import type { FastifyRequest } from 'fastify'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import type { AuditActor } from '../../../storage/stores/audit.ts'
import type { MemberCaller, SessionCaller } from './caller.ts'
import type { ApiContext } from '../api-context.ts'
import type { Access, CallerByAccess } from '../route-types.ts'

export type ActsForOrganisationsContext = Pick<ApiContext, 'clientAddress' | 'now' | 'storage'>

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

interface ActFor {
  readonly route: {
    readonly method: string
    readonly path: string
    readonly access: Access
    readonly reads?: true
  }
  readonly request: FastifyRequest
  readonly caller: CallerByAccess[Access]
}

/**
 * Before the act, and only for changing requests. Bodies of the organisation's own routes contain no secrets and are
 * recorded whole; of other bodies only the names of their members are, since they may contain credentials and codes.
 */
export async function noteActFor(
  context: ActsForOrganisationsContext,
  { route, request, caller }: ActFor,
): Promise<void> {
  if (SAFE_METHODS.includes(request.method) || route.reads === true || !isMemberCaller(caller)) return
  const { body } = request
  const told = route.access === 'organisation' ? jsonOf(body) : namesOf(body)
  await context.storage.audit.record({
    at: context.now(),
    actor: personOf(context, { caller, request }),
    action: 'organisation.act',
    subject: caller.account.id,
    changes: [
      { field: 'request', from: null, to: `${route.method} ${route.path}` },
      { field: 'of', from: null, to: jsonOf(request.params) },
      ...(told === null ? [] : [{ field: 'with', from: null, to: told }]),
    ],
  })
}

/** The person of a session, even when they act for an organisation. */
export function personOf(
  { clientAddress }: Pick<ApiContext, 'clientAddress'>,
  { caller, request }: { readonly caller: SessionCaller; readonly request: FastifyRequest },
): AuditActor {
  const { person, session } = caller
  return {
    accountId: person.id,
    name: person.email ?? person.phone ?? person.id,
    sessionId: session.id,
    address: clientAddress(request.raw),
    requestId: request.id,
  }
}

function isMemberCaller(caller: CallerByAccess[Access]): caller is MemberCaller {
  return caller !== undefined && 'member' in caller && caller.member !== undefined && 'session' in caller
}

/** The body was parsed as JSON; params are strings by name. */
function jsonOf(value: unknown): JsonValue {
  return value === undefined || value === null ? null : (value as JsonValue)
}

function namesOf(body: unknown): JsonValue {
  return isJsonObject(body) ? Object.keys(body) : null
}
