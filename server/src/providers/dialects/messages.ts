/** The messages protocol as Anthropic defines it; a vendor declares only its differences. */
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
import { below, type BodyEdit, type Dialect, type FormInput, type FormedRequest } from '../provider.ts'

/** Sent if the client named no version. */
export const ANTHROPIC_VERSION = '2023-06-01'

/** What a compatible server can be assumed to support; the original has more (`providers/anthropic`). */
export const MESSAGES_CAPABILITIES: Capabilities = {
  midSystem: false,
  systemRole: 'system',
  prefill: false,
  sampling: 'all',
  temperatureMax: 1,
  topK: true,
  penalties: false,
  seed: false,
  logprobs: false,
  stopMax: 16,
  candidates: false,
  outputTokensMin: 1,
  outputTokensField: 'max_tokens',
  reasoning: 'none',
  efforts: [],
  replayReasoning: false,
  reasoningField: 'reasoning_content',
  forcedToolWithReasoning: false,
  parallelToolCalls: true,
  strictTools: false,
  customTools: false,
  toolNameMax: 64,
  toolIdMax: 64,
  jsonObject: false,
  jsonSchema: false,
  schemaDialect: 'anthropic',
  images: 'inline',
  documents: 'none',
  audio: false,
  imagesInToolResults: true,
  cacheMarks: 'anthropic',
  hostedTools: [],
  includeUsage: true,
  user: true,
  verbosity: false,
  serviceTier: false,
  metadata: false,
}

export interface MessagesDialectDescription {
  readonly auth?: Auth
  /** Set if the addresses are not `/v1/messages` and `/v1/messages/count_tokens` below the base address. */
  readonly form?: (input: FormInput) => FormedRequest | undefined
  readonly modelPlace?: 'path'
  readonly bodyEdit?: BodyEdit
  readonly framing?: 'aws-event-stream'
  readonly capabilities?: (model: ForwardModelId) => Partial<Capabilities>
  readonly words?: FailureWords
  readonly classify?: (failure: UpstreamFailure) => FailureClass
  readonly adapt?: (request: CanonicalRequest) => CanonicalRequest
}

export function messagesDialect(vendor: MessagesDialectDescription): Dialect {
  const { words } = vendor
  return {
    protocol: 'messages',
    auth: vendor.auth ?? { kind: 'header', name: 'x-api-key' },
    modelPlace: vendor.modelPlace ?? 'body',
    form: vendor.form ?? ((input) => formMessages(input.baseUrl, input)),
    capabilities: (model) => ({ ...MESSAGES_CAPABILITIES, ...vendor.capabilities?.(model) }),
    classify: vendor.classify ?? ((failure) => classifyFailure(failure, words)),
    ...(vendor.bodyEdit === undefined ? {} : { bodyEdit: vendor.bodyEdit }),
    ...(vendor.framing === undefined ? {} : { framing: vendor.framing }),
    ...(vendor.adapt === undefined ? {} : { adapt: vendor.adapt }),
  }
}

/** Every operation below an address that ends where `ANTHROPIC_BASE_URL` would. */
export function formMessages(baseUrl: string, input: FormInput): FormedRequest {
  const path = input.operation === 'count-tokens' ? '/v1/messages/count_tokens' : '/v1/messages'
  return { method: 'POST', url: below(baseUrl, path), headers: { 'anthropic-version': ANTHROPIC_VERSION } }
}

/** For compatible servers that cannot count tokens. */
export function formMessagesWithoutCount(baseUrl: string, input: FormInput): FormedRequest | undefined {
  return input.operation === 'count-tokens' ? undefined : formMessages(baseUrl, input)
}

/**
 * The address of a compatible API next to the vendor's main one: `…/v1` and `…/anthropic`. An address that already ends
 * like the compatible one is used unchanged, because vendors document both as a base address.
 */
export function besideMain(
  baseUrl: string,
  ends: { readonly main: string; readonly messages: string },
): string {
  const base = baseUrl.replace(/\/+$/, '')
  if (base.endsWith(ends.messages)) return base
  const root = base.endsWith(ends.main) ? base.slice(0, base.length - ends.main.length) : base
  return root + ends.messages
}
