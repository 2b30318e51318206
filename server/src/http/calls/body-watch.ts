import { IndexedSet, type Indexed } from '../../core/indexed-set.ts'

/** A body on its way; `alive` is set whenever something of it arrives. */
export interface WatchedBody extends Indexed {
  alive: boolean
  readonly onLate: () => void
  /** Looks in a row that found nothing new. */
  quietLooks: number
  /** Looks until it must have arrived as a whole. */
  looksLeft: number
}

/**
 * Ends bodies that stand still, and those that only drip, with one timer for all of them: a timer for each would cost
 * every small call one.
 */
export interface BodyWatch {
  /** `onLate` is told when nothing came for the idle time-out, or when the body is not there after `totalTimeoutMs`. */
  add(onLate: () => void, totalTimeoutMs: number): WatchedBody
  remove(body: WatchedBody): void
  stop(): void
}

/** So that a deadline of seconds is kept to within seconds, however long a body may be silent. */
const LOOK_MS_MAX = 2_500

/** Looks at least twice per time-out, so that a silent body ends after one time-out at the least and one and a half at the most. */
export function createBodyWatch(idleTimeoutMs: number): BodyWatch {
  const bodies = new IndexedSet<WatchedBody>()
  const everyMs = Math.max(1, Math.min(LOOK_MS_MAX, Math.ceil(idleTimeoutMs / 2)))
  const quietLooksMax = Math.ceil(idleTimeoutMs / everyMs)
  const look = (): void =>
    bodies.visit((body) => {
      body.quietLooks = body.alive ? 0 : body.quietLooks + 1
      body.alive = false
      body.looksLeft -= 1
      if (body.quietLooks >= quietLooksMax || body.looksLeft <= 0) body.onLate()
    })
  const timer = setInterval(look, everyMs)
  timer.unref()
  return {
    add(onLate, totalTimeoutMs) {
      // The first look may come at once: one more than the time has.
      const looksLeft = Math.ceil(totalTimeoutMs / everyMs) + 1
      const body: WatchedBody = { alive: true, onLate, quietLooks: 0, looksLeft, position: undefined }
      bodies.add(body)
      return body
    },
    remove: (body) => bodies.remove(body),
    stop: () => clearInterval(timer),
  }
}
