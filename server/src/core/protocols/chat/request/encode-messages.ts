/**
 * System parts and turns → chat messages. Tool messages directly follow their assistant message; what a tool message
 * cannot hold (images) and what the target does not support (instructions in the middle) goes into the next user
 * message, or into one of its own (docs/protocols.md#requests-between-protocols).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { answerOpenCalls } from '../../../canonical/tools/answer-open-calls.ts'
import { wrapCustomInput } from '../../../canonical/tools/custom-tools.ts'
import { mayReplay } from '../../../canonical/envelope.ts'
import type {
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import { upstreamCallId, upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import type { JsonObject } from '../../../json.ts'
import { findMediaProblem, withErrorWord } from '../../chain-limits.ts'
import type { Encoding } from '../../encoding.ts'
import type { Refused } from '../../protocol.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { encodeCacheMark } from './cache-mark.ts'
import { encodeMedia } from './media.ts'
import { bareDetail, joinReasoning } from '../answer/reasoning.ts'

interface Writing extends Encoding {
  readonly messages: JsonObject[]
  /** Content parts for the next user message. */
  waiting: JsonObject[]
}

export function encodeMessages(encoding: Encoding): readonly JsonObject[] | Refused {
  const writing: Writing = { ...encoding, messages: [], waiting: [] }
  writeSystem(writing)
  for (const turn of answerOpenCalls(encoding.request.turns)) {
    const problem = writeTurn(turn, writing)
    if (problem !== undefined) return problem
  }
  flushWaiting(writing)
  if (writing.messages.length === 0) return unsupported('turns', 'nothing in the conversation can be sent')
  return writing.messages
}

function writeSystem(writing: Writing): void {
  const { request, target } = writing
  const parts = request.system.map(({ text, cache }) => ({
    type: 'text',
    text,
    ...mark(cache, writing, 'systemCache'),
  }))
  if (parts.length === 0) return
  const { systemRole, cacheMarks } = target.capabilities
  // Vendors without cache marks may not accept lists of parts as instructions.
  const joined = request.system.map(({ text }) => text).join('\n\n')
  writing.messages.push({ role: systemRole, content: cacheMarks === 'none' ? joined : contentOf(parts) })
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
  for (const part of turn.parts) skipMark(part, writing)
  const text = textsOf(turn.parts).join('\n\n')
  if (text === '') return undefined
  const { midSystem, systemRole } = writing.target.capabilities
  if (midSystem) {
    flushWaiting(writing)
    writing.messages.push({ role: systemRole, content: text })
  } else {
    writing.waiting.push({ type: 'text', text: `<system>\n${text}\n</system>` })
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
  if (parts.length > 0) writing.messages.push({ role: 'user', content: contentOf(parts) })
  return undefined
}

function encodeUserPart(part: Part, writing: Writing): JsonObject | undefined | Refused {
  switch (part.type) {
    case 'text':
      return textPart(part, writing)
    case 'media':
      return mediaPart(part, writing)
    case 'refusal':
      return { type: 'text', text: part.text }
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
  const problem = findMediaProblem(part, writing.target.capabilities)
  if (problem !== undefined) return problem
  const encoded = encodeMedia(part)
  if (encoded === undefined)
    return unsupported('turns', 'this model takes the content of files only: send it instead of a reference')
  return { ...encoded, ...mark(part.cache, writing) }
}

function writeAssistant(turn: Turn, writing: Writing): Refused | undefined {
  const calls: JsonObject[] = []
  const reasoning: ReasoningPart[] = []
  const images: JsonObject[] = []
  let text = ''
  for (const part of turn.parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        text += part.text
        skipMark(part, writing)
        break
      case 'tool-call':
        calls.push(encodeCall(part, writing))
        break
      case 'reasoning':
        reasoning.push(part)
        break
      case 'media': {
        const image = mediaPart(part, writing)
        if (isRefused(image)) writing.dropped.add('media')
        else images.push(image)
        break
      }
      case 'opaque':
        writing.dropped.add('opaqueHistory')
        break
      case 'tool-result':
        break
    }
  }
  const thought = encodeReasoning(reasoning, writing)
  if (text !== '' || calls.length > 0 || thought.said) {
    flushWaiting(writing)
    const content = text === '' && calls.length > 0 ? null : text
    const toolCalls = calls.length === 0 ? {} : { tool_calls: calls }
    writing.messages.push({ role: 'assistant', content, ...thought.members, ...toolCalls })
  }
  // Chat's assistant messages cannot hold images, so images made by the model go into the next user message.
  if (images.length > 0) wait(writing, 'Made by the assistant:', images)
  return undefined
}

/**
 * Vendors that require their reasoning back require the field on every assistant message (docs/protocols.md#trap-27).
 */
function encodeReasoning(
  parts: readonly ReasoningPart[],
  { target, dropped }: Writing,
): { readonly members: JsonObject; readonly said: boolean } {
  const { replayReasoning, reasoningField } = target.capabilities
  const reader = { protocol: 'chat', issuer: target.issuer } as const
  const details = parts.filter((part) => mayReplay(part.signature, reader)).map(bareDetail)
  if (!replayReasoning && details.length < parts.length) dropped.add('reasoningHistory')
  const text = replayReasoning ? joinReasoning(parts) : ''
  return {
    members: {
      ...(replayReasoning ? { [reasoningField]: text } : {}),
      ...(details.length > 0 ? { reasoning_details: details } : {}),
    },
    said: text !== '' || details.length > 0,
  }
}

function encodeCall(call: ToolCallPart, writing: Writing): JsonObject {
  const { capabilities } = writing.target
  const id = upstreamCallId(call.id, capabilities.toolIdMax)
  const name = upstreamToolName(call, capabilities.toolNameMax)
  const extra = { ...callSignature(call, writing), ...mark(call.cache, writing) }
  if (call.kind === 'custom' && capabilities.customTools) {
    return { id, type: 'custom', custom: { name, input: call.arguments }, ...extra }
  }
  const text = call.kind === 'custom' ? wrapCustomInput(call.arguments) : call.arguments
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...extra }
}

