/**
 * Canonical parts → a responses stream with the full list of events that real clients need (clients §2, §4): one
 * response id and rising sequence numbers from created to the end, every item added, told in deltas and told again
 * as a whole. The protocol repeats the whole answer at its end, so this encoder has to keep it: up to
 * KEPT_LENGTH_MAX, beyond which the stream fails instead of growing.
 */
import type { Signature } from '../../canonical/request.ts'
import {
  type CallRestorer,
  callRestorer,
  type CustomInputReader,
  type ToolCallStart,
} from '../../canonical/restore-calls.ts'
import type { BlockStart, Finish, StreamPart, UpstreamError } from '../../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../../canonical/usage.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import type { ReplyContext, StreamEncoder } from '../protocol.ts'
import { encodeAnnotation } from './citations.ts'
import { tokensOf } from './encode-response.ts'
import { errorObject, failureObject } from './error.ts'
import { type EncodedFinish, encodeFinish } from './finish.ts'
import {
  callItem,
  callPrefix,
  callSignatureItem,
  imageItem,
  itemId,
  messageItem,
  outputText,
  reasoningItem,
  refusalPart,
  sealReasoning,
} from './items.ts'
import { constantFields, responseObjectId } from './response-object.ts'
import { encodeUsage } from './usage.ts'
import type { ItemStatus } from './wire.ts'

const DONE = 'data: [DONE]\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'
/** UTF-16 units of one answer kept for its repetition: about four million tokens, more than any model writes. */
const KEPT_LENGTH_MAX = 16 * 1024 * 1024
/** The wire's beginnings of the events that make up nearly all of a stream. */
const TEXT_DELTA = eventHead('response.output_text.delta')
const ARGUMENTS_DELTA = eventHead('response.function_call_arguments.delta')
const INPUT_DELTA = eventHead('response.custom_tool_call_input.delta')
const REFUSAL_DELTA = eventHead('response.refusal.delta')
const SUMMARY_DELTA = eventHead('response.reasoning_summary_text.delta')
const RAW_DELTA = eventHead('response.reasoning_text.delta')

function eventHead(type: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":`
}

/** A message item takes every text and refusal until another kind of block begins. */
interface MessageState {
  readonly id: string
  readonly index: number
  readonly parts: (JsonObject | undefined)[]
  open: number
  /** Another item has begun: no further part belongs here. */
  sealed: boolean
}

interface TextState {
  readonly type: 'text' | 'refusal'
  readonly message: MessageState
  readonly content: number
  /** `,"item_id":…,"delta":` of every delta. */
  readonly middle: string
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonValue[]
  /** Log probabilities of the text that comes next. */
  pending: readonly JsonValue[]
}

interface ReasoningState {
  readonly type: 'reasoning'
  readonly kind: 'summary' | 'raw' | 'redacted'
  readonly id: string
  readonly index: number
  readonly middle: string
  opened: boolean
  text: string
  signature: Signature | undefined
}

interface CallState {
  readonly type: 'call'
  readonly id: string
  readonly index: number
  readonly start: ToolCallStart
  /** Reads free text out of arguments, where the upstream only knew functions. */
  readonly input: CustomInputReader | undefined
  readonly middle: string
  text: string
  signature: Signature | undefined
}

type BlockState = TextState | ReasoningState | CallState

