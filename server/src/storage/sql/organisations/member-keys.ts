/**
 * What happens to keys when their member leaves or their organisation is closed, and which secrets caches must drop.
 */
import type { Transaction } from 'kysely'
import type { AccountId, MemberId } from '../../../core/ids.ts'
import type { Announcement } from '../../announcement.ts'
import type { Schema } from '../schema.ts'

export type KeyOwner = { readonly member: MemberId } | { readonly organisation: AccountId }

export async function announceKeys(
  transaction: Transaction<Schema>,
  owner: KeyOwner,
): Promise<readonly Announcement[]> {
  const keys = await living(transaction, owner).execute()
  if (keys.length === 0) return []
  const former = await transaction
    .selectFrom('former_secrets')
    .select('hash')
    .where('key_id', 'in', living(transaction, owner).clearSelect().select('id'))
    .execute()
  return [...keys, ...former].map(({ hash }) => ({ kind: 'key', hash }))
}

function living(transaction: Transaction<Schema>, owner: KeyOwner) {
  const keys = transaction.selectFrom('api_keys').select('hash').where('status', '<>', 'deleted')
  return 'member' in owner
    ? keys.where('member_id', '=', owner.member)
    : keys.where('account_id', '=', owner.organisation)
}

/** They still belong to the member: their calls are still shown. */
export async function deleteKeys(
  transaction: Transaction<Schema>,
  owner: KeyOwner,
): Promise<readonly Announcement[]> {
  const changes = await announceKeys(transaction, owner)
  const keys = transaction.updateTable('api_keys').set({ status: 'deleted' })
  await ('member' in owner
    ? keys.where('member_id', '=', owner.member)
    : keys.where('account_id', '=', owner.organisation)
  ).execute()
  return changes
}

/** They become the organisation's own; the member's session key is deleted. */
export async function releaseKeys(
  transaction: Transaction<Schema>,
  { member }: { readonly member: MemberId },
): Promise<readonly Announcement[]> {
  const changes = await announceKeys(transaction, { member })
  await transaction
    .updateTable('api_keys')
    .set({ status: 'deleted' })
    .where('member_id', '=', member)
    .where('session_id', 'is not', null)
    .execute()
  await transaction
    .updateTable('api_keys')
    .set({ member_id: null })
    .where('member_id', '=', member)
    .where('status', '<>', 'deleted')
    .execute()
  return changes
}
