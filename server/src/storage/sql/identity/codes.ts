/** Verification codes: six digits are easily found from a plain hash, so theirs is keyed. */
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { CodeStore, CodeUse } from '../../stores/identity.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createCodeStore({ write, secrets }: IdentityStoreOptions): CodeStore {
  const hashOf = ({ purpose, target }: CodeUse, code: string): string =>
    secrets.fingerprint(code, `code:${purpose}/${target}`)
  return {
    put: (use, code, { place, tries, triesElsewhere, createdAt, endsAt }) =>
      write(async (transaction) => {
        const row = {
          account_id: use.accountId ?? null,
          tries_left: tries,
          elsewhere_left: triesElsewhere,
          created_at: createdAt,
          ends_at: endsAt,
        }
        await transaction
          .insertInto('sent_codes')
          .values({
            purpose: use.purpose,
            target: use.target,
            place,
            code_hash: hashOf(use, code.unwrap()),
            ...row,
          })
          // The same six digits again: the existing code gets the later expiry.
          .onConflict((conflict) =>
            conflict.columns(['purpose', 'target', 'place', 'code_hash']).doUpdateSet(row),
          )
          .execute()
        return { value: undefined, changes: [] }
      }),

    redeem: (use, code, { place, at }) =>
      write(async (transaction) => {
        // Taking the attempts first locks the rows, so that parallel guesses are counted one by one.
        const rows = await transaction
          .updateTable('sent_codes')
          .set((columns) => ({
            tries_left: columns('tries_left', '-', 1n),
            elsewhere_left: sql<bigint>`case when place = ${place} then elsewhere_left else elsewhere_left - 1 end`,
          }))
          .where('purpose', '=', use.purpose)
          .where('target', '=', use.target)
          .where('account_id', use.accountId === undefined ? 'is' : '=', use.accountId ?? null)
          .where('tries_left', '>', 0n)
          .where('ends_at', '>', BigInt(at))
          .where((row) => row.or([row('place', '=', place), row('elsewhere_left', '>', 0n)]))
          .returning('code_hash')
          .execute()
        const wanted = hashOf(use, code.unwrap())
        // Every row is compared, so that the time does not show which one is right.
        const right = rows.filter((row) => sameHash(row.code_hash, wanted)).length > 0
        if (right) {
          await transaction
            .deleteFrom('sent_codes')
            .where('purpose', '=', use.purpose)
            .where('target', '=', use.target)
            .execute()
        }
        return { value: right, changes: [] }
      }),
  }
}

/** Constant-time comparison. */
function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
