/**
 * One attempt at one chain, from the request's last byte to the answer's, as one state machine:
 *
 *   waiting ─ head 2xx ─▶ opening ─ first meaningful event ─▶ answering ─ clean end ─▶ lingering ─▶ over
 *      └───── head else ─▶ refused                                └─ tells its failure ─▶ told ─▶ over
 *
 * Until `answering` nothing has reached the client, so any failure may still move to the next chain. From every state
 * before the end a client that goes leads to `left`, where the upstream is read on for a moment for what it used, and a
 * stop of the gateway, a bound of ours or a failure leads to `over`. What follows which event in which state is the table
 * of `exchange-states.ts`; here is what its words do. How the answer's bytes reach the client is `delivery.ts`.
 */
import type { TimerHandle } from '../../upstream/timers.ts'
import type {
  TransportFailure,
  UpstreamExchange,
  UpstreamHead,
  UpstreamSink,
} from '../../upstream/upstream.ts'
import type { PulsedStream } from '../instance/pulse.ts'
import type { AnswerFailure, Bytes, KeptAnswer, Lane, StreamStep, WholeEnd } from '../lanes/lane.ts'
import { streamFailure } from '../attempt/stream-failure.ts'
import { type Answer, AnswerProgress, openAnswer, WholeAnswer } from './answer.ts'
import { Delivery } from './delivery.ts'
import {
  type Broken,
  brokenOff,
  DEADLINE,
  type EndedBy,
  failed,
  fault,
  GONE,
  type Interrupt,
  lostUpstream,
  STOP,
  type Unheard,
} from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Ended, Trouble, Verdict } from './exchange-outcome.ts'
import { type Interruption, REACTIONS, type State } from './exchange-states.ts'

/** Longest error body kept; providers' errors are a few kB. */
const ERROR_BODY_BYTES_MAX = 1_048_576
const KEEP_ALIVE_AFTER_MS = 15_000
/** Read of an answer before everybody else has a turn: dense JSON of this size takes a few milliseconds. */
const TURN_BYTES = 131_072
/** How long an upstream that has said its last word may take to end its answer, so that the connection can be used again. */
const LINGER_MS = 1_000
const NO_TIMER: TimerHandle = { cancel: () => undefined }

