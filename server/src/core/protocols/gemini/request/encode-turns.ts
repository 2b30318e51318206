/**
 * The conversation for a Gemini upstream. It requires, after a content with calls, one content with exactly as many
 * responses in the order of the calls; and the thoughts' signature on the calls of the turn in progress
 * (docs/protocols.md#gemini-requests).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { mayReplay } from '../../../canonical/envelope.ts'
import { argumentsObject, nestsTooDeep, parseJson } from '../../../canonical/json-text.ts'
import type {
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolReferencePart,
  ToolResultPart,
  Turn,
} from '../../../canonical/request.ts'
import { upstreamCallId } from '../../../canonical/tools/tool-names.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { type Plan, toolName } from './plan.ts'
import { isGoogleFile, NO_SIGNATURE, type WireContent } from '../wire.ts'

export function encodeContents(plan: Plan): readonly WireContent[] | Refused {
  const turns = resultsBehindCalls(plan.request.turns)
  const question = turns.findLastIndex(({ role }) => role === 'user')
  const layout: Layout = { contents: [], unanswered: [], results: [] }
  for (const [index, turn] of turns.entries()) {
    const refusal =
      (turn.role === 'tool' ? undefined : answerCalls(layout, plan)) ??
      placeTurn(layout, turn, { plan, inProgress: index > question })
    if (refusal !== undefined) return refusal
  }
  // Calls at the very end are for the client to answer.
  const refusal = layout.results.length > 0 ? answerCalls(layout, plan) : undefined
  if (refusal !== undefined) return refusal
  return layout.contents.length === 0 ? unsupported('turns', 'every message is empty') : layout.contents
}

interface Layout {
  readonly contents: WireContent[]
  /** Calls of the last model content without responses yet. */
  unanswered: readonly ToolCallPart[]
  results: readonly ToolResultPart[]
}

interface TurnPlace {
  readonly plan: Plan
  /** After the last user text: the model has not finished this turn. */
  readonly inProgress: boolean
}

/** A system message must not separate results from their calls. */
function resultsBehindCalls(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn, index) => {
    const [before, after] = [turns[index - 1], turns[index + 1]]
    if (turn.role === 'system' && after?.role === 'tool') return after
    return turn.role === 'tool' && before?.role === 'system' ? before : turn
  })
}

function placeTurn(layout: Layout, turn: Turn, { plan, inProgress }: TurnPlace): Refused | undefined {
  switch (turn.role) {
    case 'tool':
      layout.results = [...layout.results, ...turn.parts.filter((part) => part.type === 'tool-result')]
      return undefined
    case 'user':
      return placeContent(layout, 'user', encodeParts(turn.parts, plan))
    case 'system':
      return placeContent(layout, 'user', encodeParts(turn.parts.map(wrapped), plan))
    case 'assistant':
      layout.unanswered = turn.parts.filter((part) => part.type === 'tool-call')
      return placeContent(layout, 'model', encodeModelParts(turn.parts, plan, inProgress))
  }
}

function wrapped(part: Part): Part {
  return part.type === 'text' ? { ...part, text: `<system>\n${part.text}\n</system>` } : part
}

function placeContent(
  layout: Layout,
  role: WireContent['role'],
  parts: readonly JsonObject[] | Refused,
): Refused | undefined {
  if (isRefused(parts)) return parts
  if (parts.length > 0) layout.contents.push({ role, parts })
  return undefined
}

/**
 * One response per call, in the order of the calls; an unanswered call gets an error as its response
 * (docs/protocols.md#trap-29).
 */
function answerCalls(layout: Layout, plan: Plan): Refused | undefined {
  const { unanswered, results } = layout
  layout.unanswered = []
  layout.results = []
  const byCall = new Map(results.map((result) => [result.callId, result]))
  const responses: JsonObject[] = []
  const beside: JsonObject[] = []
  for (const call of unanswered) {
    const encoded = encodeResponse(call, byCall.get(call.id), plan)
    if (isRefused(encoded)) return encoded
    responses.push(encoded.response)
    addAll(beside, encoded.beside)
    byCall.delete(call.id)
  }
  for (const orphan of byCall.values()) beside.push({ text: textOfResult(orphan) })
  return (
    placeContent(layout, 'user', responses) ??
    placeContent(
      layout,
      'user',
      beside.filter(({ text }) => text !== ''),
    )
  )
}

interface EncodedResponse {
  readonly response: JsonObject
  /** Media that this model does not accept inside a response. */
  readonly beside: readonly JsonObject[]
}

function encodeResponse(
  call: ToolCallPart,
  result: ToolResultPart | undefined,
  plan: Plan,
): EncodedResponse | Refused {
  const { imagesInToolResults, toolIdMax } = plan.target.capabilities
  const id = toolIdMax > 0 ? { id: upstreamCallId(call.id, toolIdMax) } : {}
  const name = toolName(call, plan)
  const media = encodeParts(result?.content.filter((part) => part.type === 'media') ?? [], plan)
  if (isRefused(media)) return media
  const parts = imagesInToolResults && media.length > 0 ? { parts: media } : {}
  const response = { functionResponse: { ...id, name, response: responseObject(result), ...parts } }
  if (imagesInToolResults || media.length === 0) return { response, beside: [] }
  return { response, beside: [{ text: `Attached to the result of ${name}:` }, ...media] }
}

/** A JSON object is the response itself; anything else goes under Google's name for output or error. */
function responseObject(result: ToolResultPart | undefined): JsonObject {
  if (result === undefined) return { error: 'the call was not answered' }
  const text = textOfResult(result)
  if (result.isError) return { error: text }
  const value = text.startsWith('{') ? parseJson(text) : undefined
  return isJsonObject(value) && !nestsTooDeep(value) ? value : { output: text }
}

