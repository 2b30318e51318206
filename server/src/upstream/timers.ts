/** This module's clock and timers, passed in so that tests control them. */
export interface Timers {
  /** Monotonic, ms. */
  now(): number
  /** Epoch ms, for signatures. */
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

/** For background work: these do not keep the process alive. */
export const backgroundTimers: Timers = {
  ...systemTimers,
  set: (callback, delayMs) => {
    const timeout = setTimeout(callback, delayMs).unref()
    return { cancel: () => clearTimeout(timeout) }
  },
}
