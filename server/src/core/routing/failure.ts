/**
 * What an upstream's failure is, and what follows from it (docs/reference/contract.md#1-61, #7.3). Decided by status,
 * type and code, never by the words of a message: prose changes, and it may quote the client.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

/** An unsuccessful answer: a status from 300 up, or an error event inside a 200 (then `status` is 200). */
export interface UpstreamFailure {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body; undefined if there was none or it was not JSON. */
  readonly body: JsonValue | undefined
}

export type FailureClass =
  /** Too many requests; passes after a wait. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number | undefined }
  /** The upstream is faulty or overloaded; passes by itself. */
  | { readonly kind: 'overloaded'; readonly retryAfterMs: number | undefined }
  /** The credential's balance or quota is used up; lasts until someone pays. */
  | { readonly kind: 'quota' }
  /** The credential is not accepted. */
  | { readonly kind: 'auth' }
  /** The upstream does not have this model or path. */
  | { readonly kind: 'not-found' }
  /** The request itself is at fault. */
  | { readonly kind: 'request' }
  /** The content was refused by policy. */
  | { readonly kind: 'refused-content' }

export type FailureKind = FailureClass['kind']

/** Failures of the connection rather than of an answer. */
export type BrokenKind =
  /** No connection: nothing was sent. */
  | 'connect'
  /** No head or no first byte in time. */
  | 'timeout'
  /** The connection broke after the request was sent, or the answer cannot be read. */
  | 'cut'
  /** A task was begun, but its result is unknown: it may be completed, and billed. */
  | 'lost-task'

export interface Consequence {
  /** Retried once over the same chain, at once. */
  readonly sameChainAgain: boolean
  readonly nextChain: boolean
  /** The account's fallback model may be tried when no chain is left (docs/reference/contract.md#D-fallback). */
  readonly fallback: boolean
  /**
   * Its effect on the chain's health. `as-failure`: several of them start a cooldown. `at-once`: a single one does,
   * since a person has to fix it. `as-rate-limit`: the credential is used less often. `not`: it is not the chain's
   * fault.
   */
  readonly counts: 'not' | 'as-failure' | 'at-once' | 'as-rate-limit'
}

/**
 * After a refusal or a faulty request no other chain is tried (docs/protocols.md#failures-of-upstreams;
 * docs/reference/contract.md#D-fallback). A 404 may be about something the client named, so a single one starts no
 * cooldown.
 */
export const CONSEQUENCES: Readonly<Record<FailureKind | BrokenKind, Consequence>> = {
  connect: { sameChainAgain: true, nextChain: true, fallback: true, counts: 'as-failure' },
  timeout: { sameChainAgain: false, nextChain: true, fallback: true, counts: 'as-failure' },
  cut: { sameChainAgain: false, nextChain: true, fallback: true, counts: 'as-failure' },
  'lost-task': { sameChainAgain: false, nextChain: false, fallback: false, counts: 'as-failure' },
  overloaded: { sameChainAgain: false, nextChain: true, fallback: true, counts: 'as-failure' },
  'rate-limited': { sameChainAgain: false, nextChain: true, fallback: true, counts: 'as-rate-limit' },
  quota: { sameChainAgain: false, nextChain: true, fallback: true, counts: 'at-once' },
  auth: { sameChainAgain: false, nextChain: true, fallback: true, counts: 'at-once' },
  'not-found': { sameChainAgain: false, nextChain: true, fallback: true, counts: 'as-failure' },
  request: { sameChainAgain: false, nextChain: false, fallback: false, counts: 'not' },
  'refused-content': { sameChainAgain: false, nextChain: false, fallback: false, counts: 'not' },
}

/** A vendor's own error words, lower case; they take precedence over the general ones. */
export type FailureWords = Readonly<Record<string, FailureKind>>

/** `words` are the vendor's; without them only what the four protocols themselves define is known. */
export function classifyFailure(failure: UpstreamFailure, words: FailureWords = {}): FailureClass {
  const found = errorWords(failure.body)
  const kind =
    firstMeaning(found, words) ??
    firstMeaning(found, GENERAL_WORDS) ??
    kindOfStatus(failure.status) ??
    firstMeaning(found, WORDS_WITHOUT_STATUS) ??
    'overloaded'
  return withHint(kind, failure)
}

