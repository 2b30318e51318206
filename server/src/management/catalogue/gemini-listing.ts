/** The model list as Gemini clients read it: `models.list()` and `models.get()` of Google's SDK. */
import type { Model } from '../../core/catalogue.ts'

/** One model; token limits are absent where they are not known. */
export interface GeminiModelItem {
  readonly name: string
  readonly version: string
  readonly displayName: string
  readonly inputTokenLimit?: number
  readonly outputTokenLimit?: number
  readonly supportedGenerationMethods: readonly string[]
}

export interface GeminiModelListing {
  readonly models: readonly GeminiModelItem[]
  /** Absent on the last page. */
  readonly nextPageToken?: string
}

export interface GeminiPage {
  readonly pageSize: number | undefined
  readonly pageToken: string | undefined
}

/** Google's own values: 50 by default, at most 1000. */
const PAGE_SIZE_DEFAULT = 50
const PAGE_SIZE_MAX = 1000

/** The methods a Gemini client can call on every model here. */
const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens']

/** undefined: the token was not returned by an earlier page. */
export function encodeGeminiListing(
  models: readonly Model[],
  { pageSize, pageToken }: GeminiPage,
): GeminiModelListing | undefined {
  const from = pageToken === undefined || pageToken === '' ? 0 : placeBehind(models, pageToken)
  if (from === undefined) return undefined
  const asked = pageSize === undefined || pageSize < 1 ? PAGE_SIZE_DEFAULT : pageSize
  const shown = models.slice(from, from + Math.min(asked, PAGE_SIZE_MAX))
  const last = shown.at(-1)
  const isEnd = last === undefined || from + shown.length >= models.length
  return {
    models: shown.map(encodeGeminiModel),
    ...(isEnd ? {} : { nextPageToken: tokenOf(last) }),
  }
}

export function encodeGeminiModel({ modelId, name, contextTokens, maxOutputTokens }: Model): GeminiModelItem {
  return {
    name: `models/${modelId}`,
    version: '',
    displayName: name,
    ...(contextTokens === undefined ? {} : { inputTokenLimit: contextTokens }),
    ...(maxOutputTokens === undefined ? {} : { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: METHODS,
  }
}

/** Contains the last model shown, so that models added or removed meanwhile do not shift the pages. */
function tokenOf({ modelId }: Model): string {
  return Buffer.from(modelId, 'utf8').toString('base64url')
}

function placeBehind(models: readonly Model[], token: string): number | undefined {
  const index = models.findIndex((model) => tokenOf(model) === token)
  return index < 0 ? undefined : index + 1
}
