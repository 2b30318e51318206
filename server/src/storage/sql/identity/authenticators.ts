/** Seeds of one-time passwords, sealed, and the recovery codes. */
import type { AccountId } from '../../../core/ids.ts'
import { Secret } from '../../../core/secret.ts'
import type { FactorStore } from '../../stores/identity.ts'
import type { IdentityStoreOptions } from './options.ts'

export type AuthenticatorStore = Omit<
  FactorStore,
  'listPasskeys' | 'findPasskey' | 'addPasskey' | 'usePasskey' | 'removePasskey'
>

export function createAuthenticatorStore(options: IdentityStoreOptions): AuthenticatorStore {
  const { reader, write, secrets } = options
  const hashOf = (account: AccountId, code: Secret): string =>
    secrets.fingerprint(code.unwrap(), `recovery:${account}`)
  return {
    async findAuthenticator(account) {
      const row = await reader
        .selectFrom('authenticators')
        .selectAll()
        .where('account_id', '=', account)
        .executeTakeFirst()
      if (row === undefined) return undefined
      return {
        seed: new Secret(secrets.open(row.sealed, purposeOf(account))),
        confirmedAt: row.confirmed_at === null ? undefined : Number(row.confirmed_at),
      }
    },

    putAuthenticator: (account, seed) =>
      write(async (transaction) => {
        const row = { sealed: secrets.seal(seed.unwrap(), purposeOf(account)), last_step: 0 }
        const written = await transaction
          .insertInto('authenticators')
          .values({ account_id: account, confirmed_at: null, ...row })
          .onConflict((conflict) =>
            conflict.column('account_id').doUpdateSet(row).where('authenticators.confirmed_at', 'is', null),
          )
          .returning('account_id')
          .executeTakeFirst()
        return { value: written !== undefined, changes: [] }
      }),

    confirmAuthenticator: (account, at, step) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('authenticators')
          .set({ confirmed_at: at, last_step: step })
          .where('account_id', '=', account)
          .where('confirmed_at', 'is', null)
          .executeTakeFirst()
        return { value: numUpdatedRows === 1n, changes: [] }
      }),

    useStep: (account, step) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('authenticators')
          .set({ last_step: step })
          .where('account_id', '=', account)
          .where('last_step', '<', BigInt(step))
          .executeTakeFirst()
        return { value: numUpdatedRows === 1n, changes: [] }
      }),

    removeAuthenticator: (account) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('authenticators')
          .where('account_id', '=', account)
          .executeTakeFirst()
        return { value: numDeletedRows === 1n, changes: [] }
      }),

    putRecoveryCodes: (account, codes) =>
      write(async (transaction) => {
        await transaction.deleteFrom('recovery_codes').where('account_id', '=', account).execute()
        if (codes.length > 0) {
          await transaction
            .insertInto('recovery_codes')
            .values(codes.map((code) => ({ account_id: account, code_hash: hashOf(account, code) })))
            .execute()
        }
        return { value: undefined, changes: [] }
      }),

    useRecoveryCode: (account, code) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('recovery_codes')
          .where('account_id', '=', account)
          .where('code_hash', '=', hashOf(account, code))
          .executeTakeFirst()
        return { value: numDeletedRows === 1n, changes: [] }
      }),

    removeAll: (account) =>
      write(async (transaction) => {
        let rows = 0n
        for (const table of ['authenticators', 'passkeys', 'recovery_codes'] as const) {
          const gone = transaction.deleteFrom(table).where('account_id', '=', account)
          rows += (await gone.executeTakeFirst()).numDeletedRows
        }
        return { value: rows > 0n, changes: [] }
      }),

    async countRecoveryCodes(account) {
      const { count } = await reader
        .selectFrom('recovery_codes')
        .select((select) => select.fn.countAll<bigint>().as('count'))
        .where('account_id', '=', account)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
  }
}

function purposeOf(account: AccountId): string {
  return `authenticator:${account}`
}
