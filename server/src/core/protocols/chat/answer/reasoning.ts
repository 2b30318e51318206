/**
 * Reasoning in chat: the text in `reasoning_content` (or `reasoning`), and, where a signature exists, OpenRouter's
 * `reasoning_details`, which clients that echo unknown fields send back.
 */
import { openSignature, sealSignature } from '../../../canonical/envelope.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import type { ReasoningPart, Signature } from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import { listOf, numberOf, objectOf, textOf, wordOf, type Maybe, tagOf } from '../../read-json.ts'

export interface ReasoningDetail {
  readonly index: number | undefined
  readonly kind: ReasoningPart['kind']
  readonly text: string
  readonly signature: Signature | undefined
}

/** `reasoning_content` of DeepSeek, Qwen and z.ai, `reasoning` of Groq, OpenRouter and the gpt-oss hosts. */
export function reasoningText(message: JsonObject): string | undefined {
  return wordOf(message.reasoning_content) ?? wordOf(message.reasoning)
}

export function decodeDetails(value: Maybe): readonly ReasoningDetail[] {
  return listOf(value).flatMap((entry) => (isJsonObject(entry) ? (decodeDetail(entry) ?? []) : []))
}

/** All reasoning of a whole message, one part per block of the source. */
export function decodeReasoning(message: JsonObject): readonly ReasoningPart[] {
  const details = decodeDetails(message.reasoning_details)
  const text = reasoningText(message)
  const saidInDetails = details.some((detail) => detail.text !== '')
  const parts = details.map(({ kind, text: said, signature }): ReasoningPart => {
    return { type: 'reasoning', kind, text: said, signature }
  })
  if (text === undefined || saidInDetails) return parts
  const [first, ...others] = parts
  if (first !== undefined && first.kind !== 'redacted') return [{ ...first, text }, ...others]
  return [{ type: 'reasoning', kind: 'raw', text, signature: undefined }, ...parts]
}

/** One text of several blocks: a blank line between them. */
export function joinReasoning(parts: readonly { readonly text: string }[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n')
}

/** For the client: signatures are sent in an envelope that names their issuer. */
export function sealedDetail(part: ReasoningPart, index: number, issuer: string): JsonObject {
  const { signature } = part
  if (signature === undefined) return { ...detailHead(part, index), ...detailText(part) }
  const sealed = sealSignature(signature, part.kind, issuer)
  if (part.kind === 'redacted') return { ...detailHead(part, index), data: sealed }
  return { ...detailHead(part, index), ...detailText(part), signature: sealed }
}

/** For the upstream that issued it: as received. */
export function bareDetail(part: ReasoningPart, index: number): JsonObject {
  const head = detailHead(part, index)
  if (part.signature === undefined) return { ...head, ...detailText(part) }
  const { id, data } = part.signature
  const { blob, format } = unpackFormat(data)
  return {
    ...head,
    ...(part.kind === 'redacted' ? { data: blob } : { ...detailText(part), signature: blob }),
    ...(id === undefined ? {} : { id }),
    ...(format === undefined ? {} : { format }),
  }
}

const DETAIL_TYPES = {
  summary: 'reasoning.summary',
  raw: 'reasoning.text',
  redacted: 'reasoning.encrypted',
} as const

function detailHead(part: ReasoningPart, index: number): JsonObject {
  return { type: DETAIL_TYPES[part.kind], index }
}

function detailText({ kind, text }: ReasoningPart): JsonObject {
  return kind === 'summary' ? { summary: text } : { text }
}

function decodeDetail(detail: JsonObject): ReasoningDetail | undefined {
  const index = numberOf(detail.index)
  const blob = wordOf(detail.signature) ?? wordOf(detail.data)
  const opened = blob === undefined ? undefined : openBlob(blob, detail)
  const kind = opened?.kind ?? kindOf(detail.type)
  if (kind === undefined) return undefined
  const text = textOf(detail.text) ?? textOf(detail.summary) ?? ''
  return { index, kind, text, signature: opened?.signature }
}

function kindOf(type: Maybe): ReasoningPart['kind'] | undefined {
  switch (tagOf(type)) {
    case 'reasoning.summary':
      return 'summary'
    case 'reasoning.encrypted':
      return 'redacted'
    case 'reasoning.text':
      return 'raw'
    default:
      return undefined
  }
}

function openBlob(
  blob: string,
  detail: JsonObject,
): { readonly kind: ReasoningPart['kind'] | undefined; readonly signature: Signature } {
  const { kind, signature } = openSignature(blob, 'chat')
  if (kind !== undefined) return { kind: kind === 'call' ? undefined : kind, signature }
  const format = wordOf(detail.format)
  const data = format === undefined ? blob : packFormat(blob, format)
  return { kind: undefined, signature: { ...signature, id: wordOf(detail.id), data } }
}

/** OpenRouter requires `format` to be sent back with the blob, so both are packed into one text. */
function packFormat(blob: string, format: string): string {
  return JSON.stringify({ format, blob })
}

function unpackFormat(data: string): { readonly blob: string; readonly format: string | undefined } {
  const packed = data.startsWith('{') ? objectOf(parseJson(data)) : undefined
  const blob = wordOf(packed?.blob)
  return blob === undefined ? { blob: data, format: undefined } : { blob, format: wordOf(packed?.format) }
}
