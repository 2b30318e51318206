/** Chat completions as implemented by most vendors; a vendor declares only its differences. */
import type { Capabilities } from '../../core/protocols/protocol.ts'
import type { Dialect } from '../provider.ts'
import { type OpenAiDialectDescription, openAiDialect } from './openai-dialect.ts'

/** What a server that calls itself compatible can be assumed to support; vendors and models adjust it. */
export const CHAT_CAPABILITIES: Capabilities = {
  midSystem: true,
  systemRole: 'system',
  prefill: false,
  sampling: 'all',
  temperatureMax: 2,
  topK: false,
  penalties: true,
  seed: true,
  logprobs: true,
  stopMax: 4,
  candidates: true,
  outputTokensMin: 1,
  outputTokensField: 'max_tokens',
  reasoning: 'none',
  efforts: [],
  replayReasoning: false,
  reasoningField: 'reasoning_content',
  forcedToolWithReasoning: true,
  parallelToolCalls: true,
  strictTools: false,
  customTools: false,
  toolNameMax: 64,
  toolIdMax: 64,
  jsonObject: true,
  jsonSchema: true,
  schemaDialect: 'json-schema',
  images: 'url',
  documents: 'none',
  audio: false,
  imagesInToolResults: false,
  cacheMarks: 'none',
  hostedTools: [],
  includeUsage: true,
  user: true,
  verbosity: false,
  serviceTier: false,
  metadata: false,
}

export function chatDialect(vendor: OpenAiDialectDescription): Dialect {
  const own = { protocol: 'chat', path: '/chat/completions', capabilities: CHAT_CAPABILITIES } as const
  return openAiDialect(own, vendor)
}