/** A class of that kind, with the retry hint of the answer where the kind has room for one. */
export function withHint(kind: FailureKind, failure: UpstreamFailure): FailureClass {
  switch (kind) {
    case 'rate-limited':
    case 'overloaded':
      return { kind, retryAfterMs: retryHintMs(failure) }
    case 'quota':
    case 'auth':
    case 'not-found':
    case 'request':
    case 'refused-content':
      return { kind }
  }
}

/** Words whose meaning does not depend on the status: some upstreams send 400 or 500 for everything. */
const GENERAL_WORDS: FailureWords = {
  insufficient_quota: 'quota',
  billing_error: 'quota',
  billing_not_active: 'quota',
  billing_hard_limit_reached: 'quota',
  insufficient_balance: 'quota',
  insufficient_user_quota: 'quota',
  rate_limit_exceeded: 'rate-limited',
  rate_limit_error: 'rate-limited',
  too_many_requests: 'rate-limited',
  tokens_per_min_exceeded: 'rate-limited',
  requests_per_min_exceeded: 'rate-limited',
  resource_exhausted: 'rate-limited',
  overloaded_error: 'overloaded',
  server_error: 'overloaded',
  internal_server_error: 'overloaded',
  api_error: 'overloaded',
  timeout_error: 'overloaded',
  service_unavailable: 'overloaded',
  unavailable: 'overloaded',
  deadline_exceeded: 'overloaded',
  internal: 'overloaded',
  invalid_api_key: 'auth',
  invalid_authentication: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  permission_denied: 'auth',
  unauthenticated: 'auth',
  api_key_invalid: 'auth',
  api_key_service_blocked: 'auth',
  account_deactivated: 'auth',
  unsupported_country_region_territory: 'auth',
  model_not_found: 'not-found',
  deploymentnotfound: 'not-found',
  not_found_error: 'not-found',
  context_length_exceeded: 'request',
  string_above_max_length: 'request',
  request_too_large: 'request',
  content_filter: 'refused-content',
  content_policy_violation: 'refused-content',
  responsibleaipolicyviolation: 'refused-content',
  moderation_blocked: 'refused-content',
}

/** Words too general to outweigh a status; they decide inside a 200, where there is none. */
const WORDS_WITHOUT_STATUS: FailureWords = {
  invalid_request_error: 'request',
  invalid_request: 'request',
  invalid_argument: 'request',
  invalid_prompt: 'refused-content',
  failed_precondition: 'request',
  not_found: 'not-found',
}

/** undefined for a success status: the error came inside the stream. */
function kindOfStatus(status: number): FailureKind | undefined {
  if (status < 300) return undefined
  // If an API redirects, its configured address is wrong.
  if (status < 400) return 'not-found'
  switch (status) {
    case 401:
    case 403:
      return 'auth'
    case 402:
      return 'quota'
    case 404:
    case 410:
      return 'not-found'
    case 429:
      return 'rate-limited'
    case 408:
    case 409:
    case 425:
    case 499:
      return 'overloaded'
  }
  return status < 500 ? 'request' : 'overloaded'
}

function firstMeaning(found: readonly string[], words: FailureWords): FailureKind | undefined {
  for (const word of found) {
    if (Object.hasOwn(words, word)) return words[word]
  }
  return undefined
}

/**
 * The machine-readable words of an error body, most specific first: code, inner code, reason, type, status word.
 * Accepts the four protocols' shapes, the array around Google's, and errors that lie at the top or under `response`.
 */
export function errorWords(body: JsonValue | undefined): readonly string[] {
  const outer = unwrapArray(body)
  if (outer === undefined) return []
  const response = isJsonObject(outer['response']) ? outer['response'] : undefined
  const error = isJsonObject(outer['error'])
    ? outer['error']
    : isJsonObject(response?.['error'])
      ? response['error']
      : outer
  const inner = isJsonObject(error['innererror']) ? error['innererror'] : undefined
  const candidates = [
    error['code'],
    inner?.['code'],
    ...errorDetails(error).map((detail) => detail['reason']),
    error['type'],
    error['status'],
    outer['code'],
    typeof outer['error'] === 'string' ? outer['error'] : undefined,
  ]
  return candidates.flatMap(word)
}

