/**
 * Canonical parts → a responses stream with the full list of events that real clients need
 * (docs/protocols.md#client-1): one response id and rising numbers from created to the end, every item added, sent in
 * deltas and repeated as a whole. The protocol repeats the whole answer at its end, so it has to be kept; beyond a
 * bound the stream fails instead of growing (`event-writer.ts`).
 */
import type { BlockStart, Finish, StreamPart, UpstreamError } from '../../../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../../../canonical/usage.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import type { ReplyContext, StreamEncoder } from '../../protocol.ts'
import { type CallState, CallWriter } from './call-writer.ts'
import { errorObject, failureObject } from '../error.ts'
import { EventWriter, TOO_LONG } from './event-writer.ts'
import { encodeFinish } from './finish.ts'
import { imageItem } from '../request/items.ts'
import { MessageWriter, type TextState } from './message-writer.ts'
import { type ReasoningState, ReasoningWriter } from './reasoning-writer.ts'
import { encodeUsage } from './usage.ts'
import type { ItemStatus } from '../wire.ts'

const DONE = 'data: [DONE]\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'

type BlockState = TextState | ReasoningState | CallState

export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #events: EventWriter
  readonly #messages: MessageWriter
  readonly #reasoning: ReasoningWriter
  readonly #calls: CallWriter
  readonly #blocks = new Map<number, BlockState>()
  #started = false
  #over = false
  #candidate: number | undefined
  #seen = { toolCall: false, refusal: false }
  #finish: Finish | undefined
  whole: string | undefined = undefined
  #usage: Usage | undefined

  constructor(context: ReplyContext) {
    this.#events = new EventWriter(context)
    this.#messages = new MessageWriter(this.#events)
    this.#reasoning = new ReasoningWriter(this.#events)
    this.#calls = new CallWriter(this.#events)
  }

  push(part: StreamPart): string {
    if (this.#over) return ''
    const wire = this.#part(part)
    return this.#events.full && !this.#over ? wire + this.#fail(TOO_LONG) : wire
  }

  keepAlive(): string {
    return KEEP_ALIVE
  }

  #part(part: StreamPart): string {
    switch (part.type) {
      case 'start':
        return this.#start()
      case 'ping':
        return ''
      case 'block-start':
        return this.#open(part.block, part.candidate, part.kind)
      case 'text-delta':
      case 'arguments-delta':
        return this.#delta(part.block, part.text)
      case 'signature': {
        const state = this.#blocks.get(part.block)
        if (state?.type !== 'reasoning' && state?.type !== 'call') return ''
        this.#events.keep(part.signature.data.length)
        state.signature = part.signature
        return ''
      }
      case 'citation': {
        const state = this.#blocks.get(part.block)
        return state?.type === 'text' ? this.#messages.citation(state, part.citation) : ''
      }
      case 'logprobs': {
        const state = this.#blocks.get(part.block)
        if (state?.type === 'text') this.#messages.logprobs(state, part.logprobs)
        return ''
      }
      case 'block-end':
        return this.#close(part.block)
      case 'usage':
        this.#usage = mergeUsage(this.#usage ?? NO_USAGE, part.usage)
        return ''
      case 'finish':
        if (part.candidate === (this.#candidate ?? part.candidate)) this.#finish = part.finish
        return ''
      case 'end':
        return this.#end()
      case 'error':
        return this.#fail(part.error)
    }
  }

  /** Created and in progress; sent before the first event. */
  #start(): string {
    if (this.#started) return ''
    this.#started = true
    const state = { status: 'in_progress', ...UNFINISHED }
    return (
      this.#events.lifecycle('response.created', state) +
      this.#events.lifecycle('response.in_progress', state)
    )
  }

  #open(block: number, candidate: number, kind: BlockStart): string {
    this.#candidate ??= candidate
    // The protocol has one answer; of several, the first is sent.
    if (candidate !== this.#candidate) return ''
    const started = this.#start()
    if (kind.type === 'text' || kind.type === 'refusal') return started + this.#openText(block, kind.type)
    return started + this.#messages.seal() + this.#openItem(block, kind)
  }

  #openText(block: number, type: 'text' | 'refusal'): string {
    if (type === 'refusal') this.#seen = { ...this.#seen, refusal: true }
    const { state, wire } = this.#messages.open(type)
    this.#blocks.set(block, state)
    return wire
  }

  #openItem(block: number, kind: Exclude<BlockStart, { type: 'text' | 'refusal' }>): string {
    switch (kind.type) {
      case 'reasoning': {
        const { state, wire } = this.#reasoning.open(kind.kind)
        this.#blocks.set(block, state)
        return wire
      }
      case 'tool-call': {
        this.#seen = { ...this.#seen, toolCall: true }
        const { state, wire } = this.#calls.open(kind)
        this.#blocks.set(block, state)
        return wire
      }
      case 'media':
        return this.#image(kind)
      case 'opaque':
        return kind.protocol === 'responses' && isJsonObject(kind.json)
          ? this.#whole(kind.json, kind.json)
          : ''
    }
  }

  #image(image: Extract<BlockStart, { type: 'media' }>): string {
    const item = imageItem(this.#events.nextId('ig'), image)
    return item === undefined ? '' : this.#whole({ ...item, status: 'in_progress', result: null }, item)
  }

  /** An item that is sent in one piece. */
  #whole(begun: JsonObject, item: JsonObject): string {
    const index = this.#events.nextIndex
    return this.#events.added(begun) + this.#events.done(index, item)
  }

  #delta(block: number, text: string): string {
    const state = this.#blocks.get(block)
    if (state === undefined || text === '') return ''
    switch (state.type) {
      case 'text':
      case 'refusal':
        return this.#messages.delta(state, text)
      case 'reasoning':
        return this.#reasoning.delta(state, text)
      case 'call':
        return this.#calls.delta(state, text)
    }
  }

  #close(block: number): string {
    const state = this.#blocks.get(block)
    if (state === undefined) return ''
    this.#blocks.delete(block)
    switch (state.type) {
      case 'text':
      case 'refusal':
        return this.#messages.close(state)
      case 'reasoning':
        return this.#reasoning.close(state)
      case 'call':
        return this.#calls.close(state)
    }
  }

  #end(): string {
    const started = this.#start()
    const finish = encodeFinish(this.#finish ?? { reason: 'other' }, this.#seen)
    const closed = this.#explain() + this.#closeAll(finish.status)
    this.#over = true
    const completedAt = finish.status === 'completed' ? this.#events.context.createdAt : null
    const state = { ...UNFINISHED, ...finish, completed_at: completedAt, usage: this.#encodedUsage() }
    const ended = this.#events.lifecycle(`response.${finish.status}`, state)
    this.whole = this.#events.response
    return started + closed + ended + DONE
  }

  /** The explanation of a refusal without text is sent as text (docs/protocols.md#endings). */
  #explain(): string {
    const { reason, explanation } = this.#finish ?? { reason: 'other', explanation: undefined }
    if (reason !== 'refusal' || explanation === undefined || this.#seen.refusal) return ''
    const { state, wire } = this.#messages.open('refusal')
    return wire + this.#messages.delta(state, explanation) + this.#messages.close(state)
  }

  #closeAll(status: ItemStatus): string {
    let wire = ''
    for (const block of this.#blocks.keys()) wire += this.#close(block)
    return wire + this.#messages.end(status)
  }

  /**
   * The error as an event, then the response that failed; nothing after it
   * (docs/reference/contract.md#D-errors-32, #D-errors-33).
   */
  #fail(error: UpstreamError): string {
    const started = this.#start()
    const closed = this.#closeAll('incomplete')
    this.#over = true
    const { message, code } = error
    // The SDK's types have the flat form, the wire the nested one.
    const fields = { code: code ?? null, message, param: null, error: errorObject(error) }
    const state = {
      status: 'failed',
      ...UNFINISHED,
      error: failureObject(error),
      usage: this.#encodedUsage(),
    }
    const failed = this.#events.event('error', fields) + this.#events.lifecycle('response.failed', state)
    return started + closed + failed
  }

  #encodedUsage(): JsonObject | null {
    return this.#usage === undefined ? null : encodeUsage(this.#usage)
  }
}

const UNFINISHED = { incomplete_details: null, completed_at: null, error: null, usage: null }
