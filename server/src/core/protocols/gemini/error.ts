/** Failures of a Gemini upstream, and every failure sent to a Gemini client (docs/protocols.md#gemini-errors). */
import type { UpstreamError } from '../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { readErrorBody } from '../error-body.ts'

export function decodeError(status: number | undefined, body: JsonValue): UpstreamError {
  const error = readErrorBody(status, body)
  const told = error.type === undefined ? undefined : STATUSES[error.type]
  return { ...error, status: error.status ?? told }
}

/**
 * `code` is the number clients of this protocol read, `status` is Google's word for it; the upstream's own type is
 * beside them (docs/reference/contract.md#D-errors-29). The same object ends a stream that fails.
 */
export function encodeError(error: UpstreamError): JsonObject {
  const code = error.status ?? (error.type === undefined ? undefined : STATUSES[error.type]) ?? 500
  const own = error.type !== undefined && Object.hasOwn(STATUSES, error.type)
  return {
    error: {
      code,
      message: error.message,
      status: own ? error.type : wordOfStatus(code),
      ...(own || error.type === undefined ? {} : { type: error.type }),
      ...(error.requestId === undefined ? {} : { gateway_code: error.code, request_id: error.requestId }),
    },
  }
}

const STATUSES: Readonly<Record<string, number | undefined>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

function wordOfStatus(status: number): string {
  const known = Object.entries(STATUSES).find(([, code]) => code === status)
  if (known !== undefined) return known[0]
  return status >= 400 && status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'
}
