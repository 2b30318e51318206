/**
 * Input items → system parts and turns. Accepts what real clients send (docs/protocols.md#client-8): items without
 * `type`, any role in any place, ids, statuses and phases of their own, calls of tools that only some provider runs.
 */
import { conversation, type Conversation } from '../../../canonical/conversation.ts'
import { type OpenedEnvelope, openSignature } from '../../../canonical/envelope.ts'
import { argumentsText, isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type {
  CacheMark,
  Part,
  ReasoningPart,
  Signature,
  SystemPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { listOf, type Maybe, objectOf, tagOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { decodeAudio, decodeFile, decodeImage } from './media.ts'

export interface Items {
  readonly system: readonly SystemPart[]
  readonly turns: readonly Turn[]
}

interface Reading {
  readonly system: SystemPart[]
  readonly conversation: Conversation
  /** Signatures that must be replayed with a call, by the call's id. */
  readonly callSignatures: Map<string, Signature>
  leading: boolean
}

/** `continued`: a previous response holds earlier turns, so results may answer calls that are not in this request. */
export function decodeItems(body: JsonObject, continued: boolean): Items | Refused {
  const reading: Reading = {
    system: [],
    conversation: conversation(continued),
    callSignatures: new Map(),
    leading: true,
  }
  const instructions = readInstructions(body.instructions, reading)
  if (instructions !== undefined) return instructions
  const problem = readInput(body.input, reading)
  if (problem !== undefined) return problem
  const turns = reading.conversation.turns()
  if (turns.length === 0 && reading.system.length === 0 && !continued) {
    return refused('input', 'at least one item with content is required')
  }
  return { system: reading.system, turns: withSignatures(turns, reading.callSignatures) }
}

function withSignatures(turns: readonly Turn[], signatures: ReadonlyMap<string, Signature>): readonly Turn[] {
  if (signatures.size === 0) return turns
  return turns.map(({ role, parts }) => ({ role, parts: parts.map((part) => signed(part, signatures)) }))
}

function signed(part: Part, signatures: ReadonlyMap<string, Signature>): Part {
  const signature = part.type === 'tool-call' ? signatures.get(part.id) : undefined
  return part.type === 'tool-call' && signature !== undefined ? { ...part, signature } : part
}

function readInstructions(value: Maybe, reading: Reading): Refused | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') {
    reading.system.push({ text: value, instructions: true })
    return undefined
  }
  if (!isJsonArray(value)) return refused('instructions', 'must be a string')
  return readItems(value, 'instructions', reading)
}

function readInput(input: Maybe, reading: Reading): Refused | undefined {
  if (typeof input === 'string') {
    // A text equals one user message (docs/reference/contract.md#4.2).
    if (input !== '') reading.conversation.add('user', [{ type: 'text', text: input }])
    return undefined
  }
  if (!isJsonArray(input)) return refused('input', 'a string or an array of items is required')
  return readItems(input, 'input', reading)
}

function readItems(items: readonly JsonValue[], field: string, reading: Reading): Refused | undefined {
  for (const [index, item] of items.entries()) {
    const problem = readItem(item, `${field}[${index}]`, reading)
    if (problem !== undefined) return problem
  }
  return undefined
}

function readItem(item: JsonValue, field: string, reading: Reading): Refused | undefined {
  if (!isJsonObject(item)) return refused(field, 'must be an object')
  const type = tagOf(item.type)
  switch (type) {
    case '':
      return isBareReference(item) ? unknownItem(item, field) : readMessage(item, field, reading)
    case 'message':
      return readMessage(item, field, reading)
    case 'reasoning':
      return readReasoning(item, reading)
    case 'function_call':
    case 'custom_tool_call':
      return readCall(item, field, reading)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readResult(item, field, reading)
    case 'item_reference':
      return unknownItem(item, field)
    case 'compaction':
    case 'compaction_summary':
      return refused(field, 'a compacted conversation can only be read by the provider that made it')
    default:
      return readForeign(item, field, reading)
  }
}

/**
 * References to responses kept here have been replaced before; for others OpenAI's own message, which names the cause.
 */
function unknownItem(item: JsonObject, field: string): Refused {
  const id = wordOf(item.id) ?? ''
  const named = id.length > ID_CHARACTERS_MAX ? `${id.slice(0, ID_CHARACTERS_MAX)}…` : id
  const message = `Item with id '${named}' not found. Items are kept for a day and not at all when \`store\` is false. Send the item itself, or leave it out.`
  return {
    kind: 'refused',
    field,
    message: `${field}: ${message}`,
    details: { param: 'input', reason: 'item_not_found' },
  }
}

/** Maximum length of an id in a message. */
const ID_CHARACTERS_MAX = 80

/** The type of a reference may be left out. */
function isBareReference({ id, role, content }: JsonObject): boolean {
  return typeof id === 'string' && role === undefined && content === undefined
}

/** Calls and results of hosted tools, approvals, lists of tools: kept for this protocol, dropped for every other. */
function readForeign(item: JsonObject, field: string, reading: Reading): Refused | undefined {
  if (!FOREIGN.test(tagOf(item.type)))
    return refused(`${field}.type`, 'is not an item that this endpoint knows')
  if (nestsTooDeep(item)) return refused(field, 'is nested too deeply')
  const image = item.type === 'image_generation_call' ? madeImage(item) : undefined
  if (image !== undefined) return readAssistantPart(image, reading)
  return readAssistantPart({ type: 'opaque', protocol: 'responses', json: item }, reading)
}

/** An image that the assistant made is a canonical image. */
function madeImage(item: JsonObject): Part | undefined {
  const data = wordOf(item.result)
  if (data === undefined) return undefined
  const mediaType = `image/${wordOf(item.output_format) ?? 'png'}`
  return {
    type: 'media',
    media: 'image',
    source: { kind: 'base64', mediaType, data },
    detail: undefined,
    filename: undefined,
  }
}

const FOREIGN = /(_call|_call_output|_output|_tools|_request|_response|_trigger|_snapshot)$|^program$/

function readAssistantPart(part: Part | undefined, reading: Reading): undefined {
  reading.leading = false
  if (part !== undefined) reading.conversation.add('assistant', [part])
  return undefined
}

function readMessage(item: JsonObject, field: string, reading: Reading): Refused | undefined {
  const parts = readContent(item.content, `${field}.content`)
  if (isRefused(parts)) return parts
  switch (tagOf(item.role)) {
    case 'system':
    case 'developer':
      return readSystem(parts, field, reading)
    case 'user':
    case 'assistant':
      reading.leading = false
      reading.conversation.add(item.role === 'user' ? 'user' : 'assistant', parts)
      return undefined
    default:
      return refused(`${field}.role`, 'must be user, assistant, system or developer')
  }
}

function readSystem(parts: readonly Part[], field: string, reading: Reading): Refused | undefined {
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

/** Text, parts or nothing; empty texts count as nothing. */
function readContent(content: Maybe, field: string): readonly Part[] | Refused {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isJsonArray(content)) return refused(field, 'must be a string or an array of content parts')
  const parts: Part[] = []
  for (const [index, entry] of content.entries()) {
    const part = readPart(entry, `${field}[${index}]`)
    if (isRefused(part)) return part
    if (part !== undefined) parts.push(part)
  }
  return parts
}

function readPart(entry: JsonValue, field: string): Part | undefined | Refused {
  if (typeof entry === 'string') return entry === '' ? undefined : { type: 'text', text: entry }
  if (!isJsonObject(entry)) return refused(field, 'must be an object')
  switch (tagOf(entry.type)) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return readText(entry, field)
    case 'refusal':
      return readRefusal(entry)
    case 'input_image':
    case 'image_url':
      return marked(decodeImage(entry), entry) ?? refused(field, 'needs image_url or file_id')
    case 'input_file':
      return marked(decodeFile(entry), entry) ?? refused(field, 'needs file_data, file_url or file_id')
    case 'input_audio':
      return marked(decodeAudio(entry), entry) ?? refused(field, 'needs data and format')
    case 'reasoning_text':
    case 'summary_text':
      return undefined
    default:
      return refused(`${field}.type`, 'is not a content part that this endpoint knows')
  }
}

