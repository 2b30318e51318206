/** Changes that people make to their own account: each act and its entry in the audit log are one transaction. */
import { HOUR_MS } from '../../core/durations.ts'
import type { AuditActor, AuditedChange } from '../../storage/stores/audit.ts'
import type { AccountId } from '../../core/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Identity } from './identity.ts'
import type { RequestOrigin } from './sessions/sessions.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** Who acts, on which account. */
export interface OwnAct {
  readonly account: Pick<Account, 'id'>
  readonly actor: AuditActor
}

export interface OwnDeed<Value> {
  readonly value: Value
  /** `account.sign-in`; undefined: nothing was done, so there is no entry. */
  readonly action: string | undefined
  /** Never a secret: only the fact that it was set. */
  readonly changes?: readonly AuditedChange[]
}

/** Entries of the audit log are never removed, so the number that one account can create is limited. */
const ACTS_PER_HOUR = 3_000

/** An account made too many changes in too short a time. */
export class TooManyActs extends Error {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('too many changes of this account, try again later')
    this.name = 'TooManyActs'
    this.retryAfterMs = retryAfterMs
  }
}

/** Before an act that leaves an entry; throws `TooManyActs`. */
export async function countAct(
  { identity }: Pick<Storage, 'identity'>,
  account: AccountId,
  at: number,
): Promise<void> {
  const bucket = { subject: `acts/${account}`, limit: ACTS_PER_HOUR, windowMs: HOUR_MS }
  const waitMs = await identity.attempts.take([bucket], at)
  if (waitMs !== undefined) throw new TooManyActs(waitMs)
}

/** `work` may be run again after a conflict of transactions; the stores it gets write in one transaction. */
export async function ownAct<Value>(
  identity: Identity,
  { account, actor }: OwnAct,
  work: (within: Identity) => Promise<OwnDeed<Value>>,
): Promise<Value> {
  await countAct(identity.storage, account.id, identity.now())
  return identity.storage.audit.act(async (stores) => {
    const within = { ...identity, storage: { ...identity.storage, ...stores } }
    const { value, action, changes = [] } = await work(within)
    const act =
      action === undefined ? undefined : { at: identity.now(), actor, action, subject: account.id, changes }
    return { value, act }
  })
}

/** The actor of an act before sign-in, or just after sign-out. */
export function actorAt(
  account: Pick<Account, 'id' | 'email' | 'phone'>,
  origin: RequestOrigin,
  sessionId: string | undefined,
): AuditActor {
  return {
    accountId: account.id,
    name: account.email ?? account.phone ?? account.id,
    sessionId,
    address: origin.address,
    requestId: origin.requestId,
  }
}
