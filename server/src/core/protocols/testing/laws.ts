/**
 * The laws every codec keeps, as property tests over generated conversations (docs/architecture.md#codec--dialect).
 * Only tests import this file. A protocol's test reduces any conversation to what the protocol can express; the laws
 * are then equalities.
 */
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldStream, unfoldResponse } from '../../canonical/fold.ts'
import { isJsonArray, parseJson } from '../../canonical/json-text.ts'
import { plainRequest } from '../../canonical/plain-request.ts'
import {
  type CanonicalRequest,
  EFFORTS,
  type MediaPart,
  type Part,
  type Signature,
  type TextPart,
  type Tool,
  type ToolResultPart,
  type Turn,
} from '../../canonical/request.ts'
import type { Block, Candidate, CanonicalResponse, StreamPart } from '../../canonical/response.ts'
import type { Usage } from '../../canonical/usage.ts'
import { modelId } from '../../ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import type { Capabilities, EncodeTarget, Protocol, ReplyContext, SseEvent } from '../protocol.ts'

export interface Expressible {
  /** Reduces any request to what the protocol can express; the result survives encoding and decoding unchanged. */
  readonly request: (request: CanonicalRequest) => CanonicalRequest
  readonly response: (response: CanonicalResponse) => CanonicalResponse
  /** A chain that supports everything the protocol can express. */
  readonly target: EncodeTarget
  /** What the text of a well-ended stream ends with, and no other stream does. */
  readonly terminator: string
  /** The request the answers are for, if it decides what is sent (Gemini's `includeThoughts`). */
  readonly asked?: CanonicalRequest
}

/** A chain without limits; tests change what their protocol needs. */
export const CAPABLE: Capabilities = {
  midSystem: true,
  systemRole: 'system',
  prefill: true,
  sampling: 'all',
  temperatureMax: 2,
  topK: true,
  penalties: true,
  seed: true,
  logprobs: true,
  stopMax: 16,
  candidates: true,
  outputTokensMin: 1,
  outputTokensField: 'max_tokens',
  reasoning: 'effort',
  efforts: EFFORTS,
  replayReasoning: true,
  reasoningField: 'reasoning_content',
  forcedToolWithReasoning: true,
  parallelToolCalls: true,
  strictTools: true,
  customTools: true,
  toolNameMax: 128,
  toolIdMax: 128,
  jsonObject: true,
  jsonSchema: true,
  schemaDialect: 'json-schema',
  images: 'url',
  documents: 'url',
  audio: true,
  imagesInToolResults: true,
  cacheMarks: 'anthropic',
  hostedTools: ['web-search', 'code-interpreter', 'url-context', 'file-search', 'image-generation'],
  includeUsage: true,
  user: true,
  verbosity: true,
  serviceTier: true,
  metadata: true,
  promptCacheKey: true,
}

export const LAW_ISSUER = 'law.issuer'

export const CAPABLE_TARGET: EncodeTarget = {
  forwardModelId: 'forward-model',
  maxOutputTokens: 4096,
  capabilities: CAPABLE,
  issuer: LAW_ISSUER,
}

export function replyContext(request: CanonicalRequest): ReplyContext {
  return {
    model: modelId('platform-model'),
    responseId: '0198f0aa11',
    createdAt: 1_790_000_000,
    request,
    inputTokensEstimate: 7,
    issuer: LAW_ISSUER,
  }
}

/** A request with a single word. */
export const PLAIN_REQUEST: CanonicalRequest = plainRequest('hello')

export function protocolLaws(protocol: Protocol, canExpress: Expressible): void {
  describe(`laws of ${protocol.id}`, () => {
    requestLaws(protocol, canExpress)
    responseLaws(protocol, canExpress)
    streamLaws(protocol, canExpress)
  })
}

