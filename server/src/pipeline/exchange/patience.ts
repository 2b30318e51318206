/**
 * What an exchange waits for when its client has all that it will get: for an upstream that is read on without its client,
 * or for one that may end its answer by itself. One wait at a time.
 */
import type { TimerHandle } from '../../upstream/timers.ts'
import type { ExchangeOptions } from './exchange-options.ts'

/** How long an upstream that has said its last word may take to end its answer, so that the connection can be used again. */
const LINGER_MS = 1_000

type Options = Pick<ExchangeOptions, 'graceMs' | 'onUnheardEnd' | 'timers'>

export class Patience {
  readonly #options: Options
  #timer: TimerHandle | undefined
  #readsOn = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * The client has gone. False: what the upstream makes is not waited for.
   * @param begun its answer has come
   */
  readOn(begun: boolean, onOver: () => void): boolean {
    const ms = this.#options.graceMs({ begun })
    if (ms <= 0) return false
    this.#readsOn = true
    this.#timer = this.#options.timers.set(onOver, ms)
    return true
  }

  /** The upstream has said its last word. */
  linger(onOver: () => void): void {
    this.#timer = this.#options.timers.set(onOver, LINGER_MS)
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#readsOn) return
    this.#readsOn = false
    this.#options.onUnheardEnd()
  }
}
