/**
 * The contents of a Gemini client as turns. Calls often have no id here, so they get one from their position, which
 * stays the same when the history grows; an answer without an id belongs to the first open call of its name.
 */
import { addAll } from '../../../canonical/add-all.ts'
import { openSignature } from '../../../canonical/envelope.ts'
import { argumentsText, isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type {
  MediaPart,
  MediaSource,
  Part,
  ReasoningPart,
  Signature,
  SystemPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { appendParts, type GrowingTurn, placeResults } from '../../placed-turns.ts'
import { flagOf, listOf, type Maybe, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { isGoogleFile, member, NO_SIGNATURE } from '../wire.ts'

export interface Conversation {
  readonly system: readonly SystemPart[]
  readonly turns: readonly Turn[]
}

export function decodeConversation(body: JsonObject, dropped: Set<string>): Conversation | Refused {
  const { contents } = body
  if (contents === undefined || contents === null) return refused('contents', 'is required')
  const items = isJsonArray(contents) ? contents : [contents]
  const reading: Reading = {
    turns: [],
    dropped,
    callIds: new Set(),
    open: new Map(),
    openByName: new Map(),
    behindCalls: 0,
  }
  for (const [index, item] of items.entries()) {
    const refusal = readContent(reading, item, index)
    if (refusal !== undefined) return refusal
  }
  if (reading.turns.length === 0) return refused('contents', 'must hold at least one message to answer')
  return { system: decodeSystem(member(body, 'systemInstruction')), turns: reading.turns }
}

interface Reading {
  readonly turns: GrowingTurn[]
  readonly dropped: Set<string>
  readonly callIds: Set<string>
  /** Calls without an answer yet, by id: the name each was made under. */
  readonly open: Map<string, string>
  readonly openByName: Map<string, string[]>
  /** Index directly after the last model turn, where its tool results belong. */
  behindCalls: number
}

/** A text, a content, or only its parts. */
function decodeSystem(value: Maybe): readonly SystemPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ text: value }]
  const parts = isJsonArray(value) ? value : listOf(objectOf(value)?.parts)
  return parts
    .map((part) => textOf(objectOf(part)?.text) ?? '')
    .filter((text) => text !== '')
    .map((text) => ({ text }))
}

function readContent(reading: Reading, item: JsonValue, index: number): Refused | undefined {
  const field = `contents[${index}]`
  const content: JsonObject | undefined =
    typeof item === 'string' ? { parts: [{ text: item }] } : objectOf(item)
  if (content === undefined) return refused(field, 'must be an object')
  const parts = partsOf(content.parts)
  if (parts === undefined) return refused(`${field}.parts`, 'must be an array')
  switch (textOf(content.role) ?? 'user') {
    case 'user':
    case 'function':
    case 'tool':
      return readUser(reading, parts, field)
    case 'model':
      return readModel(reading, parts, { field, index })
    default:
      return refused(`${field}.role`, 'must be user or model')
  }
}

function partsOf(value: Maybe): readonly JsonValue[] | undefined {
  if (value === undefined) return []
  if (isJsonArray(value)) return value
  return objectOf(value) === undefined ? undefined : [value]
}

function readUser(reading: Reading, items: readonly JsonValue[], field: string): Refused | undefined {
  const results: ToolResultPart[] = []
  const parts: Part[] = []
  for (const [index, item] of items.entries()) {
    const place = `${field}.parts[${index}]`
    const part = objectOf(item)
    if (part === undefined) return refused(place, 'must be an object')
    const response = objectOf(member(part, 'functionResponse'))
    if (response !== undefined) {
      const result = decodeResponsePart(reading, response, `${place}.functionResponse`)
      if (isRefused(result)) return result
      results.push(result)
    } else {
      const decoded = decodeContentPart(reading, part, place)
      if (isRefused(decoded)) return decoded
      addAll(parts, decoded)
    }
  }
  placeResults(reading, results)
  appendParts(reading, { role: 'user', parts })
  return undefined
}

interface ContentPlace {
  readonly field: string
  readonly index: number
}

