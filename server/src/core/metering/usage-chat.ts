import type { Usage } from '../canonical/usage.ts'
import { type CounterPaths, type Counters, createCounterReader, minus, type UsageReader } from './counters.ts'

type Name = 'prompt' | 'cached' | 'cacheWrite' | 'completion' | 'reasoning' | 'total'

/** `prompt_cache_hit_tokens` is DeepSeek's, a bare `cached_tokens` Moonshot's (both 2025-12 recordings). */
const PATHS: CounterPaths<Name> = {
  prompt: [['prompt_tokens']],
  cached: [['prompt_tokens_details', 'cached_tokens'], ['prompt_cache_hit_tokens'], ['cached_tokens']],
  cacheWrite: [['prompt_tokens_details', 'cache_write_tokens']],
  completion: [['completion_tokens']],
  reasoning: [['completion_tokens_details', 'reasoning_tokens'], ['reasoning_tokens']],
  total: [['total_tokens']],
}

export function createChatUsageReader(): UsageReader {
  return createCounterReader(PATHS, toUsage)
}

/** Prompt includes what was cached (reference §2.5). */
function toUsage({
  prompt,
  cached,
  cacheWrite,
  completion,
  reasoning,
  total,
}: Partial<Counters<Name>>): Usage {
  return {
    input: minus(prompt, cached, cacheWrite),
    cachedInput: cached,
    cacheWrite,
    cacheWrite1h: undefined,
    output: isReasoningApart({ prompt, completion, reasoning, total })
      ? (completion ?? 0) + (reasoning ?? 0)
      : completion,
    reasoning,
  }
}

/** xAI counts reasoning beside the completion, not in it: only its total tells (recorded 2026-01). */
function isReasoningApart(counters: Partial<Counters<Name>>): boolean {
  const { prompt = 0, completion = 0, reasoning = 0, total } = counters
  return reasoning > 0 && total === prompt + completion + reasoning
}
