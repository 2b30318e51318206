/**
 * A second factor demanded of administrators (`SLUICE_ADMIN_SECOND_FACTOR`). It is required of the session, not of the
 * account: one that began before the factor was set up has not verified it.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { SessionCaller } from './caller.ts'
import type { ApiContext } from '../api-context.ts'
import type { Access, CallerByAccess, RegisteredRoute } from '../route-types.ts'

type Words = Pick<RegisteredRoute, 'method' | 'path' | 'access' | 'withoutSecondFactor'>

/**
 * Whether a route is closed to administrators who have not verified a second factor. Public routes reveal nothing
 * special to them.
 */
export function needsAdminsFactor({ access, withoutSecondFactor }: Words): boolean {
  return access !== 'anonymous' && access !== 'optional' && access !== 'key' && withoutSecondFactor !== 'may'
}

/** From the headers alone, before a byte of the body is read. */
export function refuseWithoutFactor(
  { identity }: Pick<ApiContext, 'identity'>,
  route: Words,
  caller: CallerByAccess[Access],
): void {
  if (!identity.adminsNeedFactor || !needsAdminsFactor(route)) return
  if (caller === undefined || !isSession(caller)) return
  const { person, session } = caller
  // An admin who impersonates an account has verified their own factor, and sees no more than the account's owner.
  if (person.role !== 'admin' || session.secondFactor || session.impersonator !== undefined) return
  identity.security.note('second-factor.missing', {
    account: person.id,
    session: session.id,
    route: `${route.method} ${route.path}`,
  })
  throw new GatewayError(40308)
}

function isSession(caller: object): caller is SessionCaller {
  return 'session' in caller
}
