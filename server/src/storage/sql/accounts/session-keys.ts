/** Keys limited to a sign-in session: created by the console for itself, deleted with the session. */
import type { Transaction } from 'kysely'
import { type KeyId, keyId } from '../../../core/ids.ts'
import type { Announcement } from '../../announcement.ts'
import type { SessionKey } from '../../stores/keys.ts'
import type { Written } from '../announced-write.ts'
import type { Schema } from '../schema.ts'
import { encodeKey } from './key-row.ts'

export async function putSessionKey(
  transaction: Transaction<Schema>,
  key: SessionKey,
  at: number,
): Promise<Written<KeyId | undefined>> {
  if (!(await lockSession(transaction, key.sessionId, at))) return { value: undefined, changes: [] }
  const columns = encodeKey(key)
  // Of two concurrent first inserts, the index admits one; the other waits for it and replaces it.
  const added = await transaction
    .insertInto('api_keys')
    .values(columns)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added !== undefined) return { value: key.id, changes: [{ kind: 'key', hash: key.hash }] }
  const former = await lockKey(transaction, key)
  const { id: _id, created_at: _created, ...changed } = columns
  await transaction.updateTable('api_keys').set(changed).where('id', '=', former.id).execute()
  const changes = [former.hash, key.hash].map((hash): Announcement => ({ kind: 'key', hash }))
  return { value: keyId(former.id), changes }
}

/**
 * Call after removing the sessions, in the same transaction: a session that gets a key at the same moment waits for
 * this transaction, or this one for it.
 */
export async function endSessionKeys(
  transaction: Transaction<Schema>,
  sessions: readonly { readonly id: string }[],
): Promise<readonly Announcement[]> {
  if (sessions.length === 0) return []
  const rows = await transaction
    .updateTable('api_keys')
    .set({ status: 'deleted' })
    .where(
      'session_id',
      'in',
      sessions.map(({ id }) => id),
    )
    .where('status', '<>', 'deleted')
    .returning('hash')
    .execute()
  return rows.map(({ hash }) => ({ kind: 'key', hash }))
}

/** Locks the session's row, so that the session ends before or after this; false: it has ended. */
async function lockSession(transaction: Transaction<Schema>, id: string, at: number): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('sessions')
    .set((row) => ({ seen_at: row.ref('seen_at') }))
    .where('id', '=', id)
    .where('idle_ends_at', '>', BigInt(at))
    .where('ends_at', '>', BigInt(at))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

async function lockKey(
  transaction: Transaction<Schema>,
  { accountId, memberId }: SessionKey,
): Promise<{ readonly id: string; readonly hash: string }> {
  const found = transaction
    .updateTable('api_keys')
    .set((row) => ({ status: row.ref('status') }))
    .where('account_id', '=', accountId)
    .where('session_id', 'is not', null)
  return (
    memberId === undefined ? found.where('member_id', 'is', null) : found.where('member_id', '=', memberId)
  )
    .returning(['id', 'hash'])
    .executeTakeFirstOrThrow()
}
