/** Observations of chains: small rows, written periodically, merged over instances. */
import { sql } from 'kysely'
import { chainId } from '../../../core/ids.ts'
import type { SqlEngine } from '../engine.ts'
import type { ObservedChain } from '../../stores/catalogue.ts'

export async function readObservations({ reader }: SqlEngine): Promise<readonly ObservedChain[]> {
  const rows = await reader.selectFrom('chain_observations').selectAll().execute()
  return rows.map((row) => ({
    chainId: chainId(Number(row.chain_id)),
    observation: {
      tokens: Number(row.tokens),
      ms: Number(row.ms),
      capBrokenAt: row.cap_broken_at === null ? undefined : Number(row.cap_broken_at),
    },
  }))
}

/** The latest rate counts, and the latest time a cap was exceeded. */
export async function writeObservations(
  { writer }: SqlEngine,
  observed: readonly ObservedChain[],
  at: number,
): Promise<void> {
  if (observed.length === 0) return
  await writer
    .insertInto('chain_observations')
    .values(
      observed.map(({ chainId: id, observation }) => ({
        chain_id: id,
        tokens: Math.round(observation.tokens),
        ms: Math.round(observation.ms),
        cap_broken_at: observation.capBrokenAt ?? null,
        updated_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('chain_id').doUpdateSet({
        tokens: sql`excluded.tokens`,
        ms: sql`excluded.ms`,
        updated_at: sql`excluded.updated_at`,
        cap_broken_at: sql`case
          when excluded.cap_broken_at is null then chain_observations.cap_broken_at
          when chain_observations.cap_broken_at > excluded.cap_broken_at then chain_observations.cap_broken_at
          else excluded.cap_broken_at end`,
      }),
    )
    .execute()
}
