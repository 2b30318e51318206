/** Reasoning items of a stream: a summary for people, the raw reasoning, or only a signature. */
import type { Signature } from '../../../canonical/request.ts'
import { eventHead, type EventWriter } from './event-writer.ts'
import { reasoningItem, sealReasoning } from '../request/items.ts'

const SUMMARY_DELTA = eventHead('response.reasoning_summary_text.delta')
const RAW_DELTA = eventHead('response.reasoning_text.delta')

export interface ReasoningState {
  readonly type: 'reasoning'
  readonly kind: 'summary' | 'raw' | 'redacted'
  readonly id: string
  readonly index: number
  /** The JSON of every delta between its number and its text. */
  readonly middle: string
  opened: boolean
  text: string
  signature: Signature | undefined
}

export class ReasoningWriter {
  readonly #events: EventWriter

  constructor(events: EventWriter) {
    this.#events = events
  }

  open(kind: ReasoningState['kind']): { readonly state: ReasoningState; readonly wire: string } {
    const index = this.#events.nextIndex
    const id = this.#events.nextId('rs')
    const counter = kind === 'raw' ? 'content_index' : 'summary_index'
    const middle = `,"item_id":"${id}","output_index":${index},"${counter}":0,"delta":`
    const state: ReasoningState = {
      type: 'reasoning',
      kind,
      id,
      index,
      middle,
      opened: false,
      text: '',
      signature: undefined,
    }
    const item = { ...reasoningItem(id, { kind, text: '' }, undefined), status: 'in_progress' }
    return { state, wire: this.#events.added(item) }
  }

  delta(state: ReasoningState, text: string): string {
    const opened = state.opened ? '' : this.#openPart(state)
    state.text += text
    return opened + this.#events.delta(state.kind === 'raw' ? RAW_DELTA : SUMMARY_DELTA, state.middle, text)
  }

  close(state: ReasoningState): string {
    const { id, index, text, kind } = state
    const told = state.opened ? this.#endPart(state) : ''
    const sealed = sealReasoning(state, this.#events.context)
    return told + this.#events.done(index, reasoningItem(id, { kind, text }, sealed))
  }

  /** A part is opened only with its first text: encrypted reasoning has none. */
  #openPart(state: ReasoningState): string {
    state.opened = true
    const place = { item_id: state.id, output_index: state.index }
    if (state.kind === 'raw') {
      const part = { type: 'reasoning_text', text: '' }
      return this.#events.event('response.content_part.added', { ...place, content_index: 0, part })
    }
    const part = { type: 'summary_text', text: '' }
    return this.#events.event('response.reasoning_summary_part.added', { ...place, summary_index: 0, part })
  }

  #endPart({ id: item_id, index: output_index, kind, text }: ReasoningState): string {
    if (kind === 'raw') {
      const place = { item_id, output_index, content_index: 0 }
      const part = { type: 'reasoning_text', text }
      const done = this.#events.event('response.reasoning_text.done', { ...place, text })
      return done + this.#events.event('response.content_part.done', { ...place, part })
    }
    const place = { item_id, output_index, summary_index: 0 }
    const part = { type: 'summary_text', text }
    const done = this.#events.event('response.reasoning_summary_text.done', { ...place, text })
    return done + this.#events.event('response.reasoning_summary_part.done', { ...place, part })
  }
}
