/** Recent results of chains according to the log: the same on every instance, whichever served the calls. */
import { HOUR_MS } from '../../core/durations.ts'
import type { ChainId } from '../../core/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import { quantile } from './traffic.ts'

export interface ChainRecent {
  readonly attempts: number
  readonly failed: number
  readonly first_byte_ms_median: number | null
  readonly first_byte_ms_p95: number | null
}

/** Enough to notice a slow chain, and few enough for a console that polls every few seconds. */
const CALLS_MAX = 500

export const NOTHING_RECENT: ChainRecent = {
  attempts: 0,
  failed: 0,
  first_byte_ms_median: null,
  first_byte_ms_p95: null,
}

export async function readChainRecent(
  storage: Pick<Storage, 'logs'>,
  at: number,
): Promise<ReadonlyMap<ChainId, ChainRecent>> {
  const { rows } = await storage.logs.page({ from: at - HOUR_MS }, { limit: CALLS_MAX, cursor: undefined })
  const seen = new Map<ChainId, { failed: number; attempts: number; waits: number[] }>()
  for (const attempt of rows.flatMap((row) => row.attempts)) {
    const chain = seen.get(attempt.chainId) ?? { failed: 0, attempts: 0, waits: [] }
    seen.set(attempt.chainId, chain)
    chain.attempts += 1
    if (attempt.outcome !== 'answered') chain.failed += 1
    else if (attempt.firstByteMs !== undefined) chain.waits.push(attempt.firstByteMs - attempt.startedMs)
  }
  return new Map(
    [...seen].map(([id, { attempts, failed, waits }]) => {
      waits.sort((one, other) => one - other)
      const recent: ChainRecent = {
        attempts,
        failed,
        first_byte_ms_median: quantile(waits, 0.5),
        first_byte_ms_p95: quantile(waits, 0.95),
      }
      return [id, recent] as const
    }),
  )
}
