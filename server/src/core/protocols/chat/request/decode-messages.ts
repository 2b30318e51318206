/**
 * Chat messages → system parts and turns. Accepts what real clients send (docs/protocols.md#client-10), refuses what
 * has no meaning.
 */
import { conversation, type Conversation } from '../../../canonical/conversation.ts'
import { openSignature } from '../../../canonical/envelope.ts'
import { argumentsText, isJsonArray } from '../../../canonical/json-text.ts'
import type {
  CacheMark,
  Part,
  Signature,
  SystemPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { listOf, objectOf, textOf, wordOf, type Maybe, tagOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { cacheOf, decodeCacheMark } from './cache-mark.ts'
import { decodeAudio, decodeFile, decodeImage, decodeVideo } from './media.ts'
import { decodeReasoning } from '../answer/reasoning.ts'

export interface Messages {
  readonly system: readonly SystemPart[]
  readonly turns: readonly Turn[]
}

interface Reading {
  readonly system: SystemPart[]
  readonly conversation: Conversation
  readonly dropped: Set<string>
  /** False after the first message of the conversation itself: later instructions keep their position. */
  leading: boolean
  /** Id of the last deprecated `function_call`, which its `function` message answers by position. */
  functionCallId: string | undefined
}

export function decodeMessages(messages: Maybe, dropped: Set<string>): Messages | Refused {
  if (!isJsonArray(messages)) return refused('messages', 'an array of messages is required')
  const reading: Reading = {
    system: [],
    conversation: conversation(false),
    dropped,
    leading: true,
    functionCallId: undefined,
  }
  for (const [index, message] of messages.entries()) {
    const problem = readMessage(message, `messages[${index}]`, reading)
    if (problem !== undefined) return problem
  }
  const turns = reading.conversation.turns()
  if (turns.length === 0 && reading.system.length === 0) {
    return refused('messages', 'at least one message with content is required')
  }
  return { system: reading.system, turns }
}

function readMessage(message: JsonValue, field: string, reading: Reading): Refused | undefined {
  if (!isJsonObject(message)) return refused(field, 'must be an object')
  if (wordOf(message.name) !== undefined && message.role !== 'tool' && message.role !== 'function') {
    reading.dropped.add('messages[].name')
  }
  switch (tagOf(message.role)) {
    case 'system':
    case 'developer':
      return readSystem(message, field, reading)
    case 'user':
      return readUser(message, field, reading)
    case 'assistant':
      return readAssistant(message, field, reading)
    case 'tool':
      return readToolResult(message, field, reading)
    case 'function':
      return readFunctionResult(message, field, reading)
    default:
      return refused(`${field}.role`, 'must be system, developer, user, assistant or tool')
  }
}

function readSystem(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  const parts = readContent(message, field)
  if (isRefused(parts)) return parts
  const texts = parts.filter((part) => part.type === 'text')
  if (texts.length < parts.length) return refused(`${field}.content`, 'instructions can only be text')
  if (!reading.leading) {
    reading.conversation.add('system', texts)
    return undefined
  }
  for (const { text, cache } of texts)
    reading.system.push({ text, ...(cache === undefined ? {} : { cache }) })
  return undefined
}

function readUser(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  reading.leading = false
  const parts = readContent(message, field)
  if (isRefused(parts)) return parts
  reading.conversation.add('user', parts)
  return undefined
}

function readAssistant(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  reading.leading = false
  if (message.audio !== undefined && message.audio !== null) reading.dropped.add('messages[].audio')
  const content = readContent(message, field)
  if (isRefused(content)) return content
  reading.conversation.add('assistant', decodeReasoning(message))
  reading.conversation.add('assistant', content)
  for (const entry of listOf(message.images)) {
    const image = isJsonObject(entry) ? decodeImage(entry, undefined) : undefined
    if (image !== undefined) reading.conversation.add('assistant', [image])
  }
  const refusal = wordOf(message.refusal)
  if (refusal !== undefined) reading.conversation.add('assistant', [{ type: 'refusal', text: refusal }])
  return readCalls(message, field, reading)
}

function readCalls(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  for (const [index, entry] of listOf(message.tool_calls).entries()) {
    const place = `${field}.tool_calls[${index}]`
    const call = decodeCall(entry, place)
    if (isRefused(call)) return call
    const problem = reading.conversation.addCall(call)
    if (problem !== undefined) return refused(`${place}.id`, problem)
  }
  const legacy = objectOf(message.function_call)
  return legacy === undefined ? undefined : readFunctionCall(legacy, field, reading)
}

function decodeCall(entry: JsonValue, field: string): ToolCallPart | Refused {
  if (!isJsonObject(entry)) return refused(field, 'must be an object')
  const id = wordOf(entry.id)
  if (id === undefined) return refused(`${field}.id`, 'is required')
  const custom = objectOf(entry.custom)
  const callee = custom ?? objectOf(entry.function)
  const name = wordOf(callee?.name)
  if (name === undefined) return refused(`${field}.function.name`, 'is required')
  return {
    type: 'tool-call',
    id,
    name,
    namespace: undefined,
    kind: custom === undefined ? 'function' : 'custom',
    arguments: custom === undefined ? callArguments(callee?.arguments) : (textOf(custom.input) ?? ''),
    signature: callSignature(entry),
    ...cacheOf(entry),
  }
}

/** Text as the model wrote it, even if it is not JSON; some clients send the object itself. */
export function callArguments(value: Maybe): string {
  return typeof value === 'string' ? value : argumentsText(value)
}

/** From the gateway's envelope, or from the field that Gemini's compatibility layer uses. */
export function callSignature(entry: JsonObject): Signature | undefined {
  const extra = objectOf(entry.extra_content)
  const sealed = wordOf(objectOf(extra?.gateway)?.sig)
  const bare = wordOf(objectOf(extra?.google)?.thought_signature)
  const blob = sealed ?? bare
  return blob === undefined ? undefined : openSignature(blob, 'chat').signature
}

function readFunctionCall(legacy: JsonObject, field: string, reading: Reading): Refused | undefined {
  const name = wordOf(legacy.name)
  if (name === undefined) return refused(`${field}.function_call.name`, 'is required')
  // The old form has no ids; one per message keeps call and answer together.
  const id = `call_${field.replaceAll(/\D/g, '')}_${name}`
  reading.functionCallId = id
  const problem = reading.conversation.addCall({
    type: 'tool-call',
    id,
    name,
    namespace: undefined,
    kind: 'function',
    arguments: callArguments(legacy.arguments),
    signature: undefined,
  })
  return problem === undefined ? undefined : refused(`${field}.function_call`, problem)
}

function readToolResult(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  reading.leading = false
  const callId = wordOf(message.tool_call_id)
  if (callId === undefined) return refused(`${field}.tool_call_id`, 'is required')
  const result = decodeResult(message, field, callId)
  if (isRefused(result)) return result
  const problem = reading.conversation.addResult(result)
  return problem === undefined ? undefined : refused(`${field}.tool_call_id`, problem)
}

function readFunctionResult(message: JsonObject, field: string, reading: Reading): Refused | undefined {
  const callId = reading.functionCallId
  if (callId === undefined) return refused(field, 'no function call before it')
  reading.functionCallId = undefined
  const result = decodeResult(message, field, callId)
  if (isRefused(result)) return result
  const problem = reading.conversation.addResult(result)
  return problem === undefined ? undefined : refused(field, problem)
}

function decodeResult(message: JsonObject, field: string, callId: string): ToolResultPart | Refused {
  const parts = readContent(message, field)
  if (isRefused(parts)) return parts
  const content = parts.filter((part) => part.type === 'text' || part.type === 'media')
  if (content.length < parts.length) return refused(`${field}.content`, 'can only hold text and images')
  return { type: 'tool-result', callId, kind: 'function', content, isError: false, ...cacheOf(message) }
}

/** Text, parts, or nothing; empty texts count as nothing (docs/protocols.md#trap-30). */
function readContent(message: JsonObject, field: string): readonly Part[] | Refused {
  const { content } = message
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content, ...wholeMark(message) }]
  if (!isJsonArray(content))
    return refused(`${field}.content`, 'must be a string or an array of content parts')
  const parts: Part[] = []
  for (const [index, entry] of content.entries()) {
    const part = readPart(entry, `${field}.content[${index}]`)
    if (isRefused(part)) return part
    if (part !== undefined) parts.push(part)
  }
  return parts
}

