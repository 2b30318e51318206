/** Token counts between chat's totals and the disjoint classes of the canonical form (docs/protocols.md#usage). */
import type { Usage } from '../../../canonical/usage.ts'
import { isJsonObject } from '../../../json.ts'
import { countOf, objectOf, type Maybe } from '../../read-json.ts'
import type { ChatUsage } from '../wire.ts'

/** `undefined` for a missing object and for one full of zeros, which vendors send before they know. */
export function decodeUsage(value: Maybe): Usage | undefined {
  if (!isJsonObject(value)) return undefined
  const prompt = countOf(value.prompt_tokens)
  const completion = countOf(value.completion_tokens)
  if ((prompt ?? 0) === 0 && (completion ?? 0) === 0) return undefined
  const inputDetails = objectOf(value.prompt_tokens_details)
  const cachedInput =
    countOf(inputDetails?.cached_tokens) ??
    countOf(value.prompt_cache_hit_tokens) ??
    countOf(value.cached_tokens)
  const cacheWrite = countOf(inputDetails?.cache_write_tokens)
  const reasoning =
    countOf(objectOf(value.completion_tokens_details)?.reasoning_tokens) ?? countOf(value.reasoning_tokens)
  return {
    input: prompt === undefined ? undefined : Math.max(0, prompt - (cachedInput ?? 0) - (cacheWrite ?? 0)),
    cachedInput,
    cacheWrite,
    cacheWrite1h: undefined,
    output: outputOf({ prompt, completion, reasoning, total: countOf(value.total_tokens) }),
    reasoning,
  }
}

interface Totals {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly reasoning: number | undefined
  readonly total: number | undefined
}

/** xAI leaves reasoning out of `completion_tokens`; its total shows that (fixture xai/xai-text). */
function outputOf({ prompt, completion, reasoning, total }: Totals): number | undefined {
  if (completion === undefined || reasoning === undefined || reasoning === 0) return completion
  const together = (prompt ?? 0) + completion + reasoning
  return total === together ? completion + reasoning : completion
}

export function encodeUsage(usage: Usage): ChatUsage {
  const written = (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  const cached = usage.cachedInput ?? 0
  const prompt = (usage.input ?? 0) + cached + written
  const completion = usage.output ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  }
}
