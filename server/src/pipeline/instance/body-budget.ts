import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Body bytes of all running calls together; past the limit a call is refused, never the process. */
export interface BodyBudget {
  /** Throws 50301 with Retry-After when the bytes do not fit. */
  take(bytes: number): void
  give(bytes: number): void
  readonly used: number
  /** More than half of it is taken: whatever can be dropped should not stay in memory. */
  readonly crowded: boolean
}

/** A large upload finishes within seconds and then frees its bytes. */
const RETRY_AFTER_MS = 2_000

export function createBodyBudget(bytesMax: number): BodyBudget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > bytesMax) {
        throw new GatewayError(50301, {
          message: 'too many request bytes are in flight right now, try again shortly',
          retryAfterMs: RETRY_AFTER_MS,
        })
      }
      used += bytes
    },
    give(bytes) {
      used -= bytes
    },
    get used() {
      return used
    },
    get crowded() {
      return used > bytesMax / 2
    },
  }
}
