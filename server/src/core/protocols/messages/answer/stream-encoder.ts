/**
 * A canonical stream as message events. Clients store blocks by position and support one open block, so blocks are
 * serialised, numbered when they open and stopped once; a block opens with its first content
 * (docs/protocols.md#trap-3, #trap-5, #trap-6, #trap-7, #trap-8).
 */
import { sealSignature } from '../../../canonical/envelope.ts'
import type { Signature } from '../../../canonical/request.ts'
import type { BlockStart, Finish, StreamPart, UpstreamError } from '../../../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../../../canonical/usage.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { brokenStream } from '../../error-body.ts'
import type { ReplyContext, StreamEncoder } from '../../protocol.ts'
import { serializeBlocks } from '../../serial-blocks.ts'
import { callSignatureBlock, clientCallId, messageId, newReply, type Reply } from './encode-response.ts'
import { encodeError } from '../error.ts'
import { encodeFinish } from './finish.ts'
import { encodeUsage, estimateTokens } from './usage.ts'

export function streamEncoder(context: ReplyContext): StreamEncoder {
  const serial = serializeBlocks()
  const stream = newStream(context)
  return {
    push: (part) => {
      let text = ''
      for (const next of serial.push(part)) text += pushPart(stream, next)
      return text
    },
    keepAlive: () => (stream.begun && !stream.over ? PING : ''),
  }
}

const PING = 'event: ping\ndata: {"type": "ping"}\n\n'

interface Stream {
  readonly context: ReplyContext
  readonly reply: Reply
  usage: Usage
  finish: Finish | undefined
  begun: boolean
  over: boolean
  /** Position of the next block. */
  nextIndex: number
  /** The canonical block that is open, if it is one this client sees. */
  open: OpenBlock | undefined
  openNumber: number | undefined
  characters: number
}

type OpenBlock = TextWriter | ThinkingWriter | ToolWriter

interface TextWriter {
  readonly type: 'text'
  /** Blank beginning, kept until something follows. */
  held: string
  deltaHead: string | undefined
}

interface ThinkingWriter {
  readonly type: 'thinking'
  readonly kind: 'summary' | 'raw' | 'redacted'
  signature: Signature | undefined
  deltaHead: string | undefined
}

interface ToolWriter {
  readonly type: 'tool'
  readonly id: string
  readonly name: string
  readonly custom: boolean
  signature: Signature | undefined
  wrote: boolean
  deltaHead: string | undefined
}

function newStream(context: ReplyContext): Stream {
  return {
    context,
    reply: newReply(context),
    usage: NO_USAGE,
    finish: undefined,
    begun: false,
    over: false,
    nextIndex: 0,
    open: undefined,
    openNumber: undefined,
    characters: 0,
  }
}

function pushPart(stream: Stream, part: StreamPart): string {
  if (stream.over) return ''
  switch (part.type) {
    case 'start':
      // Nothing is sent before the first real event: an upstream of this protocol reports its input with the start.
      return ''
    case 'usage':
      stream.usage = mergeUsage(stream.usage, part.usage)
      return ''
    case 'ping':
      return stream.begun ? PING : ''
    case 'block-start':
      return part.candidate === 0 ? begin(stream) + openBlock(stream, part.block, part.kind) : ''
    case 'text-delta':
      return part.block === stream.openNumber ? writeText(stream, part.text) : ''
    case 'arguments-delta':
      return part.block === stream.openNumber ? writeArguments(stream, part.text) : ''
    case 'signature':
      return part.block === stream.openNumber ? writeSignature(stream, part.signature) : ''
    case 'block-end':
      return part.block === stream.openNumber ? closeBlock(stream) : ''
    case 'finish':
      if (part.candidate === 0) stream.finish = part.finish
      return ''
    case 'end':
      return stream.finish === undefined
        ? fail(stream, brokenStream('the upstream ended without finishing its answer'))
        : finish(stream, stream.finish)
    case 'error':
      return fail(stream, part.error)
    case 'citation':
    case 'logprobs':
      return ''
  }
}

