import { explainedMessage, type GatewayError } from '../core/errors/gateway-error.ts'
import { retryAfterHeader } from '../core/errors/retry-after.ts'
import type { JsonObject } from '../core/json.ts'

export interface RenderedError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The one place that builds the contract's envelope (docs/reference/contract.md#2.7, #D-errors-02, #D-errors-03). */
export function renderError(
  error: GatewayError,
  context: { readonly requestId: string; readonly path: string },
): RenderedError {
  const envelope: JsonObject = {
    ...(context.path.startsWith('/v1/messages') ? { type: 'error' } : {}),
    code: error.code,
    message: error.message,
    error: {
      message: explainedMessage(error),
      type: 'gateway_error',
      code: String(error.code),
      request_id: context.requestId,
      ...(error.details === undefined ? {} : { details: error.details }),
    },
    ...(error.upstreamBody === undefined ? {} : { upstream_body: error.upstreamBody }),
  }
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json',
      ...retryAfterHeader(error.status, error.retryAfterMs),
      ...error.headers,
      'x-request-id': context.requestId,
    },
    body: JSON.stringify(envelope),
  }
}
