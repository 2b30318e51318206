/**
 * One attempt at one chain, from the request's last byte to the answer's, as one state machine:
 *
 *   waiting ─ head 2xx ─▶ opening ─ first meaningful event ─▶ answering ─ clean end ─▶ lingering ─▶ over
 *      └───── head else ─▶ refused                                └─ tells its failure ─▶ told ─▶ over
 *
 * Until `answering` nothing has reached the client, so any failure may still move to the next chain. From every state
 * before the end a client that goes leads to `left`, where the upstream is read on for a moment for what it used, and a
 * stop of the gateway, a bound of ours or a failure leads to `over`. Whoever aborts the upstream has left its state
 * before, so `fail` always is the upstream's own. How the answer's bytes reach the client is `delivery.ts`. A little
 * longer than most files because it is that one machine.
 */
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { JsonValue } from '../../core/json.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { TimerHandle } from '../../upstream/timers.ts'
import type {
  TransportFailure,
  UpstreamExchange,
  UpstreamHead,
  UpstreamSink,
} from '../../upstream/upstream.ts'
import { Delivery } from './delivery.ts'
import type {
  AnswerFailure,
  Bytes,
  KeptAnswer,
  StreamLane,
  StreamStep,
  WholeEnd,
  WholeLane,
} from '../lanes/lane.ts'
import type { PulsedStream } from '../instance/pulse.ts'
import { streamFailure } from '../attempt/stream-failure.ts'
import { type ExchangeOptions, openUpstream } from './exchange-options.ts'
import type { AttemptFailure, Ended, Verdict } from './exchange-outcome.ts'

/** Answers up to this size are sent with their length, in one piece; longer ones are streamed. */
const WHOLE_HOLD_BYTES = 1_048_576
/** Events held back before the first meaningful one; an upstream that prefaces more than this has begun. */
const STREAM_HOLD_BYTES = 262_144
/** Longest error body kept; providers' errors are a few kB. */
const ERROR_BODY_BYTES_MAX = 1_048_576
const KEEP_ALIVE_AFTER_MS = 15_000
/** Read of an answer before everybody else has a turn: dense JSON of this size takes a few milliseconds. */
const TURN_BYTES = 131_072
/** How long an upstream that has said its last word may take to end its answer, so that the connection can be used again. */
const LINGER_MS = 1_000

/** Why an answer broke after it began: the upstream's own error event, else what was seen. */
interface Trouble {
  readonly detail: string
  readonly status?: number | undefined
  readonly raw?: JsonValue
}

type OpenAnswer =
  | { readonly form: 'stream'; readonly lane: StreamLane }
  | { readonly form: 'whole'; readonly lane: WholeLane }

type State =
  /** The request is on its way; nothing of an answer has come. */
  | { readonly kind: 'waiting' }
  /** The upstream refuses; its words are collected. */
  | { readonly kind: 'refused'; readonly chunks: Uint8Array[]; length: number }
  /** Held back: nothing meaningful has come yet. */
  | { readonly kind: 'opening'; readonly answer: OpenAnswer }
  /** Complete, and being taken apart for the client in a thread. */
  | { readonly kind: 'converting'; readonly answer: OpenAnswer }
  /** Reaches the client. */
  | { readonly kind: 'answering'; readonly answer: OpenAnswer }
  /** The upstream told its own failure inside the answer; what it still sends is passed on, nothing is added. */
  | { readonly kind: 'told'; readonly answer: OpenAnswer }
  /** The client has gone; the upstream is read on for its usage, and nothing is kept. No answer: its head has not come. */
  | { readonly kind: 'left'; readonly answer: OpenAnswer | undefined; readonly grace: TimerHandle }
  /** Complete, for the client and for the charge; the connection is given a moment to end by itself. */
  | { readonly kind: 'lingering'; readonly patience: TimerHandle }
  | { readonly kind: 'over' }

