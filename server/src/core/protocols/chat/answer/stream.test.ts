import { describe, expect, test } from 'vitest'
import { foldStream } from '../../../canonical/fold.ts'
import type { Block, StreamPart } from '../../../canonical/response.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import {
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../testing/laws.ts'
import { accumulateChat } from '../../testing/official-clients.ts'
import { listOf, objectOf, textOf } from '../../read-json.ts'
import { chatProtocol } from '../index.ts'

const DONE = '[DONE]'

/** Chunks of one stream: deltas of the first choice, other members, or raw data. */
function chunk(delta: JsonObject, rest: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...rest }],
  }
}

function finish(reason: string): JsonObject {
  return chunk({}, { finish_reason: reason })
}

function toolPiece(entry: JsonObject): JsonObject {
  return chunk({ tool_calls: [entry] })
}

function decode(...chunks: readonly (JsonObject | string)[]): readonly StreamPart[] {
  const parts = decodeStream(
    chatProtocol,
    chunks.map((each) => ({ event: '', data: typeof each === 'string' ? each : JSON.stringify(each) })),
  )
  expectLawfulStream(parts)
  return parts
}

function blocksOf(parts: readonly StreamPart[]): readonly Block[] {
  return foldStream(parts).candidates.flatMap((candidate) => candidate.blocks)
}

function callsOf(parts: readonly StreamPart[]): readonly (readonly [string, string, string])[] {
  return blocksOf(parts).flatMap((block) =>
    block.type === 'tool-call' ? [[block.id, block.name, block.arguments] as const] : [],
  )
}

function finishOf(parts: readonly StreamPart[]): string | undefined {
  const found = parts.find((part) => part.type === 'finish')
  return found?.type === 'finish' ? found.finish.reason : undefined
}

