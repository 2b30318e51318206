/** A body on its way; `alive` is set whenever something of it arrives. */
export interface WatchedBody {
  alive: boolean
}

/** Ends bodies that stand still, with one timer for all of them: a timer for each would cost every small call one. */
export interface BodyWatch {
  add(onSilent: () => void): WatchedBody
  remove(body: WatchedBody): void
  stop(): void
}

/** Looks twice per time-out, so that a silent body ends after one time-out at the least and one and a half at the most. */
export function createBodyWatch(idleTimeoutMs: number): BodyWatch {
  const bodies = new Map<WatchedBody, { readonly onSilent: () => void; quietLooks: number }>()
  const look = (): void => {
    for (const [body, entry] of bodies) {
      entry.quietLooks = body.alive ? 0 : entry.quietLooks + 1
      body.alive = false
      if (entry.quietLooks > 2) entry.onSilent()
    }
  }
  const timer = setInterval(look, Math.max(1, Math.ceil(idleTimeoutMs / 2)))
  timer.unref()
  return {
    add(onSilent) {
      const body = { alive: true }
      bodies.set(body, { onSilent, quietLooks: 0 })
      return body
    },
    remove: (body) => {
      bodies.delete(body)
    },
    stop: () => clearInterval(timer),
  }
}