function readModel(
  reading: Reading,
  items: readonly JsonValue[],
  { field, index }: ContentPlace,
): Refused | undefined {
  const parts: Part[] = []
  let calls = 0
  for (const [position, item] of items.entries()) {
    const place = `${field}.parts[${position}]`
    const part = objectOf(item)
    if (part === undefined) return refused(place, 'must be an object')
    const call = objectOf(member(part, 'functionCall'))
    if (call !== undefined) {
      const decoded = decodeCall(reading, part, call, { place, ownId: `call_${index}_${calls}` })
      if (isRefused(decoded)) return decoded
      parts.push(decoded)
      calls += 1
    } else {
      const decoded = decodeModelPart(reading, part, place)
      if (isRefused(decoded)) return decoded
      addAll(parts, decoded)
    }
  }
  appendModel(reading, parts)
  reading.behindCalls = reading.turns.length
  return undefined
}

/**
 * The official client keeps a streamed answer as one content per fragment, so the model's output comes back in pieces:
 * texts of neighbouring contents are joined again, and thoughts continue until their signature closes them.
 */
function appendModel(reading: Reading, parts: readonly Part[]): void {
  const [first] = parts
  if (first === undefined) return
  const last = reading.turns.at(-1)
  if (last?.role !== 'assistant') reading.turns.push({ role: 'assistant', parts: [] })
  const turn = reading.turns.at(-1)
  const before = turn?.parts.at(-1)
  for (const [index, part] of parts.entries()) {
    const previous = turn?.parts.at(-1)
    if (index === 0 && before?.type === 'text' && part.type === 'text') {
      turn?.parts.splice(-1, 1, { ...before, text: before.text + part.text })
    } else if (part.type === 'reasoning' && isOpenThought(previous)) {
      turn?.parts.splice(-1, 1, { ...part, text: previous.text + part.text })
    } else turn?.parts.push(part)
  }
}

function isOpenThought(part: Part | undefined): part is ReasoningPart {
  return part?.type === 'reasoning' && part.kind !== 'redacted' && part.signature === undefined
}

interface CallPlace {
  readonly place: string
  readonly ownId: string
}

function decodeCall(
  reading: Reading,
  part: JsonObject,
  call: JsonObject,
  { place, ownId }: CallPlace,
): ToolCallPart | Refused {
  const name = wordOf(call.name)
  if (name === undefined) return refused(`${place}.functionCall.name`, 'is required')
  if (nestsTooDeep(call.args)) return refused(`${place}.functionCall.args`, 'is nested too deeply')
  const id = wordOf(call.id) ?? ownId
  if (reading.callIds.has(id)) {
    return refused(`${place}.functionCall.id`, 'must be unique, another functionCall has it')
  }
  reading.callIds.add(id)
  reading.open.set(id, name)
  queueOf(reading, name).push(id)
  return {
    type: 'tool-call',
    id,
    name,
    namespace: undefined,
    kind: 'function',
    arguments: argumentsText(call.args),
    signature: signatureOf(part)?.signature,
  }
}

function signatureOf(part: JsonObject): ReturnType<typeof openSignature> | undefined {
  const sealed = wordOf(member(part, 'thoughtSignature'))
  return sealed === undefined || sealed === NO_SIGNATURE ? undefined : openSignature(sealed, 'gemini')
}

function decodeModelPart(reading: Reading, part: JsonObject, place: string): readonly Part[] | Refused {
  const opened = signatureOf(part)
  const text = textOf(part.text)
  if (text !== undefined && flagOf(part.thought) === true) {
    const kind = opened?.kind === 'raw' || opened?.kind === 'redacted' ? opened.kind : 'summary'
    return text === '' && opened === undefined ? [] : [reasoning(kind, text, opened?.signature)]
  }
  const decoded = decodeContentPart(reading, part, place)
  if (isRefused(decoded) || opened === undefined) return decoded
  // A signature on a text belongs to hidden thoughts; here it follows the text, as in a stream.
  return [...decoded, reasoning('redacted', '', opened.signature)]
}

function reasoning(
  kind: ReasoningPart['kind'],
  text: string,
  signature: Signature | undefined,
): ReasoningPart {
  return { type: 'reasoning', kind, text, signature }
}

function decodeResponsePart(reading: Reading, response: JsonObject, place: string): ToolResultPart | Refused {
  if (nestsTooDeep(response.response)) return refused(`${place}.response`, 'is nested too deeply')
  const callId = answeredCall(reading, response)
  if (callId === undefined) return refused(place, 'answers no open functionCall of an earlier model content')
  const { text, isError } = resultText(objectOf(response.response) ?? {})
  const media = decodeResponseMedia(response.parts)
  const texts: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }]
  return { type: 'tool-result', callId, kind: 'function', content: [...texts, ...media], isError }
}

