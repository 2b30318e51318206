/** Chat completions as most vendors speak it; a vendor names only what it does otherwise. */
import type { CanonicalRequest } from '../../core/canonical/request.ts'
import type { Auth } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { Capabilities } from '../../core/protocols/protocol.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
import { below, type Dialect, type FormInput, type FormedRequest } from '../provider.ts'

/** What a server that calls itself compatible can be trusted with; vendors and models raise or lower it. */
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

export interface ChatDialectDescription {
  readonly auth?: Auth
  /** Where it is not the base address and `/chat/completions`. */
  readonly form?: (input: FormInput) => FormedRequest | undefined
  readonly capabilities?: (model: ForwardModelId) => Partial<Capabilities>
  readonly words?: FailureWords
  readonly classify?: (failure: UpstreamFailure) => FailureClass
  readonly adapt?: (request: CanonicalRequest) => CanonicalRequest
}

export function chatDialect(vendor: ChatDialectDescription): Dialect {
  const { words } = vendor
  return {
    protocol: 'chat',
    auth: vendor.auth ?? { kind: 'bearer' },
    modelPlace: 'body',
    form: vendor.form ?? formChat,
    capabilities: (model) => ({ ...CHAT_CAPABILITIES, ...vendor.capabilities?.(model) }),
    classify: vendor.classify ?? ((failure) => classifyFailure(failure, words)),
    ...(vendor.adapt === undefined ? {} : { adapt: vendor.adapt }),
  }
}

function formChat(input: FormInput): FormedRequest | undefined {
  if (input.operation === 'count-tokens') return undefined
  return { method: 'POST', url: below(input.baseUrl, '/chat/completions'), headers: {} }
}
