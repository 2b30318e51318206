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
  for (const { dimension, seconds, limit, remaining, resetMs } of windows) {
    const comma = policies === '' ? '' : ', '
    const name = `"${dimension}-${seconds}"`
    policies += `${comma}${name};q=${Math.floor(limit)};w=${seconds}`
    states += `${comma}${name};r=${Math.max(0, Math.floor(remaining))};t=${Math.ceil(resetMs / 1_000)}`
  }
  headers['ratelimit-policy'] = policies
  headers['ratelimit'] = states
}

/** Header values are ASCII without line breaks; anything else is percent-encoded. */
export function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURI(text)
}
