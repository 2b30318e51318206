/**
 * Cache marks within what upstreams accept: a limited number, the last ones, all with the same lifetime
 * (docs/protocols.md#trap-35).
 */
import type { CacheMark, CanonicalRequest } from './request.ts'

/** Anthropic refuses a fifth mark (docs/protocols.md#messages-requests). */
export const CACHE_MARKS_MAX = 4

/** Where a mark is placed, by its name in `client-fields.ts`. */
export type MarkedField = 'toolCache' | 'systemCache' | 'cache'

export interface CacheMarkKeeper {
  /** Called once per mark in the order tools, system, conversation; returns the mark as it is kept, if it is. */
  take(mark: CacheMark | undefined): CacheMark | undefined
  /** Where marks had to be left out, each field once. */
  readonly cut: readonly MarkedField[]
}

export function keepCacheMarks(request: CanonicalRequest, max: number): CacheMarkKeeper {
  const places = [...marksOf(request)]
  const marks = places.map(({ mark }) => mark)
  const first = marks[0]
  // A longer lifetime after a shorter one is refused, so mixed marks all get the shortest.
  const mixed = marks.some(({ ttl }) => ttl !== first?.ttl)
  let toSkip = Math.max(0, marks.length - max)
  return {
    take(mark) {
      if (mark === undefined) return undefined
      if (toSkip === 0) return mixed ? { ttl: '5m' } : mark
      toSkip -= 1
      return undefined
    },
    cut: fieldsOf(places.slice(0, toSkip)),
  }
}

/** Every field of the request that holds a mark, each once. */
export function markedFields(request: CanonicalRequest): readonly MarkedField[] {
  return fieldsOf([...marksOf(request)])
}

interface MarkedPlace {
  readonly field: MarkedField
  readonly mark: CacheMark
}

function fieldsOf(places: readonly MarkedPlace[]): readonly MarkedField[] {
  return [...new Set(places.map(({ field }) => field))]
}

function* marksOf({ tools, system, turns }: CanonicalRequest): Generator<MarkedPlace> {
  for (const tool of tools) yield* listed('toolCache', tool)
  for (const part of system) yield* listed('systemCache', part)
  for (const turn of turns) for (const part of turn.parts) yield* listed('cache', part)
}

function listed(
  field: MarkedField,
  { cache }: object & { readonly cache?: CacheMark },
): readonly MarkedPlace[] {
  return cache === undefined ? [] : [{ field, mark: cache }]
}