export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #context: ReplyContext
  /** Members before and after those that change with the state of the response. */
  readonly #head: string
  readonly #tail: string
  readonly #blocks = new Map<number, BlockState>()
  readonly #calls: CallRestorer
  readonly #output: string[] = []
  #sequence = 0
  #items = 0
  #kept = 0
  #started = false
  #over = false
  #candidate: number | undefined
  #message: MessageState | undefined
  #seen = { toolCall: false, refusal: false }
  #finish: Finish | undefined
  #usage: Usage | undefined

  constructor(context: ReplyContext) {
    this.#context = context
    this.#calls = callRestorer(context.request)
    const id = JSON.stringify(responseObjectId(context))
    this.#head = `{"id":${id},"object":"response","created_at":${context.createdAt}`
    this.#tail = JSON.stringify(constantFields(context)).slice(1)
  }

  push(part: StreamPart): string {
    if (this.#over) return ''
    const text = this.#part(part)
    if (this.#kept <= KEPT_LENGTH_MAX || this.#over) return text
    return text + this.#fail(TOO_LONG)
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
        return this.#delta(part.block, part.text)
      case 'arguments-delta':
        return this.#arguments(part.block, part.text)
      case 'signature':
        return this.#signature(part.block, part.signature)
      case 'citation':
        return this.#citation(part)
      case 'logprobs':
        return this.#logprobs(part.block, part.logprobs)
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

  /** Created and in progress; sent before whatever comes first. */
  #start(): string {
    if (this.#started) return ''
    this.#started = true
    return (
      this.#lifecycle('response.created', IN_PROGRESS) + this.#lifecycle('response.in_progress', IN_PROGRESS)
    )
  }

  #open(block: number, candidate: number, kind: BlockStart): string {
    this.#candidate ??= candidate
    // The protocol has one answer; of several, the first is told.
    if (candidate !== this.#candidate) return ''
    const started = this.#start()
    switch (kind.type) {
      case 'text':
      case 'refusal':
        return started + this.#openText(block, kind.type)
      case 'reasoning':
        return started + this.#sealMessage() + this.#openReasoning(block, kind.kind)
      case 'tool-call':
        return started + this.#sealMessage() + this.#openCall(block, kind)
      case 'media':
        return started + this.#sealMessage() + this.#image(kind)
      case 'opaque':
        return started + this.#sealMessage() + this.#opaque(kind)
    }
  }

  #openText(block: number, type: 'text' | 'refusal'): string {
    const [message, added] = this.#messageItem()
    const content = message.parts.length
    message.parts.push(undefined)
    message.open += 1
    if (type === 'refusal') this.#seen = { ...this.#seen, refusal: true }
    const place = `,"item_id":"${message.id}","output_index":${message.index},"content_index":${content}`
    const middle = type === 'text' ? `${place},"logprobs":[],"delta":` : `${place},"delta":`
    this.#blocks.set(block, {
      type,
      message,
      content,
      middle,
      text: '',
      annotations: [],
      logprobs: [],
      pending: [],
    })
    const part = type === 'text' ? outputText('', [], []) : refusalPart('')
    return added + this.#event('response.content_part.added', { ...placeOf(message, content), part })
  }

  #messageItem(): readonly [MessageState, string] {
    const open = this.#message
    if (open !== undefined && !open.sealed) return [open, '']
    const index = this.#items
    const id = itemId('msg', this.#context, index)
    const message: MessageState = { id, index, parts: [], open: 0, sealed: false }
    this.#message = message
    return [message, this.#added(messageItem(id, 'in_progress', []))]
  }

  /** Another kind of item begins: the message ends, at once or with its last open part. */
  #sealMessage(): string {
    const message = this.#message
    this.#message = undefined
    if (message === undefined) return ''
    message.sealed = true
    return message.open === 0 ? this.#closeMessage(message, 'completed') : ''
  }

  #openReasoning(block: number, kind: ReasoningState['kind']): string {
    const index = this.#items
    const id = itemId('rs', this.#context, index)
    const counter = kind === 'raw' ? 'content_index' : 'summary_index'
    const middle = `,"item_id":"${id}","output_index":${index},"${counter}":0,"delta":`
    this.#blocks.set(block, {
      type: 'reasoning',
      kind,
      id,
      index,
      middle,
      opened: false,
      text: '',
      signature: undefined,
    })
    return this.#added({ ...reasoningItem(id, { kind, text: '' }, undefined), status: 'in_progress' })
  }

  #openCall(block: number, call: ToolCallStart): string {
    const { start, input } = this.#calls.start(call)
    const index = this.#items
    const id = itemId(callPrefix(start.kind), this.#context, index)
    this.#seen = { ...this.#seen, toolCall: true }
    this.#blocks.set(block, {
      type: 'call',
      id,
      index,
      start,
      input,
      middle: `,"item_id":"${id}","output_index":${index},"delta":`,
      text: '',
      signature: undefined,
    })
    return this.#added(callItem({ id, status: 'in_progress' }, start, ''))
  }

  #image(image: Extract<BlockStart, { type: 'media' }>): string {
    const index = this.#items
    const item = imageItem(itemId('ig', this.#context, index), image)
    if (item === undefined) return ''
    return this.#added({ ...item, status: 'in_progress', result: null }) + this.#done(index, item)
  }

  #opaque({ protocol, json }: Extract<BlockStart, { type: 'opaque' }>): string {
    if (protocol !== 'responses' || !isJsonObject(json)) return ''
    const index = this.#items
    return this.#added(json) + this.#done(index, json)
  }

  #delta(block: number, text: string): string {
    const state = this.#blocks.get(block)
    if (state === undefined || state.type === 'call' || text === '') return ''
    this.#keep(text.length)
    state.text += text
    switch (state.type) {
      case 'text':
        if (state.pending.length > 0) return this.#deltaWithLogprobs(state, text)
        return this.#fast(TEXT_DELTA, state.middle, text)
      case 'refusal':
        return this.#fast(REFUSAL_DELTA, state.middle, text)
      case 'reasoning':
        return this.#reasoningDelta(state, text)
    }
  }

  #fast(head: string, middle: string, text: string): string {
    return `${head}${this.#sequence++}${middle}${JSON.stringify(text)}}\n\n`
  }

  #deltaWithLogprobs(state: TextState, text: string): string {
    const logprobs = state.pending
    state.pending = []
    for (const token of logprobs) state.logprobs.push(token)
    const place = placeOf(state.message, state.content)
    return this.#event('response.output_text.delta', { ...place, delta: text, logprobs })
  }

  #reasoningDelta(state: ReasoningState, text: string): string {
    const opened = state.opened ? '' : this.#openReasoningPart(state)
    return opened + this.#fast(state.kind === 'raw' ? RAW_DELTA : SUMMARY_DELTA, state.middle, text)
  }

  /** A part is announced when there is something to say in it: sealed reasoning has none. */
  #openReasoningPart(state: ReasoningState): string {
    state.opened = true
    const { id: item_id, index: output_index } = state
    if (state.kind === 'raw') {
      const part = { type: 'reasoning_text', text: '' }
      return this.#event('response.content_part.added', { item_id, output_index, content_index: 0, part })
    }
    const part = { type: 'summary_text', text: '' }
    return this.#event('response.reasoning_summary_part.added', {
      item_id,
      output_index,
      summary_index: 0,
      part,
    })
  }

  #arguments(block: number, text: string): string {
    const state = this.#blocks.get(block)
    if (state?.type !== 'call') return ''
    return this.#callDelta(state, state.input === undefined ? text : state.input.push(text))
  }

  #callDelta(state: CallState, text: string): string {
    if (text === '') return ''
    this.#keep(text.length)
    state.text += text
    return this.#fast(state.start.kind === 'custom' ? INPUT_DELTA : ARGUMENTS_DELTA, state.middle, text)
  }

  #signature(block: number, signature: Signature): string {
    const state = this.#blocks.get(block)
    if (state?.type === 'reasoning' || state?.type === 'call') {
      this.#keep(signature.data.length)
      state.signature = signature
    }
    return ''
  }

  #citation({ block, citation }: Extract<StreamPart, { type: 'citation' }>): string {
    const state = this.#blocks.get(block)
    if (state?.type !== 'text') return ''
    const annotation = encodeAnnotation(citation)
    const annotation_index = state.annotations.length
    this.#keep(citation.url.length)
    state.annotations.push(annotation)
    const place = placeOf(state.message, state.content)
    return this.#event('response.output_text.annotation.added', { ...place, annotation_index, annotation })
  }

  #logprobs(block: number, logprobs: JsonValue): string {
    const state = this.#blocks.get(block)
    if (state?.type !== 'text') return ''
    const tokens = tokensOf(logprobs)
    this.#keep(tokens.length * LOGPROB_LENGTH)
    state.pending = [...state.pending, ...tokens]
    return ''
  }

  #close(block: number): string {
    const state = this.#blocks.get(block)
    if (state === undefined) return ''
    this.#blocks.delete(block)
    switch (state.type) {
      case 'text':
      case 'refusal':
        return this.#closeText(state)
      case 'reasoning':
        return this.#closeReasoning(state)
      case 'call':
        return this.#closeCall(state)
    }
  }

  #closeText(state: TextState): string {
    const { message, content, text, annotations } = state
    const place = placeOf(message, content)
    const late = state.pending.length === 0 ? '' : this.#deltaWithLogprobs(state, '')
    const part = state.type === 'text' ? outputText(text, annotations, state.logprobs) : refusalPart(text)
    message.parts[content] = part
    message.open -= 1
    const told =
      state.type === 'text'
        ? this.#event('response.output_text.done', { ...place, text, logprobs: state.logprobs })
        : this.#event('response.refusal.done', { ...place, refusal: text })
    const ended = late + told + this.#event('response.content_part.done', { ...place, part })
    return message.sealed && message.open === 0 ? ended + this.#closeMessage(message, 'completed') : ended
  }

  #closeMessage({ id, index, parts }: MessageState, status: ItemStatus): string {
    return this.#done(
      index,
      messageItem(
        id,
        status,
        parts.filter((part) => part !== undefined),
      ),
    )
  }

  #closeReasoning(state: ReasoningState): string {
    const { id, index, text, kind } = state
    const told = state.opened ? this.#endReasoningPart(state) : ''
    return told + this.#done(index, reasoningItem(id, { kind, text }, sealReasoning(state, this.#context)))
  }

  #endReasoningPart({ id: item_id, index: output_index, kind, text }: ReasoningState): string {
    if (kind === 'raw') {
      const place = { item_id, output_index, content_index: 0 }
      const part = { type: 'reasoning_text', text }
      const done = this.#event('response.reasoning_text.done', { ...place, text })
      return done + this.#event('response.content_part.done', { ...place, part })
    }
    const place = { item_id, output_index, summary_index: 0 }
    const part = { type: 'summary_text', text }
    const done = this.#event('response.reasoning_summary_text.done', { ...place, text })
    return done + this.#event('response.reasoning_summary_part.done', { ...place, part })
  }

  #closeCall(state: CallState): string {
    const { id, index, start } = state
    const custom = start.kind === 'custom'
    const rest = this.#callDelta(state, state.input?.end() ?? '')
    // A call without parameters is `{}`, told in a delta too: some clients read only those (clients §4).
    const empty = state.text === '' && !custom
    const late = empty ? this.#fast(ARGUMENTS_DELTA, state.middle, '{}') : ''
    const text = empty ? '{}' : state.text
    const place = { item_id: id, output_index: index }
    const told = custom
      ? this.#event('response.custom_tool_call_input.done', { ...place, input: text })
      : this.#event('response.function_call_arguments.done', { ...place, name: start.name, arguments: text })
    const done = this.#done(index, callItem({ id, status: 'completed' }, start, text))
    return rest + late + told + done + this.#callSignature(state)
  }

  #callSignature({ start, signature }: CallState): string {
    if (signature === undefined) return ''
    const index = this.#items
    const item = callSignatureItem(
      itemId('rs', this.#context, index),
      { id: start.id, signature },
      this.#context,
    )
    return this.#added({ ...item, encrypted_content: null }) + this.#done(index, item)
  }

  #added(item: JsonObject): string {
    const output_index = this.#items
    this.#items += 1
    return this.#event('response.output_item.added', { output_index, item })
  }

  #done(index: number, item: JsonObject): string {
    const json = JSON.stringify(item)
    this.#output[index] = json
    const type = 'response.output_item.done'
    return `${eventHead(type)}${this.#sequence++},"output_index":${index},"item":${json}}\n\n`
  }

  #event(type: string, fields: JsonObject): string {
    return `${eventHead(type)}${this.#sequence++},${JSON.stringify(fields).slice(1)}\n\n`
  }

  #lifecycle(type: string, state: string): string {
    const response = `${this.#head},${state},${this.#tail}`
    return `${eventHead(type)}${this.#sequence++},"response":${response}}\n\n`
  }

  #end(): string {
    const started = this.#start()
    const finish = encodeFinish(this.#finish ?? { reason: 'other' }, this.#seen)
    const explained = this.#explain()
    const closed = this.#closeAll(finish.status)
    this.#over = true
    const type = `response.${finish.status}`
    return started + explained + closed + this.#lifecycle(type, this.#state(finish, null)) + DONE
  }

  /** A refusal that came only as a reason says why in words of its own (reference §2.4). */
  #explain(): string {
    const { reason, explanation } = this.#finish ?? { reason: 'other', explanation: undefined }
    if (reason !== 'refusal' || explanation === undefined || this.#seen.refusal) return ''
    const opened = this.#openText(EXPLANATION, 'refusal')
    this.#seen = { ...this.#seen, refusal: false }
    return opened + this.#delta(EXPLANATION, explanation) + this.#close(EXPLANATION)
  }

  #closeAll(status: ItemStatus): string {
    let text = ''
    for (const block of this.#blocks.keys()) text += this.#close(block)
    const message = this.#message
    this.#message = undefined
    return message === undefined ? text : text + this.#closeMessage(message, status)
  }

  /** The error as an event, then the response that failed; nothing after it (decisions, Requests). */
  #fail(error: UpstreamError): string {
    const started = this.#start()
    const closed = this.#closeAll('incomplete')
    this.#over = true
    const { message, code } = error
    const event = this.#event('error', {
      code: code ?? null,
      message,
      param: null,
      error: errorObject(error),
    })
    const state = this.#state({ status: 'failed', incomplete_details: null }, failureObject(error))
    return started + closed + event + this.#lifecycle('response.failed', state)
  }

  #state(
    finish: Pick<EncodedFinish, 'incomplete_details'> & { readonly status: string },
    error: JsonObject | null,
  ): string {
    const completedAt = finish.status === 'completed' ? this.#context.createdAt : null
    const usage = this.#usage === undefined ? null : encodeUsage(this.#usage)
    return stateOf(
      { ...finish, completed_at: completedAt, error, usage },
      this.#output.filter((item) => item !== undefined),
    )
  }

  #keep(length: number): void {
    this.#kept += length
  }
}

/** No decoder numbers a block so. */
const EXPLANATION = -1
/** About what one token's log probability takes as JSON. */
const LOGPROB_LENGTH = 100

const IN_PROGRESS = stateOf(
  { status: 'in_progress', incomplete_details: null, completed_at: null, error: null, usage: null },
  [],
)

const TOO_LONG: UpstreamError = {
  status: 502,
  type: 'upstream_error',
  code: 'response_too_long',
  message: 'the answer grew longer than a responses stream can repeat at its end',
  raw: null,
}

/** The members that change while a response is made, without braces; items are JSON already. */
function stateOf(fields: JsonObject, output: readonly string[]): string {
  return `${JSON.stringify(fields).slice(1, -1)},"output":[${output.join(',')}]`
}

function placeOf({ id, index }: MessageState, content: number): JsonObject {
  return { item_id: id, output_index: index, content_index: content }
}
