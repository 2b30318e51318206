/** API keys. Their plaintext never comes here, only its hash and what a list may show. */
import type { Kysely, Updateable } from 'kysely'
import type { Announcement, Key, KeyStore } from '../storage.ts'
import type { AnnouncedWrite } from './announced-write.ts'
import { decodeKey } from './key-row.ts'
import type { ApiKeysTable, Schema } from './schema.ts'

export interface KeyStoreOptions {
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
}

export function createKeyStore({ reader, write }: KeyStoreOptions): KeyStore {
  const living = () => reader.selectFrom('api_keys').selectAll().where('status', '<>', 'deleted')
  return {
    async findByHash(hash) {
      const row = await living().where('hash', '=', hash).executeTakeFirst()
      return row === undefined ? undefined : decodeKey({ ...row })
    },

    async find(id) {
      const row = await living().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeKey({ ...row })
    },

    async list(account) {
      const rows = await living()
        .where('account_id', '=', account)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map((row) => decodeKey({ ...row }))
    },

    create: (key) =>
      write(async (transaction) => {
        await transaction
          .insertInto('api_keys')
          .values({
            id: key.id,
            account_id: key.accountId,
            name: key.name,
            hash: key.hash,
            hint: key.hint,
            status: key.status,
            created_at: key.createdAt,
            expires_at: key.expiresAt ?? null,
            group_name: key.group ?? null,
            models: JSON.stringify(key.models),
            ip_allow: JSON.stringify(key.ipAllow),
            policy: key.policy === undefined ? null : JSON.stringify(key.policy),
          })
          .execute()
        return { value: undefined, changes: [{ kind: 'key', hash: key.hash }] }
      }),

    patch: (id, patch) =>
      write(async (transaction) => {
        const before = await transaction
          .selectFrom('api_keys')
          .select('hash')
          .where('id', '=', id)
          .where('status', '<>', 'deleted')
          .executeTakeFirst()
        if (before === undefined) return { value: false, changes: [] }
        const columns = columnsOf(patch)
        if (Object.keys(columns).length > 0) {
          await transaction.updateTable('api_keys').set(columns).where('id', '=', id).execute()
        }
        const hashes = new Set([before.hash, patch.hash ?? before.hash])
        return { value: true, changes: [...hashes].map((hash): Announcement => ({ kind: 'key', hash })) }
      }),
  }
}

/** The columns a patch speaks of; a field that is present as `undefined` clears its column. */
function columnsOf(patch: Partial<Key>): Updateable<ApiKeysTable> {
  return {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.status !== undefined && { status: patch.status }),
    ...(patch.hash !== undefined && { hash: patch.hash }),
    ...(patch.hint !== undefined && { hint: patch.hint }),
    ...('expiresAt' in patch && { expires_at: patch.expiresAt ?? null }),
    ...('group' in patch && { group_name: patch.group ?? null }),
    ...(patch.models !== undefined && { models: JSON.stringify(patch.models) }),
    ...(patch.ipAllow !== undefined && { ip_allow: JSON.stringify(patch.ipAllow) }),
    ...('policy' in patch && { policy: patch.policy === undefined ? null : JSON.stringify(patch.policy) }),
  }
}