function readText(entry: JsonObject, field: string): Part | undefined | Refused {
  const text = textOf(entry.text)
  if (text === undefined) return refused(`${field}.text`, 'must be a string')
  return text === '' ? undefined : { type: 'text', text, ...markOf(entry) }
}

function readRefusal(entry: JsonObject): Part | undefined {
  const text = wordOf(entry.refusal)
  return text === undefined ? undefined : { type: 'refusal', text }
}

function marked<Value extends Part>(part: Value | undefined, entry: JsonObject): Value | undefined {
  return part === undefined ? undefined : { ...part, ...markOf(entry) }
}

/** OpenAI's explicit breakpoints last half an hour. */
function markOf(entry: JsonObject): { readonly cache?: CacheMark } {
  return objectOf(entry.prompt_cache_breakpoint) === undefined ? {} : { cache: { ttl: '30m' } }
}

/** A function call has no field for a signature, so the gateway sends it in a reasoning item beside the call. */
function readReasoning(item: JsonObject, reading: Reading): undefined {
  const { part, kind } = decodeReasoning(item)
  const signature = part?.signature
  if (kind !== 'call' || signature?.id === undefined) return readAssistantPart(part, reading)
  reading.callSignatures.set(signature.id, { ...signature, id: undefined })
  return undefined
}

