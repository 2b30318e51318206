import { describe, expect, test } from 'vitest'
import { openSignature } from '../../../canonical/envelope.ts'
import { foldStream } from '../../../canonical/fold.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import type { Signature } from '../../../canonical/request.ts'
import type { Block, StreamPart } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { chatProtocol } from '../../chat/index.ts'
import {
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../testing/laws.ts'
import { accumulateResponse } from '../../testing/official-clients.ts'
import { listOf, objectOf, textOf } from '../../read-json.ts'
import { responsesProtocol } from '../index.ts'

function decode(...events: readonly JsonObject[]): readonly StreamPart[] {
  const parts = decodeStream(
    responsesProtocol,
    events.map((event) => ({ event: textOf(event.type) ?? '', data: JSON.stringify(event) })),
  )
  expectLawfulStream(parts)
  return parts
}

function blocksOf(parts: readonly StreamPart[]): readonly Block[] {
  return foldStream(parts).candidates.flatMap((candidate) => candidate.blocks)
}

function finishOf(parts: readonly StreamPart[]): string | undefined {
  const found = parts.find((part) => part.type === 'finish')
  return found?.type === 'finish' ? found.finish.reason : undefined
}

function errorOf(parts: readonly StreamPart[]) {
  const last = parts.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

const created: JsonObject = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 5, status: 'in_progress', output: [] },
}
const completed = (rest: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: {
    id: 'resp_1',
    status: 'completed',
    output: [],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 13,
    },
    ...rest,
  },
})
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const itemDone = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const textDelta = (output_index: number, delta: string, content_index = 0): JsonObject => ({
  type: 'response.output_text.delta',
  output_index,
  content_index,
  delta,
})
const argumentsDelta = (output_index: number, delta: string): JsonObject => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
})
const callItem = (id: string, rest: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'look',
  arguments: '',
  ...rest,
})
const messageItem = (...texts: readonly string[]): JsonObject => ({
  type: 'message',
  role: 'assistant',
  content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
})