/** Gemini's compatibility layer has its signatures here. */
function callSignature({ signature }: ToolCallPart, { target, dropped }: Writing): JsonObject {
  if (signature === undefined) return {}
  if (mayReplay(signature, { protocol: 'chat', issuer: target.issuer })) {
    return { extra_content: { google: { thought_signature: signature.data } } }
  }
  dropped.add('signatures')
  return {}
}

function writeResults(turn: Turn, writing: Writing): Refused | undefined {
  const images: JsonObject[] = []
  for (const part of turn.parts) {
    if (part.type !== 'tool-result') continue
    const problem = writeResult(part, images, writing)
    if (problem !== undefined) return problem
  }
  addAll(writing.waiting, images)
  return undefined
}

function writeResult(result: ToolResultPart, images: JsonObject[], writing: Writing): Refused | undefined {
  const { capabilities } = writing.target
  const id = upstreamCallId(result.callId, capabilities.toolIdMax)
  const own: JsonObject[] = []
  const texts: string[] = []
  for (const part of result.content) {
    if (part.type === 'media') {
      const encoded = mediaPart(part, writing)
      if (isRefused(encoded)) return encoded
      if (encoded.type === 'text' && typeof encoded.text === 'string') texts.push(encoded.text)
      else own.push(encoded)
    } else {
      texts.push(part.type === 'text' ? part.text : `[Loaded tool: ${part.toolName}]`)
    }
  }
  const text = withErrorWord(texts.join('\n'), result.isError)
  const attached = own.length > 0 && !capabilities.imagesInToolResults
  if (attached) {
    images.push({ type: 'text', text: `Attached to the result of ${id}:` })
    addAll(images, own)
  }
  const parts = attached ? [] : own
  const shown = text === '' && attached ? `See the attachment for ${id}.` : text
  writing.messages.push({
    role: 'tool',
    tool_call_id: id,
    content: resultContent(shown, parts, mark(result.cache, writing)),
  })
  return undefined
}

function resultContent(text: string, parts: readonly JsonObject[], marks: JsonObject): JsonObject['content'] {
  const plain = parts.length === 0 && Object.keys(marks).length === 0
  if (plain) return text
  const texts: readonly JsonObject[] = text === '' ? [] : [{ type: 'text', text, ...marks }]
  return [...texts, ...parts]
}

function wait(writing: Writing, label: string, parts: readonly JsonObject[]): void {
  writing.waiting.push({ type: 'text', text: label })
  addAll(writing.waiting, parts)
}

function flushWaiting(writing: Writing): void {
  if (writing.waiting.length === 0) return
  writing.messages.push({ role: 'user', content: contentOf(writing.waiting) })
  writing.waiting = []
}

/** A single text is sent as a string, which every vendor accepts. */
function contentOf(parts: readonly JsonObject[]): JsonObject['content'] {
  const only = parts.length === 1 ? parts[0] : undefined
  return only !== undefined && isBare(only) ? (only.text ?? '') : parts
}

function isBare(part: JsonObject | undefined): boolean {
  return part !== undefined && part.type === 'text' && Object.keys(part).length === 2
}

function textPart(part: TextPart, writing: Writing): JsonObject {
  return { type: 'text', text: part.text, ...mark(part.cache, writing) }
}

function mark(
  cache: TextPart['cache'],
  writing: Writing,
  field: 'cache' | 'systemCache' = 'cache',
): JsonObject {
  const kept = writing.marks.take(cache)
  const marks = writing.target.capabilities.cacheMarks
  if (cache !== undefined && (kept === undefined || marks === 'none')) writing.dropped.add(field)
  return encodeCacheMark(kept, marks)
}

/** The counter must see every mark, also those that the message cannot hold. */
function skipMark(part: Part, writing: Writing): void {
  const cache = part.type === 'text' ? part.cache : undefined
  if (cache === undefined) return
  writing.marks.take(cache)
  writing.dropped.add('cache')
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
}