function requestLaws(protocol: Protocol, canExpress: Expressible): void {
  const { target } = canExpress

  test('a request encoded and decoded again is the same request', () => {
    fc.assert(
      fc.property(canonicalRequestArbitrary(), (any) => {
        const request = withJoinedTurns(canExpress.request(any))
        const encoded = protocol.encodeRequest(request, target)
        if (encoded.kind === 'refused') throw new Error(`refused ${encoded.field}: ${encoded.message}`)
        const decoded = protocol.decodeRequest(overTheWire(encoded.body))
        if (decoded.kind === 'refused') throw new Error(`refused ${decoded.field}: ${decoded.message}`)
        expect(withoutIssuers(decoded.value)).toEqual(withoutIssuers(request))
      }),
    )
  })

  test('every request has a body or a refusal on every chain, and nothing that cannot be written', () => {
    fc.assert(
      fc.property(canonicalRequestArbitrary(), capabilitiesArbitrary(), (request, capabilities) => {
        const encoded = protocol.encodeRequest(request, { ...target, capabilities })
        if (encoded.kind === 'refused') expect(encoded.message).not.toBe('')
        else expect(encoded.dropped.every((path) => typeof path === 'string')).toBe(true)
        expect(JSON.stringify(encoded)).not.toContain('undefined')
      }),
    )
  })

  test('a mangled body is decoded or refused, never thrown at', () => {
    fc.assert(
      fc.property(canonicalRequestArbitrary(), mangling(), (any, mangle) => {
        const encoded = protocol.encodeRequest(canExpress.request(any), target)
        if (encoded.kind === 'refused') return
        const decoded = protocol.decodeRequest(mangle(encoded.body))
        if (decoded.kind === 'refused') expect(decoded.field).not.toBe('')
        else protocol.encodeRequest(decoded.value, target)
      }),
      { numRuns: 300 },
    )
  })
}

function responseLaws(protocol: Protocol, canExpress: Expressible): void {
  test('an answer encoded and decoded again is the same answer', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), (any) => {
        const response = canExpress.response(any)
        expect(comparable(wholeAndBack(protocol, response, canExpress.asked))).toEqual(comparable(response))
      }),
    )
  })

  test('a mangled answer is decoded without throwing', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), mangling(), (any, mangle) => {
        const body = protocol.encodeResponse(canExpress.response(any), replyContext(PLAIN_REQUEST))
        protocol.decodeResponse(mangle(overTheWire(body)))
      }),
      { numRuns: 300 },
    )
  })
}

function streamLaws(protocol: Protocol, canExpress: Expressible): void {
  test('a folded stream equals the whole answer', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), slicing(), (any, slice) => {
        const response = canExpress.response(any)
        const text = encodeStream(protocol, slice(response), canExpress.asked)
        expect(text.endsWith(canExpress.terminator)).toBe(true)
        const parts = decodeStream(protocol, sseEvents(text))
        expectLawfulStream(parts)
        expect(comparable(foldStream(parts))).toEqual(
          comparable(wholeAndBack(protocol, response, canExpress.asked)),
        )
      }),
    )
  })

  test('a stream that is cut anywhere ends in exactly one error and leaves no block open', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), slicing(), fc.nat(), (any, slice, at) => {
        const events = sseEvents(encodeStream(protocol, slice(canExpress.response(any)), canExpress.asked))
        const ending = endingEvents(protocol, events)
        const kept = events.slice(0, at % Math.max(1, events.length - ending + 1))
        const parts = decodeStream(protocol, kept)
        expectLawfulStream(parts)
        expect(parts.at(-1)?.type).toBe('error')
      }),
    )
  })

  test('a mangled stream ends once, with an end or an error', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), slicing(), fc.nat(), mangling(), (any, slice, at, mangle) => {
        const events = sseEvents(encodeStream(protocol, slice(canExpress.response(any)), canExpress.asked))
        const index = at % events.length
        const changed = events.map((event, place) => (place === index ? mangleEvent(event, mangle) : event))
        expectLawfulStream(decodeStream(protocol, changed))
      }),
      { numRuns: 300 },
    )
  })

  test('an error inside a stream is told in the protocol’s own way and never as an end', () => {
    fc.assert(
      fc.property(canonicalResponseArbitrary(), slicing(), fc.nat(), (any, slice, at) => {
        const parts = slice(canExpress.response(any))
        const begun = parts
          .slice(0, 1 + (at % Math.max(1, parts.length - 1)))
          .filter(({ type }) => type !== 'end')
        const error = { status: 503, type: 'overloaded_error', code: undefined, message: 'busy', raw: null }
        const text = encodeStream(protocol, [...closed(begun), { type: 'error', error }], canExpress.asked)
        expect(text.endsWith(canExpress.terminator)).toBe(false)
        const decoded = decodeStream(protocol, sseEvents(text))
        expectLawfulStream(decoded)
        const last = decoded.at(-1)
        expect(last?.type === 'error' ? last.error.message : last?.type).toBe('busy')
      }),
    )
  })
}

