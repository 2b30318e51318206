/** Failures of a messages upstream, and every failure sent to a messages client (docs/protocols.md#messages-errors). */
import type { UpstreamError } from '../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { readErrorBody } from '../error-body.ts'

export function decodeError(status: number | undefined, body: JsonValue): UpstreamError {
  const error = readErrorBody(status, body)
  const type = error.type === 'error' ? undefined : error.type
  const toldByType = type === undefined ? undefined : STATUSES[type]
  const inAnswer = status === undefined || status < 400
  return { ...error, type, status: inAnswer ? (toldByType ?? error.status) : status }
}

/** The upstream's own type and message in the shape clients of this protocol parse, in a body as in an event. */
export function encodeError(error: UpstreamError): JsonObject {
  return {
    type: 'error',
    error: {
      type: error.type ?? typeOfStatus(error.status),
      message: error.message,
      ...(error.code === undefined ? {} : { code: error.code }),
      ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
    },
  }
}

/** The status that a type stands for inside a stream. */
const STATUSES: Readonly<Record<string, number | undefined>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

function typeOfStatus(status: number | undefined): string {
  if (status === undefined) return 'api_error'
  const known = Object.entries(STATUSES).find(([, code]) => code === status)
  if (known !== undefined) return known[0]
  return status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error'
}
