/**
 * How far the heap may grow between two full collections. By itself V8 lets it grow by less the more a process allocates,
 * and counts bodies and chunks, which lie outside of the heap, as if they were in it: calls of 5 MB made it collect
 * everything nine times a second, which was half of what they cost. A large heap, on the other hand, it lets grow by as
 * much again, and 5 000 streams kept 130 MiB that nobody used.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

const MIB = 2 ** 20
/** What may gather before everything is collected. */
const GROWTH_BYTES = 80 * MIB
/** Of what lives; a small heap takes no longer to collect than others, so that more than this gains nothing. */
const PERCENT_MAX = 200
/** Of a heap of gigabytes: collected more often, it would do little else. */
const PERCENT_MIN = 20
const PERCENT_STEP = 10
/** V8 reads the bound when it has collected: it has to be near what is used by then. */
const LOOK_EVERY_MS = 1_000

export function boundHeapGrowth(): void {
  let set: number | undefined
  const look = (): void => {
    const percent = growingPercent(getHeapStatistics().used_heap_size)
    if (percent === set) return
    set = percent
    setFlagsFromString(`--heap-growing-percent=${percent}`)
  }
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
}

/** In steps, so that it seldom changes. */
export function growingPercent(usedBytes: number): number {
  const percent = Math.floor((GROWTH_BYTES * 100) / usedBytes / PERCENT_STEP) * PERCENT_STEP
  return Math.min(PERCENT_MAX, Math.max(PERCENT_MIN, percent))
}
