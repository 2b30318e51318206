/**
 * The conversation of a messages client as turns. Consecutive messages of one role are one turn, as the API itself
 * joins them; tool results are moved from their user message to directly after the calls they answer
 * (docs/protocols.md#trap-28).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { openSignature } from '../../../canonical/envelope.ts'
import { argumentsText, isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type {
  MediaPart,
  Part,
  ReasoningPart,
  Signature,
  SystemPart,
  TextPart,
  ToolCallPart,
  ToolReferencePart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { appendParts, type GrowingTurn, placeResults } from '../../placed-turns.ts'
import { flagOf, type Maybe, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { decodeCache } from './cache-marks.ts'
import { isOpaqueBlock } from '../wire.ts'

export interface Conversation {
  readonly system: readonly SystemPart[]
  readonly turns: readonly Turn[]
}

export function decodeConversation(body: JsonObject, dropped: Set<string>): Conversation | Refused {
  const { messages } = body
  if (messages === undefined || messages === null) return refused('messages', 'is required')
  if (!isJsonArray(messages)) return refused('messages', 'must be an array')
  if (messages.length === 0) return refused('messages', 'must not be empty')
  const system = decodeSystem(body.system)
  if (isRefused(system)) return system
  const reading = newReading(system, dropped)
  for (const [index, item] of messages.entries()) {
    const refusal = readMessage(reading, item, `messages[${index}]`)
    if (refusal !== undefined) return refusal
  }
  if (reading.turns.length === 0) return refused('messages', 'must hold at least one message to answer')
  const { callSignatures } = reading
  const turns =
    callSignatures.size === 0
      ? reading.turns
      : reading.turns.map((turn) => reattachSignatures(turn, callSignatures))
  return { system: reading.system, turns }
}

interface Reading {
  readonly system: SystemPart[]
  readonly turns: GrowingTurn[]
  readonly dropped: Set<string>
  /** Every call so far; an id may be reused once its call was answered. */
  readonly calls: Map<string, 'open' | 'answered'>
  /** What a tool call must be replayed with; this protocol has no place for it on the call itself. */
  readonly callSignatures: Map<string, Signature>
  /** Index directly after the last assistant turn, where its tool results belong. */
  behindCalls: number
}

function newReading(system: readonly SystemPart[], dropped: Set<string>): Reading {
  return {
    system: [...system],
    turns: [],
    dropped,
    calls: new Map(),
    callSignatures: new Map(),
    behindCalls: 0,
  }
}

function readMessage(reading: Reading, item: JsonValue, field: string): Refused | undefined {
  const message = objectOf(item)
  if (message === undefined) return refused(field, 'must be an object')
  const blocks = blocksOf(message.content)
  if (blocks === undefined) return refused(`${field}.content`, 'must be a string or an array of blocks')
  switch (textOf(message.role) ?? '') {
    case 'user':
      return readUser(reading, blocks, `${field}.content`)
    case 'assistant':
      return readAssistant(reading, blocks, `${field}.content`)
    case 'system':
      return readSystem(reading, blocks, `${field}.content`)
    default:
      return refused(`${field}.role`, 'must be user, assistant or system')
  }
}

function blocksOf(content: Maybe): readonly JsonValue[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (content === null) return []
  return isJsonArray(content) ? content : undefined
}

/** Claude Code's billing line changes with every call and would invalidate any other vendor's prompt cache. */
const BILLING_HEADER = 'x-anthropic-billing-header:'

function decodeSystem(value: Maybe): readonly SystemPart[] | Refused {
  if (value === undefined || value === null) return []
  const blocks = blocksOf(value)
  if (blocks === undefined) return refused('system', 'must be a string or an array of text blocks')
  const parts = systemParts(blocks, 'system')
  return isRefused(parts) ? parts : parts.filter((part) => !part.text.startsWith(BILLING_HEADER))
}