function event(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

function begin(stream: Stream): string {
  if (stream.begun) return ''
  stream.begun = true
  const { context, usage } = stream
  const estimate = { inputTokens: context.inputTokensEstimate, outputTokens: 0 }
  return event('message_start', {
    type: 'message_start',
    message: {
      id: messageId(context),
      type: 'message',
      role: 'assistant',
      model: context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage(usage, estimate),
    },
  })
}

function openBlock(stream: Stream, number: number, kind: BlockStart): string {
  switch (kind.type) {
    case 'text':
    case 'refusal':
      setOpen(stream, number, { type: 'text', held: '', deltaHead: undefined })
      return ''
    case 'reasoning':
      setOpen(stream, number, {
        type: 'thinking',
        kind: kind.kind,
        signature: undefined,
        deltaHead: undefined,
      })
      return ''
    case 'tool-call':
      setOpen(stream, number, {
        type: 'tool',
        id: clientCallId(kind.id),
        name: stream.reply.findTool(kind.name).name,
        custom: kind.kind === 'custom',
        signature: undefined,
        wrote: false,
        deltaHead: undefined,
      })
      return ''
    case 'opaque':
      return kind.protocol === 'messages' ? wholeBlock(stream, kind.json) : ''
    case 'media':
      return ''
  }
}

function setOpen(stream: Stream, number: number, block: OpenBlock): void {
  stream.open = block
  stream.openNumber = number
}

/** A block that has no deltas. */
function wholeBlock(stream: Stream, json: JsonValue): string {
  if (!isJsonObject(json)) return ''
  const index = stream.nextIndex
  return startBlock(stream, json) + stopBlock(index)
}

function startBlock(stream: Stream, block: JsonObject): string {
  const index = stream.nextIndex
  stream.nextIndex += 1
  return event('content_block_start', { type: 'content_block_start', index, content_block: block })
}

function stopBlock(index: number): string {
  return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`
}

/** The JSON before the text of every delta of a block; only the text itself is encoded each time. */
function deltaHead(index: number, type: string, member: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":`
}

const DELTA_TAIL = '}}\n\n'

function delta(head: string, text: string): string {
  return head + JSON.stringify(text) + DELTA_TAIL
}

function writeText(stream: Stream, text: string): string {
  const { open } = stream
  stream.characters += text.length
  switch (open?.type) {
    case 'text':
      return writeAnswer(stream, open, text)
    case 'thinking':
      return writeThinking(stream, open, text)
    case 'tool':
    case undefined:
      return ''
  }
}

/**
 * The API refuses blank texts when they come back, so a blank beginning is held until more follows
 * (docs/protocols.md#trap-6, #trap-30).
 */
function writeAnswer(stream: Stream, writer: TextWriter, text: string): string {
  if (writer.deltaHead !== undefined) return text === '' ? '' : delta(writer.deltaHead, text)
  writer.held += text
  if (writer.held.trim() === '') return ''
  writer.deltaHead = deltaHead(stream.nextIndex, 'text_delta', 'text')
  return startBlock(stream, { type: 'text', text: '' }) + delta(writer.deltaHead, writer.held)
}

function writeThinking(stream: Stream, writer: ThinkingWriter, text: string): string {
  if (text === '' || writer.kind === 'redacted' || stream.reply.thinking !== 'shown') return ''
  const start = openThinking(stream, writer)
  return start + delta(writer.deltaHead ?? '', text)
}

function openThinking(stream: Stream, writer: ThinkingWriter): string {
  if (writer.deltaHead !== undefined) return ''
  writer.deltaHead = deltaHead(stream.nextIndex, 'thinking_delta', 'thinking')
  return startBlock(stream, { type: 'thinking', thinking: '', signature: '' })
}

function writeArguments(stream: Stream, text: string): string {
  const writer = stream.open
  if (writer?.type !== 'tool') return ''
  stream.characters += text.length
  // Blanks before the first brace have no meaning, and a call without arguments has no deltas.
  if (!writer.custom && !writer.wrote && text.trim() === '') return ''
  const start = openTool(stream, writer)
  const begun = writer.wrote
  writer.wrote = true
  const json = writer.custom ? (begun ? '' : '{"input":"') + JSON.stringify(text).slice(1, -1) : text
  return start + delta(writer.deltaHead ?? '', json)
}

/** The call is opened at its first argument, so that its signature block can precede it. */
function openTool(stream: Stream, writer: ToolWriter): string {
  if (writer.deltaHead !== undefined) return ''
  const before = callSignature(stream, writer)
  writer.deltaHead = deltaHead(stream.nextIndex, 'input_json_delta', 'partial_json')
  const { id, name } = writer
  return before + startBlock(stream, { type: 'tool_use', id, name, input: {} })
}

function callSignature(stream: Stream, writer: ToolWriter): string {
  if (writer.signature === undefined) return ''
  const block = callSignatureBlock(writer.signature, writer.id, stream.reply.issuer)
  writer.signature = undefined
  return wholeBlock(stream, block)
}

function writeSignature(stream: Stream, signature: Signature): string {
  const { open } = stream
  if (open?.type === 'thinking' || open?.type === 'tool') open.signature = signature
  return ''
}

function closeBlock(stream: Stream): string {
  const { open } = stream
  stream.open = undefined
  stream.openNumber = undefined
  switch (open?.type) {
    case 'text':
      return open.deltaHead === undefined ? '' : stopBlock(stream.nextIndex - 1)
    case 'thinking':
      return closeThinking(stream, open)
    case 'tool':
      return closeTool(stream, open)
    case undefined:
      return ''
  }
}

/** The signature is sent once, just before the stop: the client replaces it, it does not append. */
function closeThinking(stream: Stream, writer: ThinkingWriter): string {
  const { signature, kind } = writer
  const { issuer, thinking } = stream.reply
  if (thinking === 'hidden') return ''
  const sealed = signature === undefined ? undefined : sealSignature(signature, kind, issuer)
  if (kind === 'redacted') {
    return sealed === undefined ? '' : wholeBlock(stream, { type: 'redacted_thinking', data: sealed })
  }
  if (sealed === undefined) return writer.deltaHead === undefined ? '' : stopBlock(stream.nextIndex - 1)
  const start = openThinking(stream, writer)
  const index = stream.nextIndex - 1
  return start + delta(deltaHead(index, 'signature_delta', 'signature'), sealed) + stopBlock(index)
}

function closeTool(stream: Stream, writer: ToolWriter): string {
  const start = openTool(stream, writer)
  const rest = writer.custom ? delta(writer.deltaHead ?? '', writer.wrote ? '"}' : '{"input":""}') : ''
  const stop = stopBlock(stream.nextIndex - 1)
  return start + rest + stop + callSignature(stream, writer)
}

function finish(stream: Stream, reason: Finish): string {
  const begun = begin(stream)
  stream.over = true
  const estimate = {
    inputTokens: stream.context.inputTokensEstimate,
    outputTokens: estimateTokens(stream.characters),
  }
  return (
    begun +
    event('message_delta', {
      type: 'message_delta',
      delta: encodeFinish(reason),
      usage: encodeUsage(stream.usage, estimate),
    }) +
    event('message_stop', { type: 'message_stop' })
  )
}

/** No `message_stop`: a cut answer must not look finished (docs/reference/contract.md#D-errors-35). */
function fail(stream: Stream, error: UpstreamError): string {
  stream.over = true
  return event('error', encodeError(error))
}
