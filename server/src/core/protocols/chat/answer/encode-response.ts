/** Canonical answer → a chat completion object (docs/reference/contract.md#2.3). */
import { dataUrl } from '../../../canonical/media/data-url.ts'
import { sealSignature } from '../../../canonical/envelope.ts'
import { isJsonArray } from '../../../canonical/json-text.ts'
import { type CallRestorer, callRestorer } from '../../../canonical/tools/restore-calls.ts'
import type {
  Block,
  Candidate,
  CanonicalResponse,
  ReasoningBlock,
  ToolCallBlock,
} from '../../../canonical/response.ts'
import type { JsonObject } from '../../../json.ts'
import { withPrefix } from '../../prefix.ts'
import type { ReplyContext } from '../../protocol.ts'
import { encodeAnnotation } from './citations.ts'
import { encodeFinish } from './finish.ts'
import { joinReasoning, sealedDetail } from './reasoning.ts'
import { encodeUsage } from './usage.ts'
import type { ChatChoice } from '../wire.ts'

export function encodeResponse(response: CanonicalResponse, context: ReplyContext): JsonObject {
  const calls = callRestorer(context.request)
  return {
    id: completionId(context),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    choices: response.candidates.map((candidate) => encodeChoice(restored(candidate, calls), context)),
    ...(response.usage === undefined ? {} : { usage: encodeUsage(response.usage) }),
    ...(response.serviceTier === undefined ? {} : { service_tier: response.serviceTier }),
  }
}

/** The id clients see, whole and streamed. */
export function completionId({ responseId }: ReplyContext): string {
  return withPrefix('chatcmpl-', responseId)
}

/** Tools under the names and in the kinds the client declared. */
function restored(candidate: Candidate, calls: CallRestorer): Candidate {
  const blocks = candidate.blocks.map((block) => (block.type === 'tool-call' ? calls.whole(block) : block))
  return { ...candidate, blocks }
}

function encodeChoice({ index, blocks, finish }: Candidate, context: ReplyContext): ChatChoice {
  const refusals = blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []))
  const seen = { toolCall: blocks.some((block) => block.type === 'tool-call'), refusal: refusals.length > 0 }
  const refusal = seen.refusal ? refusals.join('') : explained(finish)
  return {
    index,
    message: {
      role: 'assistant',
      content: contentOf(blocks, refusal),
      refusal,
      ...reasoningOf(blocks, context),
      ...callsOf(blocks, context),
      ...annotationsOf(blocks),
      ...imagesOf(blocks),
    },
    logprobs: logprobsOf(blocks),
    finish_reason: encodeFinish(finish, seen),
  }
}

/** The explanation of a refusal without text, in the field that clients show (docs/protocols.md#endings). */
export function explained({ reason, explanation }: Candidate['finish']): string | null {
  return reason === 'refusal' && explanation !== undefined ? explanation : null
}

/** null if there are only calls or a refusal (docs/reference/contract.md#2.3). */
function contentOf(blocks: readonly Block[], refusal: string | null): string | null {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.length > 0) return texts.join('')
  const silent = refusal !== null || blocks.some((block) => block.type === 'tool-call')
  return silent ? null : ''
}

function reasoningOf(blocks: readonly Block[], { issuer, request }: ReplyContext): JsonObject {
  const reasoning = blocks.filter((block): block is ReasoningBlock => block.type === 'reasoning')
  if (reasoning.length === 0 || request.reasoning?.expose === false) return {}
  const text = joinReasoning(reasoning)
  const signed = reasoning.some((block) => block.signature !== undefined)
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    ...(signed
      ? { reasoning_details: reasoning.map((block, index) => sealedDetail(block, index, issuer)) }
      : {}),
  }
}

function callsOf(blocks: readonly Block[], context: ReplyContext): JsonObject {
  const calls = blocks.flatMap((block) => (block.type === 'tool-call' ? [encodeCall(block, context)] : []))
  return calls.length === 0 ? {} : { tool_calls: calls }
}

function encodeCall(call: ToolCallBlock, context: ReplyContext): JsonObject {
  const { id, name, kind, signature } = call
  const extra = signature === undefined ? {} : sealedCall(signature, context.issuer)
  if (kind === 'custom') return { id, type: 'custom', custom: { name, input: call.arguments }, ...extra }
  const text = call.arguments === '' ? '{}' : call.arguments
  return { id, type: 'function', function: { name, arguments: text }, ...extra }
}

/** The signature of a call, in the field that chat clients send back (docs/protocols.md#reasoning-envelope). */
export function sealedCall(signature: NonNullable<ToolCallBlock['signature']>, issuer: string): JsonObject {
  return { extra_content: { gateway: { sig: sealSignature(signature, 'call', issuer) } } }
}

function annotationsOf(blocks: readonly Block[]): JsonObject {
  const annotations: JsonObject[] = []
  let offset = 0
  for (const block of blocks) {
    if (block.type !== 'text') continue
    for (const citation of block.citations) annotations.push(encodeAnnotation(citation, offset))
    offset += block.text.length
  }
  return annotations.length === 0 ? {} : { annotations }
}

function imagesOf(blocks: readonly Block[]): JsonObject {
  const images = blocks.flatMap((block) =>
    block.type === 'media' && block.mediaType.startsWith('image/') ? [block] : [],
  )
  if (images.length === 0) return {}
  return { images: images.map(({ mediaType, data }, index) => encodeImage({ mediaType, data, index })) }
}

interface NumberedImage {
  readonly mediaType: string
  readonly data: string
  readonly index: number
}

/** OpenRouter's extension, the only form chat clients know for generated images. */
export function encodeImage({ mediaType, data, index }: NumberedImage): JsonObject {
  return { type: 'image_url', image_url: { url: dataUrl(mediaType, data) }, index }
}

function logprobsOf(blocks: readonly Block[]): JsonObject | null {
  const tokens = blocks.flatMap((block) =>
    block.type === 'text' && isJsonArray(block.logprobs) ? block.logprobs : [],
  )
  return tokens.length === 0 ? null : { content: tokens, refusal: null }
}