function systemParts(blocks: readonly JsonValue[], field: string): readonly SystemPart[] | Refused {
  const parts: SystemPart[] = []
  for (const [index, item] of blocks.entries()) {
    const block = objectOf(item)
    const text = textOf(block?.text)
    if (block?.type !== 'text' || text === undefined) {
      return refused(`${field}[${index}]`, 'must be a text block')
    }
    if (text !== '') parts.push(withCache({ text }, block))
  }
  return parts
}

/** A system message may be anywhere; one before everything else belongs to the instructions. */
function readSystem(reading: Reading, blocks: readonly JsonValue[], field: string): Refused | undefined {
  const parts = systemParts(blocks, field)
  if (isRefused(parts)) return parts
  if (reading.turns.length === 0) addAll(reading.system, parts)
  else appendParts(reading, { role: 'system', parts: parts.map((part) => ({ type: 'text', ...part })) })
  return undefined
}

function readUser(reading: Reading, blocks: readonly JsonValue[], field: string): Refused | undefined {
  const results: ToolResultPart[] = []
  const parts: Part[] = []
  for (const [index, item] of blocks.entries()) {
    const place = `${field}[${index}]`
    const block = objectOf(item)
    const type = textOf(block?.type)
    if (block === undefined || type === undefined) return refused(place, 'must be a block with a type')
    if (type === 'tool_result') {
      const result = decodeToolResult(reading, block, place)
      if (isRefused(result)) return result
      results.push(result)
    } else {
      const decoded = decodeContent(block, { type, place, dropped: reading.dropped })
      if (isRefused(decoded)) return decoded
      addAll(parts, decoded)
    }
  }
  placeResults(reading, results)
  appendParts(reading, { role: 'user', parts })
  return undefined
}

function readAssistant(reading: Reading, blocks: readonly JsonValue[], field: string): Refused | undefined {
  const parts: Part[] = []
  for (const [index, item] of blocks.entries()) {
    const place = `${field}[${index}]`
    const block = objectOf(item)
    const type = textOf(block?.type)
    if (block === undefined || type === undefined) return refused(place, 'must be a block with a type')
    const decoded = decodeAssistantBlock(reading, block, { type, place, dropped: reading.dropped })
    if (isRefused(decoded)) return decoded
    addAll(parts, decoded)
  }
  appendParts(reading, { role: 'assistant', parts })
  reading.behindCalls = reading.turns.length
  return undefined
}

interface BlockPlace {
  readonly type: string
  readonly place: string
  readonly dropped: Set<string>
}

function decodeAssistantBlock(
  reading: Reading,
  block: JsonObject,
  at: BlockPlace,
): readonly Part[] | Refused {
  switch (at.type) {
    case 'thinking':
      return decodeThinking(block)
    case 'redacted_thinking':
      return decodeRedacted(reading, block, at)
    case 'tool_use': {
      const call = decodeToolUse(reading, block, at.place)
      return isRefused(call) ? call : [call]
    }
    default:
      return decodeContent(block, at)
  }
}

function decodeThinking(block: JsonObject): readonly Part[] {
  const sealed = wordOf(block.signature)
  const text = textOf(block.thinking) ?? ''
  if (sealed === undefined) return text === '' ? [] : [reasoning('summary', text, undefined)]
  const { kind, signature } = openSignature(sealed, 'messages')
  return [reasoning(kind === 'raw' ? 'raw' : 'summary', text, signature)]
}

function decodeRedacted(reading: Reading, block: JsonObject, at: BlockPlace): readonly Part[] | Refused {
  const data = wordOf(block.data)
  if (data === undefined) return refused(`${at.place}.data`, 'is required')
  const { kind, signature } = openSignature(data, 'messages')
  if (kind !== 'call') return [reasoning('redacted', '', signature)]
  if (signature.id !== undefined) reading.callSignatures.set(signature.id, signature)
  return []
}

function reasoning(
  kind: ReasoningPart['kind'],
  text: string,
  signature: Signature | undefined,
): ReasoningPart {
  return { type: 'reasoning', kind, text, signature }
}

function reattachSignatures(turn: GrowingTurn, signatures: ReadonlyMap<string, Signature>): Turn {
  const parts = turn.parts.map((part) => {
    const signature = part.type === 'tool-call' ? signatures.get(part.id) : undefined
    return signature === undefined ? part : { ...part, signature: { ...signature, id: undefined } }
  })
  return { ...turn, parts }
}