/** The gateway's envelope or a bare blob, with the summary or the raw reasoning. */
export function decodeReasoning(item: JsonObject): {
  readonly part: ReasoningPart | undefined
  readonly kind: OpenedEnvelope['kind']
} {
  const summary = joinTexts(item.summary)
  const raw = joinTexts(item.content)
  const blob = wordOf(item.encrypted_content)
  const opened = blob === undefined ? undefined : openSignature(blob, 'responses')
  const bare = opened?.kind === undefined
  const signature =
    opened === undefined || !bare ? opened?.signature : { ...opened.signature, id: wordOf(item.id) }
  const text = summary === '' ? raw : summary
  if (text === '' && signature === undefined) return { part: undefined, kind: undefined }
  const kind = opened?.kind === undefined || opened.kind === 'call' ? kindOf(summary, raw) : opened.kind
  return { part: { type: 'reasoning', kind, text, signature }, kind: opened?.kind }
}

export function kindOf(summary: string, raw: string): ReasoningPart['kind'] {
  if (summary !== '') return 'summary'
  return raw === '' ? 'redacted' : 'raw'
}

/** Parts of a summary are paragraphs: a blank line between them. */
export function joinTexts(value: Maybe): string {
  return listOf(value)
    .map((part) => textOf(objectOf(part)?.text) ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
}

function readCall(item: JsonObject, field: string, reading: Reading): Refused | undefined {
  reading.leading = false
  const call = decodeCall(item, field)
  if (isRefused(call)) return call
  const problem = reading.conversation.addCall(call)
  return problem === undefined ? undefined : refused(`${field}.call_id`, problem)
}

function decodeCall(item: JsonObject, field: string): ToolCallPart | Refused {
  const id = wordOf(item.call_id) ?? wordOf(item.id)
  if (id === undefined) return refused(`${field}.call_id`, 'is required')
  const name = wordOf(item.name)
  if (name === undefined) return refused(`${field}.name`, 'is required')
  const custom = item.type === 'custom_tool_call'
  return {
    type: 'tool-call',
    id,
    name,
    namespace: wordOf(item.namespace),
    kind: custom ? 'custom' : 'function',
    arguments: custom ? (textOf(item.input) ?? '') : callArguments(item.arguments),
    signature: undefined,
  }
}

/** Text as the model wrote it, even when it is not JSON; some clients send the object itself. */
export function callArguments(value: Maybe): string {
  return typeof value === 'string' ? value : argumentsText(value)
}

function readResult(item: JsonObject, field: string, reading: Reading): Refused | undefined {
  reading.leading = false
  const callId = wordOf(item.call_id)
  if (callId === undefined) return refused(`${field}.call_id`, 'is required')
  const content = decodeOutput(item.output, `${field}.output`)
  if (isRefused(content)) return content
  const problem = reading.conversation.addResult({
    type: 'tool-result',
    callId,
    kind: item.type === 'custom_tool_call_output' ? 'custom' : 'function',
    content,
    isError: false,
  })
  return problem === undefined ? undefined : refused(`${field}.call_id`, problem)
}

function decodeOutput(output: Maybe, field: string): ToolResultPart['content'] | Refused {
  // Neither text nor parts: a structure of the client's own, kept as JSON.
  if (isJsonObject(output)) return [{ type: 'text', text: argumentsText(output) }]
  const parts = readContent(
    typeof output === 'number' || typeof output === 'boolean' ? String(output) : output,
    field,
  )
  if (isRefused(parts)) return parts
  return parts.filter((part) => part.type === 'text' || part.type === 'media')
}
