/** Sessions ended by their owner. */
import type { Identity } from '../identity.ts'
import { type OwnAct, ownAct } from '../own-act.ts'

/** False: the account has no such session. */
export function endSession(
  identity: Identity,
  act: OwnAct,
  { id, action }: { readonly id: string; readonly action: 'account.sign-out' | 'account.end-session' },
): Promise<boolean> {
  return ownAct(identity, act, async ({ storage }) => {
    const value = await storage.identity.sessions.revoke(act.account.id, id)
    const changes = [{ field: 'session', from: id, to: null }]
    return { value, action: value ? action : undefined, changes }
  })
}

/** Returns how many ended. */
export function endOtherSessions(identity: Identity, act: OwnAct, except: string): Promise<number> {
  return ownAct(identity, act, async ({ storage }) => {
    const value = await storage.identity.sessions.revokeAll(act.account.id, { except })
    const changes = [{ field: 'sessions', from: value, to: 0 }]
    return { value, action: value === 0 ? undefined : 'account.end-other-sessions', changes }
  })
}