describe('what responses upstreams make of their streams', () => {
  test('deltas go to the item of their output_index, ghosts of finished items nowhere (docs/protocols.md#trap-4)', () => {
    const parts = decode(
      created,
      added(0, callItem('a')),
      added(1, callItem('b')),
      argumentsDelta(1, '{"y":2}'),
      argumentsDelta(0, '{"x":1}'),
      itemDone(0, callItem('a', { arguments: '{"x":1}' })),
      argumentsDelta(0, 'ghost'),
      itemDone(1, callItem('b', { arguments: '{"y":2}' })),
      completed(),
    )
    expect(blocksOf(parts)).toMatchObject([
      { id: 'a', arguments: '{"x":1}' },
      { id: 'b', arguments: '{"y":2}' },
    ])
    expect(finishOf(parts)).toBe('tool-calls')
  })

  test('items that run side by side stay apart (xAI)', () => {
    const parts = decode(
      created,
      added(0, messageItem()),
      added(1, callItem('a')),
      textDelta(0, 'x'),
      argumentsDelta(1, '{}'),
      textDelta(0, 'y'),
      itemDone(1, callItem('a')),
      itemDone(0, messageItem('xy')),
      completed(),
    )
    // The call said something first: its item had a name when the message's had no text yet.
    expect(blocksOf(parts)).toMatchObject([{ id: 'a', arguments: '{}' }, { text: 'xy' }])
  })

  test('ids that change from event to event do not matter (Copilot)', () => {
    const parts = decode(
      created,
      { type: 'response.in_progress', response: { id: 'resp_other', status: 'in_progress' } },
      added(0, { ...messageItem(), id: 'msg_a' }),
      { ...textDelta(0, 'he'), item_id: 'msg_b' },
      { ...textDelta(0, 'llo'), item_id: 'msg_c' },
      itemDone(0, { ...messageItem('hello'), id: 'msg_d' }),
      completed({ id: 'resp_third', output: [{ ...messageItem('hello'), id: 'msg_e' }] }),
    )
    expect(parts[0]).toMatchObject({ type: 'start', id: 'resp_1' })
    expect(blocksOf(parts)).toMatchObject([{ text: 'hello' }])
  })

  test.each<[string, readonly JsonObject[]]>([
    [
      'only the done event tells the arguments (LM Studio)',
      [
        added(0, callItem('a')),
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"x":1}' },
        itemDone(0, callItem('a', { arguments: '{"x":1}' })),
      ],
    ],
    [
      'only the finished item tells them',
      [added(0, callItem('a')), itemDone(0, callItem('a', { arguments: '{"x":1}' }))],
    ],
    ['only the finished item comes at all', [itemDone(0, callItem('a', { arguments: '{"x":1}' }))]],
    [
      'deltas and done tell the same',
      [
        added(0, callItem('a')),
        argumentsDelta(0, '{"x"'),
        argumentsDelta(0, ':1}'),
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"x":1}' },
        itemDone(0, callItem('a', { arguments: '{"x":1}' })),
      ],
    ],
  ])('%s, once (docs/protocols.md#trap-39)', (_name, events) => {
    expect(blocksOf(decode(created, ...events, completed()))).toMatchObject([
      { id: 'a', name: 'look', arguments: '{"x":1}' },
    ])
  })

  test('an empty final output is rebuilt from the items, a full one supplies what no event had (docs/protocols.md#trap-39)', () => {
    expect(
      blocksOf(decode(created, textDelta(0, 'a'), itemDone(0, messageItem('a')), completed())),
    ).toMatchObject([{ text: 'a' }])
    expect(blocksOf(decode(created, completed({ output: [messageItem('a'), callItem('b')] })))).toMatchObject(
      [{ text: 'a' }, { id: 'b', arguments: '{}' }],
    )
    expect(
      blocksOf(decode(created, textDelta(0, 'a'), completed({ output: [messageItem('a'), callItem('b')] }))),
    ).toMatchObject([{ text: 'a' }, { id: 'b' }])
  })

  test('an incomplete response leaves no block open (docs/protocols.md#trap-18)', () => {
    const parts = decode(
      created,
      added(0, messageItem()),
      textDelta(0, 'a'),
      added(1, callItem('b')),
      argumentsDelta(1, '{"x'),
      {
        type: 'response.incomplete',
        response: {
          id: 'resp_1',
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [],
        },
      },
    )
    expect(finishOf(parts)).toBe('length')
    expect(blocksOf(parts)).toMatchObject([{ text: 'a' }, { arguments: '{"x' }])
  })

  test('a call without arguments has an empty object (docs/protocols.md#trap-9)', () => {
    expect(
      blocksOf(decode(created, added(0, callItem('a')), itemDone(0, callItem('a')), completed())),
    ).toMatchObject([{ arguments: '{}' }])
    expect(blocksOf(decode(created, added(0, callItem('a')), completed()))).toMatchObject([
      { arguments: '{}' },
    ])
  })

  test('a summary of several parts is one text with a blank line between', () => {
    const delta = (summary_index: number, text: string): JsonObject => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta: text,
    })
    const done = (summary_index: number, text: string): JsonObject => ({
      type: 'response.reasoning_summary_text.done',
      output_index: 0,
      summary_index,
      text,
    })
    const item: JsonObject = {
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content: 'blob',
      summary: [
        { type: 'summary_text', text: 'ab' },
        { type: 'summary_text', text: 'c' },
      ],
    }
    const expected = [
      { kind: 'summary', text: 'ab\n\nc', signature: { id: 'rs_1', data: 'blob', protocol: 'responses' } },
    ]
    expect(
      blocksOf(
        decode(
          created,
          delta(0, 'a'),
          delta(0, 'b'),
          done(0, 'ab'),
          delta(1, 'c'),
          done(1, 'c'),
          itemDone(0, item),
          completed(),
        ),
      ),
    ).toMatchObject(expected)
    expect(blocksOf(decode(created, itemDone(0, item), completed()))).toMatchObject(expected)
    expect(
      responsesProtocol.decodeResponse({ id: 'x', status: 'completed', output: [item] }).candidates[0]
        ?.blocks,
    ).toMatchObject(expected)
  })

  test('sealed reasoning without a word is kept, the complete seal is the last one', () => {
    const parts = decode(
      created,
      added(0, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'cut' }),
      itemDone(0, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'complete' }),
      completed(),
    )
    expect(blocksOf(parts)).toMatchObject([{ kind: 'redacted', text: '', signature: { data: 'complete' } }])
  })

  test('raw reasoning, refusals, sources, log probabilities, several parts of one message', () => {
    const parts = decode(
      created,
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'hm' },
      itemDone(0, {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
      }),
      { ...textDelta(1, 'a'), logprobs: [{ token: 'a', logprob: -1 }] },
      {
        type: 'response.output_text.annotation.added',
        output_index: 1,
        content_index: 0,
        annotation: { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 1 },
      },
      {
        type: 'response.output_text.annotation.added',
        output_index: 1,
        content_index: 0,
        annotation: { type: 'file_citation', file_id: 'f' },
      },
      textDelta(1, 'b', 1),
      { type: 'response.refusal.delta', output_index: 1, content_index: 2, delta: 'no' },
      itemDone(1, {
        type: 'message',
        content: [
          {
            type: 'output_text',
            text: 'a',
            annotations: [
              { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 1 },
            ],
          },
          { type: 'output_text', text: 'b' },
          { type: 'refusal', refusal: 'no' },
        ],
      }),
      completed(),
    )
    expect(blocksOf(parts)).toEqual([
      { type: 'reasoning', kind: 'raw', text: 'hm', signature: undefined },
      {
        type: 'text',
        text: 'a',
        citations: [{ url: 'https://x', title: 'X', startIndex: 0, endIndex: 1 }],
        logprobs: [{ token: 'a', logprob: -1 }],
      },
      { type: 'text', text: 'b', citations: [], logprobs: undefined },
      { type: 'refusal', text: 'no' },
    ])
    expect(finishOf(parts)).toBe('refusal')
  })

  test('what the provider ran itself is kept for this protocol, an image is an image', () => {
    const search: JsonObject = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const parts = decode(
      created,
      added(0, search),
      { type: 'response.web_search_call.searching', output_index: 0 },
      itemDone(0, search),
      itemDone(1, {
        type: 'image_generation_call',
        id: 'ig_1',
        status: 'completed',
        output_format: 'jpeg',
        result: 'QUJD',
      }),
      { type: 'response.something.new', output_index: 2 },
      completed(),
    )
    expect(blocksOf(parts)).toEqual([
      { type: 'opaque', protocol: 'responses', json: search },
      { type: 'media', mediaType: 'image/jpeg', data: 'QUJD' },
    ])
  })

  test.each<[string, readonly JsonObject[], JsonObject]>([
    [
      'a nested error event',
      [
        created,
        {
          type: 'error',
          error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'used up' },
        },
        { type: 'response.failed', response: {} },
      ],
      { status: 429, code: 'insufficient_quota', message: 'used up' },
    ],
    [
      'a flat error event',
      [created, { type: 'error', code: 'server_error', message: 'oh', param: null }],
      { status: 500, code: 'server_error', message: 'oh' },
    ],
    [
      'response.failed alone',
      [
        created,
        textDelta(0, 'a'),
        {
          type: 'response.failed',
          response: {
            status: 'failed',
            error: { code: 'rate_limit_exceeded', message: 'slow' },
            usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
          },
        },
      ],
      { status: 429, message: 'slow' },
    ],
    [
      'a close without an end',
      [created, textDelta(0, 'a')],
      { message: 'the upstream closed the stream before its end' },
    ],
  ])('%s ends the stream with an error (docs/protocols.md#trap-38)', (_name, events, expected) => {
    expect(errorOf(decode(...events))).toMatchObject(expected)
  })

  test('[DONE] without a final response is a failure, after it nothing (docs/protocols.md#trap-16)', () => {
    const cut = decodeStream(responsesProtocol, [{ event: '', data: '[DONE]' }])
    expect(errorOf(cut)?.message).toBe('the upstream ended the stream without a final response')
    const whole = decodeStream(responsesProtocol, [
      { event: '', data: JSON.stringify(completed({ output: [messageItem('a')] })) },
      { event: '', data: '[DONE]' },
    ])
    expectLawfulStream(whole)
    expect(whole.at(-1)?.type).toBe('end')
  })

  test('what was cached is counted once, and zeros are unknown (docs/protocols.md#trap-26)', () => {
    expect(foldStream(decode(created, completed())).usage).toEqual({
      input: 6,
      cachedInput: 4,
      cacheWrite: undefined,
      cacheWrite1h: undefined,
      output: 3,
      reasoning: 1,
    })
    expect(
      foldStream(
        decode(created, completed({ usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } })),
      ).usage,
    ).toBeUndefined()
  })

  test('calls inside an undeclared wrapper are sent as themselves, whole and streamed', () => {
    const use = (name: string) => ({ recipient_name: `functions.${name}`, parameters: { at: name } })
    const wrapper = callItem('p', {
      name: 'parallel',
      arguments: JSON.stringify({ tool_uses: [use('one'), use('two')] }),
    })
    const expected = [
      { type: 'tool-call', id: 'p_0', name: 'one', arguments: '{"at":"one"}' },
      { type: 'tool-call', id: 'p_1', name: 'two', arguments: '{"at":"two"}' },
    ]
    const parts = decode(
      created,
      added(0, { ...wrapper, arguments: '' }),
      argumentsDelta(0, '{"tool_uses":'),
      itemDone(0, wrapper),
      completed(),
    )
    expect(blocksOf(parts)).toMatchObject(expected)
    expect(finishOf(parts)).toBe('tool-calls')
    expect(
      responsesProtocol.decodeResponse({ status: 'completed', output: [wrapper] }).candidates[0]?.blocks,
    ).toMatchObject(expected)
    const own = callItem('q', { name: 'parallel', arguments: '{"lines":2}' })
    expect(
      blocksOf(decode(created, added(0, { ...own, arguments: '' }), itemDone(0, own), completed())),
    ).toMatchObject([{ name: 'parallel', arguments: '{"lines":2}' }])
  })

  test('an upstream that adds items without end is cut off', () => {
    const decoder = responsesProtocol.streamDecoder()
    let last: StreamPart | undefined
    for (let index = 0; index < 12_000 && last?.type !== 'error'; index += 1) {
      last =
        decoder.push({ event: '', data: JSON.stringify(added(index, callItem(`c${index}`))) }).at(-1) ?? last
    }
    expect(last).toMatchObject({ type: 'error', error: { message: 'the upstream sent too many items' } })
  })
})

