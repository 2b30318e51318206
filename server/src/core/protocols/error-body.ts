/**
 * Error bodies like OpenAI's: `{"error":{message,type,code,param}}` and vendors' variants of it. Read by shape and by
 * `type` and `code`, never by searching the prose (style, Errors).
 */
import type { UpstreamError } from '../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { isJsonArray } from '../canonical/json-text.ts'
import { numberOf, objectOf, wordOf, type Maybe } from './read-json.ts'

const NO_WORDS = 'the upstream failed without saying why'
/** An upstream's message goes to the client and the log, so its length is limited. */
const MESSAGE_LENGTH_MAX = 8_000

/**
 * The status a type or code stands for, for errors that come inside a stream or a 200
 * (docs/protocols.md#chat-errors, #responses-errors).
 */
const STATUS_OF_WORD: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_request: 400,
  invalid_prompt: 400,
  bad_request: 400,
  context_length_exceeded: 400,
  unsupported_value: 400,
  invalid_value: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  rate_limit_reached_error: 429,
  too_many_requests: 429,
  engine_overloaded_error: 429,
  permission_error: 403,
  permission_denied: 403,
  not_found: 404,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  server_error: 500,
  internal_server_error: 500,
  internal_error: 500,
  api_error: 500,
  model_error: 500,
  overloaded_error: 503,
  service_unavailable: 503,
  service_unavailable_error: 503,
  timeout: 504,
  timeout_error: 504,
}

export function readErrorBody(status: number | undefined, body: JsonValue): UpstreamError {
  const fields = errorFields(body)
  const type = wordOf(fields.type) ?? wordOf(fields.status)
  const code = codeOf(fields.code)
  return {
    status: status !== undefined && status >= 400 ? status : statusOf(code, type),
    type,
    code,
    message: (messageOf(fields) ?? NO_WORDS).slice(0, MESSAGE_LENGTH_MAX),
    raw: body,
  }
}

/**
 * The upstream closed, or sent what its protocol does not know: it has no message of its own, so the gateway's is used.
 */
export function brokenStream(message: string): UpstreamError {
  return { status: undefined, type: 'upstream_error', code: undefined, message, raw: null }
}

function errorFields(body: JsonValue): JsonObject {
  const whole = isJsonArray(body) ? body[0] : body
  if (typeof whole === 'string') return { message: whole }
  if (!isJsonObject(whole)) return {}
  const { error } = whole
  if (typeof error === 'string') return { ...whole, message: error }
  return objectOf(error) ?? whole
}

function messageOf(fields: JsonObject): string | undefined {
  return (
    wordOf(fields.message) ??
    wordOf(fields.detail) ??
    firstDetail(fields.message) ??
    firstDetail(fields.detail)
  )
}

/** FastAPI servers: `{"detail":[{"msg":…}]}`; Mistral puts the same under `message`. */
function firstDetail(value: Maybe): string | undefined {
  const list = isJsonArray(value) ? value : objectOf(value)?.detail
  const first = isJsonArray(list) ? objectOf(list[0]) : undefined
  return wordOf(first?.msg)
}

function codeOf(value: Maybe): string | undefined {
  return typeof value === 'number' ? String(value) : wordOf(value)
}

/** The code says more than the type: an exhausted quota is an `invalid_request_error` at some vendors. */
function statusOf(code: string | undefined, type: string | undefined): number | undefined {
  const asNumber = numberOf(Number(code))
  if (asNumber !== undefined && asNumber >= 400 && asNumber < 600) return asNumber
  return lookUp(code) ?? lookUp(type)
}

function lookUp(word: string | undefined): number | undefined {
  return word !== undefined && Object.hasOwn(STATUS_OF_WORD, word) ? STATUS_OF_WORD[word] : undefined
}
