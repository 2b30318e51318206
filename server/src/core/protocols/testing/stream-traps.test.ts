/** Streams that real gateways got wrong (docs/protocols.md#traps): one test a trap, which ends with its id. */
import { describe, expect, test } from 'vitest'
import { foldStream } from '../../canonical/fold.ts'
import type { StreamPart } from '../../canonical/response.ts'
import type { JsonObject } from '../../json.ts'
import { createSseReader } from '../../sse/events.ts'
import { LiftedStrings } from '../../sse/lifted-strings.ts'
import { ChatStreamDecoder } from '../chat/answer/stream-decoder.ts'
import { expectLawfulStream, PLAIN_REQUEST } from './laws.ts'
import { accumulateChat, accumulateMessage, accumulateResponse } from './official-clients.ts'
import {
  answered,
  block,
  callDelta,
  callsChunk,
  chunk,
  gemini,
  heard,
  listIn,
  START,
  stopped,
  toldTo,
  wireTo,
} from '../../../../test/protocols/trap-kit.ts'

const TEXT: JsonObject = { type: 'text', text: '' }
const say = (text: string): JsonObject => ({ type: 'text_delta', text })
const json = (partial_json: string): JsonObject => ({ type: 'input_json_delta', partial_json })
const use = (id: string, name = 'look'): JsonObject => ({ type: 'tool_use', id, name, input: {} })
const item = (output_index: number, fields: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item: fields,
})
const itemDone = (output_index: number, fields: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item: fields,
})
const call = (call_id: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name: 'look',
  arguments: '',
  ...more,
})
const completed = (more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output: [], ...more },
})

function calls(parts: readonly StreamPart[]): readonly (readonly [string, string, string])[] {
  const blocks = foldStream(parts).candidates.flatMap((candidate) => candidate.blocks)
  return blocks.flatMap((one) =>
    one.type === 'tool-call' ? [[one.id, one.name, one.arguments] as const] : [],
  )
}

function textOf(parts: readonly StreamPart[]): string {
  const blocks = foldStream(parts).candidates.flatMap((candidate) => candidate.blocks)
  return blocks.map((one) => (one.type === 'text' ? one.text : '')).join('')
}

const finishOf = (parts: readonly StreamPart[]) => foldStream(parts).candidates[0]?.finish.reason
const lastOf = (parts: readonly StreamPart[]) => parts.at(-1)?.type

