/** Passkeys: public keys, so nothing here is secret. */
import { accountId } from '../../../core/ids.ts'
import type { FactorStore, Passkey } from '../../stores/identity.ts'
import { parseStored } from '../stored-json.ts'
import { numberOf, optionalNumberOf, type StoredRow, textOf } from '../table.ts'
import type { IdentityStoreOptions } from './options.ts'

export type PasskeyStore = Pick<
  FactorStore,
  'listPasskeys' | 'findPasskey' | 'addPasskey' | 'usePasskey' | 'removePasskey'
>

export function createPasskeyStore({ reader, write }: IdentityStoreOptions): PasskeyStore {
  return {
    async listPasskeys(account) {
      const rows = await reader
        .selectFrom('passkeys')
        .selectAll()
        .where('account_id', '=', account)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map((row) => decodePasskey({ ...row }))
    },

    async findPasskey(id) {
      const row = await reader.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodePasskey({ ...row })
    },

    addPasskey: (passkey) =>
      write(async (transaction) => {
        await transaction
          .insertInto('passkeys')
          .values({
            id: passkey.id,
            account_id: passkey.accountId,
            name: passkey.name,
            public_key: passkey.publicKey,
            counter: passkey.counter,
            transports: JSON.stringify(passkey.transports),
            backed_up: passkey.backedUp ? 1 : 0,
            created_at: passkey.createdAt,
            used_at: passkey.usedAt ?? null,
          })
          .execute()
        return { value: undefined, changes: [] }
      }),

    usePasskey: (id, { counter, at }) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('passkeys')
          .set({ counter, used_at: at })
          .where('id', '=', id)
          // An authenticator with a counter never returns the same number twice; one without always returns 0.
          .where((row) => (counter === 0 ? row('counter', '=', 0n) : row('counter', '<', BigInt(counter))))
          .executeTakeFirst()
        return { value: numUpdatedRows === 1n, changes: [] }
      }),

    removePasskey: (account, id) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('passkeys')
          .where('account_id', '=', account)
          .where('id', '=', id)
          .executeTakeFirst()
        return { value: numDeletedRows === 1n, changes: [] }
      }),
  }
}

function decodePasskey(row: StoredRow): Passkey {
  return {
    id: textOf(row, 'id'),
    accountId: accountId(textOf(row, 'account_id')),
    name: textOf(row, 'name'),
    publicKey: textOf(row, 'public_key'),
    counter: numberOf(row, 'counter'),
    transports: parseStored<readonly string[]>(textOf(row, 'transports')),
    backedUp: numberOf(row, 'backed_up') === 1,
    createdAt: numberOf(row, 'created_at'),
    usedAt: optionalNumberOf(row, 'used_at'),
  }
}
