/**
 * Calls of the client's tools in a stream, with the client's own names, and the signatures that must be sent back with
 * them.
 */
import type { Signature } from '../../../canonical/request.ts'
import {
  type CallRestorer,
  callRestorer,
  type CustomInputReader,
  type ToolCallStart,
} from '../../../canonical/tools/restore-calls.ts'
import { eventHead, type EventWriter } from './event-writer.ts'
import { callItem, callPrefix, callSignatureItem } from '../request/items.ts'

const ARGUMENTS_DELTA = eventHead('response.function_call_arguments.delta')
const INPUT_DELTA = eventHead('response.custom_tool_call_input.delta')

export interface CallState {
  readonly type: 'call'
  readonly id: string
  readonly index: number
  readonly start: ToolCallStart
  /** Reads free text from arguments if the upstream only supports functions. */
  readonly input: CustomInputReader | undefined
  /** The JSON of every delta between its number and its text. */
  readonly middle: string
  text: string
  signature: Signature | undefined
}

export class CallWriter {
  readonly #events: EventWriter
  readonly #calls: CallRestorer

  constructor(events: EventWriter) {
    this.#events = events
    this.#calls = callRestorer(events.context.request)
  }

  open(call: ToolCallStart): { readonly state: CallState; readonly wire: string } {
    const { start, input } = this.#calls.start(call)
    const index = this.#events.nextIndex
    const id = this.#events.nextId(callPrefix(start.kind))
    const middle = `,"item_id":"${id}","output_index":${index},"delta":`
    const state: CallState = { type: 'call', id, index, start, input, middle, text: '', signature: undefined }
    return { state, wire: this.#events.added(callItem({ id, status: 'in_progress' }, start, '')) }
  }

  delta(state: CallState, text: string): string {
    return this.#tell(state, state.input === undefined ? text : state.input.push(text))
  }

  close(state: CallState): string {
    const { id, index, start } = state
    const custom = start.kind === 'custom'
    const rest = this.#tell(state, state.input?.end() ?? '')
    // A call without parameters is `{}`, sent as a delta too: some clients read only those
    // (docs/protocols.md#client-11).
    const late = state.text === '' && !custom ? this.#tell(state, '{}') : ''
    const place = { item_id: id, output_index: index }
    const told = custom
      ? this.#events.event('response.custom_tool_call_input.done', { ...place, input: state.text })
      : this.#events.event('response.function_call_arguments.done', {
          ...place,
          name: start.name,
          arguments: state.text,
        })
    const done = this.#events.done(index, callItem({ id, status: 'completed' }, start, state.text))
    return rest + late + told + done + this.#signature(state)
  }

  #tell(state: CallState, text: string): string {
    if (text === '') return ''
    state.text += text
    return this.#events.delta(
      state.start.kind === 'custom' ? INPUT_DELTA : ARGUMENTS_DELTA,
      state.middle,
      text,
    )
  }

  #signature({ start, signature }: CallState): string {
    if (signature === undefined) return ''
    const index = this.#events.nextIndex
    const id = this.#events.nextId('rs')
    const item = callSignatureItem(id, { id: start.id, signature }, this.#events.context)
    const { encrypted_content: _sealed, ...begun } = item
    return this.#events.added(begun) + this.#events.done(index, item)
  }
}
