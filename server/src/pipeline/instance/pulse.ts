/**
 * One timer for all running exchanges: once a second, each may send a keep-alive to its client and its progress to the
 * store. Thousands of slow streams cost one timer, not thousands, and they are spread over the second: all at once they
 * would delay every other call. They learn of a stop of the gateway in the same way.
 */
import { IndexedSet, type Indexed } from '../../core/indexed-set.ts'

export interface Pulse {
  add(stream: PulsedStream): void
  /** Calls it within a tenth of a second, and once a second from then on, because a new stream is not recorded yet. */
  soon(stream: PulsedStream): void
  remove(stream: PulsedStream): void
  /** Calls all of them: for tests with a simulated clock. */
  beat(now: number): void
  /** The gateway is stopping: all of them are notified; a later one has to check for itself. */
  stopAll(): void
  readonly stopping: boolean
  stop(): void
}

export interface PulsedStream extends Indexed {
  /** Its slot within the second; set by the pulse. */
  turn?: number | undefined
  onPulse(now: number): void
  /** The gateway is stopping. Absent: the stream ends by itself. */
  onStop?(): void
}

const PERIOD_MS = 1_000
const TURNS = 10

export function createPulse(now: () => number): Pulse {
  return new Beat(now)
}

class Beat implements Pulse {
  stopping = false
  readonly #turns = Array.from({ length: TURNS }, () => new IndexedSet<PulsedStream>())
  readonly #newcomers = new IndexedSet<PulsedStream>()
  readonly #timer: NodeJS.Timeout
  #added = 0
  #next = 0

  constructor(now: () => number) {
    this.#timer = setInterval(() => {
      const at = now()
      this.#turns[this.#next]?.visit((stream) => stream.onPulse(at))
      this.#next = (this.#next + 1) % TURNS
      this.#welcome(at)
    }, PERIOD_MS / TURNS)
    this.#timer.unref()
  }

  add(stream: PulsedStream): void {
    if (stream.position !== undefined) return
    stream.turn = this.#added % TURNS
    this.#added += 1
    this.#turns[stream.turn]?.add(stream)
  }

  soon(stream: PulsedStream): void {
    this.remove(stream)
    stream.turn = undefined
    this.#newcomers.add(stream)
  }

  remove(stream: PulsedStream): void {
    const set = stream.turn === undefined ? this.#newcomers : this.#turns[stream.turn]
    set?.remove(stream)
  }

  beat(at: number): void {
    for (const streams of this.#turns) streams.visit((stream) => stream.onPulse(at))
    this.#welcome(at)
  }

  stopAll(): void {
    this.stopping = true
    for (const streams of [this.#newcomers, ...this.#turns]) streams.visit((stream) => stream.onStop?.())
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #welcome(at: number): void {
    this.#newcomers.visit((stream) => {
      this.#newcomers.remove(stream)
      this.add(stream)
      stream.onPulse(at)
    })
  }
}