/** Every block opens and closes once, before the one end or error; a start comes first, a finish before the end. */
export function expectLawfulStream(parts: readonly StreamPart[]): void {
  const opened = new Set<number>()
  const open = new Set<number>()
  const finished = new Set<number>()
  let over = false
  for (const part of parts) {
    if (over) throw new Error(`${part.type} after the end`)
    switch (part.type) {
      case 'start':
        if (opened.size > 0) throw new Error('start after a block')
        break
      case 'block-start':
        if (opened.has(part.block)) throw new Error(`block ${part.block} opened twice`)
        if (finished.has(part.candidate)) throw new Error(`block ${part.block} after the finish`)
        opened.add(part.block)
        open.add(part.block)
        break
      case 'text-delta':
      case 'arguments-delta':
      case 'signature':
      case 'citation':
      case 'logprobs':
        if (!open.has(part.block)) throw new Error(`${part.type} for block ${part.block}, which is not open`)
        break
      case 'block-end':
        if (!open.delete(part.block)) throw new Error(`block ${part.block} closed without being open`)
        break
      case 'finish':
        if (finished.has(part.candidate)) throw new Error(`candidate ${part.candidate} finished twice`)
        finished.add(part.candidate)
        break
      case 'end':
        if (finished.size === 0) throw new Error('end without a finish')
        over = true
        break
      case 'error':
        over = true
        break
      case 'usage':
      case 'ping':
        break
    }
  }
  if (!over) throw new Error('neither an end nor an error')
  if (open.size > 0) throw new Error(`blocks left open: ${[...open].join(', ')}`)
}

export function encodeStream(
  protocol: Protocol,
  parts: readonly StreamPart[],
  request = PLAIN_REQUEST,
): string {
  const encoder = protocol.streamEncoder(replyContext({ ...request, stream: true, includeUsage: true }))
  return parts.map((part) => encoder.push(part)).join('')
}

export function decodeStream(protocol: Protocol, events: readonly SseEvent[]): readonly StreamPart[] {
  const decoder = protocol.streamDecoder()
  return [...events.flatMap((event) => decoder.push(event)), ...decoder.end()]
}

/** Frames as an independent parser of the format sees them. */
export function sseEvents(text: string): readonly SseEvent[] {
  const events: SseEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event: event ?? '', data }) })
  parser.feed(text)
  return events
}

function wholeAndBack(
  protocol: Protocol,
  response: CanonicalResponse,
  asked = PLAIN_REQUEST,
): CanonicalResponse {
  return protocol.decodeResponse(overTheWire(protocol.encodeResponse(response, replyContext(asked))))
}

function overTheWire(body: JsonObject): JsonObject {
  const copy = parseJson(JSON.stringify(body))
  return isJsonObject(copy) ? copy : {}
}

/** Ids, times and the upstream's own words are generated anew on the way; everything else must stay. */
export function comparable(response: CanonicalResponse): unknown {
  return {
    usage: response.usage,
    candidates: response.candidates.map(({ index, blocks, finish }) => ({
      index,
      blocks: withoutIssuers(blocks),
      finish: { ...finish, raw: undefined },
    })),
  }
}

