/**
 * One attempt at one chain, from the request's last byte to the answer's, as one state machine:
 *
 *   waiting ─ head 2xx ─▶ opening ─ first meaningful event ─▶ answering ─ clean end ─▶ closing ─▶ over
 *      └───── head else ─▶ refused                                └─ sends its failure ─▶ error-sent ─▶ over
 *
 * Until `answering` nothing has reached the client, so any failure may still move to the next chain. From every state
 * before the end a client that goes leads to `draining`, where the upstream is read for a moment for what it used, and a
 * stop of the gateway, a bound of ours or a failure leads to `over`. The table in `exchange-states.ts` says what follows
 * each event; this file carries it out. Reading the upstream, delivery, metering and time-outs have their own files.
 */
import type { TransportFailure, UpstreamHead, GuardedSink } from '../../upstream/upstream.ts'
import type { PulsedStream } from '../instance/pulse.ts'
import type { AnswerFailure, KeptAnswer, Lane, WholeEnd } from '../lanes/lane.ts'
import { type Answer, openAnswer } from './answer.ts'
import { AnswerUsage } from './answer-usage.ts'
import { Delivery, type DeliveryEvents, type UpstreamThen } from './delivery.ts'
import {
  answerFailed,
  DEADLINE,
  type EndedBy,
  failed,
  fault,
  GONE,
  type Interrupt,
  lostUpstream,
  STOP,
  ERROR_SENT,
  troubleOf,
} from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { Ended, Trouble, Verdict } from './exchange-outcome.ts'
import { REACTIONS, type State } from './exchange-states.ts'
import { Patience, UpstreamReader } from './upstream-reader.ts'
import { UpstreamRefusal } from './upstream-refusal.ts'

