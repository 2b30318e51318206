/**
 * System parts and turns → instructions and input items. A replayed reasoning item must be followed by the item it led
 * to, so one without is dropped; items have no ids, because foreign ids are refused
 * (docs/protocols.md#responses-requests).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { answerOpenCalls } from '../../../canonical/tools/answer-open-calls.ts'
import { wrapCustomInput } from '../../../canonical/tools/custom-tools.ts'
import { mayReplay } from '../../../canonical/envelope.ts'
import type {
  CacheMark,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import { upstreamCallId, upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { findMediaProblem, isVideo, withErrorWord } from '../../chain-limits.ts'
import type { Encoding } from '../../encoding.ts'
import type { EncodeTarget, Refused } from '../../protocol.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { encodeMedia } from './media.ts'

interface Writing extends Encoding {
  readonly items: JsonObject[]
  /** Input parts for the next user message. */
  waiting: JsonObject[]
  /** Reasoning items whose following item has not been written yet. */
  thoughts: JsonObject[]
}

/** The members `instructions` and `input`. */
export function encodeItems(encoding: Encoding): JsonObject | Refused {
  const writing: Writing = { ...encoding, items: [], waiting: [], thoughts: [] }
  const instructions = writeSystem(writing)
  for (const turn of answerOpenCalls(encoding.request.turns)) {
    const problem = writeTurn(turn, writing)
    if (problem !== undefined) return problem
  }
  flushWaiting(writing)
  const { items, request, target } = writing
  const continued = request.state.previousResponseId !== undefined
  if (items.length > 0 || continued) {
    return { ...(instructions === '' ? {} : { instructions }), input: items }
  }
  if (instructions === '') return unsupported('turns', 'nothing in the conversation can be sent')
  // Instructions alone are not accepted as input; as a message they are.
  return { input: [message(target.capabilities.systemRole, [inputText(instructions)])] }
}

/** Instructions as one text, or, if parts have cache marks, as a message that can hold the marks. */
function writeSystem(writing: Writing): string {
  const { request, target } = writing
  const { systemRole, cacheMarks } = target.capabilities
  const marked = cacheMarks === 'breakpoint' && request.system.some((part) => part.cache !== undefined)
  const parts = request.system.map(({ text, cache }) => ({
    ...inputText(text),
    ...breakpoint(cache, writing, 'systemCache'),
  }))
  if (!marked) return request.system.map((part) => part.text).join('\n\n')
  writing.items.push(message(systemRole, parts))
  return ''
}

function writeTurn(turn: Turn, writing: Writing): Refused | undefined {
  switch (turn.role) {
    case 'system':
      return writeMidSystem(turn, writing)
    case 'user':
      return writeUser(turn, writing)
    case 'assistant':
      return writeAssistant(turn, writing)
    case 'tool':
      return writeResults(turn, writing)
  }
}

function writeMidSystem(turn: Turn, writing: Writing): undefined {
  const texts = turn.parts.filter((part) => part.type === 'text')
  const parts = texts.map(({ text, cache }) => ({ ...inputText(text), ...breakpoint(cache, writing) }))
  if (parts.length === 0) return undefined
  const { midSystem, systemRole } = writing.target.capabilities
  if (midSystem) {
    flushWaiting(writing)
    writing.items.push(message(systemRole, parts))
  } else {
    const text = texts.map((part) => part.text).join('\n\n')
    writing.waiting.push(inputText(`<system>\n${text}\n</system>`))
  }
  return undefined
}

function writeUser(turn: Turn, writing: Writing): Refused | undefined {
  const parts: JsonObject[] = writing.waiting
  writing.waiting = []
  for (const part of turn.parts) {
    const encoded = encodeUserPart(part, writing)
    if (isRefused(encoded)) return encoded
    if (encoded !== undefined) parts.push(encoded)
  }
  if (parts.length > 0) writing.items.push(message('user', parts))
  return undefined
}

