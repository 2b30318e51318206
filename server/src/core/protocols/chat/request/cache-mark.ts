/** Cache marks in chat: OpenAI's explicit breakpoints, and Anthropic's own form, which OpenRouter and its clients keep. */
import type { CacheMark } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import type { Capabilities } from '../../protocol.ts'
import { objectOf } from '../../read-json.ts'

export function decodeCacheMark(part: JsonObject): CacheMark | undefined {
  const control = objectOf(part.cache_control)
  if (control !== undefined) return { ttl: control.ttl === '1h' ? '1h' : '5m' }
  return objectOf(part.prompt_cache_breakpoint) === undefined ? undefined : { ttl: '30m' }
}

/** The members that mark a part in the form the chain supports; none if it supports none. */
export function encodeCacheMark(cache: CacheMark | undefined, marks: Capabilities['cacheMarks']): JsonObject {
  if (cache === undefined) return {}
  switch (marks) {
    case 'none':
      return {}
    case 'breakpoint':
      return { prompt_cache_breakpoint: { mode: 'explicit' } }
    case 'anthropic':
      return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
  }
}

/** As object members: `{ cache }` or nothing, as `exactOptionalPropertyTypes` requires. */
export function cacheOf(part: JsonObject): { readonly cache?: CacheMark } {
  const cache = decodeCacheMark(part)
  return cache === undefined ? {} : { cache }
}