export class Exchange implements UpstreamSink, PulsedStream {
  readonly lane: Lane
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
  readonly #progress: AnswerProgress
  #state: State = { kind: 'waiting' }
  #headers: UpstreamHead['headers'] = {}
  /** The answer that came, also when all is over. */
  #came: Answer | undefined
  #bytesThisTurn = 0
  #decide: (verdict: Verdict) => void = unset
  #finish: (ended: Ended) => void = unset

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.lane = options.lane
    this.#progress = new AnswerProgress(options)
    this.verdict = new Promise((resolve) => {
      this.#decide = resolve
    })
    this.ended = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#delivery = new Delivery({
      reply: options.reply,
      head: () => this.#replyHead(),
      onStart: options.onCommit,
      onFull: () => {
        this.#progress.unhindered = false
        this.#upstream?.pause()
      },
      onDrain: () => this.#upstream?.resume(),
      now: options.now,
    })
    // Whoever would read the answer is not there, so none is asked for.
    const unasked = options.reply.gone ? GONE : options.pulse.stopping ? STOP : undefined
    if (unasked === undefined) options.pulse.add(this)
    this.#upstream = unasked === undefined ? this.#send() : undefined
    if (unasked === undefined) options.reply.onGone(this.#onClientGone)
    else this.#endUnheard(unasked.unheard)
  }

  /** The request may have reached the upstream. */
  get sent(): boolean {
    return this.#upstream?.sent ?? false
  }

  // What happens to it.

  /** The overall deadline passed before the answer began. */
  expire(): void {
    this.#interrupt('deadline', DEADLINE)
  }

  /** The gateway stops: who has begun to read an answer is told so in the words of its protocol. */
  onStop(): void {
    this.#interrupt('stop', STOP)
  }

  fail(transport: TransportFailure): void {
    this.#interrupt('failure', lostUpstream(transport))
  }

  head(head: UpstreamHead): void {
    const reaction = REACTIONS[this.#state.kind].head
    if (reaction === 'nothing') return
    this.#safely(() => {
      this.firstByteAt = this.#options.now()
      this.status = head.status
      this.#headers = head.headers
      const refused = head.status < 200 || head.status > 299
      if (reaction === 'open')
        this.#state = refused
          ? { kind: 'refused', chunks: [], length: 0 }
          : { kind: 'opening', answer: this.#open(head) }
      else if (refused) this.#endLeft('none')
      else this.#openUnheard(head)
    })
  }

  data(chunk: Uint8Array): void {
    this.answerBytes += chunk.byteLength
    this.#safely(() => {
      this.#options.extras?.push(chunk)
      switch (REACTIONS[this.#state.kind].data) {
        case 'pass':
          this.#read(chunk, (answer, step) => this.#advance(answer, step))
          return
        case 'count':
          this.#read(chunk, (_answer, step) => this.#count(step))
          return
        case 'collect':
          this.#collect(chunk)
          return
        case 'nothing':
      }
    })
    this.#bytesThisTurn += chunk.byteLength
    if (this.#bytesThisTurn >= TURN_BYTES) this.#giveTurn()
  }

  end(): void {
    this.#safely(() => {
      switch (REACTIONS[this.#state.kind].end) {
        case 'finish':
          if (this.#answer !== undefined) this.#endAnswer(this.#answer)
          return
        case 'refuse':
          this.#endRefused()
          return
        case 'lacks-answer':
          this.fail({ kind: 'protocol', sent: true, detail: 'the upstream ended without an answer' })
          return
        case 'finish-unheard':
          if (this.#answer === undefined) this.#endLeft('none')
          else this.#endLeft(this.#answer.end().failure === undefined ? 'whole' : 'broken')
          return
        case 'let-go':
          this.#over()
          return
        case 'nothing':
      }
    })
  }

  keepAliveBytes(): number {
    return this.#answer?.keepAliveBytes ?? 0
  }

  /** What the answer cost is on disk, or cannot be put there now: the client may have its end. */
  release(): void {
    this.#options.pulse.remove(this)
    this.#delivery.release()
  }

  onPulse(now: number): void {
    this.#safely(() => {
      this.#delivery.pulse()
      const state = this.#state
      if (state.kind === 'answering') this.#live(state.answer, now)
    })
  }

  readonly #onClientGone = (): void => this.#safely(() => this.#interrupt('gone', GONE))

  /** Whatever breaks here ends the exchange, and nothing else. */
  #safely(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#options.onError(error)
      this.#interrupt('fault', fault(error))
    }
  }

  // What the table's words do.

  #interrupt(by: Interruption, why: Interrupt): void {
    switch (REACTIONS[this.#state.kind][by]) {
      case 'end-unheard':
        this.#endUnheard(why.unheard)
        return
      case 'break-off':
        if (why.broken !== undefined) this.#breakOff(why.broken)
        return
      case 'read-on':
        this.#readOn()
        return
      case 'end-left':
        this.#endLeft(why.leftAs)
        return
      case 'leave-told':
        this.#conclude(this.#answer, { ending: 'client-gone', generation: 'broken' })
        this.#upstream?.abort()
        return
      case 'let-go':
        this.#over()
        return
      case 'nothing':
    }
  }

  get #answer(): Answer | undefined {
    return 'answer' in this.#state ? this.#state.answer : undefined
  }

  #send(): UpstreamExchange {
    try {
      return this.#options.send(this)
    } catch (error) {
      this.#options.pulse.remove(this)
      throw error
    }
  }

  #open(head: UpstreamHead): Answer {
    const answer = openAnswer(this.#options, head)
    this.#came = answer
    return answer
  }

  #openUnheard(head: UpstreamHead): void {
    const state = this.#state
    if (state.kind !== 'left') return
    const answer = this.#open(head)
    answer.forget()
    this.#state = { ...state, answer }
  }

  #collect(chunk: Uint8Array): void {
    const state = this.#state
    if (state.kind !== 'refused' || state.length >= ERROR_BODY_BYTES_MAX) return
    state.chunks.push(chunk)
    state.length += chunk.byteLength
  }

  #endRefused(): void {
    const body = Buffer.concat(this.#state.kind === 'refused' ? this.#state.chunks : [])
    this.#endUnheard(failed({ kind: 'status', status: this.status, headers: this.#headers, body }))
  }

  #read(chunk: Uint8Array, then: (answer: Answer, step: StreamStep) => void): void {
    const answer = this.#answer
    if (answer === undefined) return
    const step = answer.push(chunk)
    this.#progress.noteTold(answer)
    then(answer, step)
  }

  /** Nobody hears it: it is read for what it used. */
  #count({ failure, stage }: StreamStep): void {
    if (failure !== undefined) this.#endLeft('broken')
    else if (stage === 'finished' || stage === 'enough') this.#endLeft('whole')
  }

  /** A fast upstream's pieces come many at a time: without a pause all of them would be read in one turn. */
  #giveTurn(): void {
    this.#bytesThisTurn = 0
    this.#upstream?.pause()
    this.#options.nextTurn(() => {
      if (!this.#delivery.full) this.#upstream?.resume()
    })
  }

  /** Says where a running answer stands, and to its client that it lives. */
  #live(answer: Answer, now: number): void {
    this.#progress.tell(answer, this.answerBytes)
    if (now - this.#delivery.lastSentAt < KEEP_ALIVE_AFTER_MS || this.#delivery.full) return
    const sign = answer.keepAlive()
    if (sign !== undefined) this.#delivery.write([sign])
  }

  #endAnswer(answer: Answer): void {
    const far = answer.endFar()
    if (far === undefined) this.#finishAnswer(answer, answer.end())
    else this.#awaitAnswer(answer, far)
  }

  #finishAnswer(answer: Answer, { output, failure }: WholeEnd): void {
    this.#progress.noteTold(answer)
    if (failure === undefined) this.#keepLast(output)
    else this.#advanceFailed(answer, output, failure)
    this.#complete('ended')
  }

  #awaitAnswer(answer: Answer, far: Promise<WholeEnd>): void {
    this.#state = { kind: 'converting', answer }
    const finish = (end: WholeEnd): void => this.#safely(() => this.#takeConverted(end))
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
      this.#finishAnswer(answer, end)
      return
    }
    this.#delivery.drop()
    this.#state = { kind: 'left', answer, grace: NO_TIMER }
    this.#decide({ kind: 'gone' })
    this.#options.onLeft(answer.lane.glanceMeter(), this.answerBytes)
    this.#endLeft(end.failure === undefined ? 'whole' : 'broken')
  }

  /** A step of an answer: hold, begin, pass on, end, or fail. */
  #advance(answer: Answer, { output, meaningful, stage, failure }: StreamStep): void {
    if (failure !== undefined) {
      this.#advanceFailed(answer, output, failure)
      return
    }
    if (stage === 'flowing') this.#pass(output, meaningful ? 0 : answer.holdBytes)
    else this.#keepLast(output)
    if (stage === 'finished') this.#complete('may linger')
    else if (stage === 'enough') this.#complete('would go on')
  }

  #advanceFailed(answer: Answer, output: readonly Bytes[], failure: AnswerFailure): void {
    const state = this.#state
    if (state.kind === 'opening') {
      this.#endUnheard(failed({ kind: 'answer', answer: failure }))
      return
    }
    // A document has no place for a failure beside its own words.
    if (answer.form === 'whole' && failure.kind === 'error') {
      this.#keepLast(output)
      return
    }
    this.#pass(output, 0)
    if (failure.kind === 'error') this.trouble ??= { ...failure, detail: 'the upstream sent an error' }
    if (failure.kind === 'error' && failure.delivered) {
      if (state.kind === 'answering') this.#state = { kind: 'told', answer: state.answer }
      return
    }
    this.#breakOff(brokenOff(failure.kind === 'cut' ? 'upstream-cut' : 'upstream-error'))
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

  #replyHead(): ReturnType<ConstructorParameters<typeof Delivery>[0]['head']> {
    const streamed = this.#came?.form === 'stream'
    const streaming = streamed ? { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } : undefined
    const contentType = this.#came?.contentType ?? 'application/json'
    return {
      status: this.status,
      headers: Object.assign({ 'content-type': contentType }, streaming, this.#options.replyHeaders()),
    }
  }

  // Ways to its end.

  /** The client has all of the answer but its end, which waits for `release`. Nothing happens to one that is over. */
  #complete(upstream: 'ended' | 'may linger' | 'would go on'): void {
    this.#commit()
    const state = this.#state
    if (state.kind !== 'answering' && state.kind !== 'told') return
    this.#delivery.close(state.answer.form === 'whole')
    this.kept = this.#progress.keptOf(state.answer)
    const generation = state.kind === 'told' ? 'broken' : upstream === 'would go on' ? 'cut' : 'whole'
    const ending = state.kind === 'told' ? 'upstream-error' : 'complete'
    this.#conclude(state.answer, { ending, generation })
    if (upstream === 'may linger') {
      const patience = this.#options.timers.set(() => this.#over(), LINGER_MS)
      this.#state = { kind: 'lingering', patience }
    } else if (upstream === 'would go on') this.#upstream?.abort()
  }

  /** The answer broke after it began. */
  #breakOff({ ended, told, detail }: Broken): void {
    const state = this.#state
    this.trouble ??= { detail }
    if (state.kind === 'told') {
      this.#delivery.endAsTold()
      this.#conclude(state.answer, { ...ended, ending: 'upstream-error', generation: 'broken' })
    } else if (state.kind === 'answering') {
      this.#delivery.breakOff(this.#lastWords(state.answer, told))
      this.#conclude(state.answer, { ...ended, code: told.code })
    }
    this.#upstream?.abort()
  }

  /** What a client that reads a stream is told of its failure; undefined: a whole answer has no place for it. */
  #lastWords(answer: Answer, { code, message }: Broken['told']): Bytes | undefined {
    try {
      return answer.failure(streamFailure(code, message, this.#options.requestId))
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** Nothing has reached the client of this attempt, and nothing will. */
  #endUnheard({ verdict, ...ended }: Unheard): void {
    this.#conclude(undefined, ended)
    this.#decide(verdict)
    this.#upstream?.abort()
  }

  /** The client has gone: what the upstream makes is still paid for, so it may end what it was about to end. */
  #readOn(): void {
    if (this.#state.kind === 'waiting' && !this.sent) {
      this.#endUnheard(GONE.unheard)
      return
    }
    const { reply, onLeft, graceMs, timers } = this.#options
    const answer = this.#answer
    reply.onGone(undefined)
    reply.onDrain(undefined)
    this.#delivery.drop()
    answer?.forget()
    const left = { kind: 'left', answer, grace: NO_TIMER } as const
    this.#state = left
    this.#decide({ kind: 'gone' })
    onLeft((answer?.lane ?? this.lane.openWhole()).glanceMeter(), this.answerBytes)
    const ms = graceMs({ begun: answer !== undefined })
    if (ms <= 0) {
      this.#endLeft('cut')
      return
    }
    this.#state = { ...left, grace: timers.set(() => this.#endLeft('cut'), ms) }
    this.#upstream?.resume()
  }

  #endLeft(generation: Ended['generation']): void {
    const state = this.#state
    if (state.kind !== 'left') return
    if (state.grace !== NO_TIMER) {
      state.grace.cancel()
      this.#options.onUnheardEnd()
    }
    const unopened = generation === 'cut' ? new WholeAnswer(this.lane.openWhole(), undefined) : undefined
    this.#conclude(state.answer ?? unopened, { ending: 'client-gone', generation })
    this.#upstream?.abort()
  }

  /** The one way into `over` of an exchange that has not ended. */
  #conclude(answer: Answer | undefined, by: EndedBy): void {
    this.#state = { kind: 'over' }
    if (!this.#delivery.closing) this.#options.pulse.remove(this)
    this.#options.reply.onGone(undefined)
    this.#options.reply.onDrain(undefined)
    this.#finish(this.#progress.ended(answer, by))
  }

  #over(): void {
    if (this.#state.kind === 'lingering') this.#state.patience.cancel()
    this.#state = { kind: 'over' }
    this.#upstream?.abort()
  }
}

function unset(): void {
  throw new Error('an exchange was decided before it was made')
}
