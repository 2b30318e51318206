/** The responses protocol as OpenAI defines it; a vendor declares only its differences. */
import type { Capabilities } from '../../core/protocols/protocol.ts'
import type { Dialect } from '../provider.ts'
import { type OpenAiDialectDescription, openAiDialect } from './openai-dialect.ts'

/** The protocol has no stop, seed, penalties or several candidates (docs/protocols.md#responses-requests). */
export const RESPONSES_CAPABILITIES: Capabilities = {
  midSystem: true,
  systemRole: 'system',
  prefill: false,
  sampling: 'all',
  temperatureMax: 2,
  topK: false,
  penalties: false,
  seed: false,
  logprobs: false,
  stopMax: 0,
  candidates: false,
  // OpenAI refuses less than 16 with 400.
  outputTokensMin: 16,
  outputTokensField: 'max_completion_tokens',
  reasoning: 'none',
  efforts: [],
  replayReasoning: false,
  reasoningField: 'reasoning_content',
  forcedToolWithReasoning: true,
  parallelToolCalls: true,
  strictTools: true,
  customTools: false,
  toolNameMax: 64,
  toolIdMax: 64,
  jsonObject: true,
  jsonSchema: true,
  schemaDialect: 'json-schema',
  images: 'url',
  documents: 'none',
  audio: false,
  imagesInToolResults: true,
  cacheMarks: 'none',
  hostedTools: [],
  includeUsage: true,
  user: true,
  verbosity: false,
  serviceTier: false,
  metadata: true,
}

export function responsesDialect(vendor: OpenAiDialectDescription): Dialect {
  const own = { protocol: 'responses', path: '/responses', capabilities: RESPONSES_CAPABILITIES } as const
  return openAiDialect(own, vendor)
}
