/**
 * A responses stream of an upstream → canonical parts. Items are identified by `output_index` alone, because some
 * upstreams change the ids from event to event, and may overlap (docs/protocols.md#responses-streams). What an upstream
 * sends only in a `done` event, or only in the final output, is taken from there; what it sent before is not emitted
 * twice.
 */
import type { BlockStart, StreamPart, UpstreamError } from '../../../canonical/response.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { brokenStream, readErrorBody } from '../../error-body.ts'
import { BLOCKS_MAX, openBlocks } from '../../open-blocks.ts'
import type { SseEvent, StreamDecoder } from '../../protocol.ts'
import { countOf, listOf, type Maybe, objectOf, tagOf, textOf, wordOf } from '../../read-json.ts'
import { decodeAnnotation } from './citations.ts'
import { callArguments, decodeReasoning } from '../request/decode-items.ts'
import { hostedBlock } from './decode-response.ts'
import { decodeFinish } from './finish.ts'
import { isWrapper, unwrapCalls } from '../parallel-wrapper.ts'
import {
  type How,
  RAW,
  REFUSAL,
  SEALED,
  SUMMARY,
  type Telling,
  telling,
  tellingOf,
  TEXT,
} from '../telling.ts'
import { decodeUsage } from './usage.ts'

const NOTHING: readonly StreamPart[] = []

/** One text, refusal or reasoning in progress. */
interface Prose {
  readonly key: string
  readonly block: number
  /** Part within the block: a summary may have several, and is one text here. */
  part: number
  /** Length of that part emitted so far. */
  partLength: number
  sawText: boolean
  citations: number
}

interface Call {
  readonly block: number
  readonly custom: boolean
  length: number
}

interface ItemState {
  prose: Prose | undefined
  call: Call | undefined
  /** Arguments of a wrapper around several calls, which can be emitted only when complete. */
  wrapped: string | undefined
  /** Keys of prose that was emitted and closed. */
  readonly told: Set<string>
}

