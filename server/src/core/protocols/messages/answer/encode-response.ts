/** A canonical answer as a message (docs/protocols.md#endings). A message has one candidate: the first. */
import { sealSignature } from '../../../canonical/envelope.ts'
import { argumentsObject } from '../../../canonical/json-text.ts'
import type { Signature } from '../../../canonical/request.ts'
import type {
  Block,
  CanonicalResponse,
  Finish,
  ReasoningBlock,
  ToolCallBlock,
} from '../../../canonical/response.ts'
import { findTools, type ToolFinder, upstreamCallId } from '../../../canonical/tools/tool-names.ts'
import { NO_USAGE } from '../../../canonical/usage.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import type { ReplyContext } from '../../protocol.ts'
import { encodeFinish } from './finish.ts'
import { encodeUsage, estimateTokens } from './usage.ts'

export function encodeResponse(response: CanonicalResponse, context: ReplyContext): JsonObject {
  const reply = newReply(context)
  const [candidate] = response.candidates
  const blocks = candidate?.blocks ?? []
  const characters = blocks.reduce((sum, block) => sum + charactersOf(block), 0)
  const estimate = { inputTokens: context.inputTokensEstimate, outputTokens: estimateTokens(characters) }
  return {
    id: messageId(context),
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: blocks.flatMap((block) => encodeBlock(block, reply)),
    ...encodeFinish(candidate?.finish ?? UNSAID),
    usage: encodeUsage(response.usage ?? NO_USAGE, estimate, wireTier(response.serviceTier)),
  }
}

const UNSAID: Finish = { reason: 'other', raw: undefined, stopSequence: undefined, explanation: undefined }

/** What the blocks of one answer are encoded with. */
export interface Reply {
  readonly issuer: string
  readonly findTool: ToolFinder
  /** `hidden`: the client turned thinking off; `signed`: it wants no reasoning text but must be able to replay it. */
  readonly thinking: 'shown' | 'signed' | 'hidden'
}

/** Shorter than any target's limit, so that every name that had to be changed is found again. */
const NAME_LENGTH = 64
/** This protocol's ids have no cap of their own. */
const ID_LENGTH_MAX = 256

export function newReply(context: ReplyContext): Reply {
  const { reasoning, tools } = context.request
  return {
    issuer: context.issuer,
    findTool: findTools(tools, NAME_LENGTH),
    thinking: reasoning?.effort === 'none' ? 'hidden' : reasoning?.expose === false ? 'signed' : 'shown',
  }
}

/** Clients keep ids by their prefix. */
export function messageId({ responseId }: ReplyContext): string {
  return responseId.startsWith('msg_') ? responseId : `msg_${responseId.replaceAll('-', '')}`
}

/** An id this protocol accepts back: letters, digits, `_` and `-`. */
export function clientCallId(id: string): string {
  return upstreamCallId(id, ID_LENGTH_MAX)
}

/**
 * The signature that another vendor's tool call must be replayed with is sent in a blob block of its own: a call has no
 * field for it, and clients keep these blocks unchanged.
 */
export function callSignatureBlock(signature: Signature, callId: string, issuer: string): JsonObject {
  return { type: 'redacted_thinking', data: sealSignature({ ...signature, id: callId }, 'call', issuer) }
}

export function wireTier(tier: string | undefined): string | undefined {
  if (tier === undefined) return undefined
  return tier === 'priority' || tier === 'batch' ? tier : 'standard'
}

function encodeBlock(block: Block, reply: Reply): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      // The API refuses blank texts when they come back (docs/protocols.md#trap-30).
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
    case 'reasoning':
      return encodeReasoning(block, reply)
    case 'tool-call':
      return encodeToolCall(block, reply)
    case 'opaque':
      return block.protocol === 'messages' && isJsonObject(block.json) ? [block.json] : []
    case 'media':
      return []
  }
}

function encodeReasoning(block: ReasoningBlock, reply: Reply): readonly JsonObject[] {
  const { kind, text, signature } = block
  if (reply.thinking === 'hidden') return []
  const sealed = signature === undefined ? '' : sealSignature(signature, kind, reply.issuer)
  if (kind === 'redacted') return sealed === '' ? [] : [{ type: 'redacted_thinking', data: sealed }]
  if (reply.thinking === 'signed') {
    return sealed === '' ? [] : [{ type: 'thinking', thinking: '', signature: sealed }]
  }
  return text === '' && sealed === '' ? [] : [{ type: 'thinking', thinking: text, signature: sealed }]
}

function encodeToolCall(block: ToolCallBlock, reply: Reply): readonly JsonObject[] {
  const id = clientCallId(block.id)
  const before = block.signature === undefined ? [] : [callSignatureBlock(block.signature, id, reply.issuer)]
  const input = block.kind === 'custom' ? { input: block.arguments } : argumentsObject(block.arguments)
  return [...before, { type: 'tool_use', id, name: reply.findTool(block.name).name, input }]
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
