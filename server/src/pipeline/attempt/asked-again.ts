/**
 * The answer of a vendor that makes a task of what it was asked: the task is asked for until it has ended, and what it then
 * says is the answer. Once it has begun it costs, so what hinders a question leads to another one, never to another task.
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { FormedRequest } from '../../providers/provider.ts'
import type { Timers } from '../../upstream/timers.ts'
import type {
  TransportFailure,
  Upstream,
  UpstreamCall,
  UpstreamExchange,
  UpstreamHead,
  UpstreamSink,
} from '../../upstream/upstream.ts'
import { parseJson } from './classify.ts'

/** A picture takes seconds; twenty questions a second are allowed to a whole account. */
const PAUSE_MS = 2_000
/** What tells of a task is a page at most. */
const ANSWER_BYTES_MAX = 1_048_576

export interface AskedAgainParts {
  readonly upstream: Pick<Upstream, 'open'>
  readonly timers: Pick<Timers, 'set'>
  /** Where to ask next, by what was answered; undefined: that is the answer. */
  readonly askAgain: (answer: JsonObject) => Omit<FormedRequest, 'method'> | undefined
}

export function openAskedAgain(
  parts: AskedAgainParts,
  call: UpstreamCall,
  sink: UpstreamSink,
): UpstreamExchange {
  const asked = new AskedAgain(parts, call, sink)
  asked.ask(call)
  return asked
}

class AskedAgain implements UpstreamExchange {
  readonly #parts: AskedAgainParts
  readonly #call: UpstreamCall
  readonly #sink: UpstreamSink
  #current: UpstreamExchange | undefined
  #pause: { cancel(): void } | undefined
  #next: UpstreamCall | undefined
  #over = false

  constructor(parts: AskedAgainParts, call: UpstreamCall, sink: UpstreamSink) {
    this.#parts = parts
    this.#call = call
    this.#sink = sink
  }

  get sent(): boolean {
    return this.#next !== undefined || (this.#current?.sent ?? false)
  }

  /** Its answers are documents of a page, read whole. */
  pause(): void {}
  resume(): void {}

  abort(): void {
    if (this.#over) return
    this.#pause?.cancel()
    if (this.#pause === undefined) this.#current?.abort()
    else this.#fail({ kind: 'aborted', sent: true, detail: 'abandoned between two polls of a task' })
  }

  ask(call: UpstreamCall): void {
    this.#pause = undefined
    const chunks: Uint8Array[] = []
    let head: UpstreamHead | undefined
    let length = 0
    this.#current = this.#parts.upstream.open(call, {
      head: (came) => {
        head = came
      },
      data: (chunk) => {
        length += chunk.byteLength
        if (length <= ANSWER_BYTES_MAX) chunks.push(chunk)
      },
      end: () => this.#ended(head, Buffer.concat(chunks)),
      fail: (failure) => {
        if (this.#next === undefined || failure.kind === 'aborted') this.#fail(failure)
        else this.#wait(this.#next)
      },
    })
  }

  #ended(head: UpstreamHead | undefined, body: Uint8Array): void {
    if (head === undefined) throw new Error('an answer ended before its head')
    const isWell = head.status >= 200 && head.status < 300
    const answer = isWell ? parseJson(body) : undefined
    const next = isJsonObject(answer) ? this.#parts.askAgain(answer) : undefined
    if (next !== undefined) {
      this.#next = this.#question(next)
      this.#wait(this.#next)
    } else if (this.#next !== undefined && mayPass(head.status)) this.#wait(this.#next)
    else this.#answer(head, body)
  }

  #question(next: Omit<FormedRequest, 'method'>): UpstreamCall {
    const { auth, credential, timeouts } = this.#call
    const request = { method: 'GET' as const, ...next }
    return { request, auth, credential, timeouts, body: undefined, bodyLength: 0 }
  }

  #wait(call: UpstreamCall): void {
    this.#pause = this.#parts.timers.set(() => this.ask(call), PAUSE_MS)
  }

  #answer(head: UpstreamHead, body: Uint8Array): void {
    this.#over = true
    this.#sink.head(head)
    if (body.byteLength > 0) this.#sink.data(body)
    this.#sink.end()
  }

  #fail(failure: TransportFailure): void {
    this.#over = true
    this.#sink.fail(failure)
  }
}

/** Says nothing of the task. */
function mayPass(status: number): boolean {
  return status === 429 || status >= 500
}
