/** Cache marks within what upstreams take: a few, the last ones, all of one life (reference §3, trap 35). */
import type { CacheMark, CanonicalRequest } from './request.ts'

/** Anthropic refuses a fifth mark (reference §1.3). */
export const CACHE_MARKS_MAX = 4

export interface CacheMarkKeeper {
  /** Asked once per mark in the order tools, system, conversation: the mark as it is kept, if it is. */
  take(mark: CacheMark | undefined): CacheMark | undefined
  /** Marks had to be left out. */
  readonly cut: boolean
}

export function keepCacheMarks(request: CanonicalRequest, max: number): CacheMarkKeeper {
  const marks = [...marksOf(request)]
  const first = marks[0]
  // A longer life after a shorter one is refused, so a mixture gets the shortest.
  const mixed = marks.some(({ ttl }) => ttl !== first?.ttl)
  let toSkip = Math.max(0, marks.length - max)
  return {
    take(mark) {
      if (mark === undefined) return undefined
      if (toSkip === 0) return mixed ? { ttl: '5m' } : mark
      toSkip -= 1
      return undefined
    },
    cut: marks.length > max,
  }
}

function* marksOf({ tools, system, turns }: CanonicalRequest): Generator<CacheMark> {
  for (const tool of tools) yield* listed(tool)
  for (const part of system) yield* listed(part)
  for (const turn of turns) for (const part of turn.parts) yield* listed(part)
}

function listed(value: object & { readonly cache?: CacheMark }): readonly CacheMark[] {
  return value.cache === undefined ? [] : [value.cache]
}