describe('blocks and calls', () => {
  test('a tool index of a chat client counts tools, not blocks (docs/protocols.md#trap-1)', () => {
    const parts = heard('messages', [
      START,
      ...block(0, TEXT, say('hm')),
      ...block(1, use('a'), json('{}')),
      ...block(2, use('b')),
      ...stopped('tool_use'),
    ])
    const indices = toldTo('chat', parts).flatMap((event) =>
      listIn(event.choices).flatMap(({ delta }) => (delta as JsonObject).tool_calls ?? []),
    )
    expect(indices.flat().map((one) => (one as JsonObject).index)).toEqual(expect.arrayContaining([0, 1]))
    expect(indices.flat().some((one) => (one as JsonObject).index === 2)).toBe(false)
  })

  test('a new id begins a new call, also under the same index (docs/protocols.md#trap-2)', () => {
    const parts = heard('chat', [
      callsChunk(callDelta(0, { id: 'a', name: 'look', text: '{"x":1}' })),
      callsChunk(callDelta(0, { id: 'b', name: 'hear', text: '{"y":2}' })),
      chunk({}, 'tool_calls'),
    ])
    expect(calls(parts)).toEqual([
      ['a', 'look', '{"x":1}'],
      ['b', 'hear', '{"y":2}'],
    ])
  })

  test('interleaved arguments of parallel calls reach a messages client block by block (docs/protocols.md#trap-3)', async () => {
    const parts = heard('chat', [
      callsChunk(
        callDelta(0, { id: 'a', name: 'look', text: '' }),
        callDelta(1, { id: 'b', name: 'hear', text: '' }),
      ),
      callsChunk(callDelta(1, { text: '{"y":' }), callDelta(0, { text: '{"x":' })),
      callsChunk(callDelta(0, { text: '1}' }), callDelta(1, { text: '2}' })),
      chunk({}, 'tool_calls'),
    ])
    const message = await accumulateMessage(wireTo('messages', parts))
    expect(message.content).toMatchObject([
      { id: 'a', input: { x: 1 } },
      { id: 'b', input: { y: 2 } },
    ])
  })

  test('deltas and ends find their block by output index, not by what came last (docs/protocols.md#trap-4)', () => {
    const parts = heard('responses', [
      item(0, call('a')),
      item(1, call('b')),
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'zz', delta: '{"x":1}' },
      { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'yy', delta: '{"y":2}' },
      { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'xx', arguments: '{"x":1}' },
      itemDone(0, call('a', { arguments: '{"x":1}' })),
      itemDone(1, call('b', { arguments: '{"y":2}' })),
      completed(),
    ])
    expect(calls(parts)).toEqual([
      ['a', 'look', '{"x":1}'],
      ['b', 'look', '{"y":2}'],
    ])
  })

  test('block indices are without a gap, and nothing stops that never began (docs/protocols.md#trap-5)', () => {
    const parts = heard('messages', [
      START,
      { type: 'content_block_stop', index: 4 },
      ...block(3, TEXT, say('a')),
      ...block(7, use('t'), json('{}')),
      { type: 'content_block_stop', index: 7 },
      ...stopped('tool_use'),
    ])
    const events = toldTo('messages', parts)
    const starts = events.filter(({ type }) => type === 'content_block_start').map(({ index }) => index)
    const stops = events.filter(({ type }) => type === 'content_block_stop').map(({ index }) => index)
    expect([starts, stops]).toEqual([
      [0, 1],
      [0, 1],
    ])
  })

  test('a line feed between calls opens no text inside them (docs/protocols.md#trap-6)', () => {
    const parts = heard('chat', [
      callsChunk(callDelta(0, { id: 'a', name: 'look', text: '{}' })),
      chunk({ content: '\n' }),
      callsChunk(callDelta(1, { id: 'b', name: 'look', text: '{}' })),
      chunk({}, 'tool_calls'),
    ])
    const kinds = toldTo('messages', parts)
      .filter(({ type }) => type === 'content_block_start')
      .map(({ content_block }) => (content_block as JsonObject).type)
    expect(kinds).toEqual(['tool_use', 'tool_use'])
  })

  test('thoughts that come a second time open a second block (docs/protocols.md#trap-7)', () => {
    const parts = heard('chat', [
      chunk({ reasoning_content: 'first' }),
      chunk({ content: 'said' }),
      chunk({ reasoning_content: 'second' }),
      chunk({ content: 'more' }, 'stop'),
    ])
    const kinds = foldStream(parts).candidates[0]?.blocks.map((one) => [one.type, 'text' in one && one.text])
    expect(kinds).toEqual([
      ['reasoning', 'first'],
      ['text', 'said'],
      ['reasoning', 'second'],
      ['text', 'more'],
    ])
  })

  test('a chunk that switches, carries words and ends loses none of them (docs/protocols.md#trap-8)', () => {
    const parts = heard('chat', [
      chunk({
        reasoning_content: 'a',
        content: 'b',
        tool_calls: [callDelta(0, { id: 't', name: 'look', text: '{}' })],
      }),
      chunk({ content: 'c' }, 'tool_calls'),
    ])
    expect(textOf(parts)).toBe('bc')
    expect(calls(parts)).toEqual([['t', 'look', '{}']])
  })

  test('a call without arguments has an empty object for them (docs/protocols.md#trap-9)', async () => {
    const parts = heard('chat', [
      callsChunk(callDelta(0, { id: 'a', name: 'look', text: '' })),
      chunk({}, 'tool_calls'),
    ])
    const chat = await accumulateChat(wireTo('chat', parts))
    expect(chat.choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: '{}' } }])
    const response = await accumulateResponse(wireTo('responses', parts))
    expect(response.output).toMatchObject([{ arguments: '{}' }])
    expect((await accumulateMessage(wireTo('messages', parts))).content).toMatchObject([{ input: {} }])
  })

  test('arguments that parse already may still grow (docs/protocols.md#trap-10)', () => {
    const parts = heard('chat', [
      callsChunk(callDelta(0, { id: 'a', name: 'look', text: '1' })),
      callsChunk(callDelta(0, { text: '2' })),
      callsChunk(callDelta(0, { text: '3' })),
      chunk({}, 'tool_calls'),
    ])
    expect(calls(parts)).toEqual([['a', 'look', '123']])
  })

  test('two entries of one index in one chunk are one call (docs/protocols.md#trap-11)', () => {
    const parts = heard('chat', [
      callsChunk(callDelta(0, { id: 'a', name: 'look', text: '{"x"' }), callDelta(0, { text: ':1}' })),
      chunk({}, 'tool_calls'),
    ])
    expect(calls(parts)).toEqual([['a', 'look', '{"x":1}']])
  })

  test('without an index calls are distinguished by id, and an empty name opens none (docs/protocols.md#trap-12)', () => {
    const parts = heard('chat', [
      callsChunk(callDelta(null, { id: 'a', name: 'look', text: '{"x":' })),
      callsChunk(callDelta(null, { id: 'a', name: '', text: '1}' })),
      callsChunk(callDelta(null, { id: 'b', name: 'hear', text: '{}' })),
      chunk({}, 'tool_calls'),
    ])
    expect(calls(parts)).toEqual([
      ['a', 'look', '{"x":1}'],
      ['b', 'hear', '{}'],
    ])
  })
})

