/**
 * One attempt at one chain, from the request's last byte to the answer's. Nothing reaches the client before the first
 * meaningful event, so until then any failure may still move to the next chain; after it the exchange ends in exactly
 * one way and says which. A little longer than most files because it is one state machine.
 */
import type { CredentialSecret, Timeouts } from '../core/catalogue.ts'
import type { Auth } from '../core/http-request.ts'
import type { CallId, ForwardModelId } from '../core/ids.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import type { Dialect, FormedRequest } from '../providers/provider.ts'
import { playOffline } from '../upstream/offline.ts'
import type {
  TransportFailure,
  Upstream,
  UpstreamExchange,
  UpstreamHead,
  UpstreamSink,
} from '../upstream/upstream.ts'
import type { AnswerFailure, Bytes, Lane, StreamLane, StreamStep, WholeLane } from './lane.ts'
import type { Pulse, PulsedStream } from './pulse.ts'
import type { ClientReply } from './reply.ts'

/** Answers up to this size are sent with their length, in one piece; longer ones are streamed. */
const WHOLE_HOLD_BYTES = 1_048_576
/** Events held back before the first meaningful one; an upstream that prefaces more than this has begun. */
const STREAM_HOLD_BYTES = 262_144
/** Longest error body kept; providers' errors are a few kB. */
const ERROR_BODY_BYTES_MAX = 1_048_576
const KEEP_ALIVE_AFTER_MS = 15_000

export interface ExchangeOptions {
  readonly upstream: Upstream
  /** Answers instead of a network, where the dialect has it. */
  readonly offline: Dialect['respond']
  readonly forwardModelId: ForwardModelId
  readonly callId: CallId
  readonly request: FormedRequest
  readonly auth: Auth
  readonly framing: Dialect['framing']
  readonly credential: CredentialSecret
  readonly timeouts: Timeouts
  readonly lane: Lane
  readonly stream: boolean
  readonly reply: ClientReply
  /** Head of the answer, made when it begins. */
  readonly replyHeaders: () => Readonly<Record<string, string>>
  readonly pulse: Pulse
  readonly now: () => number
  /** Called at most once a second while the answer streams and has grown. */
  readonly onProgress: (reading: MeterReading) => void
  /** Once, when the answer begins to reach the client. */
  readonly onCommit: () => void
}

/** What became of the attempt before anything was sent. */
export type Verdict =
  | { readonly kind: 'committed' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  | { readonly kind: 'gone' }

export type AttemptFailure =
  | { readonly kind: 'transport'; readonly transport: TransportFailure }
  | { readonly kind: 'deadline' }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers: UpstreamHead['headers']
      readonly body: Uint8Array
    }
  | { readonly kind: 'answer'; readonly answer: AnswerFailure }

/** How a committed answer ended. */
export type Ending = 'complete' | 'upstream-error' | 'upstream-cut' | 'timeout' | 'client-gone'

type Mode =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'error'; readonly chunks: Uint8Array[]; length: number }
  | { readonly kind: 'whole'; readonly lane: WholeLane }
  | { readonly kind: 'stream'; readonly lane: StreamLane }
  | { readonly kind: 'over' }

export class Exchange implements UpstreamSink, PulsedStream {
  readonly verdict: Promise<Verdict>
  readonly ending: Promise<Ending>
  firstByteAt: number | undefined
  status = 0
  readonly #options: ExchangeOptions
  readonly #upstream: UpstreamExchange
  readonly #held: Bytes[] = []
  #heldBytes = 0
  #mode: Mode = { kind: 'waiting' }
  #headers: UpstreamHead['headers'] = {}
  #committed = false
  #paused = false
  #lastSentAt = 0
  #lastProgress: MeterReading | undefined
  #reading: MeterReading | undefined
  /** The upstream told its own failure inside the stream; what it still sends is passed on, nothing is added. */
  #toldByUpstream = false
  #abortedBy: 'client' | 'deadline' | undefined
  #decide: (verdict: Verdict) => void = unset
  #finish: (ending: Ending) => void = unset

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.verdict = new Promise((resolve) => {
      this.#decide = resolve
    })
    this.ending = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#upstream = open(options, this)
    options.reply.onGone(this.#onClientGone)
    if (options.reply.gone) this.#onClientGone()
  }

  get dropped(): readonly string[] {
    return this.#options.lane.dropped
  }

  get inputEstimated(): boolean {
    return this.#options.lane.inputEstimated
  }

