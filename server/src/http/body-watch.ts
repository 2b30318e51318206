import { Roster, type Seated } from '../core/roster.ts'

/** A body on its way; `alive` is set whenever something of it arrives. */
export interface WatchedBody extends Seated {
  alive: boolean
  readonly onSilent: () => void
  /** Looks in a row that found nothing new. */
  quietLooks: number
}

/** Ends bodies that stand still, with one timer for all of them: a timer for each would cost every small call one. */
export interface BodyWatch {
  add(onSilent: () => void): WatchedBody
  remove(body: WatchedBody): void
  stop(): void
}

/** Looks twice per time-out, so that a silent body ends after one time-out at the least and one and a half at the most. */
export function createBodyWatch(idleTimeoutMs: number): BodyWatch {
  const bodies = new Roster<WatchedBody>()
  const look = (): void =>
    bodies.visit((body) => {
      body.quietLooks = body.alive ? 0 : body.quietLooks + 1
      body.alive = false
      if (body.quietLooks > 2) body.onSilent()
    })
  const timer = setInterval(look, Math.max(1, Math.ceil(idleTimeoutMs / 2)))
  timer.unref()
  return {
    add(onSilent) {
      const body: WatchedBody = { alive: true, onSilent, quietLooks: 0, seat: undefined }
      bodies.add(body)
      return body
    },
    remove: (body) => bodies.remove(body),
    stop: () => clearInterval(timer),
  }
}
