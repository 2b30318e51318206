import type { Usage } from '../canonical/usage.ts'
import { type CounterPaths, type Counters, createCounterReader, minus, type UsageReader } from './counters.ts'

type Name = 'input' | 'cacheRead' | 'cacheWritten' | 'written5m' | 'written1h' | 'output' | 'thinking'

const PATHS: CounterPaths<Name> = {
  input: [['input_tokens']],
  cacheRead: [['cache_read_input_tokens']],
  cacheWritten: [['cache_creation_input_tokens']],
  written5m: [['cache_creation', 'ephemeral_5m_input_tokens']],
  written1h: [['cache_creation', 'ephemeral_1h_input_tokens']],
  output: [['output_tokens']],
  thinking: [['output_tokens_details', 'thinking_tokens']],
}

export function createMessagesUsageReader(): UsageReader {
  return createCounterReader(PATHS, toUsage)
}

/** Input excludes what was cached or written to the cache (reference §2.5). */
function toUsage(counters: Partial<Counters<Name>>): Usage {
  const { input, cacheRead, cacheWritten, written5m, written1h, output, thinking } = counters
  return {
    input,
    cachedInput: cacheRead,
    // The total counts; the split by lifetime is told only by newer versions, and only in some events.
    cacheWrite: minus(cacheWritten, written1h) ?? written5m,
    cacheWrite1h: written1h,
    output,
    reasoning: thinking,
  }
}