/** A mark on the message applies to its only text; a tool message's mark belongs to the result. */
function wholeMark(message: JsonObject): { readonly cache?: CacheMark } {
  return message.role === 'tool' ? {} : cacheOf(message)
}

/** One content part; `undefined` when it is empty. */
function readPart(entry: JsonValue, field: string): Part | undefined | Refused {
  // A bare string among parts is read as a text part.
  if (typeof entry === 'string') return textPart(entry, undefined)
  if (!isJsonObject(entry)) return refused(field, 'must be an object')
  const cache = decodeCacheMark(entry)
  switch (tagOf(entry.type)) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return readText(entry, field, cache)
    case 'refusal':
      return { type: 'refusal', text: textOf(entry.refusal) ?? '' }
    case 'thinking':
      return thinkingPart(entry)
    case 'image_url':
      return decodeImage(entry, cache) ?? refused(`${field}.image_url.url`, 'is required')
    case 'input_audio':
      return decodeAudio(entry, cache) ?? refused(`${field}.input_audio`, 'needs data and format')
    case 'file':
      return decodeFile(entry, cache) ?? refused(`${field}.file`, 'needs file_data or file_id')
    case 'video_url':
      return decodeVideo(entry, cache) ?? refused(`${field}.video_url.url`, 'is required')
    default:
      return refused(`${field}.type`, 'is not a content part that this endpoint knows')
  }
}

function readText(
  entry: JsonObject,
  field: string,
  cache: CacheMark | undefined,
): TextPart | undefined | Refused {
  const text = textOf(entry.text)
  return text === undefined ? refused(`${field}.text`, 'must be a string') : textPart(text, cache)
}

function textPart(text: string, cache: CacheMark | undefined): TextPart | undefined {
  if (text === '') return undefined
  return cache === undefined ? { type: 'text', text } : { type: 'text', text, cache }
}

/** Mistral's reasoning models put their reasoning into the content list. */
export function thinkingPart(entry: JsonObject): Part | undefined {
  const text = thinkingText(entry)
  return text === '' ? undefined : { type: 'reasoning', kind: 'raw', text, signature: undefined }
}

export function thinkingText(entry: JsonObject): string {
  if (typeof entry.thinking === 'string') return entry.thinking
  return listOf(entry.thinking)
    .map((piece) => textOf(objectOf(piece)?.text) ?? '')
    .join('')
}
