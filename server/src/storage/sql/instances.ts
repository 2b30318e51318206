/** Which processes live. */
import type { Kysely } from 'kysely'
import type { InstanceId } from '../../core/ids.ts'
import type { Schema } from './schema.ts'

/** A call's slot lives 600 s (contract §8); a running call is renewed well before, a short one never. */
const RENEW_AFTER_MS = 60_000

export async function beatHeart(writer: Kysely<Schema>, instance: InstanceId, at: number): Promise<void> {
  await writer
    .insertInto('instances')
    .values({ id: instance, started_at: at, heartbeat_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: at }))
    .execute()
  await writer
    .updateTable('open_calls')
    .set({ touched_at: at })
    .where('instance_id', '=', instance)
    .where('touched_at', '<', BigInt(at - RENEW_AFTER_MS))
    .execute()
}

/** Forgets an instance that ended in order; one that left calls open is kept for recovery. */
export async function endInstance(writer: Kysely<Schema>, instance: InstanceId): Promise<void> {
  await writer
    .deleteFrom('instances')
    .where('id', '=', instance)
    .where((where) =>
      where.not(
        where.exists(where.selectFrom('open_calls').select('call_id').where('instance_id', '=', instance)),
      ),
    )
    .execute()
}