function withoutIssuers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIssuers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === 'signature' && isSignature(child) ? { id: child.id, data: child.data } : withoutIssuers(child),
    ]),
  )
}

function isSignature(value: unknown): value is Signature {
  return typeof value === 'object' && value !== null && 'data' in value && 'issuer' in value
}

/** The last events, from the one that already makes the stream complete. */
function endingEvents(protocol: Protocol, events: readonly SseEvent[]): number {
  for (let count = 0; count < events.length; count += 1) {
    const parts = decodeStream(protocol, events.slice(0, events.length - count))
    if (parts.at(-1)?.type === 'error') return count
  }
  return events.length
}

function closed(parts: readonly StreamPart[]): readonly StreamPart[] {
  const open = new Set<number>()
  for (const part of parts) {
    if (part.type === 'block-start') open.add(part.block)
    if (part.type === 'block-end') open.delete(part.block)
  }
  return [...parts, ...[...open].map((block) => ({ type: 'block-end', block }) as const)]
}

function mangleEvent(event: SseEvent, mangle: (value: JsonValue) => JsonObject): SseEvent {
  if (!event.data.startsWith('{')) return { ...event, data: '{"broken":' }
  return { ...event, data: JSON.stringify(mangle(parseJson(event.data) ?? null)) }
}

/** One value of the document replaced by something else, or removed. */
function mangling(): fc.Arbitrary<(value: JsonValue) => JsonObject> {
  const replacement: fc.Arbitrary<JsonValue | undefined> = fc.oneof(
    fc.constantFrom(undefined, null, 0, -1, '', 'x', true, [], {}, [null], [[]], { type: 7 }),
    fc.jsonValue({ maxDepth: 2 }).map((value) => parseJson(JSON.stringify(value))),
  )
  return fc
    .tuple(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), replacement)
    .map(([path, value]) => (document) => {
      const changed = replaceAt(document, path, value)
      return isJsonObject(changed) ? changed : {}
    })
}

function replaceAt(
  value: JsonValue | undefined,
  path: readonly number[],
  replacement: JsonValue | undefined,
): JsonValue | undefined {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== 'object' || value === null) return replacement
  const keys = Object.keys(value)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return replacement
  const replaced = ([place, child]: readonly [string, JsonValue | undefined]): JsonValue | undefined =>
    place === key ? replaceAt(child, rest, replacement) : child
  if (isJsonArray(value)) return Object.entries(value).map((entry) => replaced(entry) ?? null)
  return Object.fromEntries(Object.entries(value).map((entry) => [entry[0], replaced(entry)]))
}

/** How an answer is cut into parts: pieces of one length, parallel calls one after the other or interleaved. */
function slicing(): fc.Arbitrary<(response: CanonicalResponse) => readonly StreamPart[]> {
  return fc
    .record({ length: fc.integer({ min: 1, max: 12 }), interleaved: fc.boolean() })
    .map(({ length, interleaved }) => (response) => {
      const pieces = unfoldResponse(response).flatMap((part) => cut(part, length))
      return interleaved ? interleaveCalls(pieces) : pieces
    })
}

function cut(part: StreamPart, length: number): readonly StreamPart[] {
  if (part.type !== 'text-delta' && part.type !== 'arguments-delta') return [part]
  const pieces: StreamPart[] = []
  for (let at = 0; at < part.text.length; at += length) {
    pieces.push({ ...part, text: part.text.slice(at, at + length) })
  }
  return pieces
}

/** Parts of consecutive tool calls are interleaved: one part of each in turn. */
function interleaveCalls(parts: readonly StreamPart[]): readonly StreamPart[] {
  const calls = new Map<number, StreamPart[]>()
  const out: StreamPart[] = []
  const flush = (): void => {
    for (let round = 0; calls.size > 0; round += 1) {
      for (const [block, queue] of calls) {
        const part = queue[round]
        if (part === undefined) calls.delete(block)
        else out.push(part)
      }
    }
  }
  for (const part of parts) {
    if (part.type === 'block-start' && part.kind.type === 'tool-call') calls.set(part.block, [part])
    else if ('block' in part && calls.has(part.block)) calls.get(part.block)?.push(part)
    else {
      flush()
      out.push(part)
    }
  }
  flush()
  return out
}

