/**
 * What an admin may do while impersonating an account: read, and what a route explicitly allows. Nothing created in the
 * account's name may outlast the impersonation, and every change is in the audit log under the admin's name.
 */
import { say } from '../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import type { SessionCaller } from './caller.ts'
import type { ApiContext } from '../api-context.ts'
import type { Access, CallerByAccess, RegisteredRoute } from '../route-types.ts'

type ImpersonationContext = Pick<ApiContext, 'clientAddress' | 'now' | 'storage'>

type Words = Pick<RegisteredRoute, 'method' | 'path' | 'access' | 'reads' | 'impersonator'>

/** undefined: such sessions cannot be used there. */
export function impersonatorsPart({
  method,
  access,
  reads,
  impersonator,
}: Words): 'may' | 'refused' | undefined {
  switch (access) {
    case 'anonymous':
    case 'key':
    case 'admin':
    case 'organisation':
      return undefined
    case 'optional':
    case 'account':
    case 'session':
      if (impersonator !== undefined) return impersonator === 'may' ? 'may' : 'refused'
      return method === 'GET' || reads === true ? 'may' : 'refused'
  }
}

/** From the headers alone, before a byte of the body is read. */
export function refuseImpersonator(route: Words, caller: CallerByAccess[Access]): void {
  if (impersonatorOf(caller) === undefined || impersonatorsPart(route) !== 'refused') return
  throw new GatewayError(40304, {
    message: say('impersonator-may-not'),
  })
}

/** Before the act. Only the names of the body's members: values may be secrets. */
export async function noteImpersonated(
  context: ImpersonationContext,
  {
    route,
    request,
    caller,
  }: {
    readonly route: Words
    readonly request: FastifyRequest
    readonly caller: CallerByAccess[Access]
  },
): Promise<void> {
  const looking = impersonatorOf(caller)
  if (looking === undefined || route.method === 'GET' || route.reads === true) return
  const { storage, now } = context
  const { session, account, impersonator } = looking
  const admin = await storage.accounts.find(impersonator)
  const { body, params } = request
  await storage.audit.record({
    at: now(),
    actor: {
      accountId: impersonator,
      name: admin?.email ?? admin?.phone ?? impersonator,
      sessionId: session.id,
      address: context.clientAddress(request.raw),
      requestId: request.id,
    },
    action: 'impersonation.act',
    subject: account.id,
    changes: [
      { field: 'request', from: null, to: `${route.method} ${route.path}` },
      ...(isNamed(params) ? [{ field: 'of', from: null, to: params }] : []),
      ...(isJsonObject(body) ? [{ field: 'with', from: null, to: Object.keys(body) }] : []),
    ],
  })
}

/** Every caller that is shown a secret is recorded in the security log; an impersonator is shown none. */
export function noteSecret(
  context: Pick<ApiContext, 'clientAddress' | 'telemetry'>,
  {
    route,
    request,
    caller,
    body,
  }: {
    readonly route: Words & Pick<RegisteredRoute, 'showsSecret'>
    readonly request: FastifyRequest
    readonly caller: CallerByAccess[Access]
    /** The answer. */
    readonly body: unknown
  },
): void {
  if (route.showsSecret !== true || impersonatorOf(caller) !== undefined || isWithoutSecret(body)) return
  context.telemetry.security.note('secret.shown', {
    route: `${route.method} ${route.path}`,
    account: caller === undefined || !('account' in caller) ? undefined : caller.account.id,
    actor: caller !== undefined && isSession(caller) ? caller.person.id : undefined,
    address: context.clientAddress(request.raw),
    request: request.id,
  })
}

/** An answer without a secret: most changes of an account create no keys, and without a webhook there is no secret. */
function isWithoutSecret(body: unknown): boolean {
  const data = isJsonObject(body) ? body['data'] : undefined
  if (!isJsonObject(data)) return false
  const { new_keys: keys, webhook_secret: secret } = data
  return secret === null || (Array.isArray(keys) && keys.length === 0)
}

function isNamed(params: unknown): params is Readonly<Record<string, JsonValue>> {
  return isJsonObject(params) && Object.keys(params).length > 0
}

function impersonatorOf(caller: CallerByAccess[Access]) {
  if (caller === undefined || !isSession(caller)) return undefined
  const { impersonator } = caller.session
  return impersonator === undefined ? undefined : { ...caller, impersonator }
}

function isSession(caller: object): caller is SessionCaller {
  return 'session' in caller
}
