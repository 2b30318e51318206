import { ERRORS, type ErrorCode } from '../../core/errors/catalogue.ts'
import type { StreamFailure } from '../../core/passthrough/breaks.ts'

/** A failure of the gateway itself, to be reported inside a stream. `message` is for the client. */
export function streamFailure(code: ErrorCode, message: string, requestId: string): StreamFailure {
  return { code: String(code), status: ERRORS[code].status, message, requestId }
}