const text = fc.oneof(
  fc.string({ minLength: 0, maxLength: 30, unit: 'grapheme' }).map((tail) => `t${tail}`),
  fc.constantFrom(
    'Hello!',
    'line\nbreak',
    'quote " and \\ slash',
    'emoji 🦥 and ü',
    'data: [DONE]',
    '\u2028 separators',
  ),
)
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/)
const count = fc.nat({ max: 100_000 })
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined })
const cacheMark = fc.constantFrom({ ttl: '5m' } as const, { ttl: '1h' } as const)
const base64 = fc.base64String({ minLength: 4, maxLength: 40 })
const objectText = fc
  .dictionary(name, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .map((value) => JSON.stringify(value))

const textPart: fc.Arbitrary<TextPart> = fc
  .tuple(text, fc.option(cacheMark, { freq: 8, nil: undefined }))
  .map(([said, cache]) =>
    cache === undefined ? { type: 'text', text: said } : { type: 'text', text: said, cache },
  )

const imagePart: fc.Arbitrary<MediaPart> = fc
  .record({
    source: fc.oneof(
      fc.record({
        kind: fc.constant('base64' as const),
        mediaType: fc.constantFrom('image/png', 'image/jpeg'),
        data: base64,
      }),
      fc.record({ kind: fc.constant('url' as const), url: fc.webUrl(), mediaType: fc.constant(undefined) }),
    ),
    detail: optional(fc.constantFrom('auto', 'low', 'high', 'original')),
  })
  .map(({ source, detail }) => ({ type: 'media', media: 'image', source, detail, filename: undefined }))

const filePart: fc.Arbitrary<MediaPart> = fc
  .record({ data: base64, filename: name.map((stem) => `${stem}.pdf`) })
  .map(({ data, filename }) => ({
    type: 'media',
    media: 'file',
    source: { kind: 'base64', mediaType: 'application/pdf', data },
    detail: undefined,
    filename,
  }))

const audioPart: fc.Arbitrary<MediaPart> = fc.tuple(base64, fc.constantFrom('audio/wav', 'audio/mp3')).map(
  ([data, mediaType]): MediaPart => ({
    type: 'media',
    media: 'audio',
    source: { kind: 'base64', mediaType, data },
    detail: undefined,
    filename: undefined,
  }),
)

const signature: fc.Arbitrary<Signature> = fc
  .record({ id: optional(name.map((tail) => `rs_${tail}`)), data: base64 })
  .map(({ id, data }) => ({ issuer: LAW_ISSUER, id, data }))

/** The signature of a call has no id of its own. */
const callSignature = signature.map((sealed) => ({ ...sealed, id: undefined }))

const reasoning = fc
  .record({ kind: fc.constantFrom('summary', 'raw'), text, signature: optional(signature) })
  .map((part) => ({ type: 'reasoning' as const, ...part }))

const redacted = signature.map((sealed) => ({
  type: 'reasoning' as const,
  kind: 'redacted' as const,
  text: '',
  signature: sealed,
}))

interface CallDraft {
  readonly name: string
  readonly namespace: string | undefined
  readonly kind: 'function' | 'custom'
  readonly arguments: string
  readonly signature: Signature | undefined
}

const callDraft: fc.Arbitrary<CallDraft> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name,
      namespace: fc.constant(undefined),
      kind: fc.constant('function' as const),
      arguments: objectText,
      signature: fc.option(callSignature, { freq: 6, nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name,
      namespace: fc.constant(undefined),
      kind: fc.constant('custom' as const),
      arguments: text,
      signature: fc.constant(undefined),
    }),
  },
)

interface Exchange {
  readonly user: readonly Part[]
  readonly thought: readonly Part[]
  readonly said: readonly Part[]
  readonly calls: readonly {
    readonly call: CallDraft
    readonly result: Omit<ToolResultPart, 'callId' | 'kind' | 'type'>
  }[]
  readonly instruction: string | undefined
}

