/** The responses protocol as OpenAI defines it; a vendor names only what it does otherwise. */
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

/** The protocol has no stop, seed, penalties or several candidates (reference §1.2). */
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
  // Below 16 the original refuses with 400.
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

export interface ResponsesDialectDescription {
  readonly auth?: Auth
  /** Where it is not the base address and `/responses`. */
  readonly form?: (input: FormInput) => FormedRequest | undefined
  readonly capabilities?: (model: ForwardModelId) => Partial<Capabilities>
  readonly words?: FailureWords
  readonly classify?: (failure: UpstreamFailure) => FailureClass
  readonly adapt?: (request: CanonicalRequest) => CanonicalRequest
}

export function responsesDialect(vendor: ResponsesDialectDescription): Dialect {
  const { words } = vendor
  return {
    protocol: 'responses',
    auth: vendor.auth ?? { kind: 'bearer' },
    modelPlace: 'body',
    form: vendor.form ?? formResponses,
    capabilities: (model) => ({ ...RESPONSES_CAPABILITIES, ...vendor.capabilities?.(model) }),
    classify: vendor.classify ?? ((failure) => classifyFailure(failure, words)),
    ...(vendor.adapt === undefined ? {} : { adapt: vendor.adapt }),
  }
}

function formResponses(input: FormInput): FormedRequest | undefined {
  if (input.operation === 'count-tokens') return undefined
  return { method: 'POST', url: below(input.baseUrl, '/responses'), headers: {} }
}
