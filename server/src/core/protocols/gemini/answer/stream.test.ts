import { describe, expect, test } from 'vitest'
import { openSignature } from '../../../canonical/envelope.ts'
import { foldStream } from '../../../canonical/fold.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { BlockStart, Finish, StreamPart } from '../../../canonical/response.ts'
import { NO_USAGE } from '../../../canonical/usage.ts'
import type { JsonObject } from '../../../json.ts'
import {
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../testing/laws.ts'
import { collectGemini, withGemini } from '../../testing/official-clients.ts'
import { listOf, objectOf, textOf } from '../../read-json.ts'
import { geminiProtocol } from '../index.ts'

const start: StreamPart = { type: 'start', id: 'x', createdAt: undefined }
const end: StreamPart = { type: 'end' }
const finish = (reason: Finish['reason'], more: Partial<Finish> = {}, candidate = 0): StreamPart => ({
  type: 'finish',
  candidate,
  finish: { reason, raw: undefined, stopSequence: undefined, explanation: undefined, ...more },
})
const open = (block: number, kind: BlockStart, candidate = 0): StreamPart => ({
  type: 'block-start',
  block,
  candidate,
  kind,
})
const text: BlockStart = { type: 'text' }
const thought: BlockStart = { type: 'reasoning', kind: 'summary' }
const call = (id: string): BlockStart => ({
  type: 'tool-call',
  id,
  name: `tool_${id}`,
  namespace: undefined,
  kind: 'function',
})
const say = (block: number, said: string): StreamPart => ({ type: 'text-delta', block, text: said })
const write = (block: number, json: string): StreamPart => ({ type: 'arguments-delta', block, text: json })
const close = (block: number): StreamPart => ({ type: 'block-end', block })
const hello = [start, open(0, text), say(0, 'Hel'), say(0, 'lo'), close(0)]

const asking = (expose: boolean | undefined): CanonicalRequest => ({
  ...PLAIN_REQUEST,
  reasoning: { effort: 'low', budgetTokens: undefined, expose, summary: undefined },
})

function fragments(parts: readonly StreamPart[], request = PLAIN_REQUEST): readonly JsonObject[] {
  return sseEvents(encodeStream(geminiProtocol, parts, request)).map(
    ({ data }) => objectOf(parseJson(data)) ?? {},
  )
}

function partsOf(fragment: JsonObject | undefined): readonly JsonObject[] {
  const content = objectOf(objectOf(listOf(fragment?.candidates)[0])?.content)
  return listOf(content?.parts).map((part) => objectOf(part) ?? {})
}

describe('a stream for a Gemini client', () => {
  test('the last fragment carries the finish reason and the usage, no other does [6.3-03]', () => {
    const usage = { ...NO_USAGE, input: 5, cachedInput: 3, output: 9, reasoning: 4 }
    const all = fragments([...hello, { type: 'usage', usage }, finish('stop'), end])
    expect(all.slice(0, -1).every((each) => !JSON.stringify(each).includes('finishReason'))).toBe(true)
    expect(all.at(-1)).toEqual({
      candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 8,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        totalTokenCount: 17,
      },
      modelVersion: 'platform-model',
      responseId: '0198f0aa11',
    })
  })

  test('fragments are data lines that end in two CRLF, without event names and without [DONE]', () => {
    const sse = encodeStream(geminiProtocol, [...hello, finish('stop'), end])
    expect(
      sse
        .split('\r\n\r\n')
        .slice(0, -1)
        .every((line) => line.startsWith('data: {')),
    ).toBe(true)
    expect(sse).not.toContain('[DONE]')
    expect(sse).not.toContain('event:')
  })

  test('without alt=sse the stream is one array, also when it fails', () => {
    const context = { ...replyContext(PLAIN_REQUEST), framing: 'json-array' } as const
    const whole = (parts: readonly StreamPart[]) => {
      const encoder = geminiProtocol.streamEncoder(context)
      return parseJson(parts.map((part) => encoder.push(part)).join(''))
    }
    expect(listOf(whole([...hello, finish('stop'), end]))).toHaveLength(3)
    const error = { status: 503, type: undefined, code: undefined, message: 'busy', raw: null }
    expect(listOf(whole([...hello, { type: 'error', error }])).at(-1)).toMatchObject({ error: { code: 503 } })
    expect(listOf(whole([{ type: 'error', error }]))).toHaveLength(1)
  })

  test('the official client’s chat keeps the answer and can go on', async () => {
    const body = encodeStream(geminiProtocol, [...hello, finish('stop'), end])
    const history = await withGemini(body, async (client) => {
      const chat = client.chats.create({ model: 'm' })
      for await (const chunk of await chat.sendMessageStream({ message: 'hi' })) {
        expect(chunk.text).toBeDefined()
      }
      return chat.getHistory(true)
    })
    const decoded = geminiProtocol.decodeRequest(
      objectOf(parseJson(JSON.stringify({ contents: history }))) ?? {},
    )
    expect(decoded.kind === 'decoded' ? decoded.value.turns : undefined).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Hello' }] },
    ])
  })

  test('calls written at the same time come out whole, in the order they were made (docs/protocols.md#trap-3)', async () => {
    const received = await collectGemini(
      encodeStream(geminiProtocol, [
        start,
        open(0, call('a')),
        open(1, call('b')),
        write(1, '{"b":'),
        write(0, '{"a":1}'),
        write(1, '2}'),
        close(1),
        close(0),
        finish('tool-calls'),
        end,
      ]),
    )
    expect(received.flatMap(({ functionCalls }) => functionCalls ?? [])).toMatchObject([
      { id: 'a', name: 'tool_a', args: { a: 1 } },
      { id: 'b', name: 'tool_b', args: { b: 2 } },
    ])
    expect(received.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
  })

  test('arguments of nothing are an empty object, broken ones are kept under a name (docs/protocols.md#trap-9)', () => {
    const [first, second] = fragments([
      start,
      open(0, call('a')),
      close(0),
      open(1, call('b')),
      write(1, '{"x":'),
      close(1),
      finish('tool-calls'),
      end,
    ])
    expect(partsOf(first)).toMatchObject([{ functionCall: { args: {} } }])
    expect(partsOf(second)).toMatchObject([{ functionCall: { args: { arguments: '{"x":' } } }])
  })

  test('a call carries what it must be replayed with, in an envelope (docs/protocols.md#trap-22)', () => {
    const signature = { issuer: undefined, id: undefined, data: 'thought' }
    const [first] = fragments([
      start,
      open(0, call('a')),
      { type: 'signature', block: 0, signature },
      write(0, '{}'),
      close(0),
      finish('tool-calls'),
      end,
    ])
    expect(openSignature(textOf(partsOf(first)[0]?.thoughtSignature) ?? '')).toEqual({
      kind: 'call',
      signature: { issuer: 'law.issuer', id: undefined, data: 'thought' },
    })
  })

  test('thoughts are sent only to a client that requests them, with their signature (docs/protocols.md#trap-20)', () => {
    const parts: readonly StreamPart[] = [
      start,
      open(0, thought),
      say(0, 'hm'),
      { type: 'signature', block: 0, signature: { issuer: undefined, id: undefined, data: 'sig' } },
      close(0),
      open(1, text),
      say(1, 'Hi'),
      close(1),
      finish('stop'),
      end,
    ]
    expect(fragments(parts, asking(true)).flatMap(partsOf)).toMatchObject([
      { text: 'hm', thought: true },
      { text: '', thought: true, thoughtSignature: expect.any(String) },
      { text: 'Hi' },
      { text: '' },
    ])
    for (const request of [PLAIN_REQUEST, asking(undefined), asking(false)]) {
      expect(fragments(parts, request).flatMap(partsOf)).toEqual([{ text: 'Hi' }, { text: '' }])
    }
  })

  test('several candidates do not wait for each other', () => {
    const all = fragments([
      start,
      open(0, text),
      open(1, text, 1),
      say(1, 'B'),
      say(0, 'A'),
      close(0),
      close(1),
      finish('stop'),
      finish('length', {}, 1),
      end,
    ])
    expect(all.slice(0, 2).map((each) => objectOf(listOf(each.candidates)[0])?.index)).toEqual([1, 0])
    expect(listOf(all.at(-1)?.candidates)).toMatchObject([
      { index: 0, finishReason: 'STOP' },
      { index: 1, finishReason: 'MAX_TOKENS' },
    ])
  })

  test('a refusal is sent as SAFETY, with its explanation (docs/protocols.md#trap-19)', () => {
    expect(fragments([start, finish('refusal', { explanation: 'no' }), end]).at(-1)).toMatchObject({
      candidates: [{ finishReason: 'SAFETY', finishMessage: 'no' }],
    })
  })

  test('sources are named at the end', () => {
    const citation = { url: 'https://a', title: 'A', startIndex: 0, endIndex: 2 }
    const parts: readonly StreamPart[] = [
      start,
      open(0, text),
      say(0, 'Hi'),
      { type: 'citation', block: 0, citation },
      close(0),
      finish('stop'),
      end,
    ]
    expect(fragments(parts).at(-1)).toMatchObject({
      candidates: [{ groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a', title: 'A' } }] } }],
    })
  })

  test('a failure is an error object at the end and no finish reason (docs/protocols.md#trap-38) [D-requests-65]', async () => {
    const sse = encodeStream(geminiProtocol, [
      ...hello,
      {
        type: 'error',
        error: { status: 529, type: 'overloaded_error', code: undefined, message: 'busy', raw: null },
      },
    ])
    expect(sse).not.toContain('finishReason')
    expect(objectOf(parseJson(sseEvents(sse).at(-1)?.data ?? ''))).toEqual({
      error: { code: 529, message: 'busy', status: 'INTERNAL', type: 'overloaded_error' },
    })
    await expect(collectGemini(sse)).rejects.toThrow('busy')
  })

  test('a stream without its end is a failure (docs/protocols.md#trap-16)', () => {
    expect(fragments([...hello, end]).at(-1)).toHaveProperty('error')
  })

  test('there is no sign of life, and what is held for a call is bounded', () => {
    const encoder = geminiProtocol.streamEncoder(replyContext(PLAIN_REQUEST))
    encoder.push(start)
    encoder.push(open(0, call('a')))
    expect(encoder.keepAlive()).toBe('')
    let sent = ''
    for (let count = 0; count < 20; count++) sent += encoder.push(write(0, 'x'.repeat(1024 * 1024)))
    expect(sent).toContain('"error"')
    expect(sent.length).toBeLessThan(10_000)
  })
})

describe('a stream of a Gemini upstream', () => {
  const chunk = (parts: readonly JsonObject[], more: JsonObject = {}, rest: JsonObject = {}) => ({
    event: '',
    data: JSON.stringify({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      responseId: 'r-1',
      ...rest,
    }),
  })
  const STOP = { finishReason: 'STOP' }
  const functionCall = (name: string, more: JsonObject = {}) => ({
    functionCall: { name, args: {} },
    ...more,
  })

  const read = (...events: readonly { readonly event: string; readonly data: string }[]) => {
    const parts = decodeStream(geminiProtocol, events)
    expectLawfulStream(parts)
    return parts
  }
  const answerOf = (...events: readonly { readonly event: string; readonly data: string }[]) => {
    const folded = foldStream(read(...events))
    return { ...folded, blocks: folded.candidates[0]?.blocks ?? [], finish: folded.candidates[0]?.finish }
  }

  test('a chunk that says all kinds of things at once loses none of them (docs/protocols.md#trap-8)', () => {
    const { blocks, finish: ending } = answerOf(
      chunk(
        [{ text: 'hm', thought: true }, { text: 'Let me look. ' }, functionCall('f'), { text: 'Done.' }],
        { finishReason: 'MAX_TOKENS' },
      ),
    )
    expect(blocks.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool-call', 'text'])
    expect(ending?.reason).toBe('length')
  })

  test('calls in one chunk are calls of their own, with ids of their own (docs/protocols.md#trap-2)', () => {
    const { blocks } = answerOf(
      chunk([functionCall('f'), functionCall('f')]),
      chunk([functionCall('g')], STOP),
    )
    expect(blocks.map((block) => (block.type === 'tool-call' ? block.id : ''))).toEqual([
      'call_r-1_0',
      'call_r-1_1',
      'call_r-1_2',
    ])
  })

  test('STOP behind a call is a call (docs/protocols.md#trap-17)', () => {
    expect(answerOf(chunk([functionCall('f')]), chunk([{ text: '' }], STOP)).finish?.reason).toBe(
      'tool-calls',
    )
  })

  test('texts go on over chunks, a thought between them parts them', () => {
    const { blocks } = answerOf(
      chunk([{ text: 'a' }]),
      chunk([{ text: 'b' }]),
      chunk([{ text: 'hm', thought: true }]),
      chunk([{ text: 'c' }], STOP),
    )
    expect(blocks).toMatchObject([{ text: 'ab' }, { type: 'reasoning', text: 'hm' }, { text: 'c' }])
  })

  test('signatures of calls, of visible thoughts and of texts are kept (docs/protocols.md#trap-20)', () => {
    const { blocks } = answerOf(
      chunk([
        { text: 'hm', thought: true, thoughtSignature: 'one' },
        functionCall('f', { thoughtSignature: 'two' }),
      ]),
      chunk([{ text: 'said' }]),
      chunk([{ text: '', thoughtSignature: 'three' }], STOP),
    )
    expect(blocks).toMatchObject([
      { type: 'reasoning', kind: 'summary', signature: { data: 'one', protocol: 'gemini' } },
      { type: 'tool-call', signature: { data: 'two' } },
      { type: 'text', text: 'said' },
      { type: 'reasoning', kind: 'redacted', text: '', signature: { data: 'three' } },
    ])
  })

  test('counters are sent repeatedly, the last ones count; kinds of traffic are not counters (docs/protocols.md#trap-14, #trap-15)', () => {
    const usage = (output: number) => ({
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: output, totalTokenCount: 10 + output },
    })
    expect(
      answerOf(chunk([{ text: 'a' }], {}, usage(1)), chunk([{ text: 'b' }], STOP, usage(2))).usage,
    ).toMatchObject({
      input: 10,
      output: 2,
    })
    expect(
      answerOf(chunk([{ text: 'a' }], STOP, { usageMetadata: { trafficType: 'ON_DEMAND' } })).usage,
    ).toBeUndefined()
  })

  test.each<[string, JsonObject, JsonObject]>([
    [
      'cached tokens are taken out of the prompt (docs/protocols.md#trap-26) [D-names-36]',
      { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 5, totalTokenCount: 105 },
      { input: 40, cachedInput: 60, output: 5 },
    ],
    [
      'thoughts are output',
      { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 20, totalTokenCount: 35 },
      { input: 10, output: 25, reasoning: 20 },
    ],
    [
      'thoughts that are among the candidates already are not added again',
      { promptTokenCount: 10, candidatesTokenCount: 25, thoughtsTokenCount: 20, totalTokenCount: 35 },
      { input: 10, output: 25, reasoning: 20 },
    ],
    [
      'what tools put into the prompt is input',
      { promptTokenCount: 10, toolUsePromptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 22 },
      { input: 17, output: 5 },
    ],
  ])('%s', (_name, usageMetadata, expected) => {
    expect(answerOf(chunk([{ text: 'a' }], STOP, { usageMetadata })).usage).toMatchObject(expected)
  })

  test('a chunk that repeats the prompt without what was cached does not count it twice (docs/protocols.md#trap-26)', () => {
    const first = { promptTokenCount: 100, cachedContentTokenCount: 60, totalTokenCount: 100 }
    const last = { promptTokenCount: 100, candidatesTokenCount: 5, totalTokenCount: 105 }
    const events = [
      chunk([{ text: 'a' }], {}, { usageMetadata: first }),
      chunk([{ text: 'b' }], STOP, { usageMetadata: last }),
    ]
    expect(answerOf(...events).usage).toMatchObject({ input: 40, cachedInput: 60, output: 5 })
  })

  test('a stream without a finish reason is a failure (docs/protocols.md#trap-16)', () => {
    expect(read(chunk([{ text: 'a' }])).at(-1)?.type).toBe('error')
    expect(read().at(-1)?.type).toBe('error')
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    'a call the model failed at (%s) is a failure, not an answer',
    (finishReason) => {
      expect(
        read(chunk([{ text: 'a' }]), chunk([], { finishReason, finishMessage: 'why' })).at(-1),
      ).toMatchObject({
        type: 'error',
        error: { status: 500, type: finishReason, message: expect.stringContaining('why') },
      })
      const body = { candidates: [{ finishReason }] }
      expect(geminiProtocol.decodeResponse(body).failure).toMatchObject({ type: finishReason })
    },
  )

  test.each(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'])(
    '%s is a filtered answer (docs/protocols.md#trap-19)',
    (finishReason) => {
      expect(answerOf(chunk([], { finishReason, finishMessage: 'why' })).finish).toMatchObject({
        reason: 'content-filter',
        raw: finishReason,
        explanation: 'why',
      })
    },
  )

  test('a blocked prompt is a filtered answer without words (docs/protocols.md#trap-19)', () => {
    const blocked = { event: '', data: JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' } }) }
    expect(answerOf(blocked).finish).toMatchObject({ reason: 'content-filter' })
    expect(answerOf(blocked).blocks).toEqual([])
  })

  test('an error chunk is sent with its code, every block closed (docs/protocols.md#trap-38)', () => {
    const error = { event: '', data: '{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}' }
    expect(read(chunk([{ text: 'a' }]), error).at(-1)).toMatchObject({
      error: { status: 503, type: 'UNAVAILABLE', message: 'busy' },
    })
  })

  test('pictures and what Google’s own tools did are blocks of their own', () => {
    const { blocks } = answerOf(
      chunk(
        [
          { inlineData: { mimeType: 'image/png', data: 'AA' } },
          { executableCode: { language: 'PYTHON', code: '1' } },
          { inlineData: { mimeType: 'image/png', data: 'BB' }, thought: true },
        ],
        STOP,
      ),
    )
    expect(blocks).toMatchObject([
      { type: 'media', data: 'AA' },
      { type: 'opaque', protocol: 'gemini' },
    ])
  })

  test('places of sources are counted in bytes by Google and in UTF-16 here', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a', title: 'A' } }, { web: { uri: 'https://b' } }],
      groundingSupports: [{ segment: { startIndex: 5, endIndex: 9 }, groundingChunkIndices: [0] }],
    }
    // 'ü' has two bytes and one unit, '🦥' four and two.
    const { blocks } = answerOf(
      chunk([{ text: 'ü b ' }]),
      chunk([{ text: '🦥!' }], { ...STOP, groundingMetadata }),
    )
    expect(blocks).toMatchObject([
      {
        citations: [
          { url: 'https://a', title: 'A', startIndex: 4, endIndex: 6 },
          { url: 'https://b', startIndex: undefined },
        ],
      },
    ])
  })

  test('sources are named once, for the text they belong to, however often they are sent', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a' } }],
      groundingSupports: [{ segment: { startIndex: 6, endIndex: 9 }, groundingChunkIndices: [0] }],
    }
    const { blocks } = answerOf(
      chunk([{ text: 'First.' }, functionCall('f')]),
      chunk([{ text: 'Sec' }], { groundingMetadata }),
      chunk([{ text: 'ond' }], { ...STOP, groundingMetadata }),
    )
    expect(blocks).toMatchObject([
      { citations: [] },
      { type: 'tool-call' },
      { citations: [{ url: 'https://a', startIndex: 0, endIndex: 3 }] },
    ])
  })

  test('log probabilities come as a list of tokens', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hi', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'Ho', logProbability: -1 }] }],
    }
    expect(answerOf(chunk([{ text: 'Hi' }], { ...STOP, logprobsResult })).blocks).toMatchObject([
      { logprobs: [{ token: 'Hi', logprob: -0.5, top_logprobs: [{ token: 'Ho', logprob: -1 }] }] },
    ])
  })

  test('a chunk that is no JSON is a failure of the upstream', () => {
    expect(read({ event: '', data: '{"candidates":' }).at(-1)?.type).toBe('error')
  })
})

test('errors are read from every form Google sends and written in Google’s form', () => {
  const body = { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }
  expect(geminiProtocol.decodeError(429, [body])).toMatchObject({
    status: 429,
    type: 'RESOURCE_EXHAUSTED',
    message: 'slow down',
    raw: [body],
  })
  expect(geminiProtocol.encodeError(geminiProtocol.decodeError(429, body))).toEqual(body)
  expect(
    geminiProtocol.encodeError({
      status: 400,
      type: 'invalid_request_error',
      code: undefined,
      message: 'no',
      raw: null,
    }),
  ).toEqual({
    error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  })
})
