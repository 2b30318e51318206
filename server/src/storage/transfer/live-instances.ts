import type { SqlEngine } from '../sql/engine.ts'

/** The period after which gateways take over from each other: four heartbeats. */
const SILENT_AFTER_MS = 20_000

/** Gateways that serve from this database now; command-line programs do not count. */
export async function countLive(
  { reader, processes }: Pick<SqlEngine, 'reader' | 'processes'>,
  at: number,
): Promise<number> {
  const rows = await reader
    .selectFrom('instances')
    .selectAll()
    .where('heartbeat_at', '>', BigInt(at - SILENT_AFTER_MS))
    .where('id', 'not like', 'recovery:%')
    .execute()
  // A database that is older than the column has none.
  return rows.filter(({ place }) => typeof place !== 'string' || processes?.isGone(place) !== true).length
}
