/**
 * The conversation for a messages upstream. It accepts one layout only: a user message that answers calls begins with
 * all the results, no text is blank, and thinking is sent back unchanged or not at all
 * (docs/protocols.md#messages-requests).
 */
import { addAll } from '../../../canonical/add-all.ts'
import { answerOpenCalls } from '../../../canonical/tools/answer-open-calls.ts'
import { mayReplay } from '../../../canonical/envelope.ts'
import { argumentsObject } from '../../../canonical/json-text.ts'
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
import { isVideo } from '../../chain-limits.ts'
import type { Refused } from '../../protocol.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import type { CacheControls } from './cache-marks.ts'
import { outputInstruction, type Plan, toolName } from './plan.ts'
import type { WireMessage, WireMessageRole } from '../wire.ts'

export function encodeSystem(plan: Plan, marks: CacheControls): readonly JsonObject[] {
  const blocks = plan.request.system
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, cache }) => marked({ type: 'text', text }, cache, marks))
  const instruction = outputInstruction(plan)
  return instruction === undefined ? blocks : [...blocks, { type: 'text', text: instruction }]
}

export function encodeTurns(plan: Plan, marks: CacheControls): readonly WireMessage[] | Refused {
  const messages: Message[] = []
  for (const turn of answerOpenCalls(plan.request.turns)) {
    const blocks = encodeParts(turn, plan, marks)
    if (isRefused(blocks)) return blocks
    // An empty turn must not separate its neighbours.
    if (blocks.length > 0) place(messages, turn.role, blocks, plan)
  }
  if (messages.length === 0) return unsupported('turns', 'every message is empty')
  return withFirstQuestion(messages.map(wireMessage)).map(withoutTrailingBlank)
}

/** A message being laid out: results apart, since they go first whatever the order they came in. */
interface Message {
  readonly role: WireMessageRole
  readonly results: JsonObject[]
  readonly others: JsonObject[]
}

function wireMessage({ role, results, others }: Message): WireMessage {
  return { role, content: [...results, ...others] }
}

function place(messages: Message[], role: Turn['role'], blocks: readonly JsonObject[], plan: Plan): void {
  switch (role) {
    case 'tool':
      // A system message in between must not separate the results from their calls.
      addAll(messageOf(messages, 'user', 'behind-calls').results, blocks)
      return
    case 'user':
      addAll(messageOf(messages, 'user').others, blocks)
      return
    case 'assistant':
      addAll(messageOf(messages, 'assistant').others, blocks)
      return
    case 'system':
      placeSystem(messages, blocks, plan)
      return
  }
}

/** If the model does not support system messages in the middle, it becomes a user message that is marked as such. */
function placeSystem(messages: Message[], blocks: readonly JsonObject[], plan: Plan): void {
  if (plan.target.capabilities.midSystem) {
    addAll(messageOf(messages, 'system').others, blocks)
    return
  }
  const wrapped = blocks.map((block) =>
    typeof block.text === 'string' ? { ...block, text: `<system>\n${block.text}\n</system>` } : block,
  )
  addAll(messageOf(messages, 'user').others, wrapped)
}

/** The last message when it is of this role, else a new one. */
function messageOf(
  messages: Message[],
  role: WireMessageRole,
  where: 'end' | 'behind-calls' = 'end',
): Message {
  const last = messages.at(-1)
  if (last?.role === role) return last
  const message: Message = { role, results: [], others: [] }
  if (where === 'behind-calls' && last?.role === 'system') messages.splice(-1, 0, message)
  else messages.push(message)
  return message
}

/** A conversation must open with the user. */
function withFirstQuestion(messages: readonly WireMessage[]): readonly WireMessage[] {
  if (messages[0]?.role !== 'assistant') return messages
  return [{ role: 'user', content: [{ type: 'text', text: '(The conversation begins.)' }] }, ...messages]
}

/** A message to be continued must not end in blanks. */
function withoutTrailingBlank(message: WireMessage, index: number, all: readonly WireMessage[]): WireMessage {
  const last = message.content.at(-1)
  const text = last?.type === 'text' && typeof last.text === 'string' ? last.text : undefined
  if (index < all.length - 1 || message.role !== 'assistant' || text === undefined) return message
  return { ...message, content: [...message.content.slice(0, -1), { ...last, text: text.trimEnd() }] }
}

function encodeParts(turn: Turn, plan: Plan, marks: CacheControls): readonly JsonObject[] | Refused {
  const blocks: JsonObject[] = []
  for (const part of turn.parts) {
    if (turn.role === 'assistant' && part.type === 'media') {
      // Assistant messages of this protocol cannot hold images.
      plan.dropped.add('media')
      continue
    }
    const encoded = encodePart(part, plan, marks)
    if (isRefused(encoded)) return encoded
    addAll(blocks, encoded)
  }
  return turn.role === 'assistant' ? withoutLastThoughts(blocks) : blocks
}

/** A message must not end with thinking, as that of a cut answer would. */
function withoutLastThoughts(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const end = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  return blocks.slice(0, end + 1)
}

function encodePart(part: Part, plan: Plan, marks: CacheControls): readonly JsonObject[] | Refused {
  switch (part.type) {
    case 'text':
      return encodeText(part, marks)
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    case 'media': {
      const block = encodeMedia(part, plan)
      return isRefused(block) ? block : [marked(block, part.cache, marks)]
    }
    case 'tool-call':
      return [encodeToolCall(part, plan, marks)]
    case 'tool-result':
      return encodeToolResult(part, plan, marks)
    case 'reasoning':
      return encodeReasoning(part, plan)
    case 'opaque':
      return encodeOpaque(part, plan)
  }
}

