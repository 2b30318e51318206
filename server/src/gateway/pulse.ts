/**
 * One timer for all running streams: once a second it lets each say that it lives (keep-alive to its client) and where
 * it stands (progress to the store). Thousands of slow streams cost one timer, not thousands, and they take turns within
 * the second: all at once they would keep every other call waiting.
 */
import { Roster, type Seated } from '../core/roster.ts'

export interface Pulse {
  add(stream: PulsedStream): void
  remove(stream: PulsedStream): void
  /** Lets all of them speak: for tests with a time of their own. */
  beat(now: number): void
  stop(): void
}

export interface PulsedStream extends Seated {
  /** Its turn within the second; the pulse's own. */
  turn?: number | undefined
  onPulse(now: number): void
}

const PERIOD_MS = 1_000
const TURNS = 10

export function createPulse(now: () => number): Pulse {
  const turns = Array.from({ length: TURNS }, () => new Roster<PulsedStream>())
  let added = 0
  let next = 0
  const speak = (streams: Roster<PulsedStream> | undefined, at: number): void =>
    streams?.visit((stream) => stream.onPulse(at))
  const timer = setInterval(() => {
    speak(turns[next], now())
    next = (next + 1) % TURNS
  }, PERIOD_MS / TURNS)
  timer.unref()
  return {
    add(stream) {
      if (stream.seat !== undefined) return
      stream.turn = added % TURNS
      added += 1
      turns[stream.turn]?.add(stream)
    },
    remove: (stream) => turns[stream.turn ?? 0]?.remove(stream),
    beat: (at) => {
      for (const streams of turns) speak(streams, at)
    },
    stop: () => clearInterval(timer),
  }
}