describe('usage and ends', () => {
  test('the usage chunk goes only to who asked for it, and its choices are an empty list (docs/protocols.md#trap-13)', () => {
    const parts = heard('messages', [START, ...block(0, TEXT, say('a')), ...stopped()])
    const usages = toldTo('chat', parts).filter(({ usage }) => usage !== undefined && usage !== null)
    expect(usages.map(({ choices }) => choices)).toEqual([[]])
    const encoder = wireTo('chat', parts)
    expect(encoder.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  test('usage may come with any chunk, the last one counts and none of them is the end (docs/protocols.md#trap-14)', () => {
    const usage = (completion_tokens: number): JsonObject => ({
      usage: { prompt_tokens: 9, completion_tokens },
    })
    const parts = heard('chat', [
      chunk({ content: 'a' }, null, usage(1)),
      chunk({ content: 'b' }, 'stop', usage(2)),
      chunk({ content: '' }, null, usage(5)),
    ])
    expect(textOf(parts)).toBe('ab')
    expect(foldStream(parts).usage).toMatchObject({ output: 5 })
  })

  test('usage that is null, or all zero, is not known rather than nothing (docs/protocols.md#trap-15)', () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    for (const usage of [null, zero]) {
      const parts = heard('chat', [chunk({ content: 'a' }, 'stop', { usage })])
      expect(foldStream(parts).usage).toBeUndefined()
    }
  })

  test.each([
    ['chat', [chunk({ content: 'a' })]],
    [
      'responses',
      [
        item(0, { type: 'message', id: 'm' }),
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' },
      ],
    ],
    ['messages', [START, ...block(0, TEXT, say('a'))]],
    ['gemini', [gemini([{ text: 'a' }])]],
  ] as const)(
    'a %s stream without its end is a failure in every protocol (docs/protocols.md#trap-16)',
    (upstream, events) => {
      const parts = heard(upstream, events, { done: false })
      expect(lastOf(parts)).toBe('error')
      expect(wireTo('chat', parts)).not.toContain('[DONE]')
      expect(wireTo('messages', parts)).not.toContain('event: message_stop')
      expect(wireTo('responses', parts)).toContain('response.failed')
      expect(wireTo('responses', parts)).not.toContain('response.completed')
    },
  )

  test('an answer that made a call ends with it, whatever the upstream says (docs/protocols.md#trap-17)', () => {
    const parts = heard('gemini', [
      gemini([{ functionCall: { name: 'look', args: {} } }]),
      gemini([{ text: '' }], { finishReason: 'STOP' }),
    ])
    expect(finishOf(parts)).toBe('tool-calls')
    expect(JSON.stringify(toldTo('chat', parts))).toContain('"finish_reason":"tool_calls"')
    expect(JSON.stringify(toldTo('messages', parts))).toContain('"stop_reason":"tool_use"')
  })

  test('an incomplete response closes its blocks before it ends (docs/protocols.md#trap-18)', () => {
    const parts = heard('responses', [
      item(0, { type: 'message', id: 'm', role: 'assistant', content: [] }),
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'cut' },
      {
        type: 'response.incomplete',
        response: {
          id: 'r',
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [],
        },
      },
    ])
    expect(finishOf(parts)).toBe('length')
    const types = toldTo('messages', parts).map(({ type }) => type)
    expect(types.indexOf('content_block_stop')).toBeLessThan(types.indexOf('message_delta'))
  })

  test('a filter and a refusal are sent as such, not as an ordinary end (docs/protocols.md#trap-19)', () => {
    const filtered = heard('chat', [chunk({ content: '' }, 'content_filter')])
    expect(JSON.stringify(toldTo('messages', filtered))).toContain('"stop_reason":"refusal"')
    const refused = heard('messages', [START, ...stopped('refusal')])
    expect(JSON.stringify(toldTo('chat', refused))).toContain('"finish_reason":"content_filter"')
    expect(wireTo('responses', refused)).toContain('"reason":"content_filter"')
  })

  test('message_start has an estimate of the input, message_delta the true count (docs/protocols.md#trap-24)', () => {
    const usage = { prompt_tokens: 90, completion_tokens: 2 }
    const parts = heard('chat', [chunk({ content: 'a' }), chunk({}, 'stop', { usage })])
    const events = toldTo('messages', parts)
    const start = events.find(({ type }) => type === 'message_start')?.message as JsonObject
    expect((start.usage as JsonObject).input_tokens).toBe(7)
    const delta = events.find(({ type }) => type === 'message_delta')
    expect(delta?.usage).toMatchObject({ input_tokens: 90, output_tokens: 2 })
  })

  test('what was read from a cache is outside the input of a messages client (docs/protocols.md#trap-25)', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } }
    const body = {
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage,
    }
    expect(answered('chat', 'messages', body).usage).toMatchObject({
      input_tokens: 40,
      cache_read_input_tokens: 60,
      output_tokens: 5,
    })
  })

  test('cached tokens are counted once on the way there and back (docs/protocols.md#trap-26)', () => {
    const usage = {
      input_tokens: 40,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      output_tokens: 5,
    }
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
      usage,
    }
    const chat = answered('messages', 'chat', message)
    expect(chat.usage).toMatchObject({ prompt_tokens: 110, completion_tokens: 5, total_tokens: 115 })
    expect(answered('chat', 'messages', chat).usage).toMatchObject(usage)
  })
})