const START: StreamPart = { type: 'start', id: 'up', createdAt: 5 }
const USAGE: StreamPart = {
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
const thought = (
  block: number,
  text: string,
  kind: 'summary' | 'raw' = 'summary',
  signature?: Signature,
): readonly StreamPart[] => [
  { type: 'block-start', block, candidate: 0, kind: { type: 'reasoning', kind } },
  { type: 'text-delta', block, text },
  ...(signature === undefined ? [] : [{ type: 'signature', block, signature } as const]),
  { type: 'block-end', block },
]
const said = (block: number, ...texts: readonly string[]): readonly StreamPart[] => [
  { type: 'block-start', block, candidate: 0, kind: { type: 'text' } },
  ...texts.map((text) => ({ type: 'text-delta', block, text }) as const),
  { type: 'block-end', block },
]
const begun = (block: number, id: string): StreamPart => ({
  type: 'block-start',
  block,
  candidate: 0,
  kind: { type: 'tool-call', id, name: 'look', namespace: undefined, kind: 'function' },
})
const argued = (block: number, text: string): StreamPart => ({ type: 'arguments-delta', block, text })
const closed = (block: number): StreamPart => ({ type: 'block-end', block })
const ended = (
  reason: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'refusal',
  explanation?: string,
): readonly StreamPart[] => [
  { type: 'finish', candidate: 0, finish: { reason, raw: undefined, stopSequence: undefined, explanation } },
  { type: 'end' },
]

interface Told {
  readonly name: string
  readonly json: JsonObject
}

function toldBy(sse: string): readonly Told[] {
  return sseEvents(sse).flatMap(({ event, data }) => {
    const json = parseJson(data)
    return isJsonObject(json) ? [{ name: event, json }] : []
  })
}

function encode(...parts: readonly (StreamPart | readonly StreamPart[])[]): string {
  return encodeStream(responsesProtocol, [START, ...parts.flat()])
}

function deltasOf(events: readonly Told[], type: string, index: number): string {
  return events
    .filter(({ json }) => json.type === type && json.output_index === index)
    .map(({ json }) => textOf(json.delta) ?? '')
    .join('')
}

/** Every field the Open Responses schema of the response object requires. */
const REQUIRED = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'incomplete_details',
  'model',
  'previous_response_id',
  'instructions',
  'output',
  'error',
  'tools',
  'tool_choice',
  'truncation',
  'parallel_tool_calls',
  'text',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'temperature',
  'reasoning',
  'user',
  'usage',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'background',
  'service_tier',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
]

