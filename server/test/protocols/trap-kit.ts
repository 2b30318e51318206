/** Short words for the tests of the known traps: from one protocol's JSON to another's. Only tests import this file. */
import { expect } from 'vitest'
import type { CanonicalRequest } from '../../src/core/canonical/request.ts'
import type { StreamPart } from '../../src/core/canonical/response.ts'
import type { ProtocolId } from '../../src/core/catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.ts'
import { parseJson } from '../../src/core/canonical/json-text.ts'
import { protocolOf } from '../../src/core/protocols/index.ts'
import {
  CAPABLE,
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../src/core/protocols/testing/laws.ts'
import type { Capabilities, Encoded } from '../../src/core/protocols/protocol.ts'

/** What a stream of the upstream's events tells; held to the laws of streams. */
export function heard(
  upstream: ProtocolId,
  events: readonly JsonObject[],
  options: { readonly done?: boolean } = {},
): readonly StreamPart[] {
  const framed = events.map((event) => ({
    event: typeof event.type === 'string' ? event.type : '',
    data: JSON.stringify(event),
  }))
  const done = upstream === 'chat' && options.done !== false ? [{ event: '', data: '[DONE]' }] : []
  const parts = decodeStream(protocolOf(upstream), [...framed, ...done])
  expectLawfulStream(parts)
  return parts
}

/** The events a client gets of what was told. */
export function toldTo(
  client: ProtocolId,
  parts: readonly StreamPart[],
  request: CanonicalRequest = PLAIN_REQUEST,
): readonly JsonObject[] {
  return sseEvents(encodeStream(protocolOf(client), parts, request)).flatMap(({ data }) => {
    const json = data === '[DONE]' ? undefined : parseJson(data)
    return isJsonObject(json) ? [json] : []
  })
}

/** The client's own accumulation is left to `core/protocols/testing/official-clients.ts`; this is the raw text. */
export function wireTo(client: ProtocolId, parts: readonly StreamPart[], request = PLAIN_REQUEST): string {
  return encodeStream(protocolOf(client), parts, request)
}

export function decoded(client: ProtocolId, body: JsonObject): CanonicalRequest {
  const result = protocolOf(client).decodeRequest(body)
  if (result.kind === 'refused') throw new Error(`refused: ${result.message}`)
  return result.value
}

export function encoded(
  upstream: ProtocolId,
  request: CanonicalRequest,
  capabilities: Partial<Capabilities> = {},
  issuer: string = ISSUER,
): Encoded {
  const result = protocolOf(upstream).encodeRequest(request, {
    forwardModelId: 'upstream-model',
    maxOutputTokens: 8_000,
    capabilities: { ...CAPABLE, ...capabilities },
    issuer,
  })
  if (result.kind === 'refused') throw new Error(`refused: ${result.message}`)
  return result
}

export const ISSUER = 'gateway'

/** A client's body as another protocol's upstream gets it. */
export function sent(
  client: ProtocolId,
  upstream: ProtocolId,
  body: JsonObject,
  capabilities: Partial<Capabilities> = {},
): JsonObject {
  return encoded(upstream, decoded(client, body), capabilities).body
}

/** An upstream's whole answer as another protocol's client gets it. */
export function answered(
  upstream: ProtocolId,
  client: ProtocolId,
  body: JsonValue,
  request: CanonicalRequest = PLAIN_REQUEST,
): JsonObject {
  return protocolOf(client).encodeResponse(protocolOf(upstream).decodeResponse(body), {
    ...replyContext(request),
    issuer: ISSUER,
  })
}

/** A chunk of chat with one choice. */
export function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  }
}

/** A tool call's piece in a chunk of chat. */
export function callDelta(
  index: number | null,
  fields: { id?: string; name?: string; text?: string },
): JsonObject {
  const named = fields.name === undefined ? {} : { name: fields.name }
  return {
    ...(index === null ? {} : { index }),
    ...(fields.id === undefined ? {} : { id: fields.id, type: 'function' }),
    function: { ...named, ...(fields.text === undefined ? {} : { arguments: fields.text }) },
  }
}

export const callsChunk = (...calls: readonly JsonObject[]): JsonObject => chunk({ tool_calls: calls })

export const START: JsonObject = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
}

export function block(
  index: number,
  content: JsonObject,
  ...deltas: readonly JsonObject[]
): readonly JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: content },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

export const stopped = (
  reason = 'end_turn',
  usage: JsonObject = { output_tokens: 3 },
): readonly JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]

export const gemini = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
})

export function listIn(value: JsonValue | undefined): readonly JsonObject[] {
  expect(Array.isArray(value)).toBe(true)
  return (Array.isArray(value) ? value : []).filter(isJsonObject)
}
