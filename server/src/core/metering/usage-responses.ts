import type { Usage } from '../canonical/usage.ts'
import { type CounterPaths, type Counters, createCounterReader, minus, type UsageReader } from './counters.ts'

type Name = 'input' | 'cached' | 'cacheWrite' | 'output' | 'reasoning'

const PATHS: CounterPaths<Name> = {
  input: [['input_tokens']],
  cached: [['input_tokens_details', 'cached_tokens']],
  cacheWrite: [['input_tokens_details', 'cache_write_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'reasoning_tokens']],
}

export function createResponsesUsageReader(): UsageReader {
  return createCounterReader(PATHS, toUsage)
}

/** Input includes what was cached, output includes reasoning (reference §2.5). */
function toUsage({ input, cached, cacheWrite, output, reasoning }: Partial<Counters<Name>>): Usage {
  return {
    input: minus(input, cached, cacheWrite),
    cachedInput: cached,
    cacheWrite,
    cacheWrite1h: undefined,
    output,
    reasoning,
  }
}
