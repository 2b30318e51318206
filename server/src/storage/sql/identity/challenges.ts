/** Challenges: exchanges of several requests. */
import type { Transaction } from 'kysely'
import { type AccountId, accountId } from '../../../core/ids.ts'
import type { Challenge, ChallengeKind, ChallengeStore } from '../../stores/identity.ts'
import { lockAccount } from '../customers/acts.ts'
import type { Schema } from '../schema.ts'
import { numberOf, optionalTextOf, type StoredRow, textOf } from '../table.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createChallengeStore({ engine, reader, write }: IdentityStoreOptions): ChallengeStore {
  return {
    put: (idHash, challenge) =>
      write(async (transaction) => {
        await insertChallenge(transaction, idHash, challenge)
        return { value: undefined, changes: [] }
      }),

    putOnly: (idHash, challenge) =>
      write(async (transaction) => {
        // Concurrent writers wait for each other here; otherwise neither would see the other's row.
        await lockAccount(engine, transaction, challenge.accountId)
        await deleteOfKind(transaction, challenge)
        await insertChallenge(transaction, idHash, challenge)
        return { value: undefined, changes: [] }
      }),

    async find(idHash, kind, at) {
      const row = await reader
        .selectFrom('identity_challenges')
        .selectAll()
        .where('id_hash', '=', idHash)
        .where('kind', '=', kind)
        .where('ends_at', '>', BigInt(at))
        .executeTakeFirst()
      return row === undefined ? undefined : decodeChallenge({ ...row }, kind)
    },

    try: (idHash, kind, at) =>
      write(async (transaction) => {
        const row = await transaction
          .updateTable('identity_challenges')
          .set((columns) => ({ tries_left: columns('tries_left', '-', 1n) }))
          .where('id_hash', '=', idHash)
          .where('kind', '=', kind)
          .where('tries_left', '>', 0n)
          .where('ends_at', '>', BigInt(at))
          .returningAll()
          .executeTakeFirst()
        return { value: row === undefined ? undefined : decodeChallenge({ ...row }, kind), changes: [] }
      }),

    take: (idHash, kind, at) =>
      write(async (transaction) => {
        const row = await transaction
          .deleteFrom('identity_challenges')
          .where('id_hash', '=', idHash)
          .where('kind', '=', kind)
          .where('ends_at', '>', BigInt(at))
          .returningAll()
          .executeTakeFirst()
        return { value: row === undefined ? undefined : decodeChallenge({ ...row }, kind), changes: [] }
      }),
  }
}

async function deleteOfKind(
  transaction: Transaction<Schema>,
  { kind, accountId: id }: Challenge & { readonly accountId: AccountId },
): Promise<void> {
  await transaction
    .deleteFrom('identity_challenges')
    .where('kind', '=', kind)
    .where('account_id', '=', id)
    .execute()
}

async function insertChallenge(
  transaction: Transaction<Schema>,
  idHash: string,
  challenge: Challenge,
): Promise<void> {
  await transaction
    .insertInto('identity_challenges')
    .values({
      id_hash: idHash,
      kind: challenge.kind,
      account_id: challenge.accountId ?? null,
      detail: challenge.detail,
      tries_left: challenge.triesLeft,
      created_at: challenge.createdAt,
      ends_at: challenge.endsAt,
    })
    .execute()
}

function decodeChallenge(row: StoredRow, kind: ChallengeKind): Challenge {
  const account = optionalTextOf(row, 'account_id')
  return {
    kind,
    accountId: account === undefined ? undefined : accountId(account),
    detail: textOf(row, 'detail'),
    triesLeft: numberOf(row, 'tries_left'),
    createdAt: numberOf(row, 'created_at'),
    endsAt: numberOf(row, 'ends_at'),
  }
}
