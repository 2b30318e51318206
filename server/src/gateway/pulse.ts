/**
 * One timer for all running streams: once a second it lets each say that it lives (keep-alive to its client) and where
 * it stands (progress to the store). Thousands of slow streams cost one timer, not thousands.
 */
import { Roster, type Seated } from '../core/roster.ts'

export interface Pulse {
  add(stream: PulsedStream): void
  remove(stream: PulsedStream): void
  /** Called by the timer; by tests with a time of their own. */
  beat(now: number): void
  stop(): void
}

export interface PulsedStream extends Seated {
  onPulse(now: number): void
}

const PERIOD_MS = 1_000

export function createPulse(now: () => number): Pulse {
  const streams = new Roster<PulsedStream>()
  const beat = (at: number): void => streams.visit((stream) => stream.onPulse(at))
  const timer = setInterval(() => beat(now()), PERIOD_MS)
  timer.unref()
  return {
    add: (stream) => streams.add(stream),
    remove: (stream) => streams.remove(stream),
    beat,
    stop: () => clearInterval(timer),
  }
}
