/**
 * Token counts between this protocol's totals and the disjoint classes of the canonical form (docs/protocols.md#usage).
 */
import type { Usage } from '../../../canonical/usage.ts'
import { isJsonObject } from '../../../json.ts'
import { countOf, type Maybe, objectOf } from '../../read-json.ts'
import type { ResponsesUsage } from '../wire.ts'

/** `undefined` for a missing object and for one full of zeros, which stands for "not counted". */
export function decodeUsage(value: Maybe): Usage | undefined {
  if (!isJsonObject(value)) return undefined
  const total = countOf(value.input_tokens)
  const output = countOf(value.output_tokens)
  if ((total ?? 0) === 0 && (output ?? 0) === 0) return undefined
  const details = objectOf(value.input_tokens_details)
  const cachedInput = countOf(details?.cached_tokens)
  const cacheWrite = countOf(details?.cache_write_tokens)
  return {
    input: total === undefined ? undefined : Math.max(0, total - (cachedInput ?? 0) - (cacheWrite ?? 0)),
    cachedInput,
    cacheWrite,
    cacheWrite1h: undefined,
    output,
    reasoning: countOf(objectOf(value.output_tokens_details)?.reasoning_tokens),
  }
}

/** Both detail objects are always complete: OpenAI's schema requires them. */
export function encodeUsage(usage: Usage): ResponsesUsage {
  const written = (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  const cached = usage.cachedInput ?? 0
  const input = (usage.input ?? 0) + cached + written
  const output = usage.output ?? 0
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: input + output,
  }
}
