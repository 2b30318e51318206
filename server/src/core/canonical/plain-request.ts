/** A minimal request with one sentence; tests and probes change what they need. */
import type { CanonicalRequest } from './request.ts'

export function plainRequest(text: string): CanonicalRequest {
  return {
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text }] }],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxOutputTokens: undefined,
    sampling: {
      temperature: undefined,
      topP: undefined,
      topK: undefined,
      presencePenalty: undefined,
      frequencyPenalty: undefined,
      seed: undefined,
    },
    stop: [],
    output: { kind: 'text' },
    reasoning: undefined,
    stream: false,
    includeUsage: false,
    candidates: undefined,
    logprobs: undefined,
    verbosity: undefined,
    user: undefined,
    metadata: undefined,
    serviceTier: undefined,
    promptCacheKey: undefined,
    cacheAll: undefined,
    state: { store: undefined, previousResponseId: undefined },
  }
}
