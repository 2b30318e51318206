/** Output items as both the whole answer and the stream write them. */
import { sealSignature } from '../../../canonical/envelope.ts'
import type { ToolCallStart } from '../../../canonical/tools/restore-calls.ts'
import type { ReasoningBlock } from '../../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { ReplyContext } from '../../protocol.ts'
import type { ItemStatus, OutputText, Refusal } from '../wire.ts'

export type ItemPrefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'ig' | 'item'

/**
 * Ids in the protocol's own form: an upstream of this protocol refuses other ids in later requests
 * (docs/protocols.md#client-9).
 */
export function itemId(prefix: ItemPrefix, context: ReplyContext, index: number): string {
  return `${prefix}_${context.responseId.replace(/^resp_/, '')}_${index}`
}

export function outputText(
  text: string,
  annotations: readonly JsonValue[],
  logprobs: readonly JsonValue[],
): OutputText {
  return { type: 'output_text', text, annotations, logprobs }
}

export function refusalPart(refusal: string): Refusal {
  return { type: 'refusal', refusal }
}

export function messageItem(id: string, status: ItemStatus, content: readonly JsonObject[]): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content }
}

/** `sealed`: the envelope of its signature; only finished items have it, because only then is it complete. */
export function reasoningItem(
  id: string,
  { kind, text }: Pick<ReasoningBlock, 'kind' | 'text'>,
  sealed: string | undefined,
): JsonObject {
  const said = text !== ''
  return {
    id,
    type: 'reasoning',
    summary: kind === 'summary' && said ? [{ type: 'summary_text', text }] : [],
    ...(kind === 'raw' && said ? { content: [{ type: 'reasoning_text', text }] } : {}),
    ...(sealed === undefined ? {} : { encrypted_content: sealed }),
  }
}

export function sealReasoning(
  block: Pick<ReasoningBlock, 'kind' | 'signature'>,
  { issuer }: ReplyContext,
): string | undefined {
  return block.signature === undefined ? undefined : sealSignature(block.signature, block.kind, issuer)
}

/** The signature of a call has no field on the call, so it is an item of its own that names the call. */
export function callSignatureItem(
  id: string,
  call: { readonly id: string; readonly signature: NonNullable<ReasoningBlock['signature']> },
  { issuer }: ReplyContext,
): JsonObject {
  const sealed = sealSignature({ ...call.signature, id: call.id }, 'call', issuer)
  return { id, type: 'reasoning', summary: [], encrypted_content: sealed }
}

export function callPrefix(kind: ToolCallStart['kind']): ItemPrefix {
  return kind === 'custom' ? 'ctc' : 'fc'
}

export function callItem(
  item: { readonly id: string; readonly status: ItemStatus },
  call: ToolCallStart,
  text: string,
): JsonObject {
  const named = {
    call_id: call.id,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
  }
  if (call.kind === 'custom') return { ...item, type: 'custom_tool_call', ...named, input: text }
  return { ...item, type: 'function_call', ...named, arguments: text }
}

/** A generated image; this protocol has no item for sounds. */
export function imageItem(
  id: string,
  { mediaType, data }: { readonly mediaType: string; readonly data: string },
): JsonObject | undefined {
  if (!mediaType.startsWith('image/')) return undefined
  const format = mediaType.slice('image/'.length)
  return { id, type: 'image_generation_call', status: 'completed', output_format: format, result: data }
}