describe('what responses clients get', () => {
  const sse = encode(
    thought(0, 'hm'),
    said(1, 'Hi ', '"you"'),
    begun(2, 'c1'),
    begun(3, 'c2'),
    argued(2, '{"x"'),
    argued(3, '{"y"'),
    argued(2, ':1}'),
    argued(3, ':2}'),
    closed(2),
    closed(3),
    USAGE,
    ended('tool-calls'),
  )
  const events = toldBy(sse)

  test('every event real clients need comes, in order [D-requests-43]', () => {
    expect(events.map(({ name }) => name.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
  })

  test('each event line equals its type [6.2-01]', () => {
    expect(events.every(({ name, json }) => name === json.type)).toBe(true)
  })

  test('every data line but [DONE] is JSON [6.2-02]', () => {
    const data = sseEvents(sse).map((event) => event.data)
    expect(data.filter((line) => !isJsonObject(parseJson(line)))).toEqual(['[DONE]'])
  })

  test('completed is the last event, [DONE] follows it [6.2-03] [6.2-11] [D-requests-46]', () => {
    expect(events.at(-1)?.name).toBe('response.completed')
    expect(sse.endsWith('\n\ndata: [DONE]\n\n')).toBe(true)
  })

  test('created comes first with status in_progress, then exactly one end [6.2-04] [2.4-05] [3-02]', () => {
    expect(events[0]).toMatchObject({
      name: 'response.created',
      json: { response: { status: 'in_progress', usage: null, output: [] } },
    })
    expect(events.filter(({ name }) => /\.(completed|incomplete|failed)$/.test(name))).toHaveLength(1)
  })

  test('each item is announced with its type and the index it has in output [6.2-05] [6.2-06] [6.2-07] [6.2-13]', () => {
    const announced = events
      .filter(({ name }) => name === 'response.output_item.added')
      .map(({ json }) => [json.output_index, objectOf(json.item)?.type])
    expect(announced).toEqual([
      [0, 'reasoning'],
      [1, 'message'],
      [2, 'function_call'],
      [3, 'function_call'],
    ])
    const output = listOf(objectOf(events.at(-1)?.json.response)?.output)
    expect(output.map((item, index) => [index, objectOf(item)?.type])).toEqual(announced)
    const done = events
      .filter(({ name }) => name === 'response.output_item.done')
      .map(({ json }) => json.item)
    expect(done).toEqual(output)
  })

  test('the deltas are the text and the done event repeats it [6.2-08] [6.2-09]', () => {
    expect(deltasOf(events, 'response.output_text.delta', 1)).toBe('Hi "you"')
    expect(events.find(({ name }) => name === 'response.output_text.done')?.json).toMatchObject({
      text: 'Hi "you"',
      content_index: 0,
    })
  })

  test('parallel calls are distinguished by index (docs/protocols.md#trap-3) [6.2-10] [6.2-14]', () => {
    expect(deltasOf(events, 'response.function_call_arguments.delta', 2)).toBe('{"x":1}')
    expect(deltasOf(events, 'response.function_call_arguments.delta', 3)).toBe('{"y":2}')
  })

  test('one response id, rising numbers [D-requests-44] [D-requests-45]', () => {
    const ids = events.flatMap(({ json }) => objectOf(json.response)?.id ?? [])
    expect(new Set(ids)).toEqual(new Set(['resp_0198f0aa11']))
    expect(events.map(({ json }) => json.sequence_number)).toEqual(events.map((_event, index) => index))
  })

  test('ids have the protocol’s own prefixes, so that they may come back', () => {
    const items = listOf(objectOf(events.at(-1)?.json.response)?.output).map((item) =>
      textOf(objectOf(item)?.id),
    )
    expect(items).toEqual(['rs_0198f0aa11_0', 'msg_0198f0aa11_1', 'fc_0198f0aa11_2', 'fc_0198f0aa11_3'])
  })

  test('output indices are contiguous whatever the blocks are called (docs/protocols.md#trap-5)', async () => {
    const response = await accumulateResponse(
      encode(said(7, 'a'), thought(3, 'hm'), begun(90, 'c1'), closed(90), ended('tool-calls')),
    )
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'reasoning', 'function_call'])
  })

  test('the official client reads the same', async () => {
    const response = await accumulateResponse(sse)
    expect(response.output_text).toBe('Hi "you"')
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'hm' }] },
      { type: 'message', role: 'assistant' },
      { call_id: 'c1', name: 'look', arguments: '{"x":1}' },
      { call_id: 'c2', arguments: '{"y":2}' },
    ])
    expect(response.usage).toMatchObject({
      input_tokens: 7,
      output_tokens: 3,
      total_tokens: 10,
      input_tokens_details: { cached_tokens: 2 },
    })
  })

  test('every lifecycle event holds the whole response object', () => {
    for (const { json } of events) {
      const response = objectOf(json.response)
      if (response === undefined) continue
      expect(REQUIRED.filter((field) => response[field] === undefined)).toEqual([])
    }
  })

  test('an answer that was cut short is incomplete, and [DONE] follows [D-requests-47]', () => {
    const short = encode(said(0, 'a'), ended('length'))
    expect(toldBy(short).at(-1)).toMatchObject({
      name: 'response.incomplete',
      json: {
        response: {
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          completed_at: null,
          output: [{ status: 'incomplete' }],
        },
      },
    })
    expect(short.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('a failure is an error and a failed response, nothing after it (docs/protocols.md#trap-38) [6.2-12] [D-requests-48]', async () => {
    const error = { status: 503, type: 'overloaded_error', code: undefined, message: 'busy', raw: null }
    const broken = encode(said(0, 'a'), begun(1, 'c1'), closed(1), { type: 'error', error }, { type: 'end' })
    const told = toldBy(broken)
    expect(told.slice(-2)).toMatchObject([
      { name: 'error', json: { message: 'busy', error: { type: 'overloaded_error' } } },
      {
        name: 'response.failed',
        json: {
          response: {
            status: 'failed',
            error: { code: 'overloaded_error', message: 'busy' },
            output: [{ type: 'message' }, { type: 'function_call' }],
          },
        },
      },
    ])
    expect(broken).not.toMatch(/\[DONE\]|response\.completed/)
    await expect(accumulateResponse(broken)).rejects.toThrow('busy')
  })

  test('a call that said nothing gets an empty object, in a delta too (docs/protocols.md#trap-9)', () => {
    const told = toldBy(encode(begun(0, 'c1'), closed(0), ended('tool-calls')))
    expect(deltasOf(told, 'response.function_call_arguments.delta', 0)).toBe('{}')
    expect(told.find(({ name }) => name.endsWith('arguments.done'))?.json.arguments).toBe('{}')
  })

  test('a signature leaves in our envelope, only on the finished item (docs/protocols.md#trap-20)', () => {
    const told = toldBy(
      encode(
        thought(0, 'hm', 'summary', { issuer: undefined, id: undefined, data: 'sig' }),
        said(1, 'a'),
        ended('stop'),
      ),
    )
    const items = told
      .filter(({ json }) => objectOf(json.item)?.type === 'reasoning')
      .map(({ json }) => objectOf(json.item)?.encrypted_content)
    expect(items[0]).toBeUndefined()
    expect(openSignature(textOf(items[1]) ?? '')).toEqual({
      kind: 'summary',
      signature: { issuer: 'law.issuer', id: undefined, data: 'sig' },
    })
  })

  test('what a call must be replayed with is in an item beside it (docs/protocols.md#trap-22)', async () => {
    const signature: StreamPart = {
      type: 'signature',
      block: 0,
      signature: { issuer: undefined, id: undefined, data: 'thought' },
    }
    const response = await accumulateResponse(
      encode(begun(0, 'c1'), signature, argued(0, '{}'), closed(0), ended('tool-calls')),
    )
    const [call, beside] = response.output
    expect(call).toMatchObject({ type: 'function_call', call_id: 'c1' })
    const sealed = beside?.type === 'reasoning' ? beside.encrypted_content : undefined
    expect(openSignature(sealed ?? '')).toEqual({
      kind: 'call',
      signature: { issuer: 'law.issuer', id: 'c1', data: 'thought' },
    })
  })

  test('raw reasoning is sent as such', () => {
    const names = toldBy(encode(thought(0, 'hm', 'raw'), said(1, 'a'), ended('stop'))).map(({ name }) => name)
    expect(names.slice(2, 8)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ])
  })

  test('neighbouring texts are parts of one message, others are messages of their own', async () => {
    const response = await accumulateResponse(
      encode(said(0, 'a'), said(1, 'b'), begun(2, 'c1'), closed(2), said(3, 'c'), ended('tool-calls')),
    )
    expect(
      response.output.map((item) => (item.type === 'message' ? item.content.length : item.type)),
    ).toEqual([2, 'function_call', 1])
    expect(response.output_text).toBe('abc')
  })

  test('a text that is still open when a call begins ends its message when it ends', async () => {
    const response = await accumulateResponse(
      encode(
        { type: 'block-start', block: 0, candidate: 0, kind: { type: 'text' } },
        { type: 'text-delta', block: 0, text: 'a' },
        begun(1, 'c1'),
        { type: 'text-delta', block: 0, text: 'b' },
        closed(0),
        closed(1),
        said(2, 'c'),
        ended('tool-calls'),
      ),
    )
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'function_call', 'message'])
    expect(response.output_text).toBe('abc')
  })

  test('a refusal that came only as a reason says why and is incomplete (docs/protocols.md#trap-19)', async () => {
    const response = await accumulateResponse(encode(ended('refusal', 'not that')))
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'not that' }] }],
    })
  })

  test('free text comes back to a client whose tool takes it, though the upstream only knew functions', async () => {
    const request = {
      ...PLAIN_REQUEST,
      tools: [
        { type: 'custom', name: 'look', namespace: undefined, description: undefined, grammar: undefined },
      ],
    } as const
    const parts = [
      START,
      begun(0, 'c1'),
      argued(0, '{"input":"*** Be'),
      argued(0, 'gin\\n\\u0041"}'),
      closed(0),
      ...ended('tool-calls'),
    ]
    const wire = encodeStream(responsesProtocol, parts, request)
    expect(deltasOf(toldBy(wire), 'response.custom_tool_call_input.delta', 0)).toBe('*** Begin\nA')
    expect((await accumulateResponse(wire)).output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c1', name: 'look', input: '*** Begin\nA' },
    ])
  })

  test('of several answers the first is sent', async () => {
    const other: readonly StreamPart[] = [
      { type: 'block-start', block: 1, candidate: 1, kind: { type: 'text' } },
      { type: 'text-delta', block: 1, text: 'other' },
      { type: 'block-end', block: 1 },
    ]
    expect((await accumulateResponse(encode(said(0, 'a'), other, ended('stop')))).output_text).toBe('a')
  })

  test('an answer that outgrows what the end can repeat fails instead of growing', () => {
    const encoder = responsesProtocol.streamEncoder(replyContext(PLAIN_REQUEST))
    encoder.push(START)
    encoder.push({ type: 'block-start', block: 0, candidate: 0, kind: { type: 'text' } })
    let out = ''
    for (let count = 0; count < 20 && !out.includes('response.failed'); count += 1) {
      out = encoder.push({ type: 'text-delta', block: 0, text: 'x'.repeat(1 << 20) })
    }
    expect(out).toContain('"code":"response_too_long"')
    expect(encoder.push({ type: 'text-delta', block: 0, text: 'more' })).toBe('')
  })

  test('keep-alive is a comment line [D-requests-52]', () => {
    expect(responsesProtocol.streamEncoder(replyContext(PLAIN_REQUEST)).keepAlive()).toMatch(/^: [^\n]*\n\n$/)
  })
})

