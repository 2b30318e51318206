/** Time as this module sees it, passed in so that tests move it by hand. */
export interface Timers {
  /** Monotonic, ms. */
  now(): number
  /** Epoch, ms; signatures carry it. */
  epoch(): number
  set(callback: () => void, delayMs: number): TimerHandle
}

export interface TimerHandle {
  cancel(): void
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  epoch: () => Date.now(),
  set: (callback, delayMs) => {
    const timeout = setTimeout(callback, delayMs)
    return { cancel: () => clearTimeout(timeout) }
  },
}

/** For what nobody waits for: these do not keep the process alive. */
export const backgroundTimers: Timers = {
  ...systemTimers,
  set: (callback, delayMs) => {
    const timeout = setTimeout(callback, delayMs).unref()
    return { cancel: () => clearTimeout(timeout) }
  },
}
