/**
 * How far the heap may grow between two full collections. By default V8 allows less growth the more a process
 * allocates, and counts bodies and chunks outside the heap as if they were inside: calls of 5 MB caused nine full
 * collections a second, which was half of their cost. A large heap, on the other hand, may double, and 5 000 streams
 * kept 130 MiB of unused memory.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

const MIB = 2 ** 20
/**
 * Growth allowed before a full collection of a heap that is no larger than this. A larger one consists of calls that last
 * and makes little garbage for its size: it may grow by less.
 */
const GROWTH_BYTES = 80 * MIB
/** Percent of the live heap; collecting a small heap is cheap, so more than this gains nothing. */
const PERCENT_MAX = 200
/** For a heap of gigabytes: if it were collected more often, the process would do little else. */
const PERCENT_MIN = 10
const PERCENT_STEP = 10
/** V8 reads the setting after a collection, so it has to match the heap's size at that time, also when thousands of calls begin at once. */
const LOOK_EVERY_MS = 250

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

/** In steps, so that it rarely changes. */
export function growingPercent(usedBytes: number): number {
  const growth = GROWTH_BYTES * Math.min(1, GROWTH_BYTES / usedBytes)
  const percent = Math.floor((growth * 100) / usedBytes / PERCENT_STEP) * PERCENT_STEP
  return Math.min(PERCENT_MAX, Math.max(PERCENT_MIN, percent))
}