describe('a whole responses answer', () => {
  const finish = { reason: 'stop', raw: undefined, stopSequence: undefined, explanation: undefined } as const
  const blocks: readonly Block[] = [
    { type: 'reasoning', kind: 'summary', text: 'hm', signature: undefined },
    {
      type: 'text',
      text: 'a',
      citations: [{ url: 'https://x', title: 'X', startIndex: 0, endIndex: 1 }],
      logprobs: undefined,
    },
    { type: 'text', text: 'b', citations: [], logprobs: undefined },
  ]
  const usage = { input: 5, cachedInput: 2, cacheWrite: 1, cacheWrite1h: undefined, output: 3, reasoning: 1 }

  function encodeWhole(
    candidateBlocks: readonly Block[],
    reason: 'stop' | 'length' | 'refusal' = 'stop',
    request = PLAIN_REQUEST,
  ): JsonObject {
    return responsesProtocol.encodeResponse(
      {
        id: 'up',
        createdAt: 5,
        candidates: [{ index: 0, blocks: candidateBlocks, finish: { ...finish, reason } }],
        usage,
        serviceTier: undefined,
      },
      replyContext(request),
    )
  }

  test('every required field, items in order [2.4-09] [2.4-13] [2.4-14] [2.4-15] [2.4-18] [2.4-20]', () => {
    const body = encodeWhole(blocks)
    expect(REQUIRED.filter((field) => body[field] === undefined)).toEqual([])
    expect(body).toMatchObject({
      id: 'resp_0198f0aa11',
      object: 'response',
      status: 'completed',
      model: 'platform-model',
      output: [
        { id: 'rs_0198f0aa11_0', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        {
          id: 'msg_0198f0aa11_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              text: 'a',
              annotations: [
                { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 1 },
              ],
              logprobs: [],
            },
            { type: 'output_text', text: 'b' },
          ],
        },
      ],
      usage: {
        input_tokens: 8,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 11,
      },
    })
  })

  test('a chat answer’s content becomes output_text, its prompt_tokens input_tokens [4.2-23] [4.2-24] [2.4-19]', () => {
    const response = chatProtocol.decodeResponse({
      id: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 14 },
    })
    const body = responsesProtocol.encodeResponse(response, replyContext(PLAIN_REQUEST))
    expect(body.output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'hello' }] },
    ])
    expect(body.usage).toMatchObject({ input_tokens: 12 })
  })

  test('settings of the request are echoed in this protocol’s own form', () => {
    const decoded = responsesProtocol.decodeRequest({
      model: 'm',
      input: 'x',
      instructions: 'be brief',
      tools: [
        {
          type: 'namespace',
          name: 'ns',
          tools: [
            { type: 'function', name: 'a', parameters: { type: 'object' } },
            { type: 'function', name: 'b' },
          ],
        },
        { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'regex', definition: 'x' } },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'custom', name: 'p' },
      reasoning: { effort: 'low' },
      store: false,
      metadata: { a: 'b' },
      temperature: 0.5,
    })
    if (decoded.kind === 'refused') throw new Error(decoded.message)
    expect(encodeWhole(blocks, 'stop', decoded.value)).toMatchObject({
      instructions: 'be brief',
      tools: [
        {
          type: 'namespace',
          name: 'ns',
          tools: [
            { name: 'a', strict: false },
            { name: 'b', parameters: null },
          ],
        },
        { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'regex', definition: 'x' } },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'custom', name: 'p' },
      reasoning: { effort: 'low', summary: null },
      store: false,
      metadata: { a: 'b' },
      temperature: 0.5,
      text: { format: { type: 'text' } },
    })
  })

  test('an answer at its cap is incomplete [2.4-06]', () => {
    expect(encodeWhole(blocks, 'length')).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  test.each<[string, JsonValue, string]>([
    [
      'a failed response',
      { status: 'failed', error: { code: 'server_error', message: 'oh' }, output: [] },
      'oh',
    ],
    ['a cancelled response', { status: 'cancelled', output: [] }, 'the upstream failed without saying why'],
    ['an error body', { error: { message: 'no' } }, 'no'],
    ['no output', { id: 'x' }, 'the upstream answered without any output'],
    ['no object', 'x', 'the upstream answered with something other than a JSON object'],
  ])('%s is a failure, not an answer (docs/protocols.md#trap-38)', (_name, body, message) => {
    expect(responsesProtocol.decodeResponse(body)).toMatchObject({ candidates: [], failure: { message } })
  })

  test('both kinds of reasoning of one item are kept', () => {
    const item: JsonObject = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 's' }],
      content: [{ type: 'reasoning_text', text: 'r' }],
      encrypted_content: 'blob',
    }
    expect(
      responsesProtocol.decodeResponse({ status: 'completed', output: [item] }).candidates[0]?.blocks,
    ).toMatchObject([
      { kind: 'raw', text: 'r', signature: undefined },
      { kind: 'summary', text: 's', signature: { data: 'blob' } },
    ])
  })
})
