/** An upstream's answer from its head on, and what it has used so far. Streamed or whole: an exchange drives either alike. */
import type { MeterReading } from '../../core/metering/meter.ts'
import type { StreamFailure } from '../../core/passthrough/breaks.ts'
import type { UpstreamHead } from '../../upstream/upstream.ts'
import type {
  AnswerLane,
  Bytes,
  KeptAnswer,
  StreamLane,
  StreamStep,
  WholeEnd,
  WholeLane,
} from '../lanes/lane.ts'
import type { EndedBy } from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Ended } from './exchange-outcome.ts'

/** Answers up to this size are sent with their length, in one piece; longer ones are streamed. */
const WHOLE_HOLD_BYTES = 1_048_576
/** Events held back before the first meaningful one; an upstream that prefaces more than this has begun. */
const STREAM_HOLD_BYTES = 262_144

export interface Answer {
  readonly form: 'stream' | 'whole'
  readonly contentType: string | undefined
  /** Held back at most, while nothing meaningful has come. */
  readonly holdBytes: number
  readonly lane: AnswerLane
  /** Bytes of what came so far that only keep the connection alive. */
  readonly keepAliveBytes: number
  push(chunk: Uint8Array): StreamStep
  end(): WholeEnd
  /** Instead of `end`, where that would take too long here; undefined: it does not. */
  endFar(): Promise<WholeEnd> | undefined
  /** A sign of life for a client that waits; undefined: there is no place for one. */
  keepAlive(): Bytes | undefined
  /** What a client that reads is told of a failure; undefined: there is no place for it. */
  failure(failure: StreamFailure): Bytes | undefined
  /** Nobody hears it any more: it is read for its usage alone. */
  forget(): void
}

/** The answer whose head says that it is one. */
export function openAnswer(
  { lane, stream, extras, tierHeader }: Pick<ExchangeOptions, 'lane' | 'stream' | 'extras' | 'tierHeader'>,
  { headers }: UpstreamHead,
): Answer {
  const type = headerOf(headers, 'content-type')
  // One that nobody asked for would be no document: passed as what it is, it is metered and paid for.
  const streaming = stream ? isEventStream(type) : lane.passesStreams === true && saysEventStream(type)
  extras?.begin(streaming ? 'stream' : 'whole')
  const tier = tierHeader === undefined ? undefined : headerOf(headers, tierHeader)
  if (tier !== undefined) extras?.noteField('service_tier', tier)
  return streaming ? new StreamedAnswer(lane.openStream()) : new WholeAnswer(lane.openWhole(type), type)
}

function saysEventStream(type: string | undefined): boolean {
  return type?.startsWith('text/event-stream') === true
}

function isEventStream(type: string | undefined): boolean {
  return type === undefined || !type.startsWith('application/json')
}

export function headerOf(headers: UpstreamHead['headers'], name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

class StreamedAnswer implements Answer {
  readonly form = 'stream'
  readonly holdBytes = STREAM_HOLD_BYTES
  readonly lane: StreamLane

  constructor(lane: StreamLane) {
    this.lane = lane
  }

  get contentType(): string {
    return this.lane.contentType
  }

  get keepAliveBytes(): number {
    return this.lane.keepAliveBytes
  }

  push(chunk: Uint8Array): StreamStep {
    return this.lane.push(chunk)
  }

  end(): WholeEnd {
    return this.lane.end()
  }

  endFar(): undefined {
    return undefined
  }

  keepAlive(): Bytes | undefined {
    return this.lane.keepAlive()
  }

  failure(failure: StreamFailure): Bytes {
    return this.lane.failure(failure)
  }

  /** It keeps nothing anyway. */
  forget(): void {
    return undefined
  }
}

export class WholeAnswer implements Answer {
  readonly form = 'whole'
  readonly holdBytes: number
  readonly lane: WholeLane
  readonly contentType: string | undefined
  /** White space before it: some vendors keep the connection alive by it. */
  keepAliveBytes = 0

  constructor(lane: WholeLane, contentType: string | undefined) {
    this.lane = lane
    // Bytes that nobody names are no document.
    this.contentType = contentType ?? (lane.flows === true ? 'application/octet-stream' : undefined)
    this.holdBytes = lane.flows === true ? 0 : WHOLE_HOLD_BYTES
  }

  push(chunk: Uint8Array): StreamStep {
    if (isBlank(chunk)) this.keepAliveBytes += chunk.byteLength
    return { output: this.lane.push(chunk), meaningful: false, stage: 'flowing', failure: undefined }
  }

  end(): WholeEnd {
    return this.lane.end()
  }

  endFar(): Promise<WholeEnd> | undefined {
    return this.lane.endFar?.()
  }

  keepAlive(): undefined {
    return undefined
  }

  failure(): undefined {
    return undefined
  }

  forget(): void {
    this.lane.forget()
  }
}

function isBlank(chunk: Uint8Array): boolean {
  return chunk.every((byte) => byte <= 0x20)
}

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

  /** A whole answer tells its output once, at its end: that says nothing of how far it had come when. */
  noteTold({ form, lane }: Answer): void {
    if (form === 'whole' || lane.toldOutput === this.#told) return
    this.#told = lane.toldOutput
    this.#toldAt = this.#options.now()
  }

  /** Says where a running answer stands, when it has grown. */
  tell({ lane }: Answer, answerBytes: number): void {
    const reading = lane.glanceMeter()
    if (sameReading(reading, this.#last)) return
    this.#last = reading
    this.#options.onProgress(reading, answerBytes)
  }

  ended(answer: Answer | undefined, { ending, generation, code }: EndedBy): Ended {
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

  keptOf({ lane }: Answer): KeptAnswer | undefined {
    try {
      return lane.kept()
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** The exact reading, or the best there is when it cannot be made. */
  #read({ lane }: Answer): { readonly reading: MeterReading | undefined; readonly failed?: boolean } {
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
