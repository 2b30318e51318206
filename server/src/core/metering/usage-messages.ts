import { minus, usageReaders } from './counters.ts'

type Name = 'input' | 'cacheRead' | 'cacheWritten' | 'written5m' | 'written1h' | 'output' | 'thinking'

/** Input excludes what was cached or written to the cache (docs/protocols.md#usage). */
export const createMessagesUsageReader = usageReaders<Name>({
  places: {
    input: ['input_tokens'],
    cacheRead: ['cache_read_input_tokens'],
    cacheWritten: ['cache_creation_input_tokens'],
    written5m: ['cache_creation.ephemeral_5m_input_tokens'],
    written1h: ['cache_creation.ephemeral_1h_input_tokens'],
    output: ['output_tokens'],
    thinking: ['output_tokens_details.thinking_tokens'],
  },
  toUsage: ({ input, cacheRead, cacheWritten, written5m, written1h, output, thinking }) => ({
    input,
    cachedInput: cacheRead,
    // The total counts; the split by lifetime is sent only by newer versions, and only in some events.
    cacheWrite: minus(cacheWritten, written1h) ?? written5m,
    cacheWrite1h: written1h,
    output,
    reasoning: thinking,
  }),
})