function encodeUserPart(part: Part, writing: Writing): JsonObject | undefined | Refused {
  switch (part.type) {
    case 'text':
      return { ...inputText(part.text), ...breakpoint(part.cache, writing) }
    case 'media':
      return mediaPart(part, writing)
    case 'refusal':
      return inputText(part.text)
    case 'opaque':
      writing.dropped.add('opaqueHistory')
      return undefined
    case 'tool-call':
    case 'tool-result':
    case 'reasoning':
      return undefined
  }
}

function mediaPart(part: MediaPart, writing: Writing): JsonObject | Refused {
  if (part.media === 'audio') return unsupported('turns', 'this model takes no audio')
  if (isVideo(part)) return unsupported('turns', 'this model takes no videos')
  const problem = findMediaProblem(part, writing.target.capabilities)
  if (problem !== undefined) return problem
  const encoded = encodeMedia(part)
  if (encoded === undefined) return unsupported('turns', 'this model cannot read that kind of content')
  return { ...encoded, ...breakpoint(part.cache, writing) }
}

function writeAssistant(turn: Turn, writing: Writing): Refused | undefined {
  let said: JsonObject[] = []
  const flushSaid = (): void => {
    if (said.length === 0) return
    write(writing, message('assistant', said))
    said = []
  }
  flushWaiting(writing)
  for (const part of turn.parts) {
    if (part.type !== 'text' && part.type !== 'refusal') flushSaid()
    switch (part.type) {
      case 'text':
        if (part.cache !== undefined) skipMark(part.cache, writing)
        said.push({ type: 'output_text', text: part.text, annotations: [] })
        break
      case 'refusal':
        said.push({ type: 'refusal', refusal: part.text })
        break
      case 'reasoning':
        writeThought(part, writing)
        break
      case 'tool-call':
        write(writing, encodeCall(part, writing))
        break
      case 'opaque':
        writeOpaque(part.protocol, part.json, writing)
        break
      case 'media':
        writeMade(part, writing)
        break
      case 'tool-result':
        break
    }
  }
  flushSaid()
  if (writing.thoughts.length > 0) writing.dropped.add('reasoningHistory')
  writing.thoughts = []
  return undefined
}

/** An image the assistant made: shown to it again with the next user message. */
function writeMade(part: MediaPart, writing: Writing): void {
  const encoded = mediaPart(part, writing)
  if (isRefused(encoded)) writing.dropped.add('media')
  else writing.waiting.push(inputText('Made by the assistant:'), encoded)
}

function writeOpaque(protocol: string, json: JsonValue, writing: Writing): void {
  if (protocol !== 'responses' || !isJsonObject(json)) {
    writing.dropped.add('opaqueHistory')
    return
  }
  write(writing, json)
}

/** An item of the assistant, with the reasoning that led to it before it. */
function write(writing: Writing, item: JsonObject): void {
  addAll(writing.items, writing.thoughts)
  writing.thoughts = []
  writing.items.push(item)
}

function writeThought(part: ReasoningPart, writing: Writing): void {
  const item = encodeThought(part, writing.target)
  if (item === undefined) writing.dropped.add('reasoningHistory')
  else writing.thoughts.push(item)
}

/** Only what this issuer signed, or, for models that require their raw reasoning back, the text. */
function encodeThought(part: ReasoningPart, target: EncodeTarget): JsonObject | undefined {
  const { kind, text, signature } = part
  const raw = kind === 'raw' ? { content: [{ type: 'reasoning_text', text }] } : {}
  const summary = kind === 'summary' && text !== '' ? [{ type: 'summary_text', text }] : []
  if (mayReplay(signature, { protocol: 'responses', issuer: target.issuer })) {
    const id = signature.id?.startsWith('rs_') === true ? { id: signature.id } : {}
    return { type: 'reasoning', ...id, summary, ...raw, encrypted_content: signature.data }
  }
  if (!target.capabilities.replayReasoning || text === '') return undefined
  return { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] }
}

