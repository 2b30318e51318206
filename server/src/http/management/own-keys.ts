/** Which keys of an account a caller may see: an ordinary member of an organisation only their own. */
import type { KeyId, MemberId } from '../../core/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import type { SessionCaller } from './access/caller.ts'
import type { Key } from '../../storage/stores/keys.ts'

/** The member whose data the caller is limited to; undefined: they see everything of the account. */
export function onlyMember({ member }: SessionCaller): MemberId | undefined {
  return member?.role === 'member' ? member.id : undefined
}

export function isOwnKey(caller: SessionCaller, key: Pick<Key, 'accountId' | 'memberId'>): boolean {
  const member = onlyMember(caller)
  return key.accountId === caller.account.id && (member === undefined || key.memberId === member)
}

/** The keys whose calls a caller's log contains, including deleted ones; undefined: those of the whole account. */
export async function ownKeyIds(
  storage: Pick<Storage, 'keys'>,
  caller: SessionCaller,
): Promise<readonly KeyId[] | undefined> {
  const member = onlyMember(caller)
  if (member === undefined) return undefined
  const keys = await storage.keys.list(caller.account.id, { member, ever: 'included' })
  return keys.map((key) => key.id)
}
