/** A whole responses answer of an upstream → the canonical form. */
import { argumentsText, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { Block, CanonicalResponse, TextBlock } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { brokenStream, readErrorBody } from '../../error-body.ts'
import { countOf, listOf, tagOf, textOf, wordOf } from '../../read-json.ts'
import { decodeAnnotations } from './citations.ts'
import { callArguments, decodeReasoning, joinTexts } from '../request/decode-items.ts'
import { decodeFinish } from './finish.ts'
import { isWrapper, unwrapCalls } from '../parallel-wrapper.ts'
import { decodeUsage } from './usage.ts'

export function decodeResponse(body: JsonValue): CanonicalResponse {
  if (!isJsonObject(body))
    return failed({}, brokenStream('the upstream answered with something other than a JSON object'))
  const failure = findFailure(body)
  if (failure !== undefined) return failed(body, failure)
  const blocks = listOf(body.output).flatMap((item) => (isJsonObject(item) ? decodeItem(item) : []))
  const seen = {
    toolCall: blocks.some((block) => block.type === 'tool-call'),
    refusal: blocks.some((block) => block.type === 'refusal'),
  }
  return { ...headOf(body), candidates: [{ index: 0, blocks, finish: decodeFinish(body, seen) }] }
}

/** A 200 that is not an answer: an error body, or a response that failed or was cancelled. */
function findFailure(body: JsonObject): CanonicalResponse['failure'] {
  const status = tagOf(body.status)
  const bad = status === 'failed' || status === 'cancelled'
  if (bad || (body.error !== undefined && body.error !== null)) return readErrorBody(undefined, body)
  return Array.isArray(body.output) ? undefined : brokenStream('the upstream answered without any output')
}

function failed(body: JsonObject, failure: NonNullable<CanonicalResponse['failure']>): CanonicalResponse {
  return { ...headOf(body), candidates: [], failure }
}

function headOf(body: JsonObject): Omit<CanonicalResponse, 'candidates'> {
  return {
    id: textOf(body.id) ?? '',
    createdAt: countOf(body.created_at),
    usage: decodeUsage(body.usage),
    serviceTier: wordOf(body.service_tier),
  }
}

function decodeItem(item: JsonObject): readonly Block[] {
  switch (tagOf(item.type)) {
    case 'message':
      return listOf(item.content).flatMap((part) => (isJsonObject(part) ? decodePart(part) : []))
    case 'reasoning':
      return decodeThought(item)
    case 'function_call':
    case 'custom_tool_call':
      return decodeCall(item)
    default:
      return [hostedBlock(item)]
  }
}

function decodePart(part: JsonObject): readonly Block[] {
  switch (tagOf(part.type)) {
    case 'output_text':
      return decodeText(part)
    case 'refusal': {
      const text = wordOf(part.refusal)
      return text === undefined ? [] : [{ type: 'refusal', text }]
    }
    default:
      return []
  }
}

function decodeText(part: JsonObject): readonly TextBlock[] {
  const text = textOf(part.text) ?? ''
  const citations = decodeAnnotations(part.annotations)
  const tokens = listOf(part.logprobs)
  if (text === '' && citations.length === 0) return []
  return [{ type: 'text', text, citations, logprobs: tokens.length === 0 ? undefined : tokens }]
}

/** The summary for people and, if both are given, the raw reasoning. */
function decodeThought(item: JsonObject): readonly Block[] {
  const { part, kind } = decodeReasoning(item)
  if (part === undefined || kind === 'call') return []
  const raw = joinTexts(item.content)
  if (part.kind !== 'summary' || raw === '') return [part]
  return [{ type: 'reasoning', kind: 'raw', text: raw, signature: undefined }, part]
}

function decodeCall(item: JsonObject): readonly Block[] {
  const id = wordOf(item.call_id) ?? wordOf(item.id)
  const name = wordOf(item.name)
  if (id === undefined || name === undefined) return []
  const custom = item.type === 'custom_tool_call'
  const text = custom ? (textOf(item.input) ?? '') : callArguments(item.arguments)
  const wrapped = isWrapper(item) ? unwrapCalls(id, text) : undefined
  if (wrapped !== undefined) return wrapped
  return [
    {
      type: 'tool-call',
      id,
      name,
      namespace: wordOf(item.namespace),
      kind: custom ? 'custom' : 'function',
      arguments: text === '' && !custom ? argumentsText(undefined) : text,
      signature: undefined,
    },
  ]
}

/** An image made by the provider's tool is a canonical image; other hosted tools exist only in this protocol. */
export function hostedBlock(item: JsonObject): Extract<Block, { type: 'media' | 'opaque' }> {
  const data = item.type === 'image_generation_call' ? wordOf(item.result) : undefined
  if (data === undefined)
    return { type: 'opaque', protocol: 'responses', json: nestsTooDeep(item) ? {} : item }
  return { type: 'media', mediaType: `image/${wordOf(item.output_format) ?? 'png'}`, data }
}
