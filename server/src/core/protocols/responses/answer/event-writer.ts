/**
 * The events of one responses stream as text: numbered, framed, and kept if the end has to repeat them. Shared by the
 * writers of the different items.
 */
import type { UpstreamError } from '../../../canonical/response.ts'
import type { JsonObject } from '../../../json.ts'
import type { ReplyContext } from '../../protocol.ts'
import { itemId, type ItemPrefix } from '../request/items.ts'
import { constantText, responseObjectId } from './response-object.ts'

/** UTF-16 units of one answer kept for its repetition: about four million tokens, more than any model writes. */
const KEPT_LENGTH_MAX = 16 * 1024 * 1024

/** The beginning of an event as sent, up to its number; prepared for the events that make up nearly all of a stream. */
export function eventHead(type: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":`
}

export class EventWriter {
  readonly context: ReplyContext
  /** Members of the response object before and after those that change with its state. */
  readonly #head: string
  readonly #tail: string
  readonly #output: string[] = []
  #sequence = 0
  #items = 0
  #kept = 0

  constructor(context: ReplyContext) {
    this.context = context
    const id = JSON.stringify(responseObjectId(context))
    this.#head = `{"id":${id},"object":"response","created_at":${context.createdAt}`
    this.#tail = constantText(context).slice(1)
  }

  /** The response object as the last lifecycle event sent it. */
  response = ''

  /** True if the answer is too long for the end to repeat it. */
  get full(): boolean {
    return this.#kept > KEPT_LENGTH_MAX
  }

  /** Index of the next item. */
  get nextIndex(): number {
    return this.#items
  }

  nextId(prefix: ItemPrefix): string {
    return itemId(prefix, this.context, this.#items)
  }

  keep(length: number): void {
    this.#kept += length
  }

  event(type: string, fields: JsonObject): string {
    return `${eventHead(type)}${this.#sequence++},${JSON.stringify(fields).slice(1)}\n\n`
  }

  /** A delta: only its text is encoded each time; `middle` is the JSON between the number and the text. */
  delta(head: string, middle: string, text: string): string {
    this.#kept += text.length
    return `${head}${this.#sequence++}${middle}${JSON.stringify(text)}}\n\n`
  }

  added(item: JsonObject): string {
    const output_index = this.#items
    this.#items += 1
    return this.event('response.output_item.added', { output_index, item })
  }

  done(index: number, item: JsonObject): string {
    const json = JSON.stringify(item)
    this.#output[index] = json
    const type = 'response.output_item.done'
    return `${eventHead(type)}${this.#sequence++},"output_index":${index},"item":${json}}\n\n`
  }

  /** An event that holds the response object: `fields` are those that change, the items are those done so far. */
  lifecycle(type: string, fields: JsonObject): string {
    const state = JSON.stringify(fields).slice(1, -1)
    const output = this.#output.filter((item) => item !== undefined).join(',')
    const response = `${this.#head},${state},"output":[${output}],${this.#tail}`
    this.response = response
    return `${eventHead(type)}${this.#sequence++},"response":${response}}\n\n`
  }
}

export const TOO_LONG: UpstreamError = {
  status: 502,
  type: 'upstream_error',
  code: 'response_too_long',
  message: 'the answer grew longer than a responses stream can repeat at its end',
  raw: null,
}