function errorOf(parts: readonly StreamPart[]) {
  const last = parts.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

describe('what chat upstreams make of their streams', () => {
  test('a new id with a name is a new call, also under the same index (docs/protocols.md#trap-2)', () => {
    const parts = decode(
      toolPiece({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":1}' } }),
      toolPiece({ index: 0, id: 'b', function: { name: 'one', arguments: '{"x":2}' } }),
      finish('tool_calls'),
      DONE,
    )
    expect(callsOf(parts)).toEqual([
      ['a', 'one', '{"x":1}'],
      ['b', 'one', '{"x":2}'],
    ])
  })

  test('interleaved pieces of parallel calls go to their own call (docs/protocols.md#trap-3)', () => {
    const parts = decode(
      toolPiece({ index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '' } }),
      toolPiece({ index: 1, id: 'b', type: 'function', function: { name: 'two', arguments: '' } }),
      toolPiece({ index: 0, function: { arguments: '{"x"' } }),
      toolPiece({ index: 1, function: { arguments: '{"y"' } }),
      toolPiece({ index: 0, function: { arguments: ':1}' } }),
      toolPiece({ index: 1, function: { arguments: ':2}' } }),
      finish('tool_calls'),
      DONE,
    )
    expect(callsOf(parts)).toEqual([
      ['a', 'one', '{"x":1}'],
      ['b', 'two', '{"y":2}'],
    ])
  })

  test('a blank between calls is nothing, a blank before a text belongs to it (docs/protocols.md#trap-6)', () => {
    const call = (id: string, index: number) =>
      toolPiece({ index, id, function: { name: 'one', arguments: '{}' } })
    const between = decode(
      chunk({ content: 'so' }),
      call('a', 0),
      chunk({ content: '\n' }),
      call('b', 1),
      finish('tool_calls'),
      DONE,
    )
    expect(blocksOf(between).map(({ type }) => type)).toEqual(['text', 'tool-call', 'tool-call'])
    const after = decode(
      call('a', 0),
      chunk({ content: '\n' }),
      chunk({ content: 'done' }),
      finish('tool_calls'),
      DONE,
    )
    expect(blocksOf(after)).toMatchObject([{ type: 'tool-call' }, { type: 'text', text: '\ndone' }])
  })

  test('a second run of reasoning is a second block (docs/protocols.md#trap-7)', () => {
    const parts = decode(
      chunk({ reasoning_content: 'a' }),
      chunk({ content: 'b' }),
      chunk({ reasoning: 'c' }),
      chunk({ content: 'd' }),
      finish('stop'),
      DONE,
    )
    expect(blocksOf(parts)).toMatchObject([
      { type: 'reasoning', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'reasoning', text: 'c' },
      { type: 'text', text: 'd' },
    ])
  })

  test('one chunk may end the reasoning, begin the text and finish; nothing of it is lost (docs/protocols.md#trap-8)', () => {
    const parts = decode(
      chunk({ role: 'assistant', reasoning_content: 'hm' }),
      chunk(
        {
          reasoning_content: '!',
          content: 'yes',
          tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }],
        },
        { finish_reason: 'tool_calls' },
      ),
      DONE,
    )
    expect(blocksOf(parts)).toMatchObject([{ text: 'hm!' }, { text: 'yes' }, { name: 'one' }])
  })

  test('a call without arguments has an empty object (docs/protocols.md#trap-9)', () => {
    expect(
      callsOf(
        decode(toolPiece({ index: 0, id: 'a', function: { name: 'one' } }), finish('tool_calls'), DONE),
      ),
    ).toEqual([['a', 'one', '{}']])
    expect(
      callsOf(
        decode(
          toolPiece({ index: 0, id: 'a', function: { name: 'one', arguments: '' } }),
          finish('stop'),
          DONE,
        ),
      ),
    ).toEqual([['a', 'one', '{}']])
  })

  test('a call is not over because its arguments could be (docs/protocols.md#trap-10)', () => {
    const parts = decode(
      toolPiece({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      toolPiece({ index: 0, function: { arguments: ' ' } }),
      finish('tool_calls'),
      DONE,
    )
    expect(callsOf(parts)).toEqual([['a', 'one', '{} ']])
  })

  test('two pieces of one index in one chunk are one call (docs/protocols.md#trap-11)', () => {
    const parts = decode(
      chunk({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } },
          { index: 0, function: { arguments: ':1}' } },
        ],
      }),
      finish('tool_calls'),
      DONE,
    )
    expect(callsOf(parts)).toEqual([['a', 'one', '{"x":1}']])
  })

  test.each<[string, readonly JsonObject[], readonly (readonly [string, string, string])[]]>([
    [
      'no index at all',
      [{ id: 'a', function: { name: 'one', arguments: '{' } }, { function: { arguments: '}' } }],
      [['a', 'one', '{}']],
    ],
    [
      'index null',
      [
        { index: null, id: 'a', function: { name: 'one', arguments: '{' } },
        { index: null, function: { arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'the id again in every piece',
      [
        { index: 0, id: 'a', function: { name: 'one', arguments: '{' } },
        { index: 0, id: 'a', function: { name: '', arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'an empty id in later pieces',
      [
        { index: 0, id: 'a', function: { name: 'one', arguments: '{' } },
        { index: 0, id: '', function: { arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'the name again in every piece',
      [
        { index: 0, id: 'a', function: { name: 'one', arguments: '{' } },
        { index: 0, function: { name: 'one', arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'an empty name never opens a call',
      [
        { index: 0, id: 'a', function: { name: 'one', arguments: '{}' } },
        { index: 1, function: { name: '', arguments: '' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'the name after the id',
      [
        { index: 0, id: 'a' },
        { index: 0, function: { arguments: '{' } },
        { index: 0, function: { name: 'one', arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'no ids: the call is named by the answer',
      [{ function: { name: 'one', arguments: '{}' } }, { function: { name: 'two', arguments: '{}' } }],
      [
        ['call_chatcmpl-1_0', 'one', '{}'],
        ['call_chatcmpl-1_1', 'two', '{}'],
      ],
    ],
    [
      'indices that begin at one',
      [
        { index: 1, id: 'a', function: { name: 'one', arguments: '{' } },
        { index: 1, function: { arguments: '}' } },
      ],
      [['a', 'one', '{}']],
    ],
    [
      'arguments as an object',
      [{ index: 0, id: 'a', function: { name: 'one', arguments: { x: 1 } } }],
      [['a', 'one', '{"x":1}']],
    ],
    [
      'broken arguments stay broken',
      [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":' } }],
      [['a', 'one', '{"x":']],
    ],
    [
      'a custom tool',
      [
        { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '**' } },
        { index: 0, custom: { input: '*' } },
      ],
      [['a', 'patch', '***']],
    ],
  ])('%s (docs/protocols.md#trap-12)', (_name, pieces, expected) => {
    expect(callsOf(decode(...pieces.map(toolPiece), finish('tool_calls'), DONE))).toEqual(expected)
  })

  const usage = {
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 3 },
  }
  test.each<[string, readonly (JsonObject | string)[]]>([
    ['on its own chunk', [chunk({ content: 'a' }), finish('stop'), { choices: [], usage }]],
    ['on the finish chunk', [chunk({ content: 'a' }), { ...finish('stop'), usage }]],
    [
      'on every chunk',
      [
        {
          ...chunk({ content: 'a' }),
          usage: {
            prompt_tokens: 10,
            completion_tokens: 1,
            total_tokens: 11,
            prompt_tokens_details: { cached_tokens: 3 },
          },
        },
        { ...finish('stop'), usage },
      ],
    ],
    ['before the finish', [chunk({ content: 'a' }), { choices: [], usage }, finish('stop')]],
    [
      'after the finish, with a choice',
      [chunk({ content: 'a' }), finish('stop'), { ...chunk({ content: '' }), usage }],
    ],
    ['inside the choice', [chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop', usage })]],
    ['in Groq’s own member', [chunk({ content: 'a' }), { ...finish('stop'), x_groq: { usage } }]],
    [
      'and then nothing again',
      [
        { ...chunk({ content: 'a' }), usage },
        { ...finish('stop'), usage: null },
      ],
    ],
  ])('usage %s (docs/protocols.md#trap-14)', (_place, chunks) => {
    const parts = decode(...chunks, DONE)
    expect(foldStream(parts).usage).toMatchObject({ input: 7, cachedInput: 3, output: 4 })
    expect(finishOf(parts)).toBe('stop')
  })

  test('usage of zeros or null is unknown, not nothing (docs/protocols.md#trap-15)', () => {
    const parts = decode(
      { ...chunk({ content: 'a' }), usage: null },
      { ...finish('stop'), usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
      DONE,
    )
    expect(foldStream(parts).usage).toBeUndefined()
  })

  test('what was cached is counted once (docs/protocols.md#trap-26)', () => {
    const parts = decode(
      chunk({ content: 'a' }),
      {
        ...finish('stop'),
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 105,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        },
      },
      DONE,
    )
    expect(foldStream(parts).usage).toMatchObject({ input: 10, cachedInput: 60, cacheWrite: 30, output: 5 })
  })

  test.each<[string, readonly (JsonObject | string)[]]>([
    ['without anything', []],
    ['in the middle of a text', [chunk({ content: 'a' })]],
    [
      'in the middle of a call',
      [toolPiece({ index: 0, id: 'a', function: { name: 'one', arguments: '{' } })],
    ],
    ['after the finish but before [DONE]', [chunk({ content: 'a' }), finish('stop')]],
  ])('a stream that closes %s is a failure (docs/protocols.md#trap-16)', (_where, chunks) => {
    const parts = decode(...chunks)
    expect(errorOf(parts)?.message).toBe('the upstream closed the stream before its end')
  })

  test('a stream with [DONE] but without a finish chunk has come to its end', () => {
    expect(finishOf(decode(chunk({ content: 'a' }), DONE))).toBe('stop')
    expect(errorOf(decode(DONE))?.message).toBe('the upstream ended without an answer')
  })

  test.each([
    ['stop', true, 'tool-calls'],
    ['tool_calls', true, 'tool-calls'],
    ['tool_calls', false, 'stop'],
    ['length', true, 'length'],
    ['length', false, 'length'],
    ['content_filter', false, 'content-filter'],
    ['something new', false, 'other'],
  ])('%s with calls %s is %s (docs/protocols.md#trap-17)', (word, called, expected) => {
    const said = called
      ? toolPiece({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } })
      : chunk({ content: 'a' })
    expect(finishOf(decode(said, finish(word), DONE))).toBe(expected)
  })

  test('a refusal is sent as a refusal (docs/protocols.md#trap-19)', () => {
    const parts = decode(chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot' }), finish('stop'), DONE)
    expect(blocksOf(parts)).toEqual([{ type: 'refusal', text: 'I cannot' }])
    expect(finishOf(parts)).toBe('refusal')
  })

  test.each<[string, readonly (JsonObject | string)[], JsonObject]>([
    [
      'an error chunk',
      [
        chunk({ content: 'a' }),
        { error: { message: 'slow down', type: 'tokens', code: 'rate_limit_exceeded' } },
      ],
      { status: 429, message: 'slow down', code: 'rate_limit_exceeded' },
    ],
    [
      'an error with a number',
      [{ error: { code: 502, message: 'bad gateway', metadata: {} } }],
      { status: 502, message: 'bad gateway' },
    ],
    [
      'an error after the finish, then [DONE]',
      [chunk({ content: 'a' }), finish('stop'), { error: { message: 'late' } }, DONE],
      { message: 'late' },
    ],
    [
      'vLLM’s error object',
      [{ object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }],
      { status: 400, message: 'too long' },
    ],
    [
      'a finish reason that is none',
      [
        chunk({ content: 'a' }),
        chunk({}, { finish_reason: 'error', error: { message: 'lost', code: 503 } }),
        DONE,
      ],
      { status: 503, message: 'lost' },
    ],
    [
      'DeepSeek out of resources',
      [chunk({ content: 'a' }), finish('insufficient_system_resource'), DONE],
      {},
    ],
    [
      'a chunk that is no JSON',
      [chunk({ content: 'a' }), '{"id":'],
      { message: 'the upstream sent a chunk that is not a JSON object' },
    ],
    [
      'a call that never gets a name',
      [toolPiece({ index: 0, id: 'a', function: { arguments: '{}' } }), finish('tool_calls'), DONE],
      { message: 'the upstream sent a tool call without a name' },
    ],
  ])('%s ends the stream with an error (docs/protocols.md#trap-38)', (_name, chunks, expected) => {
    expect(errorOf(decode(...chunks))).toMatchObject(expected)
  })

  test('an error recognised by its event name', () => {
    const parts = decodeStream(chatProtocol, [
      { event: 'error', data: '{"message":"busy","type":"overloaded_error"}' },
    ])
    expect(errorOf(parts)).toMatchObject({ status: 503, message: 'busy' })
  })

  test('Azure’s chunks without id, choices or delta are nothing', () => {
    const parts = decode(
      { id: '', created: 0, model: '', choices: [], prompt_filter_results: [] },
      chunk({ role: 'assistant', content: '' }),
      { ...chunk({}), choices: [{ index: 0, content_filter_results: {}, finish_reason: null }] },
      chunk({ content: 'a' }),
      finish('stop'),
      DONE,
    )
    expect(parts[0]).toMatchObject({ type: 'start', id: 'chatcmpl-1' })
    expect(blocksOf(parts)).toMatchObject([{ text: 'a' }])
  })

  test('several candidates are distinguished', () => {
    const of = (index: number, delta: JsonObject, reason: string | null = null): JsonObject => ({
      id: 'x',
      choices: [{ index, delta, finish_reason: reason }],
    })
    const parts = decode(
      of(0, { content: 'a' }),
      of(1, { content: 'b' }),
      of(0, { content: 'A' }),
      of(1, {}, 'length'),
      of(0, {}, 'stop'),
      DONE,
    )
    expect(foldStream(parts).candidates).toMatchObject([
      { index: 0, blocks: [{ text: 'aA' }], finish: { reason: 'stop' } },
      { index: 1, blocks: [{ text: 'b' }], finish: { reason: 'length' } },
    ])
  })

  test('Mistral thinks inside the content, OpenRouter in details', () => {
    const mistral = decode(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunk({ content: [{ type: 'text', text: 'yes' }] }),
      finish('stop'),
      DONE,
    )
    expect(blocksOf(mistral)).toMatchObject([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'yes' },
    ])
    const detail = (more: JsonObject) => ({
      type: 'reasoning.text',
      index: 0,
      format: 'anthropic-claude-v1',
      ...more,
    })
    const router = decode(
      chunk({ reasoning: 'h', reasoning_details: [detail({ text: 'h' })] }),
      chunk({ reasoning: 'm', reasoning_details: [detail({ text: 'm' })] }),
      chunk({ reasoning_details: [detail({ signature: 'sig' })] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'blob' }] }),
      chunk({ content: 'yes' }),
      finish('stop'),
      DONE,
    )
    expect(blocksOf(router)).toMatchObject([
      {
        kind: 'raw',
        text: 'hm',
        signature: { data: '{"format":"anthropic-claude-v1","blob":"sig"}', protocol: 'chat' },
      },
      { kind: 'redacted', text: '', signature: { data: 'blob' } },
      { text: 'yes' },
    ])
  })

  test('an upstream that opens calls without end is cut off', () => {
    const decoder = chatProtocol.streamDecoder()
    let parts: StreamPart[] = []
    for (let index = 0; index < 12_000 && parts.at(-1)?.type !== 'error'; index += 1) {
      parts = [
        ...decoder.push({
          event: '',
          data: JSON.stringify(toolPiece({ index, id: `c${index}`, function: { name: 'x' } })),
        }),
      ]
    }
    expect(parts.at(-1)).toMatchObject({
      type: 'error',
      error: { message: 'the upstream sent too many blocks' },
    })
  })
})

/** Parts of an answer, written short. */
const said = (block: number, text: string): readonly StreamPart[] => [
  { type: 'block-start', block, candidate: 0, kind: { type: 'text' } },
  { type: 'text-delta', block, text },
  { type: 'block-end', block },
]
const called = (block: number, id: string, text: string): readonly StreamPart[] => [
  {
    type: 'block-start',
    block,
    candidate: 0,
    kind: { type: 'tool-call', id, name: 'look', namespace: undefined, kind: 'function' },
  },
  ...(text === '' ? [] : [{ type: 'arguments-delta', block, text } as const]),
  { type: 'block-end', block },
]
const START: StreamPart = { type: 'start', id: 'up', createdAt: 5 }
const ended = (
  reason: 'stop' | 'tool-calls' | 'length' | 'refusal',
  explanation?: string,
): readonly StreamPart[] => [
  { type: 'finish', candidate: 0, finish: { reason, raw: undefined, stopSequence: undefined, explanation } },
  { type: 'end' },
]

function chunksOf(sse: string): readonly JsonObject[] {
  return sseEvents(sse).flatMap(({ data }) => {
    const json = parseJson(data)
    return isJsonObject(json) ? [json] : []
  })
}

function deltasOf(sse: string): readonly JsonValue[] {
  return chunksOf(sse).map((each) => objectOf(listOf(each.choices)[0])?.delta ?? null)
}

describe('what chat clients get', () => {
  const usage: StreamPart = {
    type: 'usage',
    usage: {
      input: 5,
      cachedInput: 2,
      cacheWrite: undefined,
      cacheWrite1h: undefined,
      output: 3,
      reasoning: 1,
    },
  }

  test('the stream as a whole', () => {
    const sse = encodeStream(chatProtocol, [START, ...said(0, 'Hi "you"'), usage, ...ended('stop')])
    const head =
      '{"id":"chatcmpl-0198f0aa11","object":"chat.completion.chunk","created":1790000000,"model":"platform-model","choices":['
    expect(sse).toBe(
      [
        `data: ${head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}`,
        `data: ${head}{"index":0,"delta":{"content":"Hi \\"you\\""},"logprobs":null,"finish_reason":null}],"usage":null}`,
        `data: ${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
        `data: ${head}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}}`,
        'data: [DONE]',
        '',
      ].join('\n\n'),
    )
  })

  test('every data line is a chunk, its deltas joined are the text [2.3-23] [2.3-24] [6.1-02]', () => {
    const sse = encodeStream(chatProtocol, [START, ...said(0, 'a'), ...said(1, 'b'), ...ended('stop')])
    expect(chunksOf(sse).every((each) => each.object === 'chat.completion.chunk')).toBe(true)
    expect(
      deltasOf(sse)
        .map((delta) => textOf(objectOf(delta)?.content))
        .join(''),
    ).toBe('ab')
  })

  test('the last chunk with choices carries finish_reason [2.3-25]', () => {
    const chunks = chunksOf(encodeStream(chatProtocol, [START, ...said(0, 'a'), usage, ...ended('length')]))
    const last = chunks.findLast((each) => listOf(each.choices).length > 0)
    expect(objectOf(listOf(last?.choices)[0])?.finish_reason).toBe('length')
  })

  test('calls are counted from 0 among calls, whatever their block is (docs/protocols.md#trap-1)', async () => {
    const sse = encodeStream(chatProtocol, [
      START,
      ...said(0, 'a'),
      ...called(4, 'x', '{"a":1}'),
      ...called(7, 'y', '{}'),
      ...ended('tool-calls'),
    ])
    const completion = await accumulateChat(sse)
    expect(completion.choices[0]?.message.tool_calls?.map(({ id }) => id)).toEqual(['x', 'y'])
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('a call that said nothing gets an empty object before it ends (docs/protocols.md#trap-9)', async () => {
    const completion = await accumulateChat(
      encodeStream(chatProtocol, [START, ...called(0, 'x', ''), ...ended('tool-calls')]),
    )
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'x', type: 'function', function: { name: 'look', arguments: '{}' } },
    ])
    expect(completion.choices[0]?.message.content).toBe('')
  })

  test('usage comes only to clients that asked for it, on a chunk without choices (docs/protocols.md#trap-13)', () => {
    const parts = [START, ...said(0, 'a'), usage, ...ended('stop')]
    const encoder = chatProtocol.streamEncoder(replyContext({ ...PLAIN_REQUEST, stream: true }))
    expect(parts.map((part) => encoder.push(part)).join('')).not.toContain('usage')
    const asked = chunksOf(encodeStream(chatProtocol, parts)).filter((each) => each.usage !== null)
    expect(asked).toMatchObject([{ choices: [], usage: { total_tokens: 10 } }])
  })

  test('a broken stream never carries [DONE] (docs/protocols.md#trap-16) [6.1-04]', () => {
    const error = { status: 503, type: 'overloaded_error', code: undefined, message: 'busy', raw: null }
    const sse = encodeStream(chatProtocol, [
      START,
      ...said(0, 'a'),
      { type: 'error', error },
      { type: 'end' },
    ])
    expect(sse).not.toContain('[DONE]')
    expect(chunksOf(sse).at(-1)).toEqual({
      error: { message: 'busy', type: 'overloaded_error', param: null, code: null },
    })
  })

  test('reasoning of several blocks is one text with a blank line between', () => {
    const thought = (block: number, text: string): readonly StreamPart[] => [
      { type: 'block-start', block, candidate: 0, kind: { type: 'reasoning', kind: 'summary' } },
      { type: 'text-delta', block, text },
      { type: 'signature', block, signature: { issuer: undefined, id: 'rs_1', data: 'blob' } },
      { type: 'block-end', block },
    ]
    const deltas = deltasOf(
      encodeStream(chatProtocol, [
        START,
        ...thought(0, 'a'),
        ...thought(1, 'b'),
        ...said(2, 'c'),
        ...ended('stop'),
      ]),
    )
    expect(deltas.map((delta) => textOf(objectOf(delta)?.reasoning_content)).join('')).toBe('a\n\nb')
    expect(deltas.filter((delta) => objectOf(delta)?.reasoning_details !== undefined)).toMatchObject([
      { reasoning_details: [{ type: 'reasoning.summary', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.summary', index: 1 }] },
    ])
  })

  test('a client that asked for no reasoning gets none', () => {
    const request = {
      ...PLAIN_REQUEST,
      reasoning: { effort: 'high', budgetTokens: undefined, expose: false, summary: undefined },
    } as const
    const parts: readonly StreamPart[] = [
      START,
      { type: 'block-start', block: 0, candidate: 0, kind: { type: 'reasoning', kind: 'raw' } },
      { type: 'text-delta', block: 0, text: 'secret' },
      { type: 'signature', block: 0, signature: { issuer: undefined, id: undefined, data: 'sealed' } },
      { type: 'block-end', block: 0 },
      ...said(1, 'a'),
      ...ended('stop'),
    ]
    const sse = encodeStream(chatProtocol, parts, request)
    expect(sse).not.toMatch(/secret|reasoning/)
    expect(deltasOf(sse)[0]).toEqual({ role: 'assistant', content: '' })
    expect(JSON.stringify(chatProtocol.encodeResponse(foldStream(parts), replyContext(request)))).not.toMatch(
      /secret|reasoning_/,
    )
  })

  test('a refusal that came only as a reason says why (docs/protocols.md#trap-19)', async () => {
    const completion = await accumulateChat(
      encodeStream(chatProtocol, [START, ...ended('refusal', 'not that')]),
    )
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { refusal: 'not that' },
    })
  })

  test('what only another protocol knows is left out', () => {
    const opaque: StreamPart = {
      type: 'block-start',
      block: 0,
      candidate: 0,
      kind: { type: 'opaque', protocol: 'responses', json: { type: 'web_search_call' } },
    }
    const sse = encodeStream(chatProtocol, [
      START,
      opaque,
      { type: 'block-end', block: 0 },
      ...said(1, 'a'),
      ...ended('stop'),
    ])
    expect(sse).not.toContain('web_search')
  })

  test('keep-alive is a comment line [D-requests-51]', () => {
    expect(chatProtocol.streamEncoder(replyContext(PLAIN_REQUEST)).keepAlive()).toMatch(/^: [^\n]*\n\n$/)
  })
})

describe('a whole chat answer', () => {
  const finished = {
    reason: 'tool-calls',
    raw: undefined,
    stopSequence: undefined,
    explanation: undefined,
  } as const
  const call = {
    type: 'tool-call',
    name: 'look',
    namespace: undefined,
    kind: 'function',
    signature: undefined,
  } as const

  function encode(
    blocks: readonly Block[],
    reason: 'stop' | 'tool-calls' | 'refusal' = 'stop',
    explanation?: string,
  ): JsonObject {
    const usage = {
      input: 5,
      cachedInput: 2,
      cacheWrite: undefined,
      cacheWrite1h: undefined,
      output: 3,
      reasoning: 1,
    }
    return chatProtocol.encodeResponse(
      {
        id: 'up',
        createdAt: 5,
        candidates: [{ index: 0, blocks, finish: { ...finished, reason, explanation } }],
        usage,
        serviceTier: undefined,
      },
      replyContext(PLAIN_REQUEST),
    )
  }

  test('a text [2.3-06] [2.3-07] [2.3-09] [2.3-21]', () => {
    expect(encode([{ type: 'text', text: 'hi', citations: [], logprobs: undefined }])).toEqual({
      id: 'chatcmpl-0198f0aa11',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'platform-model',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
  })

  test('calls alone have no content, broken arguments stay [2.3-08] [2.3-10] [2.3-11] [2.3-13] [2.3-14]', () => {
    const body = encode(
      [
        { ...call, id: 'a', arguments: '{"x":' },
        { ...call, id: 'b', arguments: '' },
      ],
      'tool-calls',
    )
    expect(body.choices).toMatchObject([
      {
        message: {
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":' } },
            { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ])
  })

  test('an image the model made is a part of its own', () => {
    expect(encode([{ type: 'media', mediaType: 'image/png', data: 'QUJD' }]).choices).toMatchObject([
      { message: { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }] } },
    ])
  })

  test.each<[string, JsonValue, string]>([
    ['an error in a 200', { error: { message: 'no', code: 'invalid_api_key' } }, 'no'],
    ['no choices', { id: 'x', choices: [] }, 'the upstream answered without choices'],
    ['no object', [1], 'the upstream answered with something other than a JSON object'],
    ['null', null, 'the upstream answered with something other than a JSON object'],
  ])('%s is a failure, not an answer (docs/protocols.md#trap-38)', (_name, body, message) => {
    expect(chatProtocol.decodeResponse(body)).toMatchObject({ candidates: [], failure: { message } })
  })

  test.each<[string, JsonValue, JsonObject]>([
    [
      'OpenAI',
      { error: { message: 'bad', type: 'invalid_request_error', code: null, param: 'x' } },
      { message: 'bad', type: 'invalid_request_error', code: undefined },
    ],
    ['a bare text', { error: 'bad' }, { message: 'bad' }],
    ['FastAPI', { detail: [{ msg: 'bad' }] }, { message: 'bad' }],
    [
      'Mistral',
      { object: 'error', message: { detail: [{ msg: 'bad' }] }, type: 'x' },
      { message: 'bad', type: 'x' },
    ],
    [
      'wrapped in a list',
      [{ error: { message: 'bad', status: 'RESOURCE_EXHAUSTED' } }],
      { message: 'bad', type: 'RESOURCE_EXHAUSTED' },
    ],
    ['no JSON object', 'bad', { message: 'bad' }],
    ['nothing', null, { message: 'the upstream failed without saying why' }],
  ])('error body of %s', (_name, body, expected) => {
    expect(chatProtocol.decodeError(400, body)).toMatchObject({ status: 400, raw: body, ...expected })
  })

  test('an error of another protocol keeps type and message and brings the untouched body', () => {
    const raw = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }
    const error = { status: 529, type: 'overloaded_error', code: undefined, message: 'busy', raw }
    expect(chatProtocol.encodeError(error)).toEqual({
      error: { message: 'busy', type: 'overloaded_error', param: null, code: null },
      upstream_body: raw,
    })
  })
})