function word(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'string' && value !== '' ? [value.toLowerCase()] : []
}

function unwrapArray(body: JsonValue | undefined): JsonObject | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body
  return isJsonObject(first) ? first : undefined
}

function errorDetails(error: JsonObject): readonly JsonObject[] {
  const details: unknown = error['details']
  return Array.isArray(details) ? details.filter(isJsonObject) : []
}

/**
 * How long the upstream asks to wait. Dates are compared with the answer's own `date`, so that neither clock matters.
 * `retry-after` in its forms takes precedence over Google's RetryInfo in the body, and that over the reset times.
 */
export function retryHintMs(failure: UpstreamFailure): number | undefined {
  const { headers } = failure
  const sentAt = parseDate(single(headers['date']))
  return (
    milliseconds(single(headers['retry-after-ms'])) ??
    milliseconds(single(headers['x-ms-retry-after-ms'])) ??
    untilMs(single(headers['retry-after']), sentAt) ??
    retryInfoMs(failure.body) ??
    resetMs(failure.headers, sentAt)
  )
}

function retryInfoMs(body: JsonValue | undefined): number | undefined {
  const outer = unwrapArray(body)
  const error = outer !== undefined && isJsonObject(outer['error']) ? outer['error'] : undefined
  if (error === undefined) return undefined
  for (const detail of errorDetails(error)) {
    const delay = detail['retryDelay']
    if (typeof delay === 'string') return durationMs(delay)
  }
  return undefined
}

/** Pairs of reset and remaining headers: OpenAI and compatible vendors, Anthropic, and the unprefixed draft. */
const RESET_HEADERS = [
  ['x-ratelimit-reset-requests', 'x-ratelimit-remaining-requests'],
  ['x-ratelimit-reset-tokens', 'x-ratelimit-remaining-tokens'],
  ['anthropic-ratelimit-requests-reset', 'anthropic-ratelimit-requests-remaining'],
  ['anthropic-ratelimit-tokens-reset', 'anthropic-ratelimit-tokens-remaining'],
  ['anthropic-ratelimit-input-tokens-reset', 'anthropic-ratelimit-input-tokens-remaining'],
  ['anthropic-ratelimit-output-tokens-reset', 'anthropic-ratelimit-output-tokens-remaining'],
  ['x-ratelimit-reset', 'x-ratelimit-remaining'],
  ['ratelimit-reset', 'ratelimit-remaining'],
] as const

/** The longest reset of the limits that are used up; if none is known to be used up, the shortest of all. */
function resetMs(headers: UpstreamFailure['headers'], sentAt: number | undefined): number | undefined {
  const usedUp: number[] = []
  const others: number[] = []
  for (const [reset, remaining] of RESET_HEADERS) {
    const wait = untilMs(single(headers[reset]), sentAt)
    if (wait === undefined) continue
    if (Number(single(headers[remaining]) ?? Number.NaN) <= 0) usedUp.push(wait)
    else others.push(wait)
  }
  if (usedUp.length > 0) return Math.max(...usedUp)
  return others.length > 0 ? Math.min(...others) : undefined
}

/** Seconds, a duration such as `1m2.5s`, a date, or an epoch time in seconds or milliseconds. */
function untilMs(text: string | undefined, sentAt: number | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) {
    const value = Number(text)
    // No upstream asks for a wait of three years: from here on the number is a point in time.
    if (value < 1e8) return Math.ceil(value * 1000)
    return after(value < 1e11 ? value * 1000 : value, sentAt)
  }
  return durationMs(text) ?? after(parseDate(text), sentAt)
}

function after(at: number | undefined, sentAt: number | undefined): number | undefined {
  return at === undefined || sentAt === undefined ? undefined : Math.max(0, Math.ceil(at - sentAt))
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `34.4s`, `6m0s`, `120ms`, `1h2m3s`. */
function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return Math.ceil(total)
}

function milliseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : undefined
}

function parseDate(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

function single(value: string | readonly string[] | undefined): string | undefined {
  const first: string | undefined = typeof value === 'string' ? value : value?.[0]
  return first?.trim()
}
