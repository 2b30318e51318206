/** Present traffic according to the log: the same on every instance, whichever served the calls. */
import type { Storage } from '../../storage/storage.ts'

export interface Traffic {
  /** Period of the numbers; less than a minute if more calls ended than are read. */
  readonly seconds: number
  readonly calls: number
  readonly failed: number
  readonly calls_per_second: number
  readonly output_tokens_per_second: number
  readonly first_byte_ms_median: number | null
  readonly first_byte_ms_p95: number | null
}

/** Number of the newest calls that are read. */
const CALLS_MAX = 500
const MINUTE_MS = 60_000
const SECOND_MS = 1_000

/** Traffic of the calls that began within the last minute and have ended. */
export async function readTraffic(storage: Pick<Storage, 'logs'>, at: number): Promise<Traffic> {
  const { rows } = await storage.logs.page({ from: at - MINUTE_MS }, { limit: CALLS_MAX, cursor: undefined })
  const oldest = rows.at(-1)
  const span = rows.length < CALLS_MAX || oldest === undefined ? MINUTE_MS : at - oldest.createdAt
  const seconds = Math.max(span, SECOND_MS) / SECOND_MS
  const waits = rows
    .flatMap(({ firstByteMs }) => (firstByteMs === undefined ? [] : [firstByteMs]))
    .toSorted((one, other) => one - other)
  const output = rows.reduce((sum, { usage }) => sum + (usage.output ?? 0), 0)
  return {
    seconds,
    calls: rows.length,
    failed: rows.filter(({ httpStatus }) => httpStatus >= 400).length,
    calls_per_second: rows.length / seconds,
    output_tokens_per_second: output / seconds,
    first_byte_ms_median: quantile(waits, 0.5),
    first_byte_ms_p95: quantile(waits, 0.95),
  }
}

/** The quantile of sorted values at this share. */
export function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}
