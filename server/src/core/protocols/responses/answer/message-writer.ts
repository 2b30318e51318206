/**
 * Message items of a stream: adjacent texts and refusals are parts of one
 * (docs/protocols.md#streams-between-protocols).
 */
import type { Citation } from '../../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { encodeAnnotation } from './citations.ts'
import { tokensOf } from './encode-response.ts'
import { eventHead, type EventWriter } from './event-writer.ts'
import { messageItem, outputText, refusalPart } from '../request/items.ts'
import type { ItemStatus } from '../wire.ts'

const TEXT_DELTA = eventHead('response.output_text.delta')
const REFUSAL_DELTA = eventHead('response.refusal.delta')
/** About what one token's log probability takes as JSON. */
const LOGPROB_LENGTH = 100

interface MessageState {
  readonly id: string
  readonly index: number
  /** Finished parts; a part that is still open has an empty slot. */
  readonly parts: (JsonObject | undefined)[]
  open: number
  /** Another item has begun: no further part belongs here. */
  sealed: boolean
}

export interface TextState {
  readonly type: 'text' | 'refusal'
  readonly message: MessageState
  readonly content: number
  /** The JSON of every delta between its number and its text. */
  readonly middle: string
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonValue[]
  /** Log probabilities of the text that comes next. */
  pending: readonly JsonValue[]
}

export class MessageWriter {
  readonly #events: EventWriter
  #current: MessageState | undefined

  constructor(events: EventWriter) {
    this.#events = events
  }

  open(type: 'text' | 'refusal'): { readonly state: TextState; readonly wire: string } {
    const [message, added] = this.#message()
    const content = message.parts.length
    message.parts.push(undefined)
    message.open += 1
    const place = `,"item_id":"${message.id}","output_index":${message.index},"content_index":${content}`
    const middle = type === 'text' ? `${place},"logprobs":[],"delta":` : `${place},"delta":`
    const state = { type, message, content, middle, text: '', annotations: [], logprobs: [], pending: [] }
    const part = type === 'text' ? outputText('', [], []) : refusalPart('')
    return {
      state,
      wire: added + this.#events.event('response.content_part.added', { ...placeOf(state), part }),
    }
  }

  delta(state: TextState, text: string): string {
    state.text += text
    if (state.pending.length > 0) return this.#deltaWithLogprobs(state, text)
    return this.#events.delta(state.type === 'text' ? TEXT_DELTA : REFUSAL_DELTA, state.middle, text)
  }

  logprobs(state: TextState, logprobs: JsonValue): void {
    const tokens = tokensOf(logprobs)
    this.#events.keep(tokens.length * LOGPROB_LENGTH)
    state.pending = [...state.pending, ...tokens]
  }

  citation(state: TextState, citation: Citation): string {
    const annotation = encodeAnnotation(citation)
    const annotation_index = state.annotations.length
    this.#events.keep(citation.url.length)
    state.annotations.push(annotation)
    const fields = { ...placeOf(state), annotation_index, annotation }
    return this.#events.event('response.output_text.annotation.added', fields)
  }

  close(state: TextState): string {
    const { message, content, text } = state
    const late = state.pending.length === 0 ? '' : this.#deltaWithLogprobs(state, '')
    const part =
      state.type === 'text' ? outputText(text, state.annotations, state.logprobs) : refusalPart(text)
    message.parts[content] = part
    message.open -= 1
    const told =
      state.type === 'text'
        ? this.#events.event('response.output_text.done', {
            ...placeOf(state),
            text,
            logprobs: state.logprobs,
          })
        : this.#events.event('response.refusal.done', { ...placeOf(state), refusal: text })
    const ended = late + told + this.#events.event('response.content_part.done', { ...placeOf(state), part })
    return message.sealed && message.open === 0 ? ended + this.#done(message, 'completed') : ended
  }

  /** Another kind of item begins, so the message ends, at once or with its last open part. */
  seal(): string {
    const message = this.#current
    this.#current = undefined
    if (message === undefined) return ''
    message.sealed = true
    return message.open === 0 ? this.#done(message, 'completed') : ''
  }

  /** The answer has ended; only the last open message can be incomplete. */
  end(status: ItemStatus): string {
    const message = this.#current
    this.#current = undefined
    return message === undefined ? '' : this.#done(message, status)
  }

  #message(): readonly [MessageState, string] {
    if (this.#current !== undefined) return [this.#current, '']
    const id = this.#events.nextId('msg')
    const message: MessageState = { id, index: this.#events.nextIndex, parts: [], open: 0, sealed: false }
    this.#current = message
    return [message, this.#events.added(messageItem(id, 'in_progress', []))]
  }

  #deltaWithLogprobs(state: TextState, delta: string): string {
    const logprobs = state.pending
    state.pending = []
    for (const token of logprobs) state.logprobs.push(token)
    this.#events.keep(delta.length)
    return this.#events.event('response.output_text.delta', { ...placeOf(state), delta, logprobs })
  }

  #done({ id, index, parts }: MessageState, status: ItemStatus): string {
    const finished = parts.filter((part) => part !== undefined)
    return this.#events.done(index, messageItem(id, status, finished))
  }
}

function placeOf({ message, content }: TextState): JsonObject {
  return { item_id: message.id, output_index: message.index, content_index: content }
}
