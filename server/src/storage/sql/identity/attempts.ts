/** Buckets of attempts, one number each. */
import type { Transaction } from 'kysely'
import { type AttemptBucket, decideAttempt, returnAttempt } from '../../../core/identity/attempt-bucket.ts'
import type { AttemptStore } from '../../stores/identity.ts'
import type { Schema } from '../schema.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createAttemptStore({ write }: IdentityStoreOptions): AttemptStore {
  return {
    take: (buckets, at) =>
      write(async (transaction) => {
        const next: { readonly subject: string; readonly empty_at: number }[] = []
        let waitMs: number | undefined
        for (const bucket of inOrder(buckets)) {
          const decision = decideAttempt(bucket, await lockBucket(transaction, bucket.subject, at), at)
          if (decision.kind === 'full') waitMs = Math.max(waitMs ?? 0, decision.retryAfterMs)
          else next.push({ subject: bucket.subject, empty_at: decision.emptyAt })
        }
        if (waitMs === undefined) for (const row of next) await putBucket(transaction, row)
        return { value: waitMs, changes: [] }
      }),

    giveBack: (buckets) =>
      write(async (transaction) => {
        for (const bucket of inOrder(buckets)) {
          const emptyAt = await lockBucket(transaction, bucket.subject, 0)
          await putBucket(transaction, { subject: bucket.subject, empty_at: returnAttempt(bucket, emptyAt) })
        }
        return { value: undefined, changes: [] }
      }),

    forget: (subjects) =>
      write(async (transaction) => {
        if (subjects.length > 0)
          await transaction.deleteFrom('attempts').where('subject', 'in', subjects).execute()
        return { value: undefined, changes: [] }
      }),
  }
}

/** The same order everywhere, so that transactions cannot deadlock. */
function inOrder(buckets: readonly AttemptBucket[]): readonly AttemptBucket[] {
  return buckets.toSorted((one, other) => (one.subject < other.subject ? -1 : 1))
}

/** Locks the bucket, creating it if necessary. */
async function lockBucket(transaction: Transaction<Schema>, subject: string, at: number): Promise<number> {
  const { empty_at } = await transaction
    .insertInto('attempts')
    .values({ subject, empty_at: at })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((columns) => ({ empty_at: columns.ref('attempts.empty_at') })),
    )
    .returning('empty_at')
    .executeTakeFirstOrThrow()
  return Number(empty_at)
}

async function putBucket(
  transaction: Transaction<Schema>,
  { subject, empty_at }: { readonly subject: string; readonly empty_at: number },
): Promise<void> {
  await transaction.updateTable('attempts').set({ empty_at }).where('subject', '=', subject).execute()
}