function answeredCall(reading: Reading, response: JsonObject): string | undefined {
  const named = wordOf(response.id)
  const name = wordOf(response.name)
  const id = named !== undefined && reading.open.has(named) ? named : firstOpen(reading, name)
  if (id !== undefined) reading.open.delete(id)
  return id
}

function queueOf(reading: Reading, name: string): string[] {
  const known = reading.openByName.get(name)
  if (known !== undefined) return known
  const queue: string[] = []
  reading.openByName.set(name, queue)
  return queue
}

/** The queue may still hold calls that were answered by id; each is removed once. */
function firstOpen(reading: Reading, name: string | undefined): string | undefined {
  const queue = name === undefined ? undefined : reading.openByName.get(name)
  while (queue !== undefined && queue.length > 0) {
    const id = queue.shift()
    if (id !== undefined && reading.open.has(id)) return id
  }
  return undefined
}

/** `output` and `error` are Google's names for a function's result; anything else is the output as a whole. */
function resultText(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const keys = Object.keys(response)
  const [only] = keys
  if (keys.length === 1 && (only === 'output' || only === 'error')) {
    const value = response[only]
    return { text: typeof value === 'string' ? value : argumentsText(value), isError: only === 'error' }
  }
  return { text: keys.length === 0 ? '' : JSON.stringify(response), isError: false }
}

function decodeResponseMedia(value: Maybe): readonly MediaPart[] {
  return listOf(value).flatMap((item) => {
    const file = objectOf(member(objectOf(item), 'fileData'))
    const inline = objectOf(member(objectOf(item), 'inlineData'))
    const part = file === undefined ? decodeInline(inline) : decodeFile(file)
    return part === undefined ? [] : [part]
  })
}

/** Parts that may stand in a content of either role. */
function decodeContentPart(reading: Reading, part: JsonObject, place: string): readonly Part[] | Refused {
  const text = textOf(part.text)
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }]
  for (const unsaid of ['videoMetadata', 'mediaResolution', 'partMetadata']) {
    if (part[unsaid] !== undefined) reading.dropped.add(`contents[].parts[].${unsaid}`)
  }
  const inline = objectOf(member(part, 'inlineData'))
  if (inline !== undefined) {
    return listed(decodeInline(inline), `${place}.inlineData`, 'needs mimeType and data')
  }
  const file = objectOf(member(part, 'fileData'))
  if (file !== undefined) return listed(decodeFile(file), `${place}.fileData`, 'needs a fileUri')
  if (!OPAQUE.some((name) => part[name] !== undefined)) {
    return refused(place, 'holds no part that this protocol knows')
  }
  if (nestsTooDeep(part)) return refused(place, 'is nested too deeply')
  return [{ type: 'opaque', protocol: 'gemini', json: part }]
}

/** Parts of Google's own tools. */
const OPAQUE = [
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'executable_code',
  'code_execution_result',
]

function listed(part: MediaPart | undefined, field: string, message: string): readonly Part[] | Refused {
  return part === undefined ? refused(field, message) : [part]
}

function decodeInline(inline: JsonObject | undefined): MediaPart | undefined {
  const mediaType = wordOf(member(inline, 'mimeType'))
  const data = wordOf(inline?.data)
  if (mediaType === undefined || data === undefined) return undefined
  const filename = wordOf(member(inline, 'displayName'))
  return media({ kind: 'base64', mediaType, data }, mediaType, filename)
}

function decodeFile(file: JsonObject): MediaPart | undefined {
  const uri = wordOf(member(file, 'fileUri'))
  if (uri === undefined) return undefined
  const mediaType = wordOf(member(file, 'mimeType'))
  const filename = wordOf(member(file, 'displayName'))
  const source: MediaSource = isGoogleFile(uri)
    ? { kind: 'file-id', id: uri }
    : { kind: 'url', url: uri, mediaType }
  return media(source, mediaType ?? '', filename)
}

function media(source: MediaSource, mediaType: string, filename: string | undefined): MediaPart {
  return { type: 'media', media: kindOf(mediaType), source, detail: undefined, filename }
}

function kindOf(mediaType: string): MediaPart['media'] {
  if (mediaType.startsWith('image/')) return 'image'
  return mediaType.startsWith('audio/') ? 'audio' : 'file'
}
