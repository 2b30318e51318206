/**
 * One attempt at one chain, from the request's last byte to the answer's. Nothing reaches the client before the first
 * meaningful event, so until then any failure may still move to the next chain; after it the exchange ends in exactly
 * one way and says which; how the answer's bytes reach the client is `delivery.ts`. A little longer than most files
 * because it is one state machine.
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
import { Delivery } from './delivery.ts'
import type { AnswerFailure, Bytes, KeptAnswer, Lane, StreamLane, StreamStep, WholeLane } from './lane.ts'
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
  /** What there is to remember of an answer that ended well. */
  kept: KeptAnswer | undefined
  status = 0
  seat: number | undefined
  turn: number | undefined
  readonly #options: ExchangeOptions
  readonly #upstream: UpstreamExchange
  readonly #delivery: Delivery
  #heldBytes = 0
  #contentType: string | undefined
  /** The answer comes in events. */
  #streaming = false
  #mode: Mode = { kind: 'waiting' }
  #headers: UpstreamHead['headers'] = {}
  #committed = false
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
    this.#delivery = new Delivery({
      reply: options.reply,
      head: () => this.#head(),
      onStart: options.onCommit,
      onFull: () => this.#upstream.pause(),
      onDrain: () => this.#upstream.resume(),
      now: options.now,
    })
    this.#upstream = open(options, this)
    options.reply.onGone(this.#onClientGone)
    if (options.reply.gone) this.#onClientGone()
  }

  get dropped(): readonly string[] {
    return this.#options.lane.dropped
  }

  /** Reasoning of the history was sent back to its issuer. */
  get replays(): boolean {
    return this.#options.lane.replays === true
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
    else if (this.#options.stream && isEventStream(head)) {
      const lane = this.#options.lane.openStream()
      this.#contentType = lane.contentType
      this.#streaming = true
      this.#mode = { kind: 'stream', lane }
    } else {
      this.#contentType = headerOf(head.headers, 'content-type')
      this.#mode = { kind: 'whole', lane: this.#options.lane.openWhole() }
    }
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
        this.#advance({ ...mode.lane.end(), terminated: true })
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

  /** What the answer cost is on disk, or cannot be put there now: the client may have its end. */
  release(): void {
    this.#options.pulse.remove(this)
    this.#delivery.release()
  }

  onPulse(now: number): void {
    this.#delivery.pulse()
    if (this.#mode.kind !== 'stream') return
    const reading = this.#mode.lane.glanceMeter()
    if (!sameReading(reading, this.#lastProgress)) {
      this.#lastProgress = reading
      this.#options.onProgress(reading)
    }
    if (now - this.#delivery.lastSentAt < KEEP_ALIVE_AFTER_MS || this.#delivery.full) return
    const sign = this.#mode.lane.keepAlive()
    if (sign !== undefined) this.#delivery.write([sign])
  }

  /** A step of a stream: hold, begin, pass on, or fail. */
  #advance({ output, meaningful, terminated, failure, ended }: StreamStep): void {
    if (failure !== undefined && !this.#committed) {
      this.#giveUp({ kind: 'answer', answer: failure })
      this.#upstream.abort()
      return
    }
    if (failure === undefined && (terminated || ended === true)) this.#keepLast(output)
    else this.#pass(output, meaningful ? 0 : STREAM_HOLD_BYTES)
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
    if (!this.#committed) {
      this.#heldBytes = this.#delivery.hold(output, this.#heldBytes)
      if (this.#heldBytes <= holdBytes && holdBytes > 0) return
      this.#commit()
      this.#delivery.write([])
    } else this.#delivery.write(output)
  }

  /** A clean end has come into sight: it waits until the upstream has closed and the call is settled. */
  #keepLast(output: readonly Bytes[]): void {
    const waits = this.#delivery.keepLast(output)
    if (!waits && !this.#committed) this.#commit()
  }

  #endWhole(lane: WholeLane): void {
    const { output, failure } = lane.end()
    if (failure !== undefined && !this.#committed) {
      this.#giveUp({ kind: 'answer', answer: failure })
      return
    }
    if (failure?.kind === 'cut') {
      this.#delivery.write(output)
      this.#breakOff('upstream-cut', 'the upstream broke off its answer')
      return
    }
    this.#keepLast(output)
    this.#complete()
  }

  /** From here on no other chain is tried. */
  #commit(): void {
    this.#committed = true
    this.#options.pulse.add(this)
    this.#decide({ kind: 'committed' })
  }

  #head(): ReturnType<ConstructorParameters<typeof Delivery>[0]['head']> {
    const streaming = this.#streaming ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } : {}
    const contentType = this.#contentType ?? 'application/json'
    return {
      status: this.status,
      headers: { 'content-type': contentType, ...streaming, ...this.#options.replyHeaders() },
    }
  }

  readonly #onClientGone = (): void => {
    if (this.#mode.kind === 'over') return
    this.#abortedBy ??= 'client'
    this.#upstream.abort()
  }

  #complete(): void {
    if (!this.#committed) this.#commit()
    this.#delivery.close(!this.#streaming)
    this.#leave(this.#toldByUpstream ? 'upstream-error' : 'complete')
  }

  #breakOff(ending: Ending, detail: string): void {
    const mode = this.#mode
    if (this.#toldByUpstream) this.#delivery.endAsTold()
    else if (mode.kind === 'stream') {
      const error = { status: 502, type: undefined, code: undefined, message: detail, raw: null }
      this.#delivery.breakOff(mode.lane.failure(error))
    } else this.#delivery.breakOff(undefined)
    this.#leave(this.#toldByUpstream ? 'upstream-error' : ending)
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
    const mode = this.#mode
    if (mode.kind === 'stream' || mode.kind === 'whole') this.kept = mode.lane.kept()
    this.#mode = { kind: 'over' }
    if (!this.#delivery.closing) this.#options.pulse.remove(this)
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

function sameReading(one: MeterReading, other: MeterReading | undefined): boolean {
  return (
    other !== undefined && one.usage.output === other.usage.output && one.usage.input === other.usage.input
  )
}
