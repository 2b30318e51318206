/**
 * Delivers the answer to the client: what is held back before it begins, what is passed on, and what is delayed at its
 * end. The end of every answer, complete or broken, waits until its charge is on disk, so that a client that has all of
 * it has been charged, whatever happens to this process, and that its slot is free when it asks again.
 */
import { streamFailure } from '../attempt/stream-failure.ts'
import type { AnswerFailure, Bytes, StreamStep, WholeEnd } from '../lanes/lane.ts'
import type { Answer } from './answer.ts'
import type { Broken } from './exchange-ends.ts'
import type { ExchangeOptions } from './exchange-options.ts'
import type { UpstreamReader } from './upstream-reader.ts'

/** A longer end is not held: it is passed on. */
const LAST_BYTES_MAX = 262_144
/**
 * Pulses (seconds) that the end waits: for an upstream that does not close after its last event, or a store that is
 * unreachable.
 */
const LAST_PULSES_MAX = 2
/** Keeps proxies from buffering a stream. */
const STREAMING = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
/** Silence after which a waiting client gets a keep-alive. */
const KEEP_ALIVE_AFTER_MS = 15_000

type Options = Pick<ExchangeOptions, 'now' | 'onCommit' | 'onError' | 'addHeaders' | 'reply' | 'requestId'>
type Upstream = Pick<UpstreamReader, 'held' | 'hold' | 'resume'>

/** Events of an answer's delivery. */
export interface DeliveryEvents {
  /** The answer begins: from here on no other chain is tried. May be called again. */
  onBegin(): void
  /** The upstream reported its own failure, and the client has it as the upstream sent it. */
  onErrorDelivered(failure: AnswerFailure): void
  /** The answer broke off; the client has not been informed yet. */
  onBroken(failure: AnswerFailure): void
  /** The answer is complete; only `release` is still to be called. */
  onComplete(upstream: UpstreamThen): void
}

export type UpstreamThen = 'ended' | 'may close' | 'would go on'
/** Until the answer begins its bytes are held, and it may still be dropped; after that they are passed on. */
type Passing = 'hold' | 'pass'

export class Delivery {
  readonly #options: Options
  readonly #upstream: Upstream
  readonly #events: DeliveryEvents
  readonly #held: Bytes[] = []
  #heldBytes = 0
  readonly #last: Bytes[] = []
  #lastBytes = 0
  #lastPulses = 0
  #answer: Answer | undefined
  #status = 0
  #started = false
  /** All of the answer is here, and its end waits for `release`. */
  #closing = false
  /** Its protocol has no word for a failure: the connection is closed instead. */
  #endsAbruptly = false
  /** Epoch ms. */
  #lastSentAt = 0

  constructor(options: Options, upstream: Upstream, events: DeliveryEvents) {
    this.#options = options
    this.#upstream = upstream
    this.#events = events
  }

  /** Everything but the release is done. */
  get closing(): boolean {
    return this.#closing
  }

  /** Sets the answer that goes to the client. */
  open(answer: Answer, status: number): void {
    this.#answer = answer
    this.#status = status
  }

  /** One step of the answer: held, begun, passed on, ended, or failed. */
  take({ output, meaningful, stage, failure }: StreamStep, passing: Passing): void {
    if (failure !== undefined) {
      this.#takeFailed(output, failure, passing)
      return
    }
    if (stage === 'flowing') this.#pass(output, passing, meaningful)
    else {
      // Its beginning and its end came as one piece. It has begun: its client does not wait for what never comes.
      if (passing === 'hold' && meaningful) this.#events.onBegin()
      this.#keepLast(output)
    }
    if (stage === 'finished') this.#events.onComplete('may close')
    else if (stage === 'enough') this.#events.onComplete('would go on')
  }

  /** The upstream has ended the answer. */
  takeEnd({ output, failure }: WholeEnd, passing: Passing): void {
    if (failure === undefined) this.#keepLast(output)
    else this.#takeFailed(output, failure, passing)
    this.#events.onComplete('ended')
  }

  /** The client has disconnected: waiting bytes are dropped, and nothing more is delayed. */
  drop(): void {
    this.#held.length = 0
    this.#last.length = 0
    this.detach()
  }

  /** From now on it makes no difference if the client disconnects. */
  detach(): void {
    this.#options.reply.onGone(undefined)
    this.#options.reply.onDrain(undefined)
  }