function encodeOpaque(part: Extract<Part, { type: 'opaque' }>, { dropped }: Plan): readonly JsonObject[] {
  if (part.protocol === 'messages' && isJsonObject(part.json)) return [part.json]
  dropped.add('opaqueHistory')
  return []
}

function marked(block: JsonObject, cache: TextPart['cache'], marks: CacheControls): JsonObject {
  const control = marks.take(cache)
  return control === undefined ? block : { ...block, cache_control: control }
}

/** Blank texts are refused upstream (docs/protocols.md#trap-30). */
function encodeText({ text, cache }: TextPart, marks: CacheControls): readonly JsonObject[] {
  return text.trim() === '' ? [] : [marked({ type: 'text', text }, cache, marks)]
}

function encodeMedia(part: MediaPart, plan: Plan): JsonObject | Refused {
  switch (part.media) {
    case 'image':
      return encodeImage(part, plan)
    case 'file':
      return encodeDocument(part, plan)
    case 'audio':
      return unsupported('turns', 'this model takes no audio')
  }
}

function encodeImage({ source, detail }: MediaPart, { target, dropped }: Plan): JsonObject | Refused {
  const { images } = target.capabilities
  if (images === 'none') return unsupported('turns', 'this model takes no images')
  if (detail !== undefined) dropped.add('imageDetail')
  switch (source.kind) {
    case 'base64':
      return { type: 'image', source: base64Source(source) }
    case 'url':
      if (images === 'inline')
        return unsupported('turns', 'the image must be sent inline: this model fetches no addresses')
      return { type: 'image', source: { type: 'url', url: source.url } }
    case 'file-id':
      return unsupported('turns', 'the upstream of this model does not know this file: send its content')
    case 'text':
      return unsupported('turns', 'an image cannot be sent as text')
  }
}

function base64Source({
  mediaType,
  data,
}: {
  readonly mediaType: string
  readonly data: string
}): JsonObject {
  return { type: 'base64', media_type: mediaType, data }
}

function encodeDocument(part: MediaPart, { target, dropped }: Plan): JsonObject | Refused {
  const { documents } = target.capabilities
  const { source, filename } = part
  const title = filename === undefined ? {} : { title: filename }
  if (source.kind === 'text') {
    if (documents !== 'none') {
      const data = { type: 'text', media_type: 'text/plain', data: source.text }
      return { type: 'document', source: data, ...title }
    }
    return { type: 'text', text: filename === undefined ? source.text : `${filename}\n${source.text}` }
  }
  if (source.kind === 'file-id')
    return unsupported('turns', 'the upstream of this model does not know this file: send its content')
  if (isVideo(part)) return unsupported('turns', 'this model takes no videos')
  if (documents === 'none') return unsupported('turns', 'this model takes no documents')
  if (source.kind === 'url') {
    if (documents === 'inline')
      return unsupported('turns', 'the file must be sent inline: this model fetches no addresses')
    return { type: 'document', source: { type: 'url', url: source.url }, ...title }
  }
  if (source.mediaType.startsWith('image/')) {
    if (filename !== undefined) dropped.add('filename')
    return { type: 'image', source: base64Source(source) }
  }
  return { type: 'document', source: base64Source(source), ...title }
}

function callId(id: string, { target }: Plan): string {
  return upstreamCallId(id, target.capabilities.toolIdMax)
}

function encodeToolCall(part: ToolCallPart, plan: Plan, marks: CacheControls): JsonObject {
  const input = part.kind === 'custom' ? { input: part.arguments } : argumentsObject(part.arguments)
  const block = { type: 'tool_use', id: callId(part.id, plan), name: toolName(part, plan), input }
  return marked(block, part.cache, marks)
}

function encodeToolResult(
  part: ToolResultPart,
  plan: Plan,
  marks: CacheControls,
): readonly JsonObject[] | Refused {
  const content: JsonObject[] = []
  for (const inner of part.content) {
    const block = encodeResultPart(inner, plan)
    if (isRefused(block)) return block
    if (block !== undefined) content.push(block)
  }
  // An error without text is refused upstream.
  if (part.isError && content.length === 0) content.push({ type: 'text', text: 'Error' })
  const block = {
    type: 'tool_result',
    tool_use_id: callId(part.callId, plan),
    ...(content.length === 0 ? {} : { content }),
    ...(part.isError ? { is_error: true } : {}),
  }
  return [marked(block, part.cache, marks)]
}

function encodeResultPart(
  part: TextPart | MediaPart | ToolReferencePart,
  plan: Plan,
): JsonObject | Refused | undefined {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
    case 'tool-reference':
      // The tool itself is sent in full, not deferred, so a reference would have no target.
      return { type: 'text', text: `[Loaded tool: ${part.toolName}]` }
    case 'media':
      return encodeMedia(part, plan)
  }
}

/** Thinking is sent back only to its issuer, in the block it came in (docs/protocols.md#trap-20, #trap-21). */
function encodeReasoning(part: ReasoningPart, { target, dropped }: Plan): readonly JsonObject[] {
  const { signature } = part
  if (!mayReplay(signature, { protocol: 'messages', issuer: target.issuer })) {
    dropped.add('reasoningHistory')
    return []
  }
  if (part.kind === 'redacted') return [{ type: 'redacted_thinking', data: signature.data }]
  return [{ type: 'thinking', thinking: part.text, signature: signature.data }]
}