const toolResult = fc.record({
  content: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: text.map((said): TextPart => ({ type: 'text', text: said })) },
      { weight: 1, arbitrary: imagePart },
    ),
    { maxLength: 3 },
  ),
  isError: fc.boolean(),
})

const exchange: fc.Arbitrary<Exchange> = fc.record({
  user: fc.array(fc.oneof({ weight: 6, arbitrary: textPart }, imagePart, filePart, audioPart), {
    minLength: 1,
    maxLength: 3,
  }),
  thought: fc.array(fc.oneof(reasoning, redacted), { maxLength: 2 }),
  said: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: textPart },
      text.map((said): Part => ({ type: 'refusal', text: said })),
    ),
    { maxLength: 2 },
  ),
  calls: fc.array(fc.record({ call: callDraft, result: toolResult }), { maxLength: 3 }),
  instruction: fc.option(text, { freq: 6, nil: undefined }),
})

/** Removes turns that became empty and joins neighbours of one role. */
function withJoinedTurns(request: CanonicalRequest): CanonicalRequest {
  return { ...request, turns: joinTurns(request.turns) }
}

function joinTurns(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = []
  for (const { role, parts } of turns) {
    const last = joined.at(-1)
    if (parts.length === 0) continue
    if (last?.role === role) joined[joined.length - 1] = { role, parts: [...last.parts, ...parts] }
    else joined.push({ role, parts })
  }
  return joined
}

function turnsOf(exchanges: readonly Exchange[]): readonly Turn[] {
  const turns = exchanges.flatMap(({ user, thought, said, calls, instruction }, at): readonly Turn[] => {
    const id = (index: number): string => `call_${at}_${index}`
    const made = calls.map(({ call }, index): Part => ({ type: 'tool-call', id: id(index), ...call }))
    const results = calls.map(
      ({ call, result }, index): Part => ({
        type: 'tool-result',
        callId: id(index),
        kind: call.kind,
        ...result,
      }),
    )
    return [
      { role: 'user', parts: user },
      { role: 'system', parts: instruction === undefined ? [] : [{ type: 'text', text: instruction }] },
      { role: 'assistant', parts: [...thought, ...said, ...made] },
      { role: 'tool', parts: results },
    ]
  })
  return joinTurns([...turns, { role: 'user', parts: [{ type: 'text', text: 'and now?' }] }])
}

const schema = fc.constantFrom<JsonValue>(
  { type: 'object', properties: {} },
  {
    type: 'object',
    properties: { city: { type: 'string', description: 'where' } },
    required: ['city'],
    additionalProperties: false,
  },
  {
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'integer' } } },
    required: ['list'],
    additionalProperties: false,
  },
)

const tool: fc.Arbitrary<Tool> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        name,
        description: optional(text),
        parameters: optional(schema),
        strict: optional(fc.boolean()),
        cache: fc.option(cacheMark, { freq: 8, nil: undefined }),
      })
      .map(
        ({ cache, ...rest }): Tool => ({
          type: 'function',
          namespace: undefined,
          ...rest,
          ...(cache === undefined ? {} : { cache }),
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        name,
        description: optional(text),
        grammar: optional(fc.record({ syntax: fc.constantFrom('lark', 'regex'), definition: text })),
      })
      .map((rest): Tool => ({ type: 'custom', namespace: undefined, ...rest })),
  },
)

