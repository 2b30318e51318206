/** A messages upstream's whole answer in canonical form (docs/protocols.md#messages-answers). */
import { argumentsText, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { Signature } from '../../../canonical/request.ts'
import type { Block, CanonicalResponse, Citation } from '../../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { brokenStream } from '../../error-body.ts'
import { listOf, type Maybe, objectOf, textOf, wordOf } from '../../read-json.ts'
import { decodeError } from '../error.ts'
import { type Called, decodeFinish } from './finish.ts'
import { decodeUsage } from './usage.ts'
import { JSON_OUTPUT_TOOL } from '../wire.ts'

export function decodeResponse(body: JsonValue): CanonicalResponse {
  const message = objectOf(body)
  if (message === undefined) return failed(body, 'the upstream sent no message')
  if (message.type === 'error') return { ...EMPTY, failure: decodeError(undefined, message) }
  if (!Array.isArray(message.content)) return failed(body, 'the upstream sent a message without content')
  const blocks = listOf(message.content).flatMap((item) => {
    const block = objectOf(item)
    return block === undefined ? [] : (decodeBlock(block) ?? [])
  })
  return {
    id: textOf(message.id) ?? '',
    createdAt: undefined,
    candidates: [{ index: 0, blocks, finish: decodeFinish(message, calledBy(message)) }],
    usage: decodeUsage(message.usage),
    serviceTier: decodeTier(message.usage),
  }
}

const EMPTY: CanonicalResponse = {
  id: '',
  createdAt: undefined,
  candidates: [],
  usage: undefined,
  serviceTier: undefined,
}

function failed(body: JsonValue, message: string): CanonicalResponse {
  return { ...EMPTY, failure: { ...brokenStream(message), raw: body } }
}

/** Calls that Anthropic's own code execution makes are answered there, not by the client. */
export function isClientCall(block: JsonObject): boolean {
  const caller = textOf(objectOf(block.caller)?.type)
  const direct = caller === undefined || caller === 'direct'
  return block.type === 'tool_use' && direct && block.name !== JSON_OUTPUT_TOOL
}

export function isJsonOutput(block: JsonObject): boolean {
  return block.type === 'tool_use' && block.name === JSON_OUTPUT_TOOL
}

function calledBy(message: JsonObject): Called {
  const blocks = listOf(message.content).map((item) => objectOf(item) ?? {})
  if (blocks.some(isClientCall)) return 'client'
  return blocks.some(isJsonOutput) ? 'json-output' : 'nothing'
}

function decodeBlock(block: JsonObject): Block | undefined {
  switch (textOf(block.type) ?? '') {
    case 'text':
      return {
        type: 'text',
        text: textOf(block.text) ?? '',
        citations: listOf(block.citations).flatMap((item) => decodeCitation(item) ?? []),
        logprobs: undefined,
      }
    case 'thinking':
      return {
        type: 'reasoning',
        kind: 'summary',
        text: textOf(block.thinking) ?? '',
        signature: signatureOf(block.signature),
      }
    case 'redacted_thinking':
      return { type: 'reasoning', kind: 'redacted', text: '', signature: signatureOf(block.data) }
    case 'tool_use':
      return decodeToolUse(block)
    default:
      return textOf(block.type) === undefined || nestsTooDeep(block)
        ? undefined
        : { type: 'opaque', protocol: 'messages', json: block }
  }
}

function decodeToolUse(block: JsonObject): Block {
  const written = typeof block.input === 'string' ? block.input : argumentsText(block.input)
  if (isJsonOutput(block)) {
    return { type: 'text', text: written, citations: [], logprobs: undefined }
  }
  return {
    type: 'tool-call',
    id: textOf(block.id) ?? '',
    name: textOf(block.name) ?? '',
    namespace: undefined,
    kind: 'function',
    arguments: written,
    signature: undefined,
  }
}

export function signatureOf(value: Maybe): Signature | undefined {
  const data = wordOf(value)
  return data === undefined ? undefined : { issuer: undefined, id: undefined, data, protocol: 'messages' }
}

/**
 * Only web citations have an address; positions in documents have no meaning elsewhere. A citation covers its whole
 * block.
 */
export function decodeCitation(value: Maybe): Citation | undefined {
  const citation = objectOf(value)
  const url = wordOf(citation?.url)
  if (url === undefined) return undefined
  return { url, title: wordOf(citation?.title), startIndex: undefined, endIndex: undefined }
}

function decodeTier(usage: Maybe): string | undefined {
  const tier = wordOf(objectOf(usage)?.service_tier)
  return tier === 'standard' ? 'default' : tier
}