export class Exchange implements GuardedSink, PulsedStream, DeliveryEvents {
  readonly lane: Lane
  readonly verdict: Promise<Verdict>
  /** Resolves for answers that began and for clients that disconnected; never rejects. */
  readonly ended: Promise<Ended>
  status = 0
  firstByteAt: number | undefined
  /** What is kept of an answer that ended well. */
  kept: KeptAnswer | undefined
  trouble: Trouble | undefined
  position: number | undefined
  turn: number | undefined
  readonly #options: ExchangeOptions
  readonly #upstream: UpstreamReader
  readonly #delivery: Delivery
  readonly #usage: AnswerUsage
  readonly #patience: Patience
  #state: State = 'waiting'
  /** The answer, or the refusal; at most one of the two is set. */
  #answer: Answer | undefined
  #refusal: UpstreamRefusal | undefined
  #decide: (verdict: Verdict) => void = unset
  #finish: (ended: Ended) => void = unset

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.lane = options.lane
    this.verdict = new Promise((resolve) => {
      this.#decide = resolve
    })
    this.ended = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#upstream = new UpstreamReader(options)
    this.#delivery = new Delivery(options, this.#upstream, this)
    this.#usage = new AnswerUsage(options, this.#upstream)
    this.#patience = new Patience(options)
    // The client has already disconnected, so nothing is requested.
    if (options.reply.gone) this.#endUnanswered(GONE.unanswered)
    else if (options.pulse.stopping) this.#endUnanswered(STOP.unanswered)
    else this.#send()
  }

  get sent(): boolean {
    return this.#upstream.sent
  }

  /** A task was created for it: another attempt would create a second one. */
  get isTask(): boolean {
    return this.#upstream.isTask
  }

  /** Bytes of the upstream's answer so far. */
  get answerBytes(): number {
    return this.#upstream.bytes
  }

  /** The overall deadline passed before the answer began. */
  expire(): void {
    this.#interrupt(DEADLINE)
  }

  /** The gateway is stopping: a client that is reading an answer is informed in its protocol. */
  onStop(): void {
    this.#interrupt(STOP)
  }

  fail(transport: TransportFailure): void {
    this.#interrupt(lostUpstream(transport))
  }

  broke(error: unknown): void {
    this.#options.onError(error)
    this.#interrupt(fault(error))
  }

  head(head: UpstreamHead): void {
    const reaction = REACTIONS[this.#state].head
    if (reaction === 'nothing') return
    try {
      this.firstByteAt = this.#options.now()
      this.status = head.status
      if (head.status >= 200 && head.status <= 299) this.#open(head, reaction)
      else if (reaction === 'open-draining') this.#endDrain('none')
      else {
        this.#refusal = new UpstreamRefusal(head)
        this.#state = 'refused'
      }
    } catch (error) {
      this.broke(error)
    }
  }

  data(chunk: Uint8Array): void {
    this.#upstream.count(chunk)
    try {
      this.#options.extras?.push(chunk)
      const reaction = REACTIONS[this.#state].data
      if (reaction === 'collect') return this.#refusal?.push(chunk)
      if (reaction === 'nothing' || this.#answer === undefined) return
      const step = this.#answer.push(chunk)
      this.#usage.noteReport()
      if (reaction !== 'count') this.#delivery.take(step, reaction)
      else if (step.failure !== undefined) this.#endDrain('broken')
      else if (step.stage === 'finished' || step.stage === 'enough') this.#endDrain('whole')
    } catch (error) {
      this.broke(error)
    }
  }

  end(): void {
    try {
      switch (REACTIONS[this.#state].end) {
        case 'finish':
          return this.#endAnswer()
        case 'refuse':
          return this.#endRefused()
        case 'lacks-answer':
          return this.fail({ kind: 'protocol', sent: true, detail: 'the upstream ended without an answer' })
        case 'finish-drained':
          return this.#endDrainedAnswer()
        case 'close':
          return this.#close()
        case 'nothing':
      }
    } catch (error) {
      this.broke(error)
    }
  }

  onPulse(now: number): void {
    this.#safely(() => {
      this.#delivery.pulse()
      if (this.#state !== 'answering') return
      this.#usage.tell()
      this.#delivery.keepAlive(now)
    })
  }

  onBegin(): void {
    if (this.#state !== 'opening') return
    this.#state = 'answering'
    this.#decide({ kind: 'committed' })
    if (this.#answer?.form !== 'stream') return
    try {
      this.#options.pulse.soon(this)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  onErrorDelivered(failure: AnswerFailure): void {
    this.trouble ??= troubleOf(failure)
    if (this.#state === 'answering') this.#state = 'error-sent'
  }

  onBroken(failure: AnswerFailure): void {
    this.#interrupt(answerFailed(failure))
  }

  onComplete(upstream: UpstreamThen): void {
    this.onBegin()
    if (this.#state !== 'answering' && this.#state !== 'error-sent') return
    this.#delivery.close()
    this.kept = this.#usage.kept()
    const generation = upstream === 'would go on' ? 'cut' : 'whole'
    this.#conclude(this.#state === 'error-sent' ? ERROR_SENT : { ending: 'complete', generation })
    if (generation === 'cut') this.#upstream.abort()
    if (upstream !== 'may close') return
    this.#patience.awaitEnd(() => this.#close())
    this.#state = 'closing'
  }

  keepAliveBytes(): number {
    return this.#answer?.keepAliveBytes ?? 0
  }

  /** The charge is stored, or cannot be stored now: the client may have the end of the answer. */
  release(): void {
    this.#options.pulse.remove(this)
    this.#delivery.release()
  }

  /** Whatever throws here ends this exchange, and nothing else. */
  #safely(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.broke(error)
    }
  }

  #interrupt(why: Interrupt): void {
    switch (REACTIONS[this.#state][why.by]) {
      case 'end-unanswered':
        return this.#endUnanswered(why.unanswered)
      case 'break-off':
        return why.broken === undefined ? undefined : this.#breakOff(why.broken)
      case 'end-sent':
        this.#delivery.endAsTold()
        return this.#cut(ERROR_SENT)
      case 'drain':
        return this.#drain()
      case 'end-drain':
        return this.#endDrain(why.drainedAs)
      case 'leave-sent':
        return this.#cut({ ...ERROR_SENT, ending: 'client-gone' })
      case 'close':
        return this.#close()
      case 'nothing':
    }
  }

  #send(): void {
    this.#options.pulse.add(this)
    try {
      this.#upstream.send(this)
    } catch (error) {
      this.#options.pulse.remove(this)
      throw error
    }
    this.#options.reply.onGone(() => this.#safely(() => this.#interrupt(GONE)))
  }

  #open(head: UpstreamHead, reaction: 'open' | 'open-draining'): void {
    const answer = openAnswer(this.#options, head)
    this.#answer = answer
    this.#usage.open(answer)
    if (reaction === 'open-draining') {
      answer.forget?.()
      return
    }
    this.#delivery.open(answer, head.status)
    this.#state = 'opening'
  }

  #endRefused(): void {
    if (this.#refusal !== undefined) this.#endUnanswered(failed(this.#refusal.failure()))
  }

  #endAnswer(): void {
    const end = this.#answer?.end()
    if (end instanceof Promise) {
      this.#state = 'converting'
      end.then(
        (made) => this.#safely(() => this.#takeConverted(made)),
        (error) => this.#options.onError(error),
      )
    } else if (end !== undefined) this.#finishAnswer(end)
  }

  #finishAnswer(end: WholeEnd): void {
    this.#usage.noteReport()
    this.#delivery.takeEnd(end, this.#state === 'opening' ? 'hold' : 'pass')
  }

  #takeConverted(end: WholeEnd): void {
    if (this.#state !== 'converting') return
    if (this.#options.reply.gone) {
      this.#leave()
      this.#endDrain(end.failure === undefined ? 'whole' : 'broken')
      return
    }
    this.#state = 'opening'
    this.#finishAnswer(end)
  }

  /**
   * The client has disconnected: what the upstream makes must be paid for, so the upstream may finish an answer that is
   * about to end.
   */
  #drain(): void {
    if (this.#state === 'waiting' && !this.sent) {
      this.#endUnanswered(GONE.unanswered)
      return
    }
    this.#answer?.forget?.()
    this.#leave()
    if (this.#patience.drain(this.#answer !== undefined, () => this.#endDrain('cut'))) this.#upstream.resume()
    else this.#endDrain('cut')
  }

  #leave(): void {
    this.#delivery.drop()
    this.#state = 'draining'
    this.#decide({ kind: 'gone' })
    this.#options.onClientGone(this.#usage.glance(), this.answerBytes)
  }

  #endDrainedAnswer(): void {
    const generation = this.#answer?.endDrained() ?? 'none'
    if (!(generation instanceof Promise)) return this.#endDrain(generation)
    this.#patience.end()
    this.#state = 'counting'
    generation.then(
      (found) => this.#safely(() => this.#endDrain(found)),
      (error) => this.#options.onError(error),
    )
  }

  #endDrain(generation: Ended['generation']): void {
    if (this.#state !== 'draining' && this.#state !== 'counting') return
    this.#patience.end()
    this.#cut({ ending: 'client-gone', generation })
  }

  /** The answer broke after it began: its client is informed, in the stream if it reads one. */
  #breakOff({ ended, shown, trouble }: NonNullable<Interrupt['broken']>): void {
    this.trouble ??= trouble
    this.#delivery.breakOff(shown)
    this.#cut({ ...ended, ...shown })
  }

  /** Nothing of this attempt has reached the client, and nothing will. */
  #endUnanswered({ verdict, ...ended }: Interrupt['unanswered']): void {
    this.#cut(ended)
    this.#decide(verdict)
  }

  /** Nothing more from the upstream is needed. */
  #cut(by: EndedBy): void {
    this.#conclude(by)
    this.#upstream.abort()
  }

  /** The only transition to `over` for an exchange that has not ended. */
  #conclude(by: EndedBy): void {
    this.#state = 'over'
    if (!this.#delivery.closing) this.#options.pulse.remove(this)
    this.#delivery.detach()
    this.#finish(this.#usage.ended(by))
  }

  /** Everything is done except closing the connection. */
  #close(): void {
    this.#patience.end()
    this.#state = 'over'
    this.#upstream.abort()
  }
}

function unset(): void {
  throw new Error('an exchange was decided before it was made')
}