  write(output: readonly Bytes[]): void {
    const pieces = this.#taken(output)
    if (pieces.length === 0) return
    if (!this.#started) this.#start(undefined)
    let keepsUp = true
    for (const piece of pieces) keepsUp = this.#options.reply.write(piece)
    this.#lastSentAt = this.#options.now()
    if (!keepsUp && !this.#upstream.held) this.#upstream.hold()
  }

  /** Sends a keep-alive to a client that has received nothing for a while, if the protocol has one. */
  keepAlive(now: number): void {
    if (now - this.#lastSentAt < KEEP_ALIVE_AFTER_MS || this.#upstream.held) return
    const sign = this.#answer?.keepAlive()
    if (sign !== undefined) this.write([sign])
  }

  /** Called once a second; stops the delay when it has been too long. */
  pulse(): void {
    if (!this.#closing && this.#last.length === 0) return
    this.#lastPulses += 1
    if (this.#lastPulses <= LAST_PULSES_MAX) return
    if (this.#closing) this.release()
    else this.#flushLast()
  }

  /** The whole answer is here. */
  close(): void {
    this.#closing = true
    this.#lastPulses = 0
  }

  /** The charge is stored, or cannot be stored now: the client may have the rest. */
  release(): void {
    if (!this.#closing) return
    this.#closing = false
    const { reply } = this.#options
    const rest = this.#taken(this.#last.splice(0))
    // A document that has not begun is sent with its length: nothing follows.
    if (!this.#started) this.#start(this.#answer?.form === 'whole' ? byteLength(rest) : undefined)
    try {
      for (const piece of rest) reply.write(piece)
      if (this.#endsAbruptly) reply.destroy()
      else reply.end()
    } catch (error) {
      // Nobody releases it again.
      reply.destroy()
      throw error
    }
  }

  /**
   * The answer broke after it began: reported in the protocol's own way if it has one, else by closing the connection.
   */
  breakOff(shown: Broken['shown']): void {
    const words = this.#lastWords(shown)
    if (words === undefined) this.#endsAbruptly = true
    else this.#last.push(words)
    this.close()
  }

  /** The upstream reported its failure inside the answer; nothing is added. */
  endAsTold(): void {
    this.close()
  }

  #takeFailed(output: readonly Bytes[], failure: AnswerFailure, passing: Passing): void {
    if (passing === 'hold') {
      this.#events.onBroken(failure)
      return
    }
    // A document cannot contain a failure besides its content.
    if (failure.kind === 'error' && this.#answer?.form === 'whole') {
      this.#keepLast(output)
      return
    }
    this.#keepLast(output)
    if (failure.kind === 'error' && failure.delivered) this.#events.onErrorDelivered(failure)
    else this.#events.onBroken(failure)
  }

  /** Holds bytes back, up to a limit, until something meaningful arrives. */
  #pass(output: readonly Bytes[], passing: Passing, meaningful: boolean): void {
    if (passing === 'pass') {
      if (this.#last.length > 0) this.#keepLast(output)
      else this.write(output)
      return
    }
    this.#held.push(...output)
    this.#heldBytes += byteLength(output)
    const heldMax = meaningful ? 0 : (this.#answer?.holdBytes ?? 0)
    if (this.#heldBytes <= heldMax && heldMax > 0) return
    this.#events.onBegin()
    this.write([])
  }

  /** From the terminator on bytes are delayed, unless they are too many or wait too long. */
  #keepLast(output: readonly Bytes[]): void {
    this.#last.push(...output)
    this.#lastBytes += byteLength(output)
    if (this.#lastBytes <= LAST_BYTES_MAX && this.#lastPulses <= LAST_PULSES_MAX) return
    this.#flushLast()
    this.#events.onBegin()
  }

  #lastWords({ code, message }: Broken['shown']): Bytes | undefined {
    try {
      return this.#answer?.failure(streamFailure(code, message, this.#options.requestId))
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  #flushLast(): void {
    this.#lastBytes = 0
    this.write(this.#last.splice(0))
  }

  #taken(output: readonly Bytes[]): readonly Bytes[] {
    return this.#held.length === 0 ? output : [...this.#held.splice(0), ...output]
  }

  #start(contentLength: number | undefined): void {
    const { reply } = this.#options
    this.#started = true
    const headers: Record<string, string> = {
      'content-type': this.#answer?.contentType ?? 'application/json',
    }
    if (this.#answer?.form === 'stream') Object.assign(headers, STREAMING)
    try {
      this.#options.addHeaders(headers)
      reply.start({ status: this.#status, headers, contentLength })
    } catch (error) {
      // A client that waits for a head that cannot be sent would wait for ever.
      reply.destroy()
      throw error
    }
    reply.onDrain(() => {
      if (this.#upstream.held) this.#upstream.resume()
    })
    this.#options.onCommit()
  }
}

function byteLength(pieces: readonly Bytes[]): number {
  let length = 0
  for (const piece of pieces)
    length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength
  return length
}
