/**
 * A canonical stream as Gemini fragments. Texts are sent as they arrive; a call is sent whole, as clients of this
 * protocol expect it; the last fragment carries the finish reasons and the usage (docs/reference/contract.md#6.3-03).
 */
import { sealSignature } from '../../../canonical/envelope.ts'
import type { Signature } from '../../../canonical/request.ts'
import type {
  BlockStart,
  Citation,
  Finish,
  StreamPart,
  ToolCallBlock,
  UpstreamError,
} from '../../../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../../../canonical/usage.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { brokenStream } from '../../error-body.ts'
import type { ReplyContext, StreamEncoder } from '../../protocol.ts'
import { HELD_CHARACTERS_MAX, serializeBlocks } from '../../serial-blocks.ts'
import { encodeCall, encodeCitations, estimateTokens, newReply, type Reply } from './encode-response.ts'
import { encodeError } from '../error.ts'
import { encodeFinish } from './finish.ts'
import { encodeUsage } from './usage.ts'

export function streamEncoder(context: ReplyContext): StreamEncoder {
  const serial = serializeBlocks()
  const stream = newStream(context)
  return {
    push: (part) => {
      let text = ''
      for (const next of serial.push(part)) text += pushPart(stream, next)
      return text
    },
    // The protocol has no keep-alive (docs/protocols.md#gemini-streams).
    keepAlive: () => '',
  }
}

interface Stream {
  readonly context: ReplyContext
  readonly reply: Reply
  readonly framing: Framing
  readonly blocks: Map<number, Writer>
  /** The JSON that follows the text of a fragment, by candidate. */
  readonly tails: Map<number, string>
  readonly finishes: Map<number, Finish>
  readonly citations: Map<number, Citation[]>
  usage: Usage
  over: boolean
  characters: number
  heldCharacters: number
}

type Writer = TextWriter | ThoughtWriter | CallWriter

interface TextWriter {
  readonly type: 'text'
  readonly candidate: number
}

interface ThoughtWriter {
  readonly type: 'thought'
  readonly candidate: number
  readonly kind: 'summary' | 'raw' | 'redacted'
  signature: Signature | undefined
}

interface CallWriter {
  readonly type: 'call'
  readonly candidate: number
  readonly start: Extract<BlockStart, { readonly type: 'tool-call' }>
  readonly pieces: string[]
  signature: Signature | undefined
}

function newStream(context: ReplyContext): Stream {
  return {
    context,
    reply: newReply(context),
    framing: context.framing === 'json-array' ? arrayFraming() : SSE,
    blocks: new Map(),
    tails: new Map(),
    finishes: new Map(),
    citations: new Map(),
    usage: NO_USAGE,
    over: false,
    characters: 0,
    heldCharacters: 0,
  }
}

/** How one JSON object after the other is sent. */
interface Framing {
  fragment(json: string): string
  /** Text after the last one. */
  close(): string
}

const SSE: Framing = { fragment: (json) => `data: ${json}\r\n\r\n`, close: () => '' }

function arrayFraming(): Framing {
  let first = true
  return {
    fragment: (json) => {
      const before = first ? '[' : ',\r\n'
      first = false
      return before + json
    },
    close: () => (first ? '[]' : '\r\n]'),
  }
}

function pushPart(stream: Stream, part: StreamPart): string {
  if (stream.over) return ''
  switch (part.type) {
    case 'block-start':
      return openBlock(stream, part.block, part.candidate, part.kind)
    case 'text-delta':
      return writeText(stream, stream.blocks.get(part.block), part.text)
    case 'arguments-delta':
      return holdArguments(stream, stream.blocks.get(part.block), part.text)
    case 'signature':
      keepSignature(stream.blocks.get(part.block), part.signature)
      return ''
    case 'citation':
      keepCitation(stream, stream.blocks.get(part.block), part.citation)
      return ''
    case 'block-end':
      return closeBlock(stream, part.block)
    case 'usage':
      stream.usage = mergeUsage(stream.usage, part.usage)
      return ''
    case 'finish':
      stream.finishes.set(part.candidate, part.finish)
      return ''
    case 'end':
      return stream.finishes.size === 0
        ? fail(stream, brokenStream('the upstream ended without finishing its answer'))
        : finish(stream)
    case 'error':
      return fail(stream, part.error)
    case 'start':
    case 'ping':
    case 'logprobs':
      return ''
  }
}

const FRAGMENT_HEAD = '{"candidates":[{"content":{"parts":['

/** Every fragment has model and id; only the part itself is encoded each time. */
function fragment(stream: Stream, candidate: number, part: string): string {
  return stream.framing.fragment(FRAGMENT_HEAD + part + tailOf(stream, candidate))
}