describe('bytes and breaks', () => {
  const WORDS = 'grüße, 世界 😀'
  const wire = `: hello\r\n\r\ndata:${JSON.stringify(chunk({ role: 'assistant', content: WORDS }))}\r\n\r\n: keep-alive\r\rdata: ${JSON.stringify(chunk({ content: 'x'.repeat(120_000) }))}\n\ndata: ${JSON.stringify(chunk({}, 'stop'))}\n\ndata:[DONE]\n\n`

  test('packets may be cut at any byte, lines end in any way, comments are no data, events may be huge (docs/protocols.md#trap-37)', () => {
    const bytes = new TextEncoder().encode(wire)
    for (const size of [1, 2, 3, 7, 1_024, bytes.length]) {
      const reader = createSseReader({ lifted: new LiftedStrings(undefined) })
      const decoder = new ChatStreamDecoder()
      const parts: StreamPart[] = []
      for (let at = 0; at < bytes.length; at += size) {
        for (const event of reader.push(bytes.slice(at, at + size))) parts.push(...decoder.push(event))
      }
      for (const event of reader.end()) parts.push(...decoder.push(event))
      parts.push(...decoder.end())
      expectLawfulStream(parts)
      expect(lastOf(parts)).toBe('end')
      expect(textOf(parts)).toBe(WORDS + 'x'.repeat(120_000))
    }
  })

  test('an error in mid-stream is sent as one, in each protocol, and is never a normal end (docs/protocols.md#trap-38)', () => {
    const parts = heard('messages', [
      START,
      ...block(0, TEXT, say('a')),
      { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    ])
    expect(foldStream(parts).failure).toMatchObject({ type: 'overloaded_error', status: 529 })
    expect(wireTo('chat', parts)).toMatch(/data: \{"error":\{.*busy/)
    expect(wireTo('chat', parts)).not.toContain('[DONE]')
    expect(wireTo('responses', parts)).toMatch(/event: error[^]*event: response\.failed/)
    expect(wireTo('messages', parts)).toContain('event: error')
    expect(wireTo('messages', parts)).not.toContain('message_stop')
    expect(wireTo('gemini', parts)).toContain('busy')
  })

  test('the last event repeats the whole answer, and every item opens and closes in its order (docs/protocols.md#trap-39)', async () => {
    const parts = heard('messages', [
      START,
      ...block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'hm' }),
      ...block(1, TEXT, say('I look.')),
      ...block(2, use('t'), json('{"x":1}')),
      ...stopped('tool_use'),
    ])
    const events = toldTo('responses', parts, PLAIN_REQUEST)
    const last = events.at(-1)?.response as JsonObject
    expect(last).toMatchObject({ status: 'completed', model: 'platform-model' })
    expect(listIn(last.output).map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    expect(listIn(listIn(last.output)[1]?.content)).toMatchObject([{ text: 'I look.' }])
    const types = events.map(({ type }) => type)
    expect(types.filter((type) => type === 'response.content_part.added')).toHaveLength(1)
    expect(types.filter((type) => type === 'response.output_item.done')).toHaveLength(3)
    const ids = new Set(
      events.flatMap(({ response }) => (response === undefined ? [] : [(response as JsonObject).id])),
    )
    expect(ids.size).toBe(1)
    expect((await accumulateResponse(wireTo('responses', parts))).output_text).toBe('I look.')
  })
})
