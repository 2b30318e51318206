/** The upstream of an exchange: asked once, then read no faster than its client reads and with turns for everybody else. */
import type { UpstreamExchange, UpstreamSink } from '../../upstream/upstream.ts'
import type { ExchangeOptions } from './exchange-options.ts'

/** Read of an answer before everybody else has a turn: dense JSON of this size takes a few milliseconds. */
const TURN_BYTES = 131_072

export class UpstreamReader {
  /** Bytes of the answer so far. */
  bytes = 0
  /** The client always kept up. */
  unhindered = true
  /** The client reads slower than the upstream sends. */
  held = false
  readonly #options: Pick<ExchangeOptions, 'nextTurn' | 'send'>
  #exchange: UpstreamExchange | undefined
  #bytesThisTurn = 0

  constructor(options: Pick<ExchangeOptions, 'nextTurn' | 'send'>) {
    this.#options = options
  }

  /** The request may have reached the upstream. */
  get sent(): boolean {
    return this.#exchange?.sent ?? false
  }

  /** Asks it, once. Throws what the sending throws. */
  send(sink: UpstreamSink): void {
    this.#exchange = this.#options.send(sink)
  }

  /** A piece came. A fast upstream's pieces come many at a time: without a pause all of them would be read in one turn. */
  count(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength
    this.#bytesThisTurn += chunk.byteLength
    if (this.#bytesThisTurn < TURN_BYTES) return
    this.#bytesThisTurn = 0
    this.#exchange?.pause()
    this.#options.nextTurn(() => {
      if (!this.held) this.#exchange?.resume()
    })
  }

  /** Until its client has caught up. */
  hold(): void {
    this.held = true
    this.unhindered = false
    this.#exchange?.pause()
  }

  /** Nobody has to catch up any more. */
  readOn(): void {
    this.held = false
    this.#exchange?.resume()
  }

  abort(): void {
    this.#exchange?.abort()
  }
}
