import { say } from '../../../core/sentences/say.ts'
import type { AccountId } from '../../../core/ids.ts'
import { type Actor, done, type Done, type AdminParts } from '../../admin/acts.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

/**
 * For a person who lost every factor and every recovery code, after an admin has checked their identity. Sessions end
 * too.
 */
export async function resetFactors(
  { storage }: Pick<AdminParts, 'storage'>,
  id: AccountId,
  reason: string,
  actor: Actor,
): Promise<Done<Account>> {
  return storage.audit.act<Done<Account>>(async (stores) => {
    const account = await stores.accounts.find(id)
    if (account === undefined) return { value: { kind: 'missing' }, act: undefined }
    if (!(await stores.identity.factors.removeAll(id)))
      return {
        value: { kind: 'conflict', message: say('no-second-factor') },
        act: undefined,
      }
    await stores.identity.sessions.revokeAll(id)
    const changes = [
      { field: 'second_factors', from: 'some', to: 'none' },
      { field: 'reason', from: null, to: reason },
    ]
    return {
      value: done(account),
      act: { at: actor.at, actor, action: 'account.reset-second-factors', subject: id, changes },
    }
  })
}
