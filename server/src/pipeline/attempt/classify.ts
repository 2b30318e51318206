import type { JsonValue } from '../../core/json.ts'
import type { UpstreamFailure } from '../../core/routing/failure.ts'
import type { ChainFailure } from '../../core/routing/health.ts'
import type { TransportFailure } from '../../upstream/upstream.ts'
import type { ReservedCall } from '../call.ts'
import { upstreamOf } from './dialect.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { Leg } from './leg.ts'

type Catalogue = ReservedCall['catalogue']

/**
 * What kind of failure an attempt was, by status, type and code, never by the text of a message. `catalogue` is the
 * call's own: the vendor may have been changed or removed since.
 */
export function classifyAttempt(catalogue: Catalogue, leg: Leg, failure: AttemptFailure): ChainFailure {
  switch (failure.kind) {
    case 'deadline':
      return { kind: 'timeout' }
    case 'transport':
      return transportClass(failure.transport)
    case 'status':
      return classify(catalogue, leg, {
        status: failure.status,
        headers: failure.headers,
        body: parseJson(failure.body),
      })
    case 'answer':
      if (failure.answer.kind === 'cut') return { kind: 'cut' }
      return classify(catalogue, leg, {
        status: failure.answer.status ?? 200,
        headers: {},
        body: failure.answer.raw,
      })
  }
}

function classify(catalogue: Catalogue, leg: Leg, failure: UpstreamFailure): ChainFailure {
  return upstreamOf(leg, catalogue).dialect.classify(failure)
}

/**
 * Only a request that was never sent may be sent over the same chain again. For any other, the vendor may already have
 * produced an answer, and may bill it.
 */
function transportClass({ kind, sent }: TransportFailure): ChainFailure {
  switch (kind) {
    case 'first-byte-timeout':
    case 'idle-timeout':
      return { kind: 'timeout' }
    case 'protocol':
      return { kind: 'cut' }
    case 'connect':
    case 'reset':
    case 'aborted':
      return { kind: sent ? 'cut' : 'connect' }
  }
}

/** The body as JSON; undefined if it is not JSON. */
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
