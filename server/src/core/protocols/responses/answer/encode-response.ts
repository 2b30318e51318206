/**
 * Canonical answer → a response object (docs/reference/contract.md#2.4). Neighbouring texts are parts of one message
 * item.
 */
import { addAll } from '../../../canonical/add-all.ts'
import { isJsonArray } from '../../../canonical/json-text.ts'
import type { Block, CanonicalResponse } from '../../../canonical/response.ts'
import { callRestorer } from '../../../canonical/tools/restore-calls.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { ReplyContext } from '../../protocol.ts'
import { encodeAnnotation } from './citations.ts'
import { encodeFinish } from './finish.ts'
import {
  callItem,
  callPrefix,
  callSignatureItem,
  imageItem,
  itemId,
  messageItem,
  outputText,
  reasoningItem,
  refusalPart,
  sealReasoning,
} from '../request/items.ts'
import { constantFields, responseObjectId } from './response-object.ts'
import { encodeUsage } from './usage.ts'
import type { ItemStatus } from '../wire.ts'

export function encodeResponse(response: CanonicalResponse, context: ReplyContext): JsonObject {
  const candidate = response.candidates[0]
  const calls = callRestorer(context.request)
  const blocks = (candidate?.blocks ?? []).map((block) =>
    block.type === 'tool-call' ? calls.whole(block) : block,
  )
  const seen = {
    toolCall: blocks.some((block) => block.type === 'tool-call'),
    refusal: blocks.some((block) => block.type === 'refusal'),
  }
  const finish = encodeFinish(candidate?.finish ?? { reason: 'other' }, seen)
  return {
    id: responseObjectId(context),
    object: 'response',
    created_at: context.createdAt,
    ...finish,
    completed_at: finish.status === 'completed' ? context.createdAt : null,
    error: null,
    output: encodeOutput(blocks, finish.status, context),
    usage: response.usage === undefined ? null : encodeUsage(response.usage),
    ...constantFields(context),
    ...(response.serviceTier === undefined ? {} : { service_tier: response.serviceTier }),
  }
}

function encodeOutput(
  blocks: readonly Block[],
  status: ItemStatus,
  context: ReplyContext,
): readonly JsonObject[] {
  const items: JsonObject[] = []
  let parts: JsonObject[] = []
  const flush = (lastStatus: ItemStatus): void => {
    if (parts.length === 0) return
    items.push(messageItem(itemId('msg', context, items.length), lastStatus, parts))
    parts = []
  }
  for (const block of blocks) {
    const part = encodePart(block)
    if (part === undefined) {
      flush('completed')
      addAll(items, encodeItem(block, items.length, context))
    } else {
      parts.push(part)
    }
  }
  flush(status)
  return items
}

/** `undefined`: not a part of a message but an item of its own. */
function encodePart(block: Block): JsonObject | undefined {
  if (block.type === 'refusal') return refusalPart(block.text)
  if (block.type !== 'text') return undefined
  return outputText(block.text, block.citations.map(encodeAnnotation), tokensOf(block.logprobs))
}

export function tokensOf(logprobs: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(logprobs) ? logprobs : []
}

function encodeItem(block: Block, index: number, context: ReplyContext): readonly JsonObject[] {
  switch (block.type) {
    case 'reasoning':
      return [reasoningItem(itemId('rs', context, index), block, sealReasoning(block, context))]
    case 'tool-call': {
      const id = itemId(callPrefix(block.kind), context, index)
      const text = block.arguments === '' && block.kind === 'function' ? '{}' : block.arguments
      const item = callItem({ id, status: 'completed' }, block, text)
      if (block.signature === undefined) return [item]
      const call = { id: block.id, signature: block.signature }
      return [item, callSignatureItem(itemId('rs', context, index + 1), call, context)]
    }
    case 'media': {
      const image = imageItem(itemId('ig', context, index), block)
      return image === undefined ? [] : [image]
    }
    case 'opaque':
      return block.protocol === 'responses' && isJsonObject(block.json) ? [block.json] : []
    case 'text':
    case 'refusal':
      return []
  }
}