function decodeToolUse(reading: Reading, block: JsonObject, place: string): ToolCallPart | Refused {
  const id = wordOf(block.id)
  if (id === undefined) return refused(`${place}.id`, 'is required')
  if (reading.calls.get(id) === 'open') {
    return refused(`${place}.id`, 'must be unique, another open tool_use has it')
  }
  const name = wordOf(block.name)
  if (name === undefined) return refused(`${place}.name`, 'is required')
  if (nestsTooDeep(block.input)) return refused(`${place}.input`, 'is nested too deeply')
  reading.calls.set(id, 'open')
  const cache = decodeCache(block.cache_control)
  return {
    type: 'tool-call',
    id,
    name,
    namespace: undefined,
    kind: 'function',
    arguments: typeof block.input === 'string' ? block.input : argumentsText(block.input),
    signature: undefined,
    ...(cache === undefined ? {} : { cache }),
  }
}

function decodeToolResult(reading: Reading, block: JsonObject, place: string): ToolResultPart | Refused {
  const callId = wordOf(block.tool_use_id)
  if (callId === undefined) return refused(`${place}.tool_use_id`, 'is required')
  const state = reading.calls.get(callId)
  if (state === undefined) {
    return refused(`${place}.tool_use_id`, 'answers no tool_use of an earlier assistant message')
  }
  if (state === 'answered') return refused(`${place}.tool_use_id`, 'has already been answered')
  reading.calls.set(callId, 'answered')
  const content = decodeResultContent(block.content, place, reading.dropped)
  if (isRefused(content)) return content
  const cache = decodeCache(block.cache_control)
  return {
    type: 'tool-result',
    callId,
    kind: 'function',
    content,
    isError: flagOf(block.is_error) ?? false,
    ...(cache === undefined ? {} : { cache }),
  }
}

type ResultContent = TextPart | MediaPart | ToolReferencePart

function decodeResultContent(
  value: Maybe,
  place: string,
  dropped: Set<string>,
): readonly ResultContent[] | Refused {
  if (value === undefined) return []
  const blocks = blocksOf(value)
  if (blocks === undefined) return refused(`${place}.content`, 'must be a string or an array of blocks')
  const content: ResultContent[] = []
  for (const [index, item] of blocks.entries()) {
    const at = `${place}.content[${index}]`
    const block = objectOf(item)
    const type = textOf(block?.type)
    if (block === undefined || type === undefined) return refused(at, 'must be a block with a type')
    const decoded = decodeResultBlock(block, { type, place: at, dropped })
    if (isRefused(decoded)) return decoded
    addAll(content, decoded)
  }
  return content
}

function decodeResultBlock(block: JsonObject, at: BlockPlace): readonly ResultContent[] | Refused {
  if (at.type === 'tool_reference') {
    const toolName = wordOf(block.tool_name)
    if (toolName === undefined) return refused(`${at.place}.tool_name`, 'is required')
    return [{ type: 'tool-reference', toolName }]
  }
  if (at.type === 'browser_state') {
    at.dropped.add('messages[].content[].content[].browser_state')
    return []
  }
  const decoded = decodeContent(block, at)
  if (isRefused(decoded)) return decoded
  return decoded.filter((part) => part.type === 'text' || part.type === 'media')
}

/** Blocks that may occur in a user message, in a tool result, and partly in an assistant message. */
function decodeContent(block: JsonObject, at: BlockPlace): readonly Part[] | Refused {
  switch (at.type) {
    case 'text': {
      const text = textOf(block.text)
      if (text === undefined) return refused(`${at.place}.text`, 'must be a string')
      // Anthropic itself refuses an empty text; other clients' histories hold them (docs/protocols.md#trap-30).
      return text === '' ? [] : [withCache({ type: 'text', text }, block)]
    }
    case 'image':
      return decodeImage(block, at)
    case 'document':
      return decodeDocument(block, at)
    case 'search_result':
      return decodeSearchResult(block)
    case 'container_upload':
      return refused(
        at.place,
        'files of a container exist only at the upstream that holds them: send their content',
      )
    default:
      if (!isOpaqueBlock(at.type)) return refused(`${at.place}.type`, 'is not a known block type')
      if (nestsTooDeep(block)) return refused(at.place, 'is nested too deeply')
      return [{ type: 'opaque', protocol: 'messages', json: block }]
  }
}

