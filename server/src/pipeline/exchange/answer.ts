/** An upstream's answer from its head on. An exchange handles streamed and whole answers in the same way. */
import type { StreamFailure } from '../../core/passthrough/breaks.ts'
import type { UpstreamHead } from '../../upstream/upstream.ts'
import type { AnswerLane, Bytes, StreamLane, StreamStep, WholeEnd, WholeLane } from '../lanes/lane.ts'
import type { ExchangeOptions } from './exchange-options.ts'

/** Answers up to this size are sent with their length, in one piece; longer ones are streamed. */
const WHOLE_HOLD_BYTES = 1_048_576
/** Events held back before the first meaningful one; after more than this, the answer counts as begun. */
const STREAM_HOLD_BYTES = 262_144

type Generation = 'whole' | 'broken'

export interface Answer {
  readonly form: 'stream' | 'whole'
  readonly contentType: string | undefined
  /** Limit for what is held back while nothing meaningful has arrived. */
  readonly holdBytes: number
  readonly lane: AnswerLane
  /** Bytes received so far that only keep the connection alive. */
  readonly keepAliveBytes: number
  push(chunk: Uint8Array): StreamStep
  /**
   * The upstream has ended the answer. A promise, which never rejects, if parsing it on this thread would take too
   * long.
   */
  end(): WholeEnd | Promise<WholeEnd>
  /**
   * The same for an answer without a client: how far the upstream got with it. Also a promise if parsing takes long.
   */
  endDrained(): Generation | Promise<Generation>
  /** A keep-alive for a waiting client; undefined: the protocol has none here. */
  keepAlive(): Bytes | undefined
  /** Bytes that report a failure to a client that is reading; undefined: the protocol has no way to do so here. */
  failure(failure: StreamFailure): Bytes | undefined
  /** The client has disconnected: the answer is read for its usage alone. Absent: nothing of it is kept anyway. */
  forget?(): void
}

/** The answer for a head that announces one. */
export function openAnswer(
  options: Pick<ExchangeOptions, 'lane' | 'stream' | 'extras' | 'tierHeader' | 'onError'>,
  { headers }: UpstreamHead,
): Answer {
  const { lane, stream, extras, tierHeader } = options
  const type = headerOf(headers, 'content-type')
  // An unrequested stream is passed on as a stream, not parsed as a document, so it is metered and charged.
  const streaming = stream ? isEventStream(type) : lane.passesStreams === true && saysEventStream(type)
  extras?.begin(streaming ? 'stream' : 'whole')
  const tier = tierHeader === undefined ? undefined : headerOf(headers, tierHeader)
  if (tier !== undefined) extras?.noteField('service_tier', tier)
  return streaming
    ? new StreamedAnswer(lane.openStream())
    : new WholeAnswer(lane.openWhole(type), type, options)
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

  endDrained(): Generation {
    return generationOf(this.lane.end())
  }

  keepAlive(): Bytes | undefined {
    return this.lane.keepAlive()
  }

  failure(failure: StreamFailure): Bytes {
    return this.lane.failure(failure)
  }
}

class WholeAnswer implements Answer {
  readonly form = 'whole'
  readonly holdBytes: number
  readonly lane: WholeLane
  readonly #contentType: string | undefined
  /** White space before the document: some vendors keep the connection alive with it. */
  keepAliveBytes = 0

  readonly #options: Pick<ExchangeOptions, 'onError'>

  constructor(lane: WholeLane, contentType: string | undefined, options: Pick<ExchangeOptions, 'onError'>) {
    this.lane = lane
    this.#options = options
    // Bytes without a content type are not a document.
    this.#contentType = contentType ?? (lane.flows === true ? 'application/octet-stream' : undefined)
    this.holdBytes = lane.flows === true ? 0 : WHOLE_HOLD_BYTES
  }

  get contentType(): string | undefined {
    return this.lane.contentType ?? this.#contentType
  }

  push(chunk: Uint8Array): StreamStep {
    if (isBlank(chunk)) this.keepAliveBytes += chunk.byteLength
    return { output: this.lane.push(chunk), meaningful: false, stage: 'flowing', failure: undefined }
  }

  end(): WholeEnd | Promise<WholeEnd> {
    const far = this.lane.endFar?.()
    if (far === undefined) return this.lane.end()
    return far.catch((error: unknown): WholeEnd => {
      this.#options.onError(error)
      return { output: [], failure: { kind: 'cut' } }
    })
  }

  endDrained(): Generation | Promise<Generation> {
    const end = this.end()
    return end instanceof Promise ? end.then(generationOf) : generationOf(end)
  }

  keepAlive(): undefined {
    return undefined
  }

  failure(): undefined {
    return undefined
  }

  forget(): void {
    this.lane.forget?.()
  }
}

function generationOf({ failure }: WholeEnd): Generation {
  return failure === undefined ? 'whole' : 'broken'
}

function isBlank(chunk: Uint8Array): boolean {
  return chunk.every((byte) => byte <= 0x20)
}