function tailOf(stream: Stream, candidate: number): string {
  const known = stream.tails.get(candidate)
  if (known !== undefined) return known
  const { model, responseId } = stream.context
  const version = `"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(responseId)}`
  const tail = `],"role":"model"},"index":${candidate}}],${version}}`
  stream.tails.set(candidate, tail)
  return tail
}

function openBlock(stream: Stream, block: number, candidate: number, kind: BlockStart): string {
  switch (kind.type) {
    case 'text':
    case 'refusal':
      stream.blocks.set(block, { type: 'text', candidate })
      return ''
    case 'reasoning':
      stream.blocks.set(block, { type: 'thought', candidate, kind: kind.kind, signature: undefined })
      return ''
    case 'tool-call':
      stream.blocks.set(block, { type: 'call', candidate, start: kind, pieces: [], signature: undefined })
      return ''
    case 'media':
      return wholePart(stream, candidate, { inlineData: { mimeType: kind.mediaType, data: kind.data } })
    case 'opaque':
      return kind.protocol === 'gemini' ? wholePart(stream, candidate, kind.json) : ''
  }
}

function wholePart(stream: Stream, candidate: number, part: JsonValue): string {
  return isJsonObject(part) ? fragment(stream, candidate, JSON.stringify(part)) : ''
}

function writeText(stream: Stream, writer: Writer | undefined, text: string): string {
  stream.characters += text.length
  if (text === '') return ''
  switch (writer?.type) {
    case 'text':
      return fragment(stream, writer.candidate, `{"text":${JSON.stringify(text)}}`)
    case 'thought':
      return stream.reply.showThoughts && writer.kind !== 'redacted'
        ? fragment(stream, writer.candidate, `{"text":${JSON.stringify(text)},"thought":true}`)
        : ''
    case 'call':
    case undefined:
      return ''
  }
}

function holdArguments(stream: Stream, writer: Writer | undefined, text: string): string {
  if (writer?.type !== 'call') return ''
  stream.characters += text.length
  stream.heldCharacters += text.length
  writer.pieces.push(text)
  return stream.heldCharacters > HELD_CHARACTERS_MAX
    ? fail(stream, brokenStream('the upstream sent longer tool arguments than can be held'))
    : ''
}

function keepSignature(writer: Writer | undefined, signature: Signature): void {
  if (writer?.type === 'thought' || writer?.type === 'call') writer.signature = signature
}

/** Sources named at the end of the candidate, as Google does it; limited like everything that is held. */
const CITATIONS_MAX = 1_000

function keepCitation(stream: Stream, writer: Writer | undefined, citation: Citation): void {
  if (writer === undefined) return
  const known = stream.citations.get(writer.candidate) ?? []
  if (known.length < CITATIONS_MAX) known.push(citation)
  stream.citations.set(writer.candidate, known)
}

function closeBlock(stream: Stream, block: number): string {
  const writer = stream.blocks.get(block)
  stream.blocks.delete(block)
  switch (writer?.type) {
    case 'thought':
      return closeThought(stream, writer)
    case 'call':
      return closeCall(stream, writer)
    case 'text':
    case undefined:
      return ''
  }
}

function closeThought(stream: Stream, { signature, kind, candidate }: ThoughtWriter): string {
  if (signature === undefined || !stream.reply.showThoughts) return ''
  const thoughtSignature = sealSignature(signature, kind, stream.reply.issuer)
  return wholePart(stream, candidate, { text: '', thought: true, thoughtSignature })
}

function closeCall(stream: Stream, { start, pieces, signature, candidate }: CallWriter): string {
  const written = pieces.join('')
  stream.heldCharacters -= written.length
  const call: ToolCallBlock = { ...start, arguments: written, signature }
  return wholePart(stream, candidate, encodeCall(call, stream.reply))
}

function finish(stream: Stream): string {
  stream.over = true
  const { context, usage, finishes } = stream
  const estimate = {
    inputTokens: context.inputTokensEstimate,
    outputTokens: estimateTokens(stream.characters),
  }
  const candidates = [...finishes].map(
    ([index, reason]): JsonObject => ({
      content: { parts: [{ text: '' }], role: 'model' },
      ...encodeFinish(reason),
      index,
      ...encodeCitations(stream.citations.get(index) ?? []),
    }),
  )
  const last = JSON.stringify({
    candidates,
    usageMetadata: encodeUsage(usage, estimate),
    modelVersion: context.model,
    responseId: context.responseId,
  })
  return stream.framing.fragment(last) + stream.framing.close()
}

/** An error object ends the stream; no finish reason, so that a cut answer does not look finished. */
function fail(stream: Stream, error: UpstreamError): string {
  stream.over = true
  return stream.framing.fragment(JSON.stringify(encodeError(error))) + stream.framing.close()
}
