/** Which processes live, and that their running calls do. */
import { type Kysely, sql } from 'kysely'
import type { InstanceId } from '../../core/ids.ts'
import type { SqlEngine } from './engine.ts'
import type { Schema } from './schema.ts'

/** A call's slot lives 600 s (contract §8); a running call is renewed well before, a short one never. */
const RENEW_AFTER_MS = 60_000

/** Says that the instance lives. */
export async function beatHeart(
  { writer, processes }: Pick<SqlEngine, 'writer' | 'processes'>,
  instance: InstanceId,
  at: number,
): Promise<void> {
  await writer
    .insertInto('instances')
    .values({ id: instance, started_at: at, heartbeat_at: at, place: processes?.own ?? null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: at }))
    .execute()
}

/** Where the system tells that a process is gone, nobody waits for its heartbeat to grow old. */
export async function declareGone({ reader, writer, processes }: SqlEngine): Promise<void> {
  if (processes === undefined) return
  const rows = await reader
    .selectFrom('instances')
    .select(['id', 'place'])
    .where('place', 'is not', null)
    .where('heartbeat_at', '>', 0n)
    .execute()
  const gone = rows.filter(({ place }) => place !== null && processes.isGone(place)).map(({ id }) => id)
  if (gone.length === 0) return
  await writer.updateTable('instances').set({ heartbeat_at: 0 }).where('id', 'in', gone).execute()
}

/** Renews the slots of its calls. One that is in use just now is left for the next time, so that nobody waits. */
export async function renewCalls(engine: SqlEngine, instance: InstanceId, at: number): Promise<void> {
  await sql`
    update open_calls set touched_at = ${at} where call_id in (
      select call_id from open_calls where instance_id = ${instance} and touched_at < ${at - RENEW_AFTER_MS}
      ${engine.name === 'postgres' ? sql`for no key update skip locked` : sql``})`.execute(engine.writer)
}

/** Forgets an instance that ended in order, or all that are dead; who left calls open is kept until they are ended. */
export async function forgetInstances(
  writer: Kysely<Schema>,
  which: { readonly id: InstanceId } | { readonly deadBefore: number },
): Promise<void> {
  const gone = writer
    .deleteFrom('instances')
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('open_calls')
            .select('call_id')
            .whereRef('open_calls.instance_id', '=', 'instances.id'),
        ),
      ),
    )
  await ('id' in which
    ? gone.where('id', '=', which.id)
    : gone.where('heartbeat_at', '<', BigInt(which.deadBefore))
  ).execute()
}
