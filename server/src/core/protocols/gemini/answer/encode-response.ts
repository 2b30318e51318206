/** A canonical answer as a Gemini client reads it (docs/protocols.md#gemini-answers). */
import { sealSignature } from '../../../canonical/envelope.ts'
import { argumentsObject } from '../../../canonical/json-text.ts'
import type {
  Block,
  Candidate,
  CanonicalResponse,
  Citation,
  ReasoningBlock,
  ToolCallBlock,
} from '../../../canonical/response.ts'
import { findTools, type ToolFinder } from '../../../canonical/tools/tool-names.ts'
import { NO_USAGE } from '../../../canonical/usage.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import type { ReplyContext } from '../../protocol.ts'
import { encodeFinish } from './finish.ts'
import { encodeUsage } from './usage.ts'

export function encodeResponse(response: CanonicalResponse, context: ReplyContext): JsonObject {
  const reply = newReply(context)
  const characters = response.candidates
    .flatMap(({ blocks }) => blocks)
    .reduce((sum, block) => sum + charactersOf(block), 0)
  const estimate = { inputTokens: context.inputTokensEstimate, outputTokens: estimateTokens(characters) }
  return {
    candidates: response.candidates.map((candidate) => encodeCandidate(candidate, reply)),
    usageMetadata: encodeUsage(response.usage ?? NO_USAGE, estimate),
    modelVersion: context.model,
    responseId: context.responseId,
  }
}

/** What the parts of one answer are encoded with. */
export interface Reply {
  readonly issuer: string
  readonly findTool: ToolFinder
  /** Google sends thoughts only to clients that ask for them; others read the first part as the answer. */
  readonly showThoughts: boolean
}

/** Shorter than any target's limit, so that every name that had to be changed is found again. */
const NAME_LENGTH = 64

export function newReply(context: ReplyContext): Reply {
  const { reasoning, tools } = context.request
  return {
    issuer: context.issuer,
    findTool: findTools(tools, NAME_LENGTH),
    showThoughts: reasoning?.expose === true,
  }
}

/** About four characters a token: good enough for a context meter, never used for billing. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}

function encodeCandidate({ index, blocks, finish }: Candidate, reply: Reply): JsonObject {
  const parts = blocks.flatMap((block) => encodeBlock(block, reply))
  const citations = blocks.flatMap((block) => (block.type === 'text' ? block.citations : []))
  return {
    // Clients treat content without parts as an invalid answer.
    content: { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' },
    ...encodeFinish(finish),
    index,
    ...encodeCitations(citations),
  }
}

export function encodeCitations(citations: readonly Citation[]): JsonObject {
  if (citations.length === 0) return {}
  const titles = new Map(citations.map(({ url, title }) => [url, title]))
  const groundingChunks = [...titles].map(([uri, title]) => ({
    web: title === undefined ? { uri } : { uri, title },
  }))
  return { groundingMetadata: { groundingChunks } }
}

function encodeBlock(block: Block, reply: Reply): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'reasoning':
      return encodeReasoning(block, reply)
    case 'tool-call':
      return [encodeCall(block, reply)]
    case 'media':
      return [{ inlineData: { mimeType: block.mediaType, data: block.data } }]
    case 'opaque':
      return block.protocol === 'gemini' && isJsonObject(block.json) ? [block.json] : []
  }
}

function encodeReasoning({ kind, text, signature }: ReasoningBlock, reply: Reply): readonly JsonObject[] {
  if (!reply.showThoughts || (text === '' && signature === undefined)) return []
  const sealed =
    signature === undefined ? {} : { thoughtSignature: sealSignature(signature, kind, reply.issuer) }
  return [{ text, thought: true, ...sealed }]
}

export function encodeCall(block: ToolCallBlock, reply: Reply): JsonObject {
  const { id, signature } = block
  const args = block.kind === 'custom' ? { input: block.arguments } : argumentsObject(block.arguments)
  const sealed =
    signature === undefined ? {} : { thoughtSignature: sealSignature(signature, 'call', reply.issuer) }
  return { functionCall: { id, name: reply.findTool(block.name).name, args }, ...sealed }
}

function charactersOf(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return block.text.length
    case 'tool-call':
      return block.arguments.length
    case 'media':
    case 'opaque':
      return 0
  }
}
