import type { OfflineAnswer, OfflineChunk } from '../../core/offline-answer.ts'
import { systemTimers, type TimerHandle, type Timers } from '../timers.ts'
import type { UpstreamExchange, UpstreamSink } from '../upstream.ts'

/** Passes an answer made without a network to the same sink as a real one, with the same guarantees. */
export function playOffline(
  answer: OfflineAnswer,
  sink: UpstreamSink,
  timers: Timers = systemTimers,
): UpstreamExchange {
  return new Playing(answer, sink, timers)
}

class Playing implements UpstreamExchange {
  readonly sent = true
  readonly #answer: OfflineAnswer
  readonly #sink: UpstreamSink
  readonly #timers: Timers
  readonly #chunks: Iterator<OfflineChunk>
  #next: OfflineChunk | undefined
  #timer: TimerHandle | undefined
  #paused = false
  #running = false
  #over = false

  constructor(answer: OfflineAnswer, sink: UpstreamSink, timers: Timers) {
    this.#answer = answer
    this.#sink = sink
    this.#timers = timers
    this.#chunks = answer.chunks[Symbol.iterator]()
    queueMicrotask(() => this.#begin())
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    queueMicrotask(() => this.#play())
  }

  abort(): void {
    if (this.#over) return
    this.#leave()
    this.#sink.fail({ kind: 'aborted', sent: true, detail: 'aborted by the gateway' })
  }

  #begin(): void {
    if (this.#over) return
    this.#sink.head({ status: this.#answer.status, headers: this.#answer.headers })
    this.#pull()
    this.#play()
  }

  /** Delivers chunks until one has to wait, the sink is full, or none is left. */
  #play(): void {
    // The sink may pause and resume, or abort, while it is being called.
    if (this.#running || this.#timer !== undefined) return
    this.#running = true
    while (!this.#over && !this.#paused && this.#timer === undefined) this.#step()
    this.#running = false
  }

  #step(): void {
    const chunk = this.#next
    if (chunk === undefined) {
      this.#leave()
      this.#sink.end()
      return
    }
    if (chunk.afterMs > 0) {
      this.#next = { data: chunk.data, afterMs: 0 }
      this.#timer = this.#timers.set(() => {
        this.#timer = undefined
        this.#play()
      }, chunk.afterMs)
      return
    }
    this.#pull()
    const { data } = chunk
    if (data.length > 0) this.#sink.data(typeof data === 'string' ? Buffer.from(data) : data)
  }

  #pull(): void {
    const step = this.#chunks.next()
    this.#next = step.done === true ? undefined : step.value
  }

  #leave(): void {
    this.#over = true
    this.#timer?.cancel()
    this.#timer = undefined
    this.#chunks.return?.()
  }
}