function encodeCall(call: ToolCallPart, { target, dropped, marks }: Writing): JsonObject {
  const { capabilities } = target
  const ids = { call_id: upstreamCallId(call.id, capabilities.toolIdMax) }
  const name = upstreamToolName(call, capabilities.toolNameMax)
  if (call.signature !== undefined) dropped.add('signatures')
  if (call.cache !== undefined) {
    marks.take(call.cache)
    dropped.add('cache')
  }
  if (call.kind === 'custom' && capabilities.customTools) {
    return { type: 'custom_tool_call', ...ids, name, input: call.arguments }
  }
  const text = call.kind === 'custom' ? wrapCustomInput(call.arguments) : call.arguments
  return { type: 'function_call', ...ids, name, arguments: text === '' ? '{}' : text }
}

function writeResults(turn: Turn, writing: Writing): Refused | undefined {
  const attached: JsonObject[] = []
  for (const part of turn.parts) {
    if (part.type !== 'tool-result') continue
    const problem = writeResult(part, attached, writing)
    if (problem !== undefined) return problem
  }
  addAll(writing.waiting, attached)
  return undefined
}

function writeResult(result: ToolResultPart, attached: JsonObject[], writing: Writing): Refused | undefined {
  const { capabilities } = writing.target
  const id = upstreamCallId(result.callId, capabilities.toolIdMax)
  const parts = resultParts(result, writing)
  if (isRefused(parts)) return parts
  if (result.cache !== undefined) skipMark(result.cache, writing)
  const inline = capabilities.imagesInToolResults
  const media = parts.filter((part) => part.type !== 'input_text')
  const kept = inline ? parts : parts.filter((part) => part.type === 'input_text')
  if (!inline && media.length > 0) {
    attached.push(inputText(`Attached to the result of ${id}:`))
    addAll(attached, media)
  }
  const empty = kept.length === 0 && media.length > 0
  const output = empty ? `See the attachment for ${id}.` : outputOf(kept)
  const custom = result.kind === 'custom' && capabilities.customTools
  writing.items.push({
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output,
  })
  return undefined
}

function resultParts(result: ToolResultPart, writing: Writing): readonly JsonObject[] | Refused {
  const parts: JsonObject[] = []
  let isError = result.isError
  for (const part of result.content) {
    if (part.type === 'media') {
      const encoded = mediaPart(part, writing)
      if (isRefused(encoded)) return encoded
      parts.push(encoded)
    } else {
      const text = part.type === 'text' ? part.text : `[Loaded tool: ${part.toolName}]`
      parts.push(inputText(withErrorWord(text, isError)))
      isError = false
    }
  }
  return isError ? [inputText(withErrorWord('the tool failed', true)), ...parts] : parts
}

/** A single text is sent as a string, which every server accepts. */
function outputOf(parts: readonly JsonObject[]): JsonValue {
  const [first, ...others] = parts
  if (first === undefined) return ''
  return others.length === 0 && first.type === 'input_text' ? (first.text ?? '') : parts
}

function flushWaiting(writing: Writing): void {
  if (writing.waiting.length === 0) return
  writing.items.push(message('user', writing.waiting))
  writing.waiting = []
}

function message(
  role: 'user' | 'assistant' | 'system' | 'developer',
  content: readonly JsonObject[],
): JsonObject {
  return { type: 'message', role, content }
}

function inputText(text: string): JsonObject {
  return { type: 'input_text', text }
}

function breakpoint(
  cache: CacheMark | undefined,
  writing: Writing,
  field: 'cache' | 'systemCache' = 'cache',
): JsonObject {
  const kept = writing.marks.take(cache)
  if (writing.target.capabilities.cacheMarks === 'breakpoint' && kept !== undefined) {
    return { prompt_cache_breakpoint: { mode: 'explicit' } }
  }
  if (cache !== undefined) writing.dropped.add(field)
  return {}
}

/** The counter must see every mark, also those that the item cannot hold. */
function skipMark(cache: CacheMark, writing: Writing): void {
  writing.marks.take(cache)
  writing.dropped.add('cache')
}
