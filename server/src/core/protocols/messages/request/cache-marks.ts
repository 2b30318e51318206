/**
 * Prompt cache marks in this protocol's form; one rule for all protocols decides which are kept
 * (docs/protocols.md#trap-35).
 */
import {
  CACHE_MARKS_MAX,
  keepCacheMarks,
  markedFields,
  type MarkedField,
} from '../../../canonical/cache-marks.ts'
import type { CacheMark, CanonicalRequest } from '../../../canonical/request.ts'
import { type Maybe, objectOf } from '../../read-json.ts'
import type { WireCacheControl } from '../wire.ts'

/** A mark on a block, tool or request; undefined where there is none. */
export function decodeCache(value: Maybe): CacheMark | undefined {
  const control = objectOf(value)
  if (control === undefined) return undefined
  return { ttl: control.ttl === '1h' ? '1h' : '5m' }
}

export interface CacheControls {
  /** The control for a mark that is kept, undefined for one that is not. Call once per mark, in wire order. */
  take(mark: CacheMark | undefined): WireCacheControl | undefined
  /** The control that marks the whole prefix; it counts towards the limit of four. */
  whole(): WireCacheControl | undefined
  /** Where marks were left out, each field once. */
  readonly cut: readonly (MarkedField | 'cacheAll')[]
}

export function keepCacheControls(
  request: CanonicalRequest,
  support: 'none' | 'anthropic' | 'breakpoint',
): CacheControls {
  const { cacheAll } = request
  if (support !== 'anthropic')
    return { take: () => undefined, whole: () => undefined, cut: allMarked(request) }
  const keeper = keepCacheMarks(request, cacheAll === undefined ? CACHE_MARKS_MAX : CACHE_MARKS_MAX - 1)
  let shortest: CacheMark['ttl'] = cacheAll?.ttl ?? '1h'
  return {
    take(mark) {
      const kept = keeper.take(mark)
      if (kept !== undefined && kept.ttl !== '1h') shortest = '5m'
      return kept === undefined ? undefined : control(kept.ttl)
    },
    // It is last on the wire, so its lifetime may not exceed those before it. Call after all others.
    whole() {
      return cacheAll === undefined ? undefined : control(shortest)
    },
    cut: keeper.cut,
  }
}

/** OpenAI's half hour has no counterpart; the short lifetime is renewed by every use. */
function control(ttl: CacheMark['ttl']): WireCacheControl {
  return ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function allMarked(request: CanonicalRequest): CacheControls['cut'] {
  const fields = markedFields(request)
  return request.cacheAll === undefined ? fields : [...fields, 'cacheAll']
}
