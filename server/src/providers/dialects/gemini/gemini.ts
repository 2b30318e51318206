/** The Gemini protocol as Google defines it; the model is in the address. */
import type { Auth } from '../../../core/http-request.ts'
import type { ForwardModelId } from '../../../core/ids.ts'
import type { Capabilities } from '../../../core/protocols/protocol.ts'
import { classifyFailure } from '../../../core/routing/failure.ts'
import { below, type Dialect, type FormInput } from '../../provider.ts'

export const GEMINI_CAPABILITIES: Capabilities = {
  midSystem: false,
  systemRole: 'system',
  prefill: true,
  sampling: 'all',
  temperatureMax: 2,
  topK: true,
  penalties: true,
  seed: true,
  logprobs: true,
  stopMax: 5,
  candidates: true,
  outputTokensMin: 1,
  outputTokensField: 'max_tokens',
  reasoning: 'none',
  efforts: [],
  replayReasoning: false,
  reasoningField: 'reasoning_content',
  forcedToolWithReasoning: true,
  parallelToolCalls: false,
  strictTools: false,
  customTools: false,
  toolNameMax: 64,
  toolIdMax: 64,
  jsonObject: true,
  jsonSchema: true,
  schemaDialect: 'json-schema',
  images: 'inline',
  documents: 'inline',
  audio: true,
  imagesInToolResults: false,
  cacheMarks: 'none',
  hostedTools: ['web-search', 'url-context', 'code-interpreter'],
  includeUsage: true,
  user: false,
  verbosity: false,
  serviceTier: true,
  metadata: false,
}

export interface GeminiDialectDescription {
  readonly auth: Auth
  /** The address that the verb is appended to: `…/models/{model}`; undefined: it cannot be formed. */
  readonly modelUrl: (input: FormInput) => string | undefined
  readonly capabilities?: (model: ForwardModelId) => Partial<Capabilities>
  readonly tierHeader?: string
}

export function geminiDialect(vendor: GeminiDialectDescription): Dialect {
  return {
    protocol: 'gemini',
    auth: vendor.auth,
    modelPlace: 'path',
    form: (input) => {
      const model = vendor.modelUrl(input)
      if (model === undefined) return undefined
      return { method: 'POST', url: `${model}:${VERBS[input.operation]}`, headers: {} }
    },
    // Signatures of thoughts are bound to the model family, not to its address.
    issuer: 'google',
    ...(vendor.tierHeader === undefined ? {} : { tierHeader: vendor.tierHeader }),
    capabilities: (model) => ({ ...GEMINI_CAPABILITIES, ...vendor.capabilities?.(model) }),
    classify: (failure) => classifyFailure(failure),
  }
}

const VERBS = {
  generate: 'generateContent',
  // Without `alt=sse` the stream is one JSON array.
  stream: 'streamGenerateContent?alt=sse',
  'count-tokens': 'countTokens',
} as const

export function modelBelow(baseUrl: string, model: string): string {
  return below(baseUrl, `/models/${encodeURIComponent(model)}`)
}

/**
 * Gemini 3 takes levels, 2.5 budgets, older ones do not think (docs/protocols.md#gemini-requests, #effort). Before Gemini
 * 3, a prompt is billed one search, however many there were.
 */
export function geminiModelCapabilities(model: string): Partial<Capabilities> {
  if (/^gemini-[3-9]/.test(model)) {
    // Pro, and Flash from 3.7 on, have no `minimal`.
    const minimal = !/pro|gemini-3\.[7-9]|gemini-[4-9]/.test(model)
    return {
      reasoning: 'level',
      efforts: minimal ? ['minimal', 'low', 'medium', 'high'] : ['low', 'medium', 'high'],
      imagesInToolResults: true,
    }
  }
  if (model.startsWith('gemini-2.5')) {
    const pro = model.includes('pro')
    // 2.5 Pro always thinks.
    return {
      searchesAsOne: true,
      reasoning: 'budget',
      efforts: pro
        ? ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']
        : ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    }
  }
  return { searchesAsOne: true }
}
