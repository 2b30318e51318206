import type { UpstreamError } from '../../canonical/response.ts'
import type { JsonObject } from '../../json.ts'

/** The error object clients of this protocol read; type and message stay the upstream's own. */
export function errorObject(error: UpstreamError): JsonObject {
  return {
    message: error.message,
    type: error.type ?? typeOf(error.status),
    param: null,
    code: error.code ?? null,
    ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
  }
}

/** The unchanged body of the other protocol is included as `upstream_body` (docs/reference/contract.md#D-errors-29). */
export function encodeError(error: UpstreamError): JsonObject {
  return { error: errorObject(error), upstream_body: error.raw }
}

function typeOf(status: number | undefined): string {
  if (status === 429) return 'rate_limit_error'
  if (status === 401) return 'authentication_error'
  if (status !== undefined && status < 500) return 'invalid_request_error'
  return 'server_error'
}
