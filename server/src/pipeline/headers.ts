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

/**
 * What every answer carries (docs/reference/contract.md#D-requests-33, #D-requests-37): the model used and what was
 * dropped, as formatted by `formatDropped`.
 */
export function answerHeaders(
  call: { readonly reservation: ReservedCall['reservation'] | undefined },
  used: ModelId,
  dropped: readonly string[],
): Readonly<Record<string, string>> {
  return {
    'gw-model': headerText(used),
    ...(dropped.length === 0 ? {} : { 'gw-dropped-fields': dropped.join(',') }),
    ...(call.reservation === undefined ? {} : rateLimitHeaders(call.reservation.windows)),
  }
}

/** `RateLimit` and `RateLimit-Policy` (IETF httpapi draft): one item per window, named by its dimension and length. */
export function rateLimitHeaders(windows: readonly WindowReading[]): Readonly<Record<string, string>> {
  if (windows.length === 0) return {}
  const policies: string[] = []
  const states: string[] = []
  for (const window of windows) {
    const name = `"${window.dimension}-${window.seconds}"`
    policies.push(`${name};q=${Math.floor(window.limit)};w=${window.seconds}`)
    states.push(
      `${name};r=${Math.max(0, Math.floor(window.remaining))};t=${Math.ceil(window.resetMs / 1000)}`,
    )
  }
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') }
}

/** Header values are ASCII without line breaks; anything else is percent-encoded. */
export function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURI(text)
}