  /** The overall deadline passed before the answer began. */
  expire(): void {
    if (this.#committed || this.#mode.kind === 'over') return
    this.#abortedBy = 'deadline'
    this.#upstream.abort()
  }

  /** What was used and produced; undefined before the upstream answered with success. */
  readMeter(): MeterReading | undefined {
    const mode = this.#mode
    return mode.kind === 'stream' || mode.kind === 'whole' ? mode.lane.readMeter() : this.#reading
  }

  head(head: UpstreamHead): void {
    this.firstByteAt = this.#options.now()
    this.status = head.status
    this.#headers = head.headers
    if (head.status < 200 || head.status > 299) this.#mode = { kind: 'error', chunks: [], length: 0 }
    else if (this.#options.stream && isEventStream(head))
      this.#mode = { kind: 'stream', lane: this.#options.lane.openStream() }
    else this.#mode = { kind: 'whole', lane: this.#options.lane.openWhole() }
  }

  data(chunk: Uint8Array): void {
    const mode = this.#mode
    switch (mode.kind) {
      case 'stream': {
        const step = mode.lane.push(chunk)
        this.#advance(step)
        return
      }
      case 'whole':
        this.#pass(mode.lane.push(chunk), WHOLE_HOLD_BYTES)
        return
      case 'error':
        if (mode.length >= ERROR_BODY_BYTES_MAX) return
        mode.chunks.push(chunk)
        mode.length += chunk.byteLength
        return
      case 'waiting':
      case 'over':
        return
    }
  }

  end(): void {
    const mode = this.#mode
    switch (mode.kind) {
      case 'stream': {
        const step = mode.lane.end()
        this.#advance(step)
        if (this.#mode.kind === 'stream') this.#complete()
        return
      }
      case 'whole':
        this.#endWhole(mode.lane)
        return
      case 'error':
        this.#giveUp({
          kind: 'status',
          status: this.status,
          headers: this.#headers,
          body: Buffer.concat(mode.chunks),
        })
        return
      case 'waiting':
        this.fail({ kind: 'protocol', sent: true, detail: 'the upstream ended without an answer' })
        return
      case 'over':
        return
    }
  }

  fail(transport: TransportFailure): void {
    if (this.#mode.kind === 'over') return
    if (this.#abortedBy === 'client') this.#leaveGone()
    else if (!this.#committed) {
      this.#giveUp(this.#abortedBy === 'deadline' ? { kind: 'deadline' } : { kind: 'transport', transport })
    } else this.#breakOff(transport.kind === 'idle-timeout' ? 'timeout' : 'upstream-cut', transport.detail)
  }

  onPulse(now: number): void {
    if (this.#mode.kind !== 'stream') return
    const reading = this.#mode.lane.glanceMeter()
    if (!sameReading(reading, this.#lastProgress)) {
      this.#lastProgress = reading
      this.#options.onProgress(reading)
    }
    if (now - this.#lastSentAt < KEEP_ALIVE_AFTER_MS || this.#paused) return
    const sign = this.#mode.lane.keepAlive()
    if (sign !== undefined) this.#write([sign])
  }

  /** A step of a stream: hold, begin, pass on, or fail. */
  #advance({ output, meaningful, failure, ended }: StreamStep): void {
    if (failure !== undefined && !this.#committed) {
      this.#giveUp({ kind: 'answer', answer: failure })
      this.#upstream.abort()
      return
    }
    this.#pass(output, meaningful ? 0 : STREAM_HOLD_BYTES)
    if (ended === true && failure === undefined) {
      this.#complete()
      this.#upstream.abort()
      return
    }
    if (failure === undefined) return
    if (failure.kind === 'error' && failure.delivered) this.#toldByUpstream = true
    else
      this.#breakOff(
        failure.kind === 'cut' ? 'upstream-cut' : 'upstream-error',
        'the upstream broke off its answer',
      )
  }

  /** Sends when the answer has begun; holds back, up to a bound, until then. */
  #pass(output: readonly Bytes[], holdBytes: number): void {
    if (this.#committed) {
      this.#write(output)
      return
    }
    for (const piece of output) {
      this.#held.push(piece)
      this.#heldBytes += piece.length
    }
    if (this.#heldBytes > holdBytes || holdBytes === 0) this.#commit(undefined)
  }

  #endWhole(lane: WholeLane): void {
    const { output, failure } = lane.end()
    if (failure !== undefined && !this.#committed) {
      this.#giveUp({ kind: 'answer', answer: failure })
      return
    }
    if (this.#committed) this.#write(output)
    else {
      this.#held.push(...output)
      this.#commit(byteLength(this.#held))
    }
    if (failure?.kind === 'cut') this.#breakOff('upstream-cut', 'the upstream broke off its answer')
    else this.#complete()
  }

  #commit(contentLength: number | undefined): void {
    const { reply, replyHeaders, pulse, onCommit } = this.#options
    this.#committed = true
    const mode = this.#mode
    const contentType =
      mode.kind === 'stream' ? mode.lane.contentType : headerOf(this.#headers, 'content-type')
    const streaming = mode.kind === 'stream' ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } : {}
    reply.start({
      status: this.status,
      headers: { 'content-type': contentType ?? 'application/json', ...streaming, ...replyHeaders() },
      contentLength,
    })
    reply.onDrain(this.#onDrain)
    onCommit()
    this.#decide({ kind: 'committed' })
    this.#write(this.#held.splice(0))
    if (mode.kind === 'stream') pulse.add(this)
  }

  #write(output: readonly Bytes[]): void {
    if (output.length === 0) return
    let keepsUp = true
    for (const piece of output) keepsUp = this.#options.reply.write(piece)
    this.#lastSentAt = this.#options.now()
    if (keepsUp || this.#paused) return
    this.#paused = true
    this.#upstream.pause()
  }

  readonly #onDrain = (): void => {
    if (!this.#paused) return
    this.#paused = false
    this.#upstream.resume()
  }

  readonly #onClientGone = (): void => {
    if (this.#mode.kind === 'over') return
    this.#abortedBy ??= 'client'
    this.#upstream.abort()
  }

  #complete(): void {
    if (!this.#committed) this.#commit(undefined)
    this.#options.reply.end()
    this.#leave(this.#toldByUpstream ? 'upstream-error' : 'complete')
  }

  /** The answer broke after it began: told in the protocol's own way where it has one, else by breaking the connection. */
  #breakOff(ending: Ending, detail: string): void {
    const mode = this.#mode
    if (this.#toldByUpstream) {
      this.#options.reply.end()
      this.#leave('upstream-error')
      this.#upstream.abort()
      return
    }
    if (mode.kind === 'stream') {
      const error = { status: 502, type: undefined, code: undefined, message: detail, raw: null }
      this.#options.reply.write(mode.lane.failure(error))
      this.#options.reply.end()
    } else this.#options.reply.destroy()
    this.#leave(ending)
    this.#upstream.abort()
  }

  #giveUp(failure: AttemptFailure): void {
    this.#over()
    this.#decide({ kind: 'failed', failure })
  }

  #leaveGone(): void {
    const committed = this.#committed
    this.#over()
    if (committed) this.#finish('client-gone')
    else this.#decide({ kind: 'gone' })
  }

  #leave(ending: Ending): void {
    this.#over()
    this.#finish(ending)
  }

