/** A whole chat answer of an upstream → the canonical form. */
import { sourceOfUrl } from '../../../canonical/media/data-url.ts'
import { argumentsText } from '../../../canonical/json-text.ts'
import type { Block, Candidate, CanonicalResponse, TextBlock } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { brokenStream, readErrorBody } from '../../error-body.ts'
import { countOf, listOf, objectOf, textOf, wordOf, type Maybe, tagOf } from '../../read-json.ts'
import { decodeAnnotations, decodeSources } from './citations.ts'
import { callArguments, callSignature, thinkingText } from '../request/decode-messages.ts'
import { decodeFinish, isFailureWord } from './finish.ts'
import { decodeReasoning } from './reasoning.ts'
import { decodeUsage } from './usage.ts'

export function decodeResponse(body: JsonValue): CanonicalResponse {
  if (!isJsonObject(body))
    return failed({}, brokenStream('the upstream answered with something other than a JSON object'))
  if (isErrorBody(body)) return failed(body, readErrorBody(undefined, body))
  const choices = listOf(body.choices).flatMap((choice) => (isJsonObject(choice) ? [choice] : []))
  if (choices.length === 0) return failed(body, brokenStream('the upstream answered without choices'))
  const broken = choices.find((choice) => isFailureWord(wordOf(choice.finish_reason)))
  if (broken !== undefined) return failed(body, readErrorBody(undefined, broken))
  return {
    ...headOf(body),
    candidates: choices.map((choice, position) => decodeChoice(choice, position, body)),
  }
}

/** A 200 whose body says that it failed; `object: "error"` is the form of vLLM and Mistral. */
export function isErrorBody(body: JsonObject): boolean {
  return (body.error !== undefined && body.error !== null) || body.object === 'error'
}

function failed(body: JsonObject, failure: NonNullable<CanonicalResponse['failure']>): CanonicalResponse {
  return { ...headOf(body), candidates: [], failure }
}

function headOf(body: JsonObject): Omit<CanonicalResponse, 'candidates'> {
  return {
    id: textOf(body.id) ?? '',
    createdAt: countOf(body.created),
    usage: decodeUsage(body.usage) ?? decodeUsage(objectOf(body.x_groq)?.usage),
    serviceTier: wordOf(body.service_tier),
  }
}

function decodeChoice(choice: JsonObject, position: number, body: JsonObject): Candidate {
  const message = objectOf(choice.message) ?? {}
  const blocks = withDetails(decodeBlocks(message, callIdStart(body.id)), { choice, message, body })
  const seen = {
    toolCall: blocks.some((block) => block.type === 'tool-call'),
    refusal: blocks.some((block) => block.type === 'refusal'),
  }
  return {
    index: countOf(choice.index) ?? position,
    blocks,
    finish: decodeFinish(wordOf(choice.finish_reason), seen, stopSequenceOf(choice)),
  }
}

/** Prefix for ids of calls if the vendor sends none: unique within the answer, the same for whole and streamed ones. */
export function callIdStart(responseId: Maybe): string {
  return `call_${(textOf(responseId) ?? '').replaceAll(/[^a-zA-Z0-9_-]/g, '')}_`
}

export function stopSequenceOf(choice: JsonObject): string | undefined {
  return wordOf(choice.stop_reason) ?? wordOf(choice.matched_stop)
}

function decodeBlocks(message: JsonObject, idStart: string): readonly Block[] {
  const refusal = wordOf(message.refusal)
  return [
    ...decodeReasoning(message),
    ...decodeContent(message.content),
    ...(refusal === undefined ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...decodeCalls(message, idStart),
    ...decodeImages(message.images),
  ]
}

function decodeContent(content: Maybe): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content)]
  return listOf(content).flatMap((part) => (isJsonObject(part) ? decodePart(part) : []))
}

/** Mistral's reasoning models answer with a list of parts. */
function decodePart(part: JsonObject): readonly Block[] {
  switch (tagOf(part.type)) {
    case 'text': {
      const text = wordOf(part.text)
      return text === undefined ? [] : [textBlock(text)]
    }
    case 'thinking': {
      const text = thinkingText(part)
      return text === '' ? [] : [{ type: 'reasoning', kind: 'raw', text, signature: undefined }]
    }
    case 'image_url':
      return decodeImages([part])
    default:
      return []
  }
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text, citations: [], logprobs: undefined }
}

function decodeCalls(message: JsonObject, idStart: string): readonly Block[] {
  const legacy = objectOf(message.function_call)
  const entries = [...listOf(message.tool_calls), ...(legacy === undefined ? [] : [{ function: legacy }])]
  return entries.flatMap((entry, index) =>
    isJsonObject(entry) ? (decodeCall(entry, `${idStart}${index}`) ?? []) : [],
  )
}

function decodeCall(entry: JsonObject, fallbackId: string): Block | undefined {
  const custom = objectOf(entry.custom)
  const callee = custom ?? objectOf(entry.function)
  const name = wordOf(callee?.name)
  if (name === undefined) return undefined
  const text = custom === undefined ? callArguments(callee?.arguments) : (textOf(custom.input) ?? '')
  return {
    type: 'tool-call',
    id: wordOf(entry.id) ?? fallbackId,
    name,
    namespace: undefined,
    kind: custom === undefined ? 'function' : 'custom',
    arguments: text === '' && custom === undefined ? argumentsText(undefined) : text,
    signature: callSignature(entry),
  }
}

/** OpenRouter and Gemini's compatibility layer: generated images as `data:` addresses. */
export function decodeImages(images: Maybe): readonly Extract<Block, { type: 'media' }>[] {
  return listOf(images).flatMap((entry) => {
    const part = objectOf(entry)
    const url = wordOf(objectOf(part?.image_url)?.url) ?? wordOf(part?.image_url)
    const source = url === undefined ? undefined : sourceOfUrl(url)
    return source?.kind === 'base64'
      ? [{ type: 'media', mediaType: source.mediaType, data: source.data } as const]
      : []
  })
}

interface Details {
  readonly choice: JsonObject
  readonly message: JsonObject
  readonly body: JsonObject
}

/** Citations and log probabilities of the message are attached to its first text. */
function withDetails(blocks: readonly Block[], { choice, message, body }: Details): readonly Block[] {
  const at = blocks.findIndex((block) => block.type === 'text')
  const text = blocks[at]
  if (text?.type !== 'text') return blocks
  const annotations = decodeAnnotations(message.annotations)
  const citations = annotations.length > 0 ? annotations : decodeSources(body)
  const tokens = listOf(objectOf(choice.logprobs)?.content)
  return blocks.with(at, { ...text, citations, logprobs: tokens.length === 0 ? undefined : tokens })
}