function decodeImage(block: JsonObject, at: BlockPlace): readonly Part[] | Refused {
  const source = decodeSource(block.source, at)
  if (isRefused(source)) return source
  return [withCache({ type: 'media', media: 'image', source, detail: undefined, filename: undefined }, block)]
}

function decodeSource(value: Maybe, at: BlockPlace): MediaPart['source'] | Refused {
  const source = objectOf(value) ?? {}
  const field = `${at.place}.source`
  switch (textOf(source.type) ?? '') {
    case 'base64': {
      const mediaType = wordOf(source.media_type)
      const data = wordOf(source.data)
      if (mediaType === undefined) return refused(`${field}.media_type`, 'is required')
      return data === undefined
        ? refused(`${field}.data`, 'is required')
        : { kind: 'base64', mediaType, data }
    }
    case 'url': {
      const url = wordOf(source.url)
      return url === undefined
        ? refused(`${field}.url`, 'is required')
        : { kind: 'url', url, mediaType: undefined }
    }
    case 'file': {
      const id = wordOf(source.file_id)
      return id === undefined ? refused(`${field}.file_id`, 'is required') : { kind: 'file-id', id }
    }
    case 'text': {
      const text = textOf(source.data)
      return text === undefined ? refused(`${field}.data`, 'is required') : { kind: 'text', text }
    }
    default:
      return refused(`${field}.type`, 'is not a known source')
  }
}

function decodeDocument(block: JsonObject, at: BlockPlace): readonly Part[] | Refused {
  if (flagOf(objectOf(block.citations)?.enabled) === true) at.dropped.add('messages[].content[].citations')
  const context = wordOf(block.context)
  const before: readonly Part[] = context === undefined ? [] : [{ type: 'text', text: context }]
  const title = wordOf(block.title)
  if (objectOf(block.source)?.type === 'content') {
    const inner = decodeInnerContent(objectOf(block.source)?.content, at)
    if (isRefused(inner)) return inner
    const heading: readonly Part[] = title === undefined ? [] : [{ type: 'text', text: title }]
    return [...heading, ...before, ...inner]
  }
  const source = decodeSource(block.source, at)
  if (isRefused(source)) return source
  return [
    ...before,
    withCache({ type: 'media', media: 'file', source, detail: undefined, filename: title }, block),
  ]
}

function decodeInnerContent(value: Maybe, at: BlockPlace): readonly Part[] | Refused {
  const blocks = blocksOf(value)
  if (blocks === undefined) return refused(`${at.place}.source.content`, 'must be a string or an array')
  const parts: Part[] = []
  for (const item of blocks) {
    const block = objectOf(item)
    const type = textOf(block?.type)
    if (block === undefined || (type !== 'text' && type !== 'image')) {
      return refused(`${at.place}.source.content`, 'must hold texts and images')
    }
    const decoded = decodeContent(block, { ...at, type })
    if (isRefused(decoded)) return decoded
    addAll(parts, decoded)
  }
  return parts
}

/** A search result as text: title, source, then content. */
function decodeSearchResult(block: JsonObject): readonly Part[] {
  const heading = [wordOf(block.title), wordOf(block.source)].filter((line) => line !== undefined)
  const found = (blocksOf(block.content) ?? []).map((item) => textOf(objectOf(item)?.text) ?? '')
  const text = [...heading, ...found].filter((line) => line !== '').join('\n')
  return text === '' ? [] : [withCache({ type: 'text', text }, block)]
}

function withCache<Value extends object>(value: Value, block: JsonObject): Value {
  const cache = decodeCache(block.cache_control)
  return cache === undefined ? value : { ...value, cache }
}