  #over(): void {
    this.#reading = this.readMeter()
    this.#mode = { kind: 'over' }
    this.#options.pulse.remove(this)
    this.#options.reply.onGone(undefined)
    this.#options.reply.onDrain(undefined)
  }
}

/** Over the network, or from a provider that answers without one. */
function open(options: ExchangeOptions, sink: UpstreamSink): UpstreamExchange {
  const { lane } = options
  if (options.offline !== undefined) {
    const answer = options.offline({
      operation: options.stream ? 'stream' : 'generate',
      forwardModelId: options.forwardModelId,
      body: lane.body,
      id: options.callId,
      at: options.now(),
    })
    return playOffline(answer, sink)
  }
  const call = {
    request: options.request,
    auth: options.auth,
    credential: options.credential,
    body: lane.body,
    bodyLength: lane.bodyLength,
    timeouts: options.timeouts,
  }
  return options.upstream.open(
    options.framing === undefined ? call : { ...call, framing: options.framing },
    sink,
  )
}

function unset(): void {
  throw new Error('an exchange was decided before it was made')
}

function isEventStream(head: UpstreamHead): boolean {
  const type = headerOf(head.headers, 'content-type')
  return type === undefined || !type.startsWith('application/json')
}

export function headerOf(headers: UpstreamHead['headers'], name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

function byteLength(pieces: readonly Bytes[]): number {
  let length = 0
  for (const piece of pieces)
    length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength
  return length
}

function sameReading(one: MeterReading, other: MeterReading | undefined): boolean {
  return (
    other !== undefined && one.usage.output === other.usage.output && one.usage.input === other.usage.input
  )
}
