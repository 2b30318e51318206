/**
 * What an answer has used so far, when the upstream last reported it, and the final figures. If its meter fails, the
 * client still gets its answer.
 */
import type { MeterReading } from '../../core/metering/meter.ts'
import type { AnswerLane, KeptAnswer } from '../lanes/lane.ts'
import type { Answer } from './answer.ts'
import type { EndedBy } from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Ended } from './exchange-outcome.ts'
import type { UpstreamReader } from './upstream-reader.ts'

type Options = Pick<ExchangeOptions, 'extras' | 'lane' | 'now' | 'onError' | 'onProgress'>
type Upstream = Pick<UpstreamReader, 'bytes' | 'unhindered'>

export class AnswerUsage {
  readonly #options: Options
  readonly #upstream: Upstream
  readonly #startedAt: number
  #answer: Answer | undefined
  /** The last output count that the upstream reported, and when. */
  #reported: number | undefined
  #reportedAt: number
  #last: MeterReading | undefined

  constructor(options: Options, upstream: Upstream) {
    this.#options = options
    this.#upstream = upstream
    this.#startedAt = options.now()
    this.#reportedAt = this.#startedAt
  }

  /** Sets the answer that has begun. */
  open(answer: Answer): void {
    this.#answer = answer
  }

  /**
   * Call after each piece. A whole answer reports its output once, at its end, which says nothing about its progress.
   */
  noteReport(): void {
    const answer = this.#answer
    if (answer?.form !== 'stream' || answer.lane.meter.reportedOutput === this.#reported) return
    this.#reported = answer.lane.meter.reportedOutput
    this.#reportedAt = this.#options.now()
  }

  /** Reports the usage of a running answer, if it has grown. */
  tell(): void {
    const reading = this.#answer?.lane.meter.glance()
    if (reading === undefined || sameReading(reading, this.#last)) return
    this.#last = reading
    this.#options.onProgress(reading, this.#upstream.bytes)
  }

  /** The best figure available at once, even before the answer's head has arrived. */
  glance(): MeterReading {
    return (this.#answer?.lane ?? this.#options.lane.openWhole()).meter.glance()
  }

  /** What is kept of the answer, once it has ended well. */
  kept(): KeptAnswer | undefined {
    try {
      return this.#answer?.lane.kept()
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  ended({ ending, generation, code, message }: EndedBy): Ended {
    const now = this.#options.now()
    const lane = this.#made(generation)
    const read = lane === undefined ? { reading: undefined } : this.#read(lane)
    return {
      ending: read.failed === true ? 'gateway-error' : ending,
      generation,
      reading: read.reading,
      extras: this.#options.extras?.read(),
      reportedOutput: lane?.meter.reportedOutput,
      generatedMs: now - this.#startedAt,
      unreportedMs: now - this.#reportedAt,
      unhindered: this.#upstream.unhindered,
      code,
      message,
    }
  }

  /** The final reading. An answer that was cut before its head arrived may have been generated anyway. */
  #made(generation: Ended['generation']): AnswerLane | undefined {
    if (generation === 'none') return undefined
    return this.#answer?.lane ?? (generation === 'cut' ? this.#options.lane.openWhole() : undefined)
  }

  /** The exact reading, or the best available if that fails. */
  #read(lane: AnswerLane): { readonly reading: MeterReading | undefined; readonly failed?: boolean } {
    try {
      return { reading: lane.meter.read() }
    } catch (error) {
      this.#options.onError(error)
    }
    try {
      return { reading: lane.meter.glance(), failed: true }
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
