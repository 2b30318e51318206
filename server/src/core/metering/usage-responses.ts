import { minus, usageReaders } from './counters.ts'

type Name = 'input' | 'cached' | 'cacheWrite' | 'output' | 'reasoning'

/** Input includes what was cached, output includes reasoning (docs/protocols.md#usage). */
export const createResponsesUsageReader = usageReaders<Name>({
  places: {
    input: ['input_tokens'],
    cached: ['input_tokens_details.cached_tokens'],
    cacheWrite: ['input_tokens_details.cache_write_tokens'],
    output: ['output_tokens'],
    reasoning: ['output_tokens_details.reasoning_tokens'],
  },
  toUsage: ({ input, cached, cacheWrite, output, reasoning }) => ({
    input: minus(input, cached, cacheWrite),
    cachedInput: cached,
    cacheWrite,
    cacheWrite1h: undefined,
    output,
    reasoning,
  }),
})
