import { describe, expect, test } from 'vitest'
import type { Usage } from '../canonical/usage.ts'
import type { ProtocolId } from '../catalogue.ts'
import type { UsageReader } from './counters.ts'
import { USAGE_READERS } from './usage-readers.ts'

const encoder = new TextEncoder()

function read(reader: UsageReader, wire: unknown): Usage | undefined {
  // Text before and after it: the object is read in place.
  const bytes = encoder.encode(`{"usage":${JSON.stringify(wire)}}`)
  return reader.read(bytes, 9, bytes.length - 1)
}

/** input, cachedInput, cacheWrite, cacheWrite1h, output, reasoning */
type Row = readonly (number | undefined)[]

function row(usage: Usage | undefined): Row | undefined {
  if (usage === undefined) return undefined
  return [usage.input, usage.cachedInput, usage.cacheWrite, usage.cacheWrite1h, usage.output, usage.reasoning]
}

const none = undefined

describe('one usage object', () => {
  test.each<[ProtocolId, string, object, Row]>([
    [
      'chat',
      'prompt and completion',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      [10, none, none, none, 5, none],
    ],
    [
      'chat',
      'the prompt includes what was cached and written; the completion includes reasoning',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      [10, 60, 30, none, 50, 20],
    ],
    [
      'chat',
      'DeepSeek counts hits and misses',
      {
        prompt_tokens: 339,
        completion_tokens: 83,
        prompt_cache_hit_tokens: 320,
        prompt_cache_miss_tokens: 19,
      },
      [19, 320, none, none, 83, none],
    ],
    [
      'chat',
      'the details go before the hits, whatever comes first',
      {
        prompt_cache_hit_tokens: 1,
        prompt_tokens_details: { cached_tokens: 320 },
        prompt_tokens: 339,
        completion_tokens: 83,
      },
      [19, 320, none, none, 83, none],
    ],
    [
      'chat',
      'Moonshot has cached tokens of its own',
      {
        prompt_tokens: 20,
        completion_tokens: 30,
        total_tokens: 50,
        cached_tokens: 10,
        completion_tokens_details: { reasoning_tokens: 22 },
      },
      [10, 10, none, none, 30, 22],
    ],
    [
      'chat',
      'xAI counts reasoning beside the completion',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 303,
        prompt_tokens_details: { cached_tokens: 11 },
        completion_tokens_details: { reasoning_tokens: 290 },
      },
      [1, 11, none, none, 291, 290],
    ],
    [
      'chat',
      'Groq adds times, OpenRouter costs: skipped',
      {
        queue_time: 0.04,
        prompt_tokens: 45,
        prompt_time: 0.004,
        completion_tokens: 662,
        total_tokens: 707,
        cost: 0.01,
      },
      [45, none, none, none, 662, none],
    ],
    [
      'chat',
      'counters that are null are not told',
      { prompt_tokens: 7, completion_tokens: null, prompt_tokens_details: null },
      [7, none, none, none, none, none],
    ],
    [
      'chat',
      'more cached than prompt leaves nothing, not less',
      { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
      [0, 9, none, none, 1, none],
    ],
    [
      'chat',
      'whole numbers may be written as floats',
      { prompt_tokens: 7.0, completion_tokens: 2.4 },
      [7, none, none, none, 2, none],
    ],
    [
      'responses',
      'input includes what was cached and written; output includes reasoning',
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 15 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 150,
      },
      [25, 60, 15, none, 50, 20],
    ],
    [
      'messages',
      'input excludes what was cached and written',
      {
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 20 },
      },
      [10, 60, 30, none, 50, 20],
    ],
    [
      'messages',
      'writes for an hour are a class of their own',
      {
        input_tokens: 10,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 1,
      },
      [10, 0, 10, 20, 1, none],
    ],
    [
      'messages',
      'the split counts where the total is missing',
      {
        input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 1,
      },
      [10, none, 10, 20, 1, none],
    ],
    [
      'messages',
      'iterations say the same again',
      { input_tokens: 10, output_tokens: 5, iterations: [{ input_tokens: 99, output_tokens: 99 }] },
      [10, none, none, none, 5, none],
    ],
    [
      'gemini',
      'thoughts come on top of candidates',
      { promptTokenCount: 9, candidatesTokenCount: 23, thoughtsTokenCount: 302, totalTokenCount: 334 },
      [9, none, none, none, 325, 302],
    ],
    [
      'gemini',
      'unless the total says they are in there',
      { promptTokenCount: 9, candidatesTokenCount: 325, thoughtsTokenCount: 302, totalTokenCount: 334 },
      [9, none, none, none, 325, 302],
    ],
    [
      'gemini',
      'tool prompts are input, cached content is part of it',
      {
        promptTokenCount: 100,
        toolUsePromptTokenCount: 20,
        cachedContentTokenCount: 80,
        candidatesTokenCount: 5,
        totalTokenCount: 125,
      },
      [40, 80, none, none, 5, none],
    ],
    [
      'gemini',
      'thoughts alone',
      { promptTokenCount: 9, thoughtsTokenCount: 7, totalTokenCount: 16 },
      [9, none, none, none, 7, 7],
    ],
    [
      'gemini',
      'a blocked prompt has no output',
      { promptTokenCount: 9, totalTokenCount: 9 },
      [9, none, none, none, none, none],
    ],
  ])('%s: %s', (protocol, _name, wire, expected) => {
    expect(row(read(USAGE_READERS[protocol](), wire))).toEqual(expected)
  })

  test.each<[ProtocolId, unknown]>([
    ['chat', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['chat', {}],
    ['chat', null],
    ['chat', { prompt_tokens: '12' }],
    ['chat', { prompt_tokens: -5 }],
    ['messages', { service_tier: 'standard' }],
    ['gemini', { trafficType: 'ON_DEMAND' }],
  ])('%s: %j says nothing, which is not "none used"', (protocol, wire) => {
    expect(read(USAGE_READERS[protocol](), wire)).toBeUndefined()
  })
})

