import { type Counters, minus, usageReaders } from './counters.ts'

type Name = 'prompt' | 'cached' | 'cacheWrite' | 'completion' | 'reasoning' | 'total'

/** Prompt includes what was cached (docs/protocols.md#usage). */
export const createChatUsageReader = usageReaders<Name>({
  places: {
    prompt: ['prompt_tokens'],
    // The second is DeepSeek's, the third Moonshot's (recordings of 2025-12 and 2026-08).
    cached: ['prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens', 'cached_tokens'],
    cacheWrite: ['prompt_tokens_details.cache_write_tokens'],
    completion: ['completion_tokens'],
    reasoning: ['completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
    total: ['total_tokens'],
  },
  toUsage: (counters) => {
    const { prompt, cached, cacheWrite, completion, reasoning } = counters
    return {
      input: minus(prompt, cached, cacheWrite),
      cachedInput: cached,
      cacheWrite,
      cacheWrite1h: undefined,
      output: isReasoningApart(counters) ? (completion ?? 0) + (reasoning ?? 0) : completion,
      reasoning,
    }
  },
})

/** xAI does not count reasoning as part of the completion; only its total shows that (recordings of 2026). */
function isReasoningApart({ prompt, completion, reasoning, total }: Counters<Name>): boolean {
  if (reasoning === undefined || reasoning === 0) return false
  // More reasoning than completion cannot be a part of it.
  if (reasoning > (completion ?? 0)) return true
  return total === (prompt ?? 0) + (completion ?? 0) + reasoning
}
