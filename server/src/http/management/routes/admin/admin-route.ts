/** What the admin routes share: who acts, and how an outcome becomes an answer. */
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { vendorKinds } from '../../../../pipeline/instance/chains/vendor-kinds.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { findAccount } from '../../../../management/accounts/accounts.ts'
import type { Actor, Done, AdminParts } from '../../../../management/admin/acts.ts'
import type { Account } from '../../../../storage/stores/accounts.ts'
import type { SessionCaller } from '../../access/caller.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import type { ApiContext } from '../../api-context.ts'

export function managementOf({
  storage,
  identity: { phoneRegion },
}: Pick<ApiContext, 'identity' | 'storage'>): AdminParts {
  return { storage, kinds: vendorKinds, phoneRegion }
}

export function actorOf(
  { now, clientAddress }: Pick<ApiContext, 'clientAddress' | 'now'>,
  { caller, request }: { readonly caller: SessionCaller; readonly request: FastifyRequest },
): Actor {
  const { account, session } = caller
  return {
    at: now(),
    accountId: account.id,
    name: account.email ?? account.phone ?? account.id,
    sessionId: session.id,
    address: clientAddress(request.raw),
    requestId: request.id,
  }
}

/** The value; otherwise throws the refusal. */
export function valueOf<Value>(outcome: Done<Value>): Value {
  switch (outcome.kind) {
    case 'done':
      return outcome.value
    case 'mistakes':
      throw refuseFields(outcome.mistakes.map((mistake) => ({ in: 'body', ...mistake })))
    case 'missing':
      throw new GatewayError(40403)
    case 'conflict':
      throw new GatewayError(40900, { message: outcome.message })
  }
}

export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new GatewayError(40403)
  return value
}

export const accountParams = z.object({
  id: z.string().min(1).max(320).meta({ description: 'Account id, e-mail address or phone number.' }),
})

/** The account that `accountParams` name; throws where there is none. */
export async function accountOf(
  { storage, identity }: Pick<ApiContext, 'identity' | 'storage'>,
  reference: string,
): Promise<Account> {
  return present(await findAccount(storage, reference, identity))
}

/** A member of a row that is text or a number; empty if it is neither. */
export function textOf(row: JsonObject, name: string): string {
  const value = row[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
