import type { MeterReading } from '../../core/metering/meter.ts'
import type { KeptAnswer, StreamLane } from '../lanes/lane.ts'
import type { EndedBy } from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Ended } from './exchange-outcome.ts'
import type { OpenAnswer } from './exchange-states.ts'

type Options = Pick<ExchangeOptions, 'now' | 'onProgress' | 'onError' | 'extras'>

/** What an answer has used so far, when that was told last, and what is known of it at its end. Its meter may break. */
export class AnswerProgress {
  /** The client always kept up. */
  unhindered = true
  readonly #options: Options
  readonly #startedAt: number
  /** Output as the upstream last told it, and when. */
  #told: number | undefined
  #toldAt: number
  #last: MeterReading | undefined

  constructor(options: Options) {
    this.#options = options
    this.#startedAt = options.now()
    this.#toldAt = this.#startedAt
  }

  noteTold({ toldOutput }: StreamLane): void {
    if (toldOutput === this.#told) return
    this.#told = toldOutput
    this.#toldAt = this.#options.now()
  }

  /** Says where a running stream stands, when it has grown. */
  tell(lane: StreamLane, answerBytes: number): void {
    const reading = lane.glanceMeter()
    if (sameReading(reading, this.#last)) return
    this.#last = reading
    this.#options.onProgress(reading, answerBytes)
  }

  ended(answer: OpenAnswer | undefined, { ending, generation, code }: EndedBy): Ended {
    const now = this.#options.now()
    const read = answer === undefined ? { reading: undefined } : this.#read(answer)
    return {
      ending: read.failed === true ? 'gateway-error' : ending,
      generation,
      reading: read.reading,
      extras: this.#options.extras?.read(),
      toldOutput: answer?.lane.toldOutput,
      generatedMs: now - this.#startedAt,
      untoldMs: now - this.#toldAt,
      unhindered: this.unhindered,
      code,
    }
  }

  keptOf({ lane }: OpenAnswer): KeptAnswer | undefined {
    try {
      return lane.kept()
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** The exact reading, or the best there is when it cannot be made. */
  #read({ lane }: OpenAnswer): { readonly reading: MeterReading | undefined; readonly failed?: boolean } {
    try {
      return { reading: lane.readMeter() }
    } catch (error) {
      this.#options.onError(error)
    }
    try {
      return { reading: lane.glanceMeter(), failed: true }
    } catch (error) {
      this.#options.onError(error)
      return { reading: this.#last, failed: true }
    }
  }
}

function sameReading(one: MeterReading, other: MeterReading | undefined): boolean {
  return (
    other !== undefined && one.usage.output === other.usage.output && one.usage.input === other.usage.input
  )
}