export class Exchange implements UpstreamSink, PulsedStream {
  readonly verdict: Promise<Verdict>
  /** Resolves for answers that began and for clients that have gone; never rejects. */
  readonly ended: Promise<Ended>
  firstByteAt: number | undefined
  /** Bytes of the upstream's answer so far. */
  answerBytes = 0
  /** What there is to remember of an answer that ended well. */
  kept: KeptAnswer | undefined
  trouble: Trouble | undefined
  status = 0
  position: number | undefined
  turn: number | undefined
  readonly #options: ExchangeOptions
  readonly #upstream: UpstreamExchange | undefined
  readonly #delivery: Delivery
  readonly #startedAt: number
  #state: State = { kind: 'waiting' }
  #headers: UpstreamHead['headers'] = {}
  // Of the answer's head, once it is known.
  #contentType: string | undefined
  #streaming = false
  /** Output as the upstream last told it, and when. */
  #told: number | undefined
  #toldAt: number
  #unhindered = true
  /** White space before a whole answer: some vendors keep the connection alive by it. */
  #blankBytes = 0
  #bytesThisTurn = 0
  #lastProgress: MeterReading | undefined
  #decide: (verdict: Verdict) => void = unset
  #finish: (ended: Ended) => void = unset

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#startedAt = options.now()
    this.#toldAt = this.#startedAt
    this.verdict = new Promise((resolve) => {
      this.#decide = resolve
    })
    this.ended = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#delivery = new Delivery({
      reply: options.reply,
      head: () => this.#head(),
      onStart: options.onCommit,
      onFull: () => {
        this.#unhindered = false
        this.#upstream?.pause()
      },
      onDrain: () => this.#upstream?.resume(),
      now: options.now,
    })
    // Whoever would read the answer is not there, so none is asked for.
    const unasked = options.reply.gone ? GONE : options.pulse.stopping ? STOPPED : undefined
    if (unasked === undefined) options.pulse.add(this)
    this.#upstream = unasked === undefined ? this.#send() : undefined
    if (unasked === undefined) options.reply.onGone(this.#onClientGone)
    else this.#endUnheard(unasked)
  }

  get dropped(): readonly string[] {
    return this.#options.lane.dropped
  }

  /** Reasoning of the history was sent back to its issuer. */
  get replays(): boolean {
    return this.#options.lane.replays === true
  }

  /** Of what costs extra, what was sent; undefined: all that was asked for. */
  get sentExtras(): readonly string[] | undefined {
    return this.#options.lane.sentExtras
  }

  get inputEstimated(): boolean {
    return this.#options.lane.inputEstimated
  }

  /** The request may have reached the upstream. */
  get sent(): boolean {
    return this.#upstream?.sent ?? false
  }

  /** The overall deadline passed before the answer began. */
  expire(): void {
    switch (this.#state.kind) {
      case 'waiting':
      case 'refused':
      case 'opening':
        this.#giveUp({ kind: 'deadline' })
        return
      case 'left':
        this.#cutLeft()
        return
      case 'converting':
      case 'answering':
      case 'told':
      case 'lingering':
      case 'over':
    }
  }

  /** The gateway stops: who has begun to read an answer is told so in the words of its protocol. */
  onStop(): void {
    switch (this.#state.kind) {
      case 'waiting':
      case 'refused':
      case 'opening':
        this.#endUnheard(STOPPED)
        return
      case 'answering':
      case 'told':
        this.#breakOff({ ending: 'stopped', generation: 'cut' }, SHUTTING_DOWN)
        return
      case 'left':
        this.#cutLeft()
        return
      case 'converting':
      case 'lingering':
      case 'over':
    }
  }

  head(head: UpstreamHead): void {
    const state = this.#state
    if (state.kind !== 'waiting' && state.kind !== 'left') return
    try {
      this.firstByteAt = this.#options.now()
      this.status = head.status
      this.#headers = head.headers
      const refused = head.status < 200 || head.status > 299
      if (state.kind === 'left') {
        if (refused) this.#endLeft('none')
        else this.#state = { ...state, answer: unheard(this.#open(head)) }
      } else if (refused) this.#state = { kind: 'refused', chunks: [], length: 0 }
      else this.#state = { kind: 'opening', answer: this.#open(head) }
    } catch (error) {
      this.#break(error)
    }
  }

  data(chunk: Uint8Array): void {
    this.answerBytes += chunk.byteLength
    try {
      this.#options.extras?.push(chunk)
      this.#take(chunk)
    } catch (error) {
      this.#break(error)
    }
    this.#bytesThisTurn += chunk.byteLength
    if (this.#bytesThisTurn >= TURN_BYTES) this.#giveTurn()
  }

  end(): void {
    try {
      this.#takeEnd()
    } catch (error) {
      this.#break(error)
    }
  }

  fail(transport: TransportFailure): void {
    const { kind } = this.#state
    switch (kind) {
      case 'waiting':
      case 'refused':
      case 'opening':
        this.#giveUp({ kind: 'transport', transport })
        return
      case 'answering':
      case 'told':
        this.trouble ??= { detail: transport.detail }
        this.#breakOff(
          {
            ending: transport.kind === 'idle-timeout' ? 'timeout' : 'upstream-cut',
            generation: 'broken',
          },
          transport.kind === 'idle-timeout' ? SILENT : BROKE_OFF,
        )
        return
      case 'left':
        this.#endLeft('broken')
        return
      case 'lingering':
        this.#over()
        return
      case 'converting':
      case 'over':
    }
  }

  /** What the answer cost is on disk, or cannot be put there now: the client may have its end. */
  release(): void {
    this.#options.pulse.remove(this)
    this.#delivery.release()
  }

  onPulse(now: number): void {
    try {
      this.#delivery.pulse()
      if (this.#state.kind === 'answering' && this.#state.answer.form === 'stream')
        this.#live(this.#state.answer.lane, now)
    } catch (error) {
      this.#break(error)
    }
  }

  #send(): UpstreamExchange {
    try {
      return openUpstream(this.#options, this)
    } catch (error) {
      this.#options.pulse.remove(this)
      throw error
    }
  }

  /** Says where a running stream stands, and to its client that it lives. */
  #live(lane: StreamLane, now: number): void {
    const reading = lane.glanceMeter()
    if (!sameReading(reading, this.#lastProgress)) {
      this.#lastProgress = reading
      this.#options.onProgress(reading, this.answerBytes)
    }
    if (now - this.#delivery.lastSentAt < KEEP_ALIVE_AFTER_MS || this.#delivery.full) return
    const sign = lane.keepAlive()
    if (sign !== undefined) this.#delivery.write([sign])
  }

  #open(head: UpstreamHead): OpenAnswer {
    const { lane, stream, extras, tierHeader } = this.#options
    // One that nobody asked for would be no document: passed as what it is, it is metered and paid for.
    const streaming = stream ? isEventStream(head) : lane.passesStreams === true && saysEventStream(head)
    extras?.begin(streaming ? 'stream' : 'whole')
    const tier = tierHeader === undefined ? undefined : headerOf(head.headers, tierHeader)
    if (tier !== undefined) extras?.noteField('service_tier', tier)
    if (!streaming) {
      this.#contentType = headerOf(head.headers, 'content-type')
      return { form: 'whole', lane: lane.openWhole() }
    }
    const opened = lane.openStream()
    this.#contentType = opened.contentType
    this.#streaming = true
    return { form: 'stream', lane: opened }
  }

  keepAliveBytes(): number {
    const answer = 'answer' in this.#state ? this.#state.answer : undefined
    return answer?.form === 'stream' ? answer.lane.keepAliveBytes : this.#blankBytes
  }

  /** A fast upstream's pieces come many at a time: without a pause all of them would be read in one turn. */
  #giveTurn(): void {
    this.#bytesThisTurn = 0
    this.#upstream?.pause()
    this.#options.nextTurn(() => {
      if (!this.#delivery.full) this.#upstream?.resume()
    })
  }

  #take(chunk: Uint8Array): void {
    const state = this.#state
    switch (state.kind) {
      case 'opening':
      case 'answering':
      case 'told': {
        const { form, lane } = state.answer
        if (form === 'whole') {
          if (isBlank(chunk)) this.#blankBytes += chunk.byteLength
          this.#pass(lane.push(chunk), WHOLE_HOLD_BYTES)
          return
        }
        const step = lane.push(chunk)
        this.#noteTold(lane)
        this.#advance(step)
        return
      }
      case 'left':
        this.#takeUnheard(state.answer, chunk)
        return
      case 'refused':
        if (state.length >= ERROR_BODY_BYTES_MAX) return
        state.chunks.push(chunk)
        state.length += chunk.byteLength
        return
      case 'converting':
      case 'waiting':
      case 'lingering':
      case 'over':
    }
  }

  #takeUnheard(answer: OpenAnswer | undefined, chunk: Uint8Array): void {
    if (answer === undefined) return
    if (answer.form === 'whole') {
      answer.lane.push(chunk)
      return
    }
    const { failure, stage } = answer.lane.push(chunk)
    this.#noteTold(answer.lane)
    if (failure !== undefined) this.#endLeft('broken')
    else if (stage === 'finished' || stage === 'enough') this.#endLeft('whole')
  }

  #noteTold({ toldOutput }: StreamLane): void {
    if (toldOutput === this.#told) return
    this.#told = toldOutput
    this.#toldAt = this.#options.now()
  }

  #takeEnd(): void {
    const state = this.#state
    switch (state.kind) {
      case 'opening':
      case 'answering':
      case 'told': {
        const { form, lane } = state.answer
        if (form === 'whole') this.#endWhole(lane)
        else this.#endStream(lane)
        return
      }
      case 'refused': {
        const body = Buffer.concat(state.chunks)
        this.#giveUp({ kind: 'status', status: this.status, headers: this.#headers, body })
        return
      }
      case 'waiting':
        this.fail({ kind: 'protocol', sent: true, detail: 'the upstream ended without an answer' })
        return
      case 'left':
        if (state.answer === undefined) this.#endLeft('none')
        else this.#endLeft(state.answer.lane.end().failure === undefined ? 'whole' : 'broken')
        return
      case 'lingering':
        this.#over()
        return
      case 'converting':
      case 'over':
    }
  }

  #endStream(lane: StreamLane): void {
    const { output, failure } = lane.end()
    this.#noteTold(lane)
    if (failure === undefined) this.#keepLast(output)
    else this.#advanceFailed(output, failure)
    this.#complete('ended')
  }

  #endWhole(lane: WholeLane): void {
    const far = lane.endFar?.()
    if (far === undefined) this.#finishWhole(lane.end())
    else this.#awaitWhole(lane, far)
  }

  /** The upstream has said all; neither a deadline nor a stop takes away what it made. */
  #awaitWhole(lane: WholeLane, far: Promise<WholeEnd>): void {
    this.#state = { kind: 'converting', answer: { form: 'whole', lane } }
    const finish = (end: WholeEnd): void => {
      try {
        this.#takeConverted(end)
      } catch (error) {
        this.#break(error)
      }
    }
    far.then(finish, (error: unknown) => {
      this.#options.onError(error)
      finish({ output: [], failure: { kind: 'cut' } })
    })
  }

  #takeConverted(end: WholeEnd): void {
    const state = this.#state
    if (state.kind !== 'converting') return
    const { answer } = state
    if (!this.#options.reply.gone) {
      this.#state = { kind: 'opening', answer }
      this.#finishWhole(end)
      return
    }
    this.#delivery.drop()
    this.#state = { kind: 'left', answer, grace: NO_TIMER }
    this.#decide({ kind: 'gone' })
    this.#options.onLeft(answer.lane.glanceMeter(), this.answerBytes)
    this.#endLeft(end.failure === undefined ? 'whole' : 'broken')
  }

  #finishWhole({ output, failure }: WholeEnd): void {
    if (failure !== undefined && this.#state.kind === 'opening') {
      this.#giveUp({ kind: 'answer', answer: failure })
      return
    }
    if (failure?.kind === 'cut') {
      this.#delivery.write(output)
      this.#breakOff({ ending: 'upstream-cut', generation: 'broken' }, BROKE_OFF)
      return
    }
    this.#keepLast(output)
    this.#complete('ended')
  }

  /** A step of a stream: hold, begin, pass on, end, or fail. */
  #advance({ output, meaningful, stage, failure }: StreamStep): void {
    if (failure !== undefined) {
      this.#advanceFailed(output, failure)
      return
    }
    if (stage === 'flowing') this.#pass(output, meaningful ? 0 : STREAM_HOLD_BYTES)
    else this.#keepLast(output)
    if (stage === 'finished') this.#complete('may linger')
    else if (stage === 'enough') this.#complete('would go on')
  }

  #advanceFailed(output: readonly Bytes[], failure: AnswerFailure): void {
    const state = this.#state
    if (state.kind === 'opening') {
      this.#giveUp({ kind: 'answer', answer: failure })
      return
    }
    this.#pass(output, 0)
    if (failure.kind === 'error') this.trouble ??= { ...failure, detail: 'the upstream told of an error' }
    if (failure.kind === 'error' && failure.delivered) {
      if (state.kind === 'answering') this.#state = { kind: 'told', answer: state.answer }
      return
    }
    const ending = failure.kind === 'cut' ? 'upstream-cut' : 'upstream-error'
    this.#breakOff({ ending, generation: 'broken' }, BROKE_OFF)
  }

  /** Sends when the answer has begun; holds back, up to a bound, until then. */
  #pass(output: readonly Bytes[], holdBytes: number): void {
    if (this.#state.kind === 'opening') {
      const held = this.#delivery.hold(output)
      if (held <= holdBytes && holdBytes > 0) return
      this.#commit()
      this.#delivery.write([])
    } else this.#delivery.write(output)
  }

  /** A clean end has come into sight: it waits until the upstream has said its last word and the call is settled. */
  #keepLast(output: readonly Bytes[]): void {
    const waits = this.#delivery.keepLast(output)
    if (!waits) this.#commit()
  }

  /** From here on no other chain is tried. */
  #commit(): void {
    const state = this.#state
    if (state.kind !== 'opening') return
    this.#state = { kind: 'answering', answer: state.answer }
    this.#decide({ kind: 'committed' })
    if (state.answer.form !== 'stream') return
    try {
      this.#options.pulse.soon(this)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  #head(): ReturnType<ConstructorParameters<typeof Delivery>[0]['head']> {
    const streaming = this.#streaming ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } : {}
    const contentType = this.#contentType ?? 'application/json'
    return {
      status: this.status,
      headers: { 'content-type': contentType, ...streaming, ...this.#options.replyHeaders() },
    }
  }

  /** The client has all of the answer but its end, which waits for `release`. Nothing happens to one that is over. */
  #complete(upstream: 'ended' | 'may linger' | 'would go on'): void {
    this.#commit()
    const state = this.#state
    if (state.kind !== 'answering' && state.kind !== 'told') return
    this.#delivery.close(!this.#streaming)
    this.kept = this.#keptOf(state.answer)
    if (state.kind === 'told')
      this.#conclude(state.answer, { ending: 'upstream-error', generation: 'broken' })
    else {
      const generation = upstream === 'would go on' ? 'cut' : 'whole'
      this.#conclude(state.answer, { ending: 'complete', generation })
    }
    if (upstream === 'may linger') {
      const patience = this.#options.timers.set(() => this.#over(), LINGER_MS)
      this.#state = { kind: 'lingering', patience }
    } else if (upstream === 'would go on') this.#upstream?.abort()
  }

  /** The answer broke after it began. */
  #breakOff(ended: EndedBy, why: { readonly code: ErrorCode; readonly message: string }): void {
    const state = this.#state
    this.trouble ??= { detail: why.message }
    if (state.kind === 'told') {
      this.#delivery.endAsTold()
      this.#conclude(state.answer, { ...ended, ending: 'upstream-error', generation: 'broken' })
    } else if (state.kind === 'answering') {
      this.#delivery.breakOff(this.#lastWords(state.answer, why))
      this.#conclude(state.answer, { ...ended, code: why.code })
    }
    this.#upstream?.abort()
  }

  /** What a client that reads a stream is told of its failure; undefined: a whole answer has no place for it. */
  #lastWords(
    { form, lane }: OpenAnswer,
    { code, message }: { readonly code: ErrorCode; readonly message: string },
  ): Bytes | undefined {
    if (form === 'whole') return undefined
    try {
      return lane.failure(streamFailure(code, message, this.#options.requestId))
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** Another chain may still answer. */
  #giveUp(failure: AttemptFailure): void {
    this.#conclude(undefined, { ending: 'upstream-error', generation: 'none' })
    this.#decide({ kind: 'failed', failure })
    this.#upstream?.abort()
  }

  /** Nothing has reached the client, and nothing will. */
  #endUnheard({ verdict, ...ended }: EndedBy & { readonly verdict: Verdict }): void {
    this.#conclude(undefined, ended)
    this.#decide(verdict)
    this.#upstream?.abort()
  }

  readonly #onClientGone = (): void => {
    try {
      this.#leave()
    } catch (error) {
      this.#break(error)
    }
  }

  #leave(): void {
    const state = this.#state
    switch (state.kind) {
      case 'waiting':
        if (this.sent) this.#readOn(undefined)
        else this.#endUnheard(GONE)
        return
      case 'refused':
        this.#endUnheard(GONE)
        return
      case 'opening':
      case 'answering':
        this.#readOn(state.answer)
        return
      case 'told':
        this.#conclude(state.answer, { ending: 'client-gone', generation: 'broken' })
        this.#upstream?.abort()
        return
      case 'converting':
      case 'left':
      case 'lingering':
      case 'over':
    }
  }

  /** The client has gone: what the upstream makes is still paid for, so it may end what it was about to end. */
  #readOn(answer: OpenAnswer | undefined): void {
    const { reply, onLeft, graceMs, timers } = this.#options
    reply.onGone(undefined)
    reply.onDrain(undefined)
    this.#delivery.drop()
    const left = { kind: 'left', answer: answer && unheard(answer), grace: NO_TIMER } as const
    this.#state = left
    this.#decide({ kind: 'gone' })
    onLeft((answer?.lane ?? this.#options.lane.openWhole()).glanceMeter(), this.answerBytes)
    const ms = graceMs({ begun: answer !== undefined })
    if (ms <= 0) {
      this.#cutLeft()
      return
    }
    this.#state = { ...left, grace: timers.set(() => this.#cutLeft(), ms) }
    this.#upstream?.resume()
  }

  #cutLeft(): void {
    this.#endLeft('cut')
  }

  #endLeft(generation: Ended['generation']): void {
    const state = this.#state
    if (state.kind !== 'left') return
    if (state.grace !== NO_TIMER) {
      state.grace.cancel()
      this.#options.onUnheardEnd()
    }
    const { lane } = this.#options
    const answer =
      state.answer ??
      (generation === 'cut' ? ({ form: 'whole', lane: lane.openWhole() } as const) : undefined)
    this.#conclude(answer, { ending: 'client-gone', generation })
    this.#upstream?.abort()
  }

  /** Something of our own broke. What was generated is still known, and the client still hears of it. */
  #break(error: unknown): void {
    this.#options.onError(error)
    switch (this.#state.kind) {
      case 'waiting':
      case 'refused':
      case 'converting':
      case 'opening':
        this.#endUnheard({ verdict: { kind: 'broken', error }, ending: 'gateway-error', generation: 'none' })
        return
      case 'answering':
      case 'told':
        this.#breakOff({ ending: 'gateway-error', generation: 'cut' }, OUR_FAULT)
        return
      case 'left':
        this.#cutLeft()
        return
      case 'lingering':
      case 'over':
    }
  }

  /** The one way into `over`. */
  #conclude(answer: OpenAnswer | undefined, { ending, generation, code }: EndedBy): void {
    this.#state = { kind: 'over' }
    if (!this.#delivery.closing) this.#options.pulse.remove(this)
    this.#options.reply.onGone(undefined)
    this.#options.reply.onDrain(undefined)
    const now = this.#options.now()
    const read = answer === undefined ? { reading: undefined } : this.#read(answer)
    this.#finish({
      ending: read.failed === true ? 'gateway-error' : ending,
      generation,
      reading: read.reading,
      extras: this.#options.extras?.read(),
      toldOutput: answer?.lane.toldOutput,
      generatedMs: now - this.#startedAt,
      untoldMs: now - this.#toldAt,
      unhindered: this.#unhindered,
      code,
    })
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
      return { reading: this.#lastProgress, failed: true }
    }
  }

  #keptOf({ lane }: OpenAnswer): KeptAnswer | undefined {
    try {
      return lane.kept()
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  #over(): void {
    if (this.#state.kind === 'lingering') this.#state.patience.cancel()
    this.#state = { kind: 'over' }
    this.#upstream?.abort()
  }
}

