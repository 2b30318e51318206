/**
 * The upstream side of an exchange: sends once, reads no faster than the client, and waits for the upstream's end when
 * the client has disconnected or has everything.
 */
import type { TimerHandle } from '../../upstream/timers.ts'
import type { GuardedSink, UpstreamExchange } from '../../upstream/upstream.ts'
import type { ExchangeOptions } from './exchange-options.ts'

export class UpstreamReader {
  /** Bytes of the answer so far. */
  bytes = 0
  /** The client always kept up. */
  unhindered = true
  /** The client reads slower than the upstream sends. */
  held = false
  readonly #options: Pick<ExchangeOptions, 'send'>
  #exchange: UpstreamExchange | undefined

  constructor(options: Pick<ExchangeOptions, 'send'>) {
    this.#options = options
  }

  /** The request may have reached the upstream. */
  get sent(): boolean {
    return this.#exchange?.sent ?? false
  }

  /** The upstream completes it even if nobody waits for it. */
  get isTask(): boolean {
    return this.#exchange?.isTask ?? false
  }

  /** Sends the request, once. Throws what `send` throws. */
  send(sink: GuardedSink): void {
    this.#exchange = this.#options.send(sink)
  }

  /** A piece arrived. */
  count(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength
  }

  /** Pauses until the client has caught up. */
  hold(): void {
    this.held = true
    this.unhindered = false
    this.#exchange?.pause()
  }

  /** There is no client left that has to catch up. */
  resume(): void {
    this.held = false
    this.#exchange?.resume()
  }

  abort(): void {
    this.#exchange?.abort()
  }
}

/** How long an upstream may take to end its answer after the final event, so that the connection can be reused. */
const CLOSING_MS = 1_000

type Waiting = Pick<ExchangeOptions, 'graceMs' | 'onDrainEnd' | 'timers'>

/**
 * The waits of an exchange whose client gets nothing more: for an upstream that is still read without its client, or
 * for one that may end its answer by itself. One wait at a time.
 */
export class Patience {
  readonly #options: Waiting
  #timer: TimerHandle | undefined
  #draining = false

  constructor(options: Waiting) {
    this.#options = options
  }

  /**
   * The client has disconnected. False: the upstream is not waited for.
   * @param begun its answer has begun
   */
  drain(begun: boolean, onOver: () => void): boolean {
    const ms = this.#options.graceMs(begun)
    if (ms <= 0) return false
    this.#draining = true
    this.#timer = this.#options.timers.set(onOver, ms)
    return true
  }

  /** The final event has been received. */
  awaitEnd(onOver: () => void): void {
    this.#timer = this.#options.timers.set(onOver, CLOSING_MS)
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#draining) return
    this.#draining = false
    this.#options.onDrainEnd()
  }
}