describe('several usage objects of one answer', () => {
  test('the last value of each counter wins', () => {
    const reader = USAGE_READERS.gemini()
    read(reader, { promptTokenCount: 9, candidatesTokenCount: 3, thoughtsTokenCount: 100 })
    expect(
      row(read(reader, { promptTokenCount: 9, candidatesTokenCount: 23, thoughtsTokenCount: 302 })),
    ).toEqual([9, none, none, none, 325, 302])
  })

  test('a part that is left out later is not counted twice', () => {
    const chat = USAGE_READERS.chat()
    read(chat, { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 80 } })
    expect(row(read(chat, { prompt_tokens: 100, completion_tokens: 9 }))).toEqual([
      20,
      80,
      none,
      none,
      9,
      none,
    ])

    const messages = USAGE_READERS.messages()
    read(messages, {
      input_tokens: 3,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1000 },
      output_tokens: 1,
    })
    expect(row(read(messages, { cache_creation_input_tokens: 1000, output_tokens: 50 }))).toEqual([
      3,
      none,
      0,
      1000,
      50,
      none,
    ])
  })

  test('message_delta overrides message_start', () => {
    const reader = USAGE_READERS.messages()
    read(reader, { input_tokens: 43, cache_read_input_tokens: 0, output_tokens: 1 })
    expect(row(read(reader, { input_tokens: 61, output_tokens: 50 }))).toEqual([61, 0, none, none, 50, none])
  })

  test('an object that says nothing changes nothing', () => {
    const reader = USAGE_READERS.chat()
    read(reader, { prompt_tokens: 10, completion_tokens: 5 })
    expect(read(reader, { prompt_tokens: 0, completion_tokens: 0 })).toBeUndefined()
    expect(row(read(reader, { completion_tokens: 6 }))).toEqual([10, none, none, none, 6, none])
  })

  test.each([
    '{"prompt_tok',
    '{"prompt_tokens":1',
    '{"prompt_tokens":tru',
    '{"a":"\\u12',
    '{"a":"\\',
    '{"a":-',
    '{"a":[[[',
    '}',
  ])('after %s, which is no object, the next one of another answer is read as any', (broken) => {
    const [one, other] = [USAGE_READERS.chat(), USAGE_READERS.chat()]
    expect(one.read(encoder.encode(broken), 0, broken.length)).toBeUndefined()
    expect(row(read(other, { prompt_tokens: 10, completion_tokens: 5 }))).toEqual([
      10,
      none,
      none,
      none,
      5,
      none,
    ])
  })

  test('readers of two answers know nothing of each other', () => {
    read(USAGE_READERS.chat(), { prompt_tokens: 10, completion_tokens: 5 })
    expect(row(read(USAGE_READERS.chat(), { completion_tokens: 6 }))).toEqual([
      none,
      none,
      none,
      none,
      6,
      none,
    ])
  })
})