export class ResponsesStreamDecoder implements StreamDecoder {
  #parts: StreamPart[] = []
  #over = false
  #started = false
  #sawTool = false
  #sawRefusal = false
  #lastIndex = 0
  readonly #items = new Map<number, ItemState | 'done'>()
  /** Where an item's id was first seen: the final output may number its items differently. */
  readonly #indexOfId = new Map<string, number>()
  readonly #blocks = openBlocks((part) => {
    if (part.type === 'block-start') this.#start({})
    this.#parts.push(part)
  })

  push({ event, data, json: read }: SseEvent): readonly StreamPart[] {
    if (this.#over) return NOTHING
    this.#parts = []
    if (data.trim() === '[DONE]') {
      this.#fail(brokenStream('the upstream ended the stream without a final response'))
      return this.#parts
    }
    const json = read ?? parseJson(data)
    if (isJsonObject(json)) this.#event(textOf(json.type) ?? event, json)
    else this.#fail(brokenStream('the upstream sent an event that is not a JSON object'))
    return this.#parts
  }

  end(): readonly StreamPart[] {
    if (this.#over) return NOTHING
    this.#parts = []
    this.#fail(brokenStream('the upstream closed the stream before its end'))
    return this.#parts
  }

  #event(type: string, json: JsonObject): void {
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(objectOf(json.response) ?? {})
      case 'response.output_item.added':
        return this.#added(this.#indexOf(json), objectOf(json.item) ?? {})
      case 'response.output_text.delta':
        return this.#text(json)
      case 'response.output_text.done':
        return this.#complete(json, TEXT, textOf(json.text))
      case 'response.output_text.annotation.added':
        return this.#annotation(json)
      case 'response.refusal.delta':
        return this.#tell(json, REFUSAL, textOf(json.delta))
      case 'response.refusal.done':
        return this.#complete(json, REFUSAL, textOf(json.refusal))
      case 'response.reasoning_summary_text.delta':
        return this.#tell(json, SUMMARY, textOf(json.delta))
      case 'response.reasoning_summary_text.done':
        return this.#complete(json, SUMMARY, textOf(json.text))
      case 'response.reasoning_text.delta':
        return this.#tell(json, RAW, textOf(json.delta))
      case 'response.reasoning_text.done':
        return this.#complete(json, RAW, textOf(json.text))
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#arguments(this.#item(this.#indexOf(json)), textOf(json.delta) ?? '')
      case 'response.function_call_arguments.done':
        return this.#completeCall(this.#item(this.#indexOf(json)), json.arguments)
      case 'response.custom_tool_call_input.done':
        return this.#completeCall(this.#item(this.#indexOf(json)), json.input)
      case 'response.output_item.done':
        return this.#done(this.#indexOf(json), objectOf(json.item) ?? {})
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOf(json.response) ?? {}, type)
      case 'response.failed':
      case 'response.cancelled':
        return this.#failed(objectOf(json.response) ?? {})
      case 'error':
        return this.#fail(readErrorBody(undefined, json))
      default:
        // Progress of hosted tools and unknown events are skipped: the finished items hold the result.
        if (type === '' && json.error !== undefined) this.#fail(readErrorBody(undefined, json))
    }
  }

  #start(response: JsonObject): void {
    if (this.#started) return
    this.#started = true
    this.#parts.push({
      type: 'start',
      id: textOf(response.id) ?? '',
      createdAt: countOf(response.created_at),
    })
  }

  #indexOf(json: JsonObject): number {
    this.#lastIndex = countOf(json.output_index) ?? this.#lastIndex
    return this.#lastIndex
  }

  /** `undefined`: the item is finished; further events for it are ignored (docs/protocols.md#trap-4). */
  #item(index: number): ItemState | undefined {
    const known = this.#items.get(index)
    if (known !== undefined) return known === 'done' ? undefined : known
    if (this.#items.size >= BLOCKS_MAX) {
      this.#fail(brokenStream('the upstream sent too many items'))
      return undefined
    }
    const item: ItemState = { prose: undefined, call: undefined, wrapped: undefined, told: new Set() }
    this.#items.set(index, item)
    return item
  }

  #added(index: number, item: JsonObject): void {
    this.#remember(index, item)
    const state = this.#item(index)
    if (state === undefined || !isCall(item)) return
    if (isWrapper(item)) state.wrapped = ''
    else this.#openCall(state, item)
  }

  #text(json: JsonObject): void {
    const tokens = listOf(json.logprobs)
    if (tokens.length === 0) return this.#tell(json, TEXT, textOf(json.delta))
    const prose = this.#open(json, TEXT)
    if (prose !== undefined) this.#parts.push({ type: 'logprobs', block: prose.block, logprobs: tokens })
    return this.#tell(json, TEXT, textOf(json.delta))
  }

  #tell(json: JsonObject, how: How, text: string | undefined): void {
    if (text === undefined || text === '') return
    const prose = this.#open(json, how)
    if (prose !== undefined) this.#say(prose, text)
  }

  #open(json: JsonObject, how: How): Prose | undefined {
    const state = this.#item(this.#indexOf(json))
    return state === undefined ? undefined : this.#prose(state, tellingOf(json, how))
  }

  /** The prose of this key, opened if it was not; `undefined` when it has ended. */
  #prose(state: ItemState, { key, kind, part }: Telling): Prose | undefined {
    const open = state.prose
    if (open?.key === key) {
      this.#turnTo(open, part)
      return open
    }
    if (state.told.has(key)) return undefined
    this.#closeProse(state)
    const block = this.#openBlock(kind)
    if (block === undefined) return undefined
    if (kind.type === 'refusal') this.#sawRefusal = true
    state.prose = { key, block, part, partLength: 0, sawText: false, citations: 0 }
    return state.prose
  }

  /** Parts of one summary are paragraphs: a blank line between them. */
  #turnTo(prose: Prose, part: number): void {
    if (prose.part === part) return
    prose.part = part
    prose.partLength = 0
  }

  #say(prose: Prose, text: string): void {
    const gap = prose.sawText && prose.partLength === 0 ? '\n\n' : ''
    prose.partLength += text.length
    prose.sawText = true
    this.#parts.push({ type: 'text-delta', block: prose.block, text: gap + text })
  }

  /** A `done` event repeats the whole part; it is used only if there were no deltas. */
  #complete(json: JsonObject, how: How, text: string | undefined): void {
    const state = this.#item(this.#indexOf(json))
    if (state !== undefined) this.#completePart(state, tellingOf(json, how), text ?? '')
  }

  #completePart(state: ItemState, telling: Telling, text: string): void {
    const open = state.prose
    const told = open?.key === telling.key && (open.part > telling.part || isTold(open, telling.part))
    if (text === '' || told) return
    const prose = this.#prose(state, telling)
    if (prose !== undefined) this.#say(prose, text)
  }

  #annotation(json: JsonObject): void {
    const citation = decodeAnnotation(json.annotation)
    if (citation === undefined) return
    const prose = this.#open(json, TEXT)
    if (prose === undefined) return
    prose.citations += 1
    this.#parts.push({ type: 'citation', block: prose.block, citation })
  }

  #openCall(state: ItemState, item: JsonObject): Call | undefined {
    if (state.call !== undefined) return state.call
    const id = wordOf(item.call_id) ?? wordOf(item.id)
    const name = wordOf(item.name)
    if (id === undefined || name === undefined) return undefined
    const custom = item.type === 'custom_tool_call'
    const block = this.#openBlock({
      type: 'tool-call',
      id,
      name,
      namespace: wordOf(item.namespace),
      kind: custom ? 'custom' : 'function',
    })
    if (block === undefined) return undefined
    this.#sawTool = true
    state.call = { block, custom, length: 0 }
    return state.call
  }

  #arguments(state: ItemState | undefined, text: string): void {
    const call = state?.call
    if (call === undefined || text === '') return
    call.length += text.length
    this.#parts.push({ type: 'arguments-delta', block: call.block, text })
  }

  #completeCall(state: ItemState | undefined, value: Maybe): void {
    if (state?.wrapped !== undefined && typeof value === 'string') state.wrapped = value
    if (value === undefined || value === null || state?.call === undefined || state.call.length > 0) return
    this.#arguments(state, callArguments(value))
  }

  #remember(index: number, item: JsonObject): void {
    const id = wordOf(item.id)
    if (id !== undefined && this.#indexOfId.size < BLOCKS_MAX) this.#indexOfId.set(id, index)
  }

  #done(index: number, item: JsonObject): void {
    const state = this.#item(index)
    if (state === undefined) return
    this.#remember(index, item)
    switch (tagOf(item.type)) {
      case 'message':
        this.#doneMessage(state, item)
        break
      case 'reasoning':
        this.#doneReasoning(state, item)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#doneCall(state, item)
        break
      case '':
        break
      default:
        this.#doneHosted(item)
    }
    this.#closeItem(index, state)
  }

  #doneMessage(state: ItemState, item: JsonObject): void {
    for (const [part, content] of listOf(item.content).entries()) {
      if (!isJsonObject(content)) continue
      if (content.type === 'refusal')
        this.#completePart(state, telling(REFUSAL, part), textOf(content.refusal) ?? '')
      if (content.type === 'output_text') this.#doneText(state, part, content)
    }
  }

  #doneText(state: ItemState, part: number, content: JsonObject): void {
    const how = telling(TEXT, part)
    const silent = state.prose?.key !== how.key && !state.told.has(how.key)
    const tokens = listOf(content.logprobs)
    if (silent && tokens.length > 0) {
      const prose = this.#prose(state, how)
      if (prose !== undefined) this.#parts.push({ type: 'logprobs', block: prose.block, logprobs: tokens })
    }
    this.#completePart(state, how, textOf(content.text) ?? '')
    const annotations = listOf(content.annotations).flatMap((entry) => decodeAnnotation(entry) ?? [])
    const told = state.prose?.key === how.key ? state.prose.citations : 0
    if (annotations.length <= told || state.told.has(how.key)) return
    const prose = this.#prose(state, how)
    if (prose === undefined) return
    for (const citation of annotations.slice(told)) {
      this.#parts.push({ type: 'citation', block: prose.block, citation })
    }
  }

  /** The `encrypted_content` here is the complete one; the one on `added` may be cut. */
  #doneReasoning(state: ItemState, item: JsonObject): void {
    const { part, kind } = decodeReasoning(item)
    if (kind === 'call') return
    this.#completeParts(state, SUMMARY, item.summary)
    if (!state.told.has(SUMMARY.key) && state.prose?.key !== SUMMARY.key)
      this.#completeParts(state, RAW, item.content)
    const signature = part?.signature
    if (signature === undefined) return
    const prose = state.prose ?? this.#prose(state, SEALED)
    if (prose !== undefined) this.#parts.push({ type: 'signature', block: prose.block, signature })
  }

  #completeParts(state: ItemState, how: How, parts: Maybe): void {
    for (const [part, content] of listOf(parts).entries()) {
      if (state.prose?.key === how.key && state.prose.part > part) continue
      this.#completePart(state, telling(how, part), textOf(objectOf(content)?.text) ?? '')
    }
  }

  #doneCall(state: ItemState, item: JsonObject): void {
    if (isWrapper(item) && this.#doneWrapped(state, item)) return
    const call = this.#openCall(state, item)
    if (call === undefined) return this.#fail(brokenStream('the upstream sent a tool call without a name'))
    this.#completeCall(state, call.custom ? item.input : item.arguments)
    // A call without parameters is `{}`, whatever the vendor leaves out (docs/protocols.md#trap-9).
    if (call.length === 0 && !call.custom) this.#arguments(state, callArguments(undefined))
  }

  /** True if it was a wrapper and its calls were emitted instead. */
  #doneWrapped(state: ItemState, item: JsonObject): boolean {
    const callId = wordOf(item.call_id) ?? wordOf(item.id) ?? ''
    const calls = unwrapCalls(callId, wordOf(item.arguments) ?? state.wrapped ?? '')
    for (const { arguments: text, signature: _none, ...start } of calls ?? []) {
      const block = this.#openBlock(start)
      if (block === undefined) return true
      this.#sawTool = true
      this.#parts.push({ type: 'arguments-delta', block, text })
      this.#blocks.close(block)
    }
    return calls !== undefined
  }

  #doneHosted(item: JsonObject): void {
    const block = this.#openBlock(hostedBlock(item))
    if (block !== undefined) this.#blocks.close(block)
  }

  #openBlock(kind: BlockStart): number | undefined {
    const block = this.#blocks.open(0, kind)
    if (block === undefined) this.#fail(brokenStream('the upstream sent too many blocks'))
    return block
  }

  #closeProse(state: ItemState): void {
    if (state.prose === undefined) return
    this.#blocks.close(state.prose.block)
    state.told.add(state.prose.key)
    state.prose = undefined
  }

  #closeItem(index: number, state: ItemState): void {
    this.#closeProse(state)
    if (state.call !== undefined) this.#blocks.close(state.call.block)
    this.#items.set(index, 'done')
  }

  #finish(response: JsonObject, type: string): void {
    this.#start(response)
    this.#finalOutput(listOf(response.output))
    if (this.#over) return
    this.#closeAll()
    const usage = decodeUsage(response.usage)
    if (usage !== undefined) this.#parts.push({ type: 'usage', usage })
    const status = type === 'response.incomplete' ? 'incomplete' : tagOf(response.status)
    const seen = { toolCall: this.#sawTool, refusal: this.#sawRefusal }
    this.#parts.push({ type: 'finish', candidate: 0, finish: decodeFinish({ ...response, status }, seen) })
    this.#parts.push({ type: 'end' })
    this.#over = true
  }

  /** Often empty; if not, it supplies what no event contained (docs/protocols.md#trap-39). */
  #finalOutput(output: readonly JsonValue[]): void {
    const complete = [...this.#items.values()].every((state) => state === 'done')
    if (complete && this.#items.size >= output.length) return
    for (const [position, item] of output.entries()) {
      if (isJsonObject(item)) this.#done(this.#indexOfId.get(wordOf(item.id) ?? '') ?? position, item)
    }
  }

  #closeAll(): void {
    for (const [index, state] of this.#items) {
      if (state === 'done') continue
      if (state.call !== undefined && state.call.length === 0 && !state.call.custom) {
        this.#arguments(state, callArguments(undefined))
      }
      this.#closeItem(index, state)
    }
    this.#blocks.closeAll()
  }

  #failed(response: JsonObject): void {
    const usage = decodeUsage(response.usage)
    if (usage !== undefined) this.#parts.push({ type: 'usage', usage })
    this.#fail(readErrorBody(undefined, response))
  }

  /** Every open block is closed, also after an error. */
  #fail(error: UpstreamError): void {
    if (this.#over) return
    this.#blocks.closeAll()
    this.#parts.push({ type: 'error', error })
    this.#over = true
  }
}

const isTold = (prose: Prose, part: number): boolean => prose.part === part && prose.partLength > 0

function isCall(item: JsonObject): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}
