/**
 * Changes that people make to their own keys and credentials: each change and its entry in the audit log are one
 * transaction. Throws `TooManyActs`.
 */
import type { FastifyRequest } from 'fastify'
import type { AuditedChange, AuditedStores } from '../../storage/stores/audit.ts'
import { countAct } from '../../management/identity/own-act.ts'
import { personOf } from './access/acts-for-organisations.ts'
import type { SessionCaller } from './access/caller.ts'
import type { ApiContext } from './api-context.ts'

type OwnChangesContext = Pick<ApiContext, 'clientAddress' | 'now' | 'storage'>

export interface OwnChange<Value> {
  readonly value: Value
  /** `key.create`; undefined: nothing was changed. */
  readonly action: string | undefined
  /** Never a secret: only the fact that it was set. */
  readonly changes?: readonly AuditedChange[]
}

/**
 * A person who acts for an organisation, and an administrator who impersonates an account, already have an entry: it is
 * made for every such request before the act (`noteActFor`, `noteImpersonated`).
 */
export async function changeOwn<Value>(
  context: OwnChangesContext,
  { caller, request }: { readonly caller: SessionCaller; readonly request: FastifyRequest },
  work: (stores: AuditedStores) => Promise<OwnChange<Value>>,
): Promise<Value> {
  const { storage, now } = context
  const isNoted = caller.member !== undefined || caller.session.impersonator !== undefined
  await countAct(storage, caller.account.id, now())
  return storage.audit.act(async (stores) => {
    const { value, action, changes = [] } = await work(stores)
    if (action === undefined || isNoted) return { value, act: undefined }
    const actor = personOf(context, { caller, request })
    return { value, act: { at: now(), actor, action, subject: caller.account.id, changes } }
  })
}