/** Conversations of every kind: parts of all protocols, several turns, tools with and without results. */
export function canonicalRequestArbitrary(): fc.Arbitrary<CanonicalRequest> {
  return fc
    .record({
      system: fc.array(text, { maxLength: 2 }),
      exchanges: fc.array(exchange, { maxLength: 3 }),
      tools: fc.uniqueArray(tool, { maxLength: 4, selector: (each) => each.name }),
      choice: fc.constantFrom('auto', 'none', 'required', 'named', 'allowed', undefined),
      parallelToolCalls: optional(fc.boolean()),
      maxOutputTokens: optional(fc.integer({ min: 16, max: 60_000 })),
      sampling: fc.record({
        temperature: optional(fc.integer({ min: 0, max: 20 }).map((tenths) => tenths / 10)),
        topP: optional(fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10)),
        topK: optional(fc.integer({ min: 1, max: 500 })),
        presencePenalty: optional(fc.integer({ min: -2, max: 2 })),
        frequencyPenalty: optional(fc.integer({ min: -2, max: 2 })),
        seed: optional(count),
      }),
      stop: fc.array(text, { maxLength: 4 }),
      output: fc.oneof(
        fc.constant({ kind: 'text' } as const),
        fc.constant({ kind: 'json' } as const),
        fc.record({
          kind: fc.constant('json-schema' as const),
          name,
          description: optional(text),
          schema,
          strict: optional(fc.boolean()),
        }),
      ),
      reasoning: optional(
        fc.record({
          effort: optional(fc.constantFrom(...EFFORTS)),
          budgetTokens: optional(fc.integer({ min: 1024, max: 32_000 })),
          expose: optional(fc.boolean()),
          summary: optional(fc.constantFrom('auto', 'concise', 'detailed')),
        }),
      ),
      stream: fc.boolean(),
      includeUsage: fc.boolean(),
      candidates: optional(fc.integer({ min: 1, max: 3 })),
      logprobs: optional(fc.record({ top: fc.nat({ max: 20 }) })),
      verbosity: optional(fc.constantFrom('low', 'medium', 'high')),
      user: optional(name),
      metadata: optional(fc.dictionary(name, text, { maxKeys: 2, noNullPrototype: true })),
      serviceTier: optional(fc.constantFrom('auto', 'default', 'flex', 'priority')),
      promptCacheKey: optional(name),
      cacheAll: fc.option(cacheMark, { freq: 8, nil: undefined }),
      store: optional(fc.boolean()),
    })
    .map(({ system, exchanges, choice, store, ...rest }) => ({
      ...rest,
      system: system.map((said) => ({ text: said })),
      turns: turnsOf(exchanges),
      toolChoice: choiceOf(choice, rest.tools),
      state: { store, previousResponseId: undefined },
    }))
}

function choiceOf(
  kind: 'auto' | 'none' | 'required' | 'named' | 'allowed' | undefined,
  tools: readonly Tool[],
): CanonicalRequest['toolChoice'] {
  const [first] = tools
  switch (kind) {
    case undefined:
      return undefined
    case 'auto':
    case 'none':
    case 'required':
      return { kind }
    case 'named':
      return first === undefined ? undefined : { kind: 'tool', name: first.name }
    case 'allowed':
      return first === undefined ? undefined : { kind: 'allowed', mode: 'auto', names: [first.name] }
  }
}

const citation = fc.record({
  url: fc.webUrl(),
  title: optional(text),
  startIndex: optional(fc.nat({ max: 20 })),
  endIndex: optional(fc.nat({ max: 20 })),
})

const logprobs: fc.Arbitrary<JsonValue | undefined> = fc.option(
  fc.array(
    text.map((token): JsonValue => ({ token, logprob: -0.5, bytes: [116], top_logprobs: [] })),
    { minLength: 1, maxLength: 3 },
  ),
  { freq: 6, nil: undefined },
)

const block: fc.Arbitrary<Block> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('text' as const),
      text,
      citations: fc.array(citation, { maxLength: 2 }),
      logprobs,
    }),
  },
  { weight: 1, arbitrary: text.map((said): Block => ({ type: 'refusal', text: said })) },
  { weight: 2, arbitrary: reasoning },
  { weight: 1, arbitrary: redacted },
  { weight: 3, arbitrary: callDraft.map((call): Block => ({ type: 'tool-call', id: '', ...call })) },
  { weight: 1, arbitrary: base64.map((data): Block => ({ type: 'media', mediaType: 'image/png', data })) },
)

