import type { JsonValue } from '../core/json.ts'
import type { UpstreamFailure } from '../core/routing/failure.ts'
import type { ChainFailure } from '../core/routing/health.ts'
import type { Leg } from './attempt.ts'
import { dialectOf } from './dialect.ts'
import type { AttemptFailure } from './exchange.ts'
import type { Gateway } from './gateway.ts'

/** What kind of failure an attempt was, by status, type and code — never by prose. */
export function classifyAttempt(gateway: Gateway, leg: Leg, failure: AttemptFailure): ChainFailure {
  switch (failure.kind) {
    case 'deadline':
      return { kind: 'timeout' }
    case 'transport':
      return transportClass(failure.transport.kind)
    case 'status':
      return classify(gateway, leg, {
        status: failure.status,
        headers: failure.headers,
        body: parseJson(failure.body),
      })
    case 'answer':
      if (failure.answer.kind === 'cut') return { kind: 'cut' }
      return classify(gateway, leg, {
        status: failure.answer.status ?? 200,
        headers: {},
        body: failure.answer.raw,
      })
  }
}

function classify(gateway: Gateway, leg: Leg, failure: UpstreamFailure): ChainFailure {
  return dialectOf(gateway, leg).dialect.classify(failure)
}

function transportClass(kind: string): ChainFailure {
  switch (kind) {
    case 'first-byte-timeout':
    case 'idle-timeout':
      return { kind: 'timeout' }
    case 'protocol':
      return { kind: 'cut' }
    default:
      return { kind: 'connect' }
  }
}

/** The body as JSON; undefined when it is none. */
export function parseJson(body: Uint8Array): JsonValue | undefined {
  if (body.byteLength === 0) return undefined
  try {
    return JSON.parse(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'),
    ) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
