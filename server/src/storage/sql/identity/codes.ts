/** Verification codes: six digits are soon guessed from a plain hash, so theirs is keyed. */
import { timingSafeEqual } from 'node:crypto'
import type { CodeStore, CodeUse } from '../../identity.ts'
import type { IdentityStoreOptions } from '../identity.ts'

export function createCodeStore({ write, secrets }: IdentityStoreOptions): CodeStore {
  const hashOf = ({ purpose, target }: CodeUse, code: string): string =>
    secrets.fingerprint(code, `code:${purpose}/${target}`)
  return {
    put: (use, code, { tries, createdAt, endsAt }) =>
      write(async (transaction) => {
        const row = {
          code_hash: hashOf(use, code.unwrap()),
          account_id: use.accountId ?? null,
          tries_left: tries,
          created_at: createdAt,
          ends_at: endsAt,
        }
        await transaction
          .insertInto('verification_codes')
          .values({ purpose: use.purpose, target: use.target, ...row })
          .onConflict((conflict) => conflict.columns(['purpose', 'target']).doUpdateSet(row))
          .execute()
        return { value: undefined, changes: [] }
      }),

    redeem: (use, code, at) =>
      write(async (transaction) => {
        // Taking the try first locks the row: parallel guesses are counted one by one.
        const row = await transaction
          .updateTable('verification_codes')
          .set((columns) => ({ tries_left: columns('tries_left', '-', 1n) }))
          .where('purpose', '=', use.purpose)
          .where('target', '=', use.target)
          .where('tries_left', '>', 0n)
          .where('ends_at', '>', BigInt(at))
          .returning(['code_hash', 'account_id'])
          .executeTakeFirst()
        const right =
          row !== undefined &&
          sameHash(row.code_hash, hashOf(use, code.unwrap())) &&
          row.account_id === (use.accountId ?? null)
        if (right) {
          await transaction
            .deleteFrom('verification_codes')
            .where('purpose', '=', use.purpose)
            .where('target', '=', use.target)
            .execute()
        }
        return { value: right, changes: [] }
      }),
  }
}

/** Takes as long whatever they differ in. */
function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
