/**
 * The answer of a vendor that turns the request into a task: the task is polled until it has ended, and its last state is
 * the answer, or what lies at the address that it names. A task that has begun costs money, so a poll that fails is repeated;
 * a second task is never created.
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { UpstreamFailure } from '../../core/routing/failure.ts'
import type { TaskReply, TaskStep } from '../../providers/provider.ts'
import type { Timers } from '../../upstream/timers.ts'
import type {
  TransportFailure,
  Upstream,
  UpstreamCall,
  UpstreamExchange,
  UpstreamHead,
  GuardedSink,
} from '../../upstream/upstream.ts'
import { parseJson } from './classify.ts'
import { askSmall, guarded } from './small-answer.ts'

/** Wait before each poll, ms; the last one applies to all later polls. Some images take a second, most take ten. */
const PAUSES_MS = [500, 1_000, 2_000] as const
const LAST_PAUSE_MS = 2_000
/**
 * Consecutive answers without a word about the task: about a minute in which a vendor, or a proxy before it, is
 * unavailable.
 */
const HINDERED_MAX = 30
/** An answer about a task is about a kilobyte, but may contain a small image. */
const ANSWER_BYTES_MAX = 4_194_304
/** What a task says of half a day of sound, with the times of every word. */
const RESULT_BYTES_MAX = 67_108_864

export interface AskedAgainParts {
  readonly upstream: Pick<Upstream, 'open'>
  /** To addresses that the vendor names. */
  readonly openRemote: Upstream['open']
  readonly timers: Pick<Timers, 'set'>
  /** Factor for the pauses; below 1 in tests. */
  readonly pace: number
  readonly read: (reply: TaskReply) => TaskStep
  /** Whether a poll refused like this is a verdict on the task. */
  readonly ends: (refusal: UpstreamFailure) => boolean
}

export function openPolledTask(
  parts: AskedAgainParts,
  call: UpstreamCall,
  sink: GuardedSink,
): UpstreamExchange {
  const asked = new AskedAgain(parts, call, sink)
  asked.order()
  return asked
}

class AskedAgain implements UpstreamExchange {
  readonly #parts: AskedAgainParts
  readonly #call: UpstreamCall
  readonly #sink: GuardedSink
  #current: UpstreamExchange | undefined
  #pause: { cancel(): void } | undefined
  /** The first answer, which named the task; undefined: not yet received. */
  #order: JsonObject | undefined
  #next: UpstreamCall | undefined
  #questions = 0
  #hindered = 0
  #over = false

  constructor(parts: AskedAgainParts, call: UpstreamCall, sink: GuardedSink) {
    this.#parts = parts
    this.#call = call
    this.#sink = sink
  }

  get sent(): boolean {
    return this.isTask || (this.#current?.sent ?? false)
  }

  get isTask(): boolean {
    return this.#order !== undefined
  }

  /** Its answers are small documents, read as a whole. */
  pause(): void {}
  resume(): void {}

  abort(): void {
    if (this.#over) return
    this.#pause?.cancel()
    if (this.#pause === undefined) this.#current?.abort()
    else this.#fail({ kind: 'aborted', sent: true, detail: 'abandoned between two polls of a task' })
  }

  broke(error: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#sink.broke(error)
  }

  order(): void {
    this.#ask(this.#call)
  }

  #ask(call: UpstreamCall): void {
    this.#pause = undefined
    this.#current = askSmall(this.#parts.upstream.open, call, ANSWER_BYTES_MAX, {
      ended: (head, body) => this.#ended(head, body),
      fail: (failure) => {
        if (!this.isTask || failure.kind === 'aborted') this.#fail(failure)
        else this.#hinder()
      },
      broke: (error) => this.broke(error),
    })
  }

  #ended(head: UpstreamHead, body: Uint8Array): void {
    const parsed = parseJson(body)
    if (!isWell(head)) {
      const ends = !this.isTask || this.#parts.ends({ ...head, body: parsed })
      return ends ? this.#answer(head, body) : this.#hinder()
    }
    // A proxy in between may answer in the vendor's place.
    const step = isJsonObject(parsed) ? this.#read(parsed) : 'unclear'
    if (step === 'over' || (step === 'unclear' && !this.isTask)) this.#answer(head, body)
    else if (step === 'unclear') this.#hinder()
    else if ('result' in step) this.#fetch(step.result)
    else this.#askNext(step)
  }

  /** One that cannot be had is looked for again: the task may name another address for it. */
  #fetch(url: string): void {
    const request = { method: 'GET' as const, url, headers: {} }
    const { timeouts } = this.#call
    const call = { request, ...NO_KEY, timeouts, body: undefined, bodyLength: 0 }
    this.#current = askSmall(this.#parts.openRemote, call, RESULT_BYTES_MAX, {
      ended: (head, body) => {
        if (isWell(head) && isDocument(body)) this.#answer(head, body)
        else this.#hinder()
      },
      fail: (failure) => {
        if (failure.kind === 'aborted') this.#fail(failure)
        else this.#hinder()
      },
      broke: (error) => this.broke(error),
    })
  }

  #read(body: JsonObject): TaskStep {
    const step = this.#parts.read({ body, order: this.#order, asked: this.#next?.request.url })
    if (typeof step === 'object') this.#order ??= body
    return step
  }

  #askNext({ url, headers, body }: Exclude<TaskStep, string | { readonly result: string }>): void {
    const { auth, credential, timeouts } = this.#call
    const sent = body && new TextEncoder().encode(JSON.stringify(body))
    const request = { method: sent === undefined ? ('GET' as const) : ('POST' as const), url, headers }
    this.#next = {
      request,
      auth,
      credential,
      timeouts,
      body: sent && [sent],
      bodyLength: sent?.byteLength ?? 0,
    }
    this.#hindered = 0
    this.#wait(this.#next)
  }

  /** The task continues all the same. */
  #hinder(): void {
    this.#hindered += 1
    if (this.#hindered < HINDERED_MAX && this.#next !== undefined) this.#wait(this.#next)
    else
      this.#fail({
        kind: 'first-byte-timeout',
        sent: true,
        detail: 'polls of the task are no longer answered',
      })
  }

  #wait(call: UpstreamCall): void {
    const ms = PAUSES_MS[this.#questions] ?? LAST_PAUSE_MS
    this.#questions += 1
    const ask = (): void => guarded(this, () => this.#ask(call))
    this.#pause = this.#parts.timers.set(ask, ms * this.#parts.pace)
  }

  #answer(head: UpstreamHead, body: Uint8Array): void {
    this.#over = true
    this.#sink.head(head)
    if (body.byteLength > 0) this.#sink.data(body)
    this.#sink.end()
  }

  #fail(failure: TransportFailure): void {
    if (this.#over) return
    this.#over = true
    this.#sink.fail(failure)
  }
}

/** For addresses that are not the operator's. */
export const NO_KEY = { auth: { kind: 'none' }, credential: { secret: undefined, fields: {} } } as const

function isWell({ status }: UpstreamHead): boolean {
  return status >= 200 && status < 300
}

/** It is read where large documents are. */
function isDocument(body: Uint8Array): boolean {
  return body[0] === OPENING_BRACE
}

const OPENING_BRACE = 0x7b
