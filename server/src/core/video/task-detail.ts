/**
 * What a task stores so that any instance that ends it can price and log its call: the call's description, the terms
 * frozen at its reservation, the attempts so far. It is written as JSON and read back by the same code.
 */
import type { AttemptRecord } from '../ledger/log-row.ts'
import type { CallDescription } from '../ledger/call-description.ts'
import type { HttpRequest } from '../http-request.ts'
import type { CredentialId, ForwardModelId } from '../ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export interface TaskDetail {
  readonly description: CallDescription
  /** `PriceTerms` as JSON text, of the model that is used. */
  readonly terms: string
  /** Percent, as decimal text. */
  readonly userRate: string
  /** Time zone of the calendar month a charge counts in. */
  readonly timezone: string
  /** Credential of the chain in use; polls use the one that created the task. */
  readonly credentialId: CredentialId | undefined
  readonly forwardModelId: ForwardModelId | undefined
  readonly attempts: readonly AttemptRecord[]
  readonly dropped: readonly string[]
  /** Images that were published for the vendor to fetch. */
  readonly inputs: number
  /** Epoch ms: from then on the task is no longer waited for. */
  readonly deadlineAt: number
  /** Epoch ms: until then, the task of a create call without an answer is searched for. */
  readonly searchUntil: number | undefined
  /** The vendor's last advice, ms. */
  readonly afterMs: number
  readonly firstByteMs: number | undefined
  /** A result that is finished upstream and being fetched. */
  readonly result: FinishedResult | undefined
  /** Only for a response: the basis for its charge if the upstream reports no usage. */
  readonly response?: { readonly inputTokens: number; readonly outputTokensMax: number } | undefined
}

export interface FinishedResult {
  readonly source:
    | { readonly kind: 'link'; readonly url: string }
    | { readonly kind: 'download'; readonly request: JsonObject }
  readonly secondsProduced: number | undefined
  readonly size: string | undefined
}

/** Tasks outlive upgrades: the version that wrote a row is recorded. */
const VERSION = 1

export function encodeDetail(detail: TaskDetail): JsonObject {
  const json: unknown = { ...detail, version: VERSION }
  return json as JsonObject
}

/** Throws if no version of this code wrote the row. */
export function decodeDetail(json: JsonObject): TaskDetail {
  const { version, description, terms, attempts } = json
  if (
    version !== VERSION ||
    !isJsonObject(description) ||
    typeof terms !== 'string' ||
    !Array.isArray(attempts)
  ) {
    throw new Error('the detail of a video task cannot be read')
  }
  const checked: unknown = json
  return checked as TaskDetail
}

/** A request to be sent later, as JSON. */
export function encodeRequest({ method, url, headers, body }: HttpRequest, encode: EncodeBytes): JsonObject {
  if (body === undefined) return { method, url, headers }
  return typeof body === 'string'
    ? { method, url, headers, body }
    : { method, url, headers, bytes: encode(body) }
}

export type EncodeBytes = (bytes: Uint8Array) => string
export type DecodeBytes = (text: string) => Uint8Array

export function decodeRequest(json: JsonObject, decode: DecodeBytes): HttpRequest {
  const { method, url, headers, body, bytes } = json
  if (!isMethod(method) || typeof url !== 'string' || !isTextRecord(headers)) {
    throw new Error('the next request of a video task cannot be read')
  }
  if (typeof body === 'string') return { method, url, headers, body }
  return typeof bytes === 'string' ? { method, url, headers, body: decode(bytes) } : { method, url, headers }
}

function isMethod(value: JsonValue | undefined): value is HttpRequest['method'] {
  return value === 'GET' || value === 'POST' || value === 'PUT' || value === 'DELETE'
}

function isTextRecord(value: JsonValue | undefined): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string')
}