export const usageArbitrary: fc.Arbitrary<Usage> = fc
  .record({
    input: count,
    cachedInput: count,
    cacheWrite: count,
    cacheWrite1h: count,
    output: count,
    reasoning: count,
  })
  .map((usage) => ({ ...usage, input: usage.input + 1, output: usage.output + usage.reasoning }))

const candidate: fc.Arbitrary<Omit<Candidate, 'index'>> = fc
  .record({
    blocks: fc.array(block, { maxLength: 5 }),
    ending: fc.constantFrom('stop', 'length', 'content-filter', 'stop-sequence'),
    stopSequence: text,
  })
  .map(({ blocks, ending, stopSequence }) => ({
    blocks: blocks.map((each, index) =>
      each.type === 'tool-call' ? { ...each, id: `call_${index}` } : each,
    ),
    finish: {
      reason: reasonOf(ending, blocks),
      raw: undefined,
      stopSequence:
        ending === 'stop-sequence' && reasonOf(ending, blocks) === ending ? stopSequence : undefined,
      explanation: undefined,
    },
  }))

/**
 * The finish reason follows from the content: calls before refusals before the reported reason
 * (docs/protocols.md#rule-8).
 */
export function reasonOf(
  ending: 'stop' | 'length' | 'content-filter' | 'stop-sequence',
  blocks: readonly Block[],
): Candidate['finish']['reason'] {
  if (ending === 'length' || ending === 'content-filter') return ending
  if (blocks.some(({ type }) => type === 'tool-call')) return 'tool-calls'
  return blocks.some(({ type }) => type === 'refusal') ? 'refusal' : ending
}

/** Answers of every kind, one candidate or several. */
export function canonicalResponseArbitrary(): fc.Arbitrary<CanonicalResponse> {
  return fc
    .record({
      candidates: fc.array(candidate, { minLength: 1, maxLength: 2 }),
      usage: optional(usageArbitrary),
      id: name,
    })
    .map(({ candidates, usage, id }) => ({
      id,
      createdAt: 1_790_000_000,
      candidates: candidates.map((each, index) => ({ index, ...each })),
      usage,
      serviceTier: undefined,
    }))
}

/** Chains with any capabilities. */
function capabilitiesArbitrary(): fc.Arbitrary<Capabilities> {
  return fc
    .record({
      midSystem: fc.boolean(),
      prefill: fc.boolean(),
      sampling: fc.constantFrom('all', 'one', 'none'),
      temperatureMax: fc.constantFrom(1, 2),
      topK: fc.boolean(),
      penalties: fc.boolean(),
      seed: fc.boolean(),
      logprobs: fc.boolean(),
      stopMax: fc.nat({ max: 4 }),
      candidates: fc.boolean(),
      reasoning: fc.constantFrom('none', 'effort', 'budget', 'adaptive', 'level', 'toggle'),
      efforts: fc.subarray([...EFFORTS]),
      replayReasoning: fc.boolean(),
      forcedToolWithReasoning: fc.boolean(),
      parallelToolCalls: fc.boolean(),
      strictTools: fc.boolean(),
      customTools: fc.boolean(),
      toolNameMax: fc.constantFrom(9, 20, 64),
      toolIdMax: fc.constantFrom(9, 20, 64),
      jsonObject: fc.boolean(),
      jsonSchema: fc.boolean(),
      schemaDialect: fc.constantFrom('json-schema', 'anthropic', 'openapi-subset'),
      images: fc.constantFrom('url', 'inline', 'none'),
      documents: fc.constantFrom('url', 'inline', 'none'),
      audio: fc.boolean(),
      imagesInToolResults: fc.boolean(),
      cacheMarks: fc.constantFrom('none', 'anthropic', 'breakpoint'),
      hostedTools: fc.subarray([...CAPABLE.hostedTools]),
      user: fc.boolean(),
      verbosity: fc.boolean(),
      serviceTier: fc.boolean(),
      metadata: fc.boolean(),
    })
    .map((chosen) => ({ ...CAPABLE, ...chosen }))
}