function textOfResult({ content }: ToolResultPart): string {
  return content
    .map(asText)
    .filter((text) => text !== '')
    .join('\n')
}

function asText(part: TextPart | MediaPart | ToolReferencePart): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'tool-reference':
      return `[Loaded tool: ${part.toolName}]`
    case 'media':
      return ''
  }
}

/** Parts of a user content; what only model contents can hold is dropped. */
function encodeParts(parts: readonly Part[], plan: Plan): readonly JsonObject[] | Refused {
  const encoded: JsonObject[] = []
  for (const part of parts) {
    const json = encodePart(part, plan)
    if (isRefused(json)) return json
    if (json !== undefined) encoded.push(json)
  }
  return encoded
}

function encodePart(part: Part, plan: Plan): JsonObject | undefined | Refused {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? undefined : { text: part.text }
    case 'media':
      return encodeMedia(part, plan)
    case 'opaque':
      if (part.protocol === 'gemini' && isJsonObject(part.json)) return part.json
      plan.dropped.add('opaqueHistory')
      return undefined
    case 'tool-call':
    case 'tool-result':
    case 'reasoning':
      return undefined
  }
}

function encodeModelParts(
  parts: readonly Part[],
  plan: Plan,
  inProgress: boolean,
): readonly JsonObject[] | Refused {
  const encoded: JsonObject[] = []
  // Gemini signs the first of parallel calls only, and looks for it only there.
  let first = true
  for (const part of parts) {
    if (part.type === 'tool-call') {
      encoded.push(encodeCall(part, plan, inProgress && first))
      first = false
    } else if (part.type === 'reasoning') placeReasoning(encoded, part, plan)
    else {
      const json = encodePart(part, plan)
      if (isRefused(json)) return json
      if (json !== undefined) encoded.push(json)
    }
  }
  return encoded
}

function encodeCall(part: ToolCallPart, plan: Plan, needsSignature: boolean): JsonObject {
  const { capabilities } = plan.target
  const id = capabilities.toolIdMax > 0 ? { id: upstreamCallId(part.id, capabilities.toolIdMax) } : {}
  const args = part.kind === 'custom' ? { input: part.arguments } : argumentsObject(part.arguments)
  const functionCall = { ...id, name: toolName(part, plan), args }
  const { signature } = part
  if (mayReplay(signature, readerOf(plan))) return { functionCall, thoughtSignature: signature.data }
  if (signature !== undefined) plan.dropped.add('signatures')
  // Only the third generation, the one with levels, refuses calls without a signature.
  return needsSignature && capabilities.reasoning === 'level'
    ? { functionCall, thoughtSignature: NO_SIGNATURE }
    : { functionCall }
}

function readerOf({ target }: Plan): { readonly protocol: 'gemini'; readonly issuer: string } {
  return { protocol: 'gemini', issuer: target.issuer }
}

/** A bare blob belongs to the text before it; visible thoughts are parts of their own. */
function placeReasoning(encoded: JsonObject[], part: ReasoningPart, plan: Plan): void {
  const { signature } = part
  if (!mayReplay(signature, readerOf(plan))) {
    plan.dropped.add('reasoningHistory')
    return
  }
  const thoughtSignature = signature.data
  if (part.kind !== 'redacted') {
    encoded.push({ text: part.text, thought: true, thoughtSignature })
    return
  }
  const last = encoded.at(-1)
  const belongs = last !== undefined && typeof last.text === 'string' && last.thoughtSignature === undefined
  if (belongs) encoded.splice(-1, 1, { ...last, thoughtSignature })
  else encoded.push({ text: '', thoughtSignature })
}

function encodeMedia(part: MediaPart, plan: Plan): JsonObject | Refused {
  const { capabilities } = plan.target
  if (part.detail !== undefined) plan.dropped.add('imageDetail')
  if (part.filename !== undefined && part.source.kind !== 'text') plan.dropped.add('filename')
  switch (part.media) {
    case 'image':
      return encodeSource(part, capabilities.images, 'images')
    case 'file':
      return encodeSource(part, capabilities.documents, 'documents')
    case 'audio':
      return encodeSource(part, capabilities.audio ? 'inline' : 'none', 'audio')
  }
}

function encodeSource(
  { source, filename, media }: MediaPart,
  takes: 'url' | 'inline' | 'none',
  what: string,
): JsonObject | Refused {
  if (source.kind === 'text')
    return { text: filename === undefined ? source.text : `${filename}\n${source.text}` }
  if (takes === 'none') return unsupported('turns', `this model takes no ${what}`)
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'url': {
      if (takes === 'inline')
        return unsupported('turns', `${what} must be sent inline: this model fetches no addresses`)
      return { fileData: { fileUri: source.url, mimeType: source.mediaType ?? typeOfUrl(source.url, media) } }
    }
    case 'file-id':
      return isGoogleFile(source.id)
        ? { fileData: { fileUri: source.id } }
        : unsupported('turns', 'the upstream of this model does not know this file: send its content')
  }
}

/** Google requires the media type of an address; only its file extension indicates it. */
function typeOfUrl(url: string, media: MediaPart['media']): string {
  const ending = /\.([a-z0-9]{1,5})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? ''
  return MEDIA_TYPES[ending] ?? FALLBACK_TYPES[media]
}

const MEDIA_TYPES: Readonly<Record<string, string | undefined>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  wav: 'audio/wav',
  mp3: 'audio/mp3',
  mp4: 'video/mp4',
}

const FALLBACK_TYPES: Readonly<Record<MediaPart['media'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mp3',
  file: 'application/pdf',
}
