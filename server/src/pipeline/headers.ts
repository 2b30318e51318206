import type { WindowReading } from '../core/ledger/operations.ts'
import type { ChainProtocol } from '../core/catalogue.ts'
import type { ModelId } from '../core/ids.ts'
import type { ReservedCall } from './call.ts'
import { wireOf } from './kinds/wire.ts'

/**
 * Headers of the client that are forwarded to an upstream of the same protocol. Everything else (credentials, cookies,
 * hop-by-hop, tracing) is not forwarded.
 */
export function forwardedHeaders(
  call: ReservedCall,
  upstreamProtocol: ChainProtocol,
): Readonly<Record<string, string>> {
  if (upstreamProtocol !== call.endpoint.protocol) return {}
  const headers: Record<string, string> = {}
  for (const name of wireOf(call.endpoint.protocol).forwardedHeaders) {
    const value = call.headers[name]
    if (value !== undefined) headers[name] = value
  }
  return headers
}

interface AnsweredCall {
  readonly reservation: ReservedCall['reservation'] | undefined
}

/**
 * What every answer carries (docs/reference/contract.md#D-requests-33, #D-requests-37): the model used and what was
 * dropped, as formatted by `formatDropped`.
 */
export function addAnswerHeaders(
  headers: Record<string, string>,
  call: AnsweredCall,
  used: ModelId,
  dropped: readonly string[],
): void {
  headers['gw-model'] = headerText(used)
  if (dropped.length > 0) headers['gw-dropped-fields'] = dropped.join(',')
  if (call.reservation !== undefined) addRateLimits(headers, call.reservation.windows)
}

/** The same as headers of their own. */
export function answerHeaders(
  call: AnsweredCall,
  used: ModelId,
  dropped: readonly string[],
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  addAnswerHeaders(headers, call, used, dropped)
  return headers
}

/** `RateLimit` and `RateLimit-Policy` (IETF httpapi draft): one item per window, named by its dimension and length. */
export function rateLimitHeaders(windows: readonly WindowReading[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  addRateLimits(headers, windows)
  return headers
}

function addRateLimits(headers: Record<string, string>, windows: readonly WindowReading[]): void {
  if (windows.length === 0) return
  let policies = ''
  let states = ''
  for (const window of windows) {
    const comma = policies === '' ? '' : ', '
    const { policy, stateStart } = textsOf(window)
    policies += `${comma}${policy}`
    states += `${comma}${stateStart}${Math.max(0, Math.floor(window.remaining))};t=${Math.ceil(window.resetMs / 1_000)}`
  }
  headers['ratelimit-policy'] = policies
  headers['ratelimit'] = states
}

/** What is the same for every call that a window limits: made anew it took 1 KB of each. */
interface WindowTexts {
  readonly limit: number
  readonly seconds: number
  readonly policy: string
  /** Up to the number that remains. */
  readonly stateStart: string
}

const TEXTS_PER_DIMENSION_MAX = 16

/** Remembers the texts of the windows that calls had last, by their dimensions: a policy has a few. */
function rememberTexts(): (window: WindowReading) => WindowTexts {
  const remembered = new Map<string, readonly WindowTexts[]>()
  return ({ dimension, limit, seconds }) => {
    const known = remembered.get(dimension) ?? []
    for (const texts of known) if (texts.limit === limit && texts.seconds === seconds) return texts
    const name = `"${dimension}-${seconds}"`
    const policy = `${name};q=${Math.floor(limit)};w=${seconds}`
    const texts = { limit, seconds, policy, stateStart: `${name};r=` }
    remembered.set(dimension, [texts, ...known.slice(0, TEXTS_PER_DIMENSION_MAX - 1)])
    return texts
  }
}

const textsOf = rememberTexts()

/** Header values are ASCII without line breaks; anything else is percent-encoded. */
export function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURI(text)
}