type EndedBy = Pick<Ended, 'ending' | 'generation'> & Partial<Pick<Ended, 'code'>>

const NO_TIMER: TimerHandle = { cancel: () => undefined }
const GONE = { verdict: { kind: 'gone' }, ending: 'client-gone', generation: 'none' } as const
const STOPPED = { verdict: { kind: 'stopped' }, ending: 'stopped', generation: 'none' } as const

// What the client of a stream that broke is told, in its protocol's own form.
const BROKE_OFF = { code: 50201, message: 'the upstream broke off its answer' } as const
const SILENT = { code: 50401, message: 'the upstream fell silent inside its answer' } as const
const SHUTTING_DOWN = { code: 50301, message: 'the gateway is shutting down' } as const
const OUR_FAULT = { code: 50000, message: 'something inside the gateway went wrong' } as const

/** Nobody hears the answer any more: it is read for its usage alone. */
function unheard(answer: OpenAnswer): OpenAnswer {
  if (answer.form === 'whole') answer.lane.forget()
  return answer
}

function isBlank(chunk: Uint8Array): boolean {
  return chunk.every((byte) => byte <= 0x20)
}

function unset(): void {
  throw new Error('an exchange was decided before it was made')
}

function saysEventStream(head: UpstreamHead): boolean {
  return headerOf(head.headers, 'content-type')?.startsWith('text/event-stream') === true
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
