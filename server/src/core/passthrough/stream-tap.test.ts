import { describe, expect, test } from 'vitest'
import { PLATFORM_MODEL, replayStream } from '../../../test/passthrough/replay.ts'
import { framed, SAMPLE_STREAMS, sampleStream } from '../../../test/passthrough/sample-answers.ts'
import { bytesOf, cutAnywhere, cutAt, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../catalogue.ts'
import { createMeter } from '../metering/meter.ts'
import { SSE_EVENT_BYTES_MAX } from '../sse/framer.ts'
import { createStreamTap } from './stream-tap.ts'

const MODEL = JSON.stringify(PLATFORM_MODEL)

/** What the client is to see: the same text with the model's name replaced. */
function passed(protocol: ProtocolId, stream: string): string {
  const replaced =
    protocol === 'gemini'
      ? stream
      : stream.replaceAll('"model":"vendor-model-2026-01-01"', `"model":${MODEL}`)
  return protocol === 'responses' ? `${replaced}data: [DONE]\n\n` : replaced
}

const chat = (rest: object): object => ({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...rest })
const delta = (rest: object, finish: string | null = null): object =>
  chat({ choices: [{ index: 0, delta: rest, finish_reason: finish }] })

describe.each(PROTOCOL_IDS)('%s stream', (protocol) => {
  const { usage } = SAMPLE_STREAMS[protocol]

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('with %s line ends: only the model changes, wherever it is cut', (_name, lineEnd) => {
    const stream = sampleStream(protocol, lineEnd)
    const bytes = bytesOf(stream)
    const expected = passed(protocol, stream)
    for (let at = 0; at <= bytes.length; at++) {
      const { output, end, reading } = replayStream(protocol, cutAt(bytes, [at]))
      expect(output, `cut at ${at}`).toBe(expected)
      expect(end).toBe('complete')
      expect(reading).toMatchObject({
        usage: { input: usage[0], cachedInput: usage[1], output: usage[2] },
        source: 'upstream',
        produced: true,
      })
    }
    expect(replayStream(protocol, cutAt(bytes, [...bytes.keys()])).output).toBe(expected)
  })

  test('comments, blank lines and a byte order mark pass as they are', () => {
    const stream = `\ufeff: PROCESSING\n\n\n${sampleStream(protocol, '\n').replaceAll('\n\n', '\n: still here\n\n')}: bye\n\n`
    for (let run = 0; run < 50; run++) {
      const chance = seededChance(FUZZ_SEED + run)
      const { output, end } = replayStream(protocol, cutAnywhere(bytesOf(stream), chance))
      expect(output, `seed ${FUZZ_SEED + run}`).toBe(passed(protocol, stream))
      expect(end).toBe('complete')
    }
  })

  test('cut anywhere: whole events only, and never a fake end', () => {
    const stream = sampleStream(protocol)
    const bytes = bytesOf(stream)
    for (let length = 0; length < bytes.length; length++) {
      const { output, end, reading } = replayStream(protocol, [bytes.slice(0, length)])
      const whole = passed(protocol, stream)
      const upToDone = output.endsWith('data: [DONE]\n\n') ? output.slice(0, -14) : output
      expect(
        whole.startsWith(upToDone) || whole.startsWith(upToDone.trimEnd()),
        `cut at ${length}: ${output}`,
      ).toBe(true)
      if (end === 'complete') expect(reading.usage.output).toBeGreaterThan(0)
      else expect(output).not.toContain('[DONE]')
    }
  })

  test('what was handed out stays as it was', () => {
    const tap = createStreamTap(protocol, {
      replacementModel: PLATFORM_MODEL,
      removeUsageChunk: false,
      meter: {
        observeUsage() {},
        observeText() {},
        observeJsonText() {},
        observeKeptText() {},
        observeImages() {},
        observeImagePart() {},
        observeProduced() {},
      },
      decodeError: (raw) => ({ status: undefined, type: undefined, code: undefined, message: '', raw }),
    })
    const stream = bytesOf(sampleStream(protocol))
    const handed = Array.from({ length: 400 }, () => tap.push(stream))
    const first = handed[0]?.map((piece) => [...piece])
    for (const pieces of handed) expect(pieces.map((piece) => [...piece])).toEqual(first)
  })
})

describe('nothing to replace', () => {
  test('a piece that holds whole events and no model is handed on itself', () => {
    const tap = createStreamTap('messages', {
      replacementModel: 'x',
      removeUsageChunk: false,
      meter: {
        observeUsage() {},
        observeText() {},
        observeJsonText() {},
        observeKeptText() {},
        observeImages() {},
        observeImagePart() {},
        observeProduced() {},
      },
      decodeError: (raw) => ({ status: undefined, type: undefined, code: undefined, message: '', raw }),
    })
    const piece = bytesOf(framed('messages', SAMPLE_STREAMS.messages.events.slice(1)))
    expect(tap.push(piece)[0]).toBe(piece)
  })

  test('data over several lines is one event, and its model is found', () => {
    const stream = 'data: {"id":"c",\ndata: "model":"m",\ndata: "choices":[]}\n\ndata: [DONE]\n\n'
    expect(replayStream('chat', stream).output).toBe(stream.replace('"m"', MODEL))
  })

  test('a model that is no string, or not where models are, stays', () => {
    const stream = framed('chat', [
      chat({ model: null, choices: [{ model: 'm', delta: { model: 'm' } }] }),
      '[DONE]',
    ])
    expect(replayStream('chat', stream).output).toBe(stream)
  })

  test('data that is no JSON passes and is counted', () => {
    const stream = 'data: OK\n\ndata: {"model":"m"\n\ndata: [DONE]\n\n'
    const { output, observed } = replayStream('chat', stream)
    expect(output).toBe(stream)
    expect(observed.unreadableEvents).toBe(2)
  })
})

describe('the first meaningful event', () => {
  test.each<[ProtocolId, boolean, string, object]>([
    ['chat', false, 'a role', delta({ role: 'assistant', content: '' })],
    [
      'chat',
      false,
      'a null content',
      delta({ role: 'assistant', content: null, refusal: null, tool_calls: null }),
    ],
    ['chat', false, "Azure's prompt filter", chat({ choices: [], prompt_filter_results: [{}] })],
    ['chat', false, 'usage alone', chat({ choices: [], usage: { prompt_tokens: 5 } })],
    ['chat', true, 'text', delta({ content: 'a' })],
    ['chat', true, 'text in parts', delta({ content: [{ type: 'text', text: 'a' }] })],
    [
      'chat',
      true,
      'thinking in parts',
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }] }),
    ],
    ['chat', true, 'reasoning', delta({ reasoning_content: 'a' })],
    ['chat', true, "reasoning by Groq's name", delta({ reasoning: 'a' })],
    ['chat', true, 'a refusal', delta({ refusal: 'no' })],
    [
      'chat',
      true,
      'a tool call',
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: '', arguments: '' } }] }),
    ],
    ['chat', true, 'a tool call of old', delta({ function_call: { name: 'f' } })],
    ['chat', true, 'an image', delta({ images: [{ type: 'image_url', image_url: { url: 'data:' } }] })],
    ['chat', true, 'a clean finish', delta({}, 'stop')],
    ['responses', false, 'created', { type: 'response.created', response: {} }],
    ['responses', false, 'queued', { type: 'response.queued', response: {} }],
    ['responses', false, 'in progress', { type: 'response.in_progress', response: {} }],
    ['responses', false, 'a sign of life', { type: 'keepalive' }],
    ['responses', false, 'rate limits', { type: 'codex.rate_limits' }],
    ['responses', true, 'an item', { type: 'response.output_item.added', item: { type: 'reasoning' } }],
    ['responses', true, 'text', { type: 'response.output_text.delta', delta: 'a' }],
    ['responses', true, 'an event of a hosted tool', { type: 'response.web_search_call.searching' }],
    ['responses', true, 'a clean finish', { type: 'response.completed', response: {} }],
    ['responses', true, 'an incomplete finish', { type: 'response.incomplete', response: {} }],
    [
      'messages',
      false,
      'message_start',
      { type: 'message_start', message: { model: 'm', content: [], usage: { input_tokens: 1 } } },
    ],
    [
      'messages',
      true,
      'message_start that holds a block',
      { type: 'message_start', message: { content: [{ type: 'tool_use' }] } },
    ],
    ['messages', false, 'ping', { type: 'ping' }],
    ['messages', false, 'an unknown event', { type: 'novelty' }],
    [
      'messages',
      false,
      'an empty text block',
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    ],
    [
      'messages',
      true,
      'a thinking block',
      { type: 'content_block_start', content_block: { type: 'thinking', thinking: '' } },
    ],
    [
      'messages',
      true,
      'a tool block',
      { type: 'content_block_start', content_block: { type: 'tool_use', name: 'f', input: {} } },
    ],
    ['messages', true, 'text', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } }],
    ['messages', true, 'a clean finish', { type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
    ['gemini', false, 'counters', { usageMetadata: { promptTokenCount: 4 } }],
    ['gemini', false, 'an empty text', { candidates: [{ content: { parts: [{ text: '' }] } }] }],
    ['gemini', true, 'text', { candidates: [{ content: { parts: [{ text: 'a' }] } }] }],
    [
      'gemini',
      true,
      'a function call',
      { candidates: [{ content: { parts: [{ functionCall: { name: 'f' } }] } }] },
    ],
    [
      'gemini',
      true,
      'an image',
      { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'A' } }] } }] },
    ],
    ['gemini', true, 'a finish', { candidates: [{ finishReason: 'STOP' }] }],
    ['gemini', true, 'a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }],
  ])('%s: %s for %s', (protocol, meaningful, _name, event) => {
    expect(replayStream(protocol, framed(protocol, [event])).observed.meaningful).toBe(meaningful)
  })

  test.each(PROTOCOL_IDS)('%s: comments and [DONE] alone mean nothing', (protocol) => {
    expect(replayStream(protocol, ': hi\n\ndata: [DONE]\n\n').observed.meaningful).toBe(false)
  })
})

describe('an error inside the stream', () => {
  const failure = { type: 'overloaded', code: 429, message: 'busy' }

  test.each<[ProtocolId, string, object, object]>([
    ['chat', 'an error object', { error: failure }, { error: failure }],
    [
      'chat',
      'an error beside a chunk',
      chat({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }], error: failure }),
      chat({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }], error: failure }),
    ],
    ['responses', 'an error event', { type: 'error', error: failure }, { type: 'error', error: failure }],
    [
      'responses',
      'a flat error event',
      { type: 'error', code: 'x', message: 'busy' },
      { type: 'error', code: 'x', message: 'busy' },
    ],
    [
      'responses',
      'a failed response',
      { type: 'response.failed', response: { status: 'failed', error: failure } },
      { error: failure },
    ],
    ['messages', 'an error event', { type: 'error', error: failure }, { type: 'error', error: failure }],
    ['gemini', 'an error object', { error: failure }, { error: failure }],
  ])('%s: %s is told, and whether the answer had begun', (protocol, _name, event, raw) => {
    const begun = SAMPLE_STREAMS[protocol].events
    const first = replayStream(protocol, framed(protocol, [event]))
    expect(first.observed.error).toMatchObject({ beforeMeaningful: true, error: { raw } })
    expect(first.observed.meaningful).toBe(false)
    expect([first.end, first.reading.produced]).toEqual(['error', false])
    const later = replayStream(protocol, framed(protocol, [...begun.slice(0, 4), event]))
    expect(later.observed.error).toMatchObject({ beforeMeaningful: false, error: { raw } })
    expect([later.end, later.reading.produced]).toEqual(['error', true])
    expect(later.output).not.toContain('[DONE]')
  })

  test('the first of several counts, and the reader of errors says its status', () => {
    const { observed } = replayStream(
      'responses',
      framed('responses', [
        { type: 'error', error: failure },
        { type: 'response.failed', response: { error: { code: 500 } } },
      ]),
    )
    expect(observed.error?.error.status).toBe(429)
  })

  test.each([null, false])('error %s is none', (error) => {
    expect(replayStream('chat', framed('chat', [chat({ error }), '[DONE]'])).observed.error).toBeUndefined()
  })
})

describe('the end of a stream', () => {
  const text = delta({ content: 'a' })
  const done = delta({}, 'stop')
  const at = (index: number, finish: string | null): object =>
    chat({ choices: [{ index, delta: { content: 'a' }, finish_reason: finish }] })

  test.each<[string, ProtocolId, readonly (object | string)[], string]>([
    ['[DONE]', 'chat', [text, '[DONE]'], 'complete'],
    ['a finish reason', 'chat', [text, done], 'complete'],
    ['no sign of an end', 'chat', [text], 'cut'],
    ['one of two choices open', 'chat', [at(0, null), at(1, null), at(0, 'stop')], 'cut'],
    ['both choices finished', 'chat', [at(0, null), at(1, null), at(0, 'stop'), at(1, 'length')], 'complete'],
    ['completed', 'responses', [{ type: 'response.completed', response: {} }], 'complete'],
    ['incomplete', 'responses', [{ type: 'response.incomplete', response: {} }], 'complete'],
    ['[DONE] alone', 'responses', [{ type: 'response.output_text.delta', delta: 'a' }, '[DONE]'], 'cut'],
    ['failed', 'responses', [{ type: 'response.failed', response: { error: {} } }], 'error'],
    ['message_stop', 'messages', [{ type: 'message_stop' }], 'complete'],
    [
      'message_delta alone',
      'messages',
      [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
      'cut',
    ],
    ['a finish reason', 'gemini', [{ candidates: [{ finishReason: 'STOP' }] }], 'complete'],
    ['text alone', 'gemini', [{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }], 'cut'],
    ['nothing at all', 'chat', [], 'cut'],
  ])('%s ends %s: %#', (_name, protocol, payloads, kind) => {
    expect(replayStream(protocol, framed(protocol, payloads)).end).toBe(kind)
  })

  test.each([
    ['completed', [{ type: 'response.completed', response: {} }], 'data: [DONE]\n\n'],
    ['incomplete', [{ type: 'response.incomplete', response: {} }], 'data: [DONE]\n\n'],
    ['failed', [{ type: 'response.failed', response: { error: {} } }], ''],
    ['nothing', [{ type: 'response.output_text.delta', delta: 'a' }], ''],
  ])('a responses stream after %s gets the [DONE] it lacks, or none', (_name, events, added) => {
    const stream = framed('responses', events)
    expect(replayStream('responses', stream).output).toBe(stream + added)
  })

  test('a [DONE] the upstream sent itself is not doubled, and after failed it is left out', () => {
    const completed = framed('responses', [{ type: 'response.completed', response: {} }, '[DONE]'])
    expect(replayStream('responses', completed).output).toBe(completed)
    const failed = framed('responses', [{ type: 'response.failed', response: { error: {} } }])
    expect(replayStream('responses', `${failed}data: [DONE]\n\n`).output).toBe(failed)
  })

  test.each([
    ['data: [DONE]', 'data: [DONE]'],
    ['data: [DONE]\n', 'data: [DONE]\n'],
    ['data: {"model":"m"}', `data: {"model":${MODEL}}`],
    ['data: {"model":"m"', ''],
    [': comment', ': comment'],
  ])('a last event without its blank line: %j', (tail, expected) => {
    expect(replayStream('chat', tail).output).toBe(expected)
  })

  test('a [DONE] that we add is separated from an event without its blank line', () => {
    const tail = 'data: {"type":"response.completed"}'
    expect(replayStream('responses', tail).output).toBe(`${tail}\n\ndata: [DONE]\n\n`)
    expect(replayStream('responses', `${tail}\n`).output).toBe(`${tail}\n\n\ndata: [DONE]\n\n`)
  })
})

describe('usage', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }

  test.each([
    ['on the finish chunk', [delta({ content: 'a' }), { ...delta({}, 'stop'), usage }]],
    ['alone', [delta({ content: 'a' }), delta({}, 'stop'), chat({ choices: [], usage })]],
    [
      'before a chunk that says null',
      [
        delta({ content: 'a' }),
        delta({}, 'stop'),
        chat({ choices: [], usage }),
        chat({ choices: [], moderation: {}, usage: null }),
      ],
    ],
    [
      'in the choice',
      [delta({ content: 'a' }), chat({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] })],
    ],
    ["under Groq's own name", [delta({ content: 'a' }), { ...delta({}, 'stop'), x_groq: { usage } }]],
    [
      'with every chunk',
      [
        { ...delta({ content: 'a' }), usage: { prompt_tokens: 5, completion_tokens: 1 } },
        { ...delta({ content: 'b' }, 'stop'), usage },
      ],
    ],
    [
      'followed by zeros',
      [
        delta({ content: 'a' }),
        { ...delta({}, 'stop'), usage },
        chat({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }),
      ],
    ],
  ])('of a chat stream is read %s', (_name, events) => {
    const { reading } = replayStream('chat', framed('chat', [...events, '[DONE]']))
    expect(reading).toMatchObject({ usage: { input: 5, output: 3 }, source: 'upstream' })
  })

  test('without usage the text is counted: answer, reasoning, refusal, tool calls', () => {
    const events = [
      delta({ reasoning_content: 'think ' }),
      delta({ content: 'say \\ "it"\n' }),
      delta({
        tool_calls: [
          { index: 0, id: 'c', type: 'function', function: { name: 'get_weather', arguments: '' } },
        ],
      }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"city"' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ':"Köln"}' } }] }),
    ]
    const { reading, counted } = replayStream('chat', framed('chat', events))
    expect(counted.join('')).toBe('think say \\ "it"\nget_weather{"city":"Köln"}')
    expect(reading).toMatchObject({
      usage: { input: 1_000, output: counted.join('').length },
      source: 'estimated',
    })
  })

  test('a messages stream that broke in the middle is charged for the reported input and the text that came', () => {
    const { reading, counted } = replayStream(
      'messages',
      framed('messages', SAMPLE_STREAMS.messages.events.slice(0, 4)),
    )
    expect(reading).toMatchObject({
      usage: { input: 8, cachedInput: 12, output: 5 },
      source: 'estimated',
      produced: true,
    })
    expect(counted).toEqual(['Hello'])
  })

  test('a gemini stream cut in the middle is charged by its latest counters', () => {
    const { reading } = replayStream('gemini', framed('gemini', SAMPLE_STREAMS.gemini.events.slice(0, 1)))
    expect(reading).toMatchObject({ usage: { input: 8, cachedInput: 12, output: 2 }, source: 'upstream' })
  })

  test('text that comes only with the last responses event is counted once', () => {
    const completed = {
      type: 'response.completed',
      response: { output: [{ content: [{ text: 'Hello' }] }], usage: null },
    }
    const text = { type: 'response.output_text.delta', delta: 'Hello' }
    expect(replayStream('responses', framed('responses', [completed])).counted).toEqual(['Hello'])
    expect(replayStream('responses', framed('responses', [text, completed])).counted).toEqual(['Hello'])
  })
})

describe('the usage chunk the gateway asked for', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 3 }
  const before = [delta({ content: 'a' }), delta({}, 'stop')]

  test('is not passed on, and is read', () => {
    const stream = framed('chat', [...before, chat({ choices: [], usage }), '[DONE]'])
    for (let at = 0; at <= stream.length; at++) {
      const { output, reading, end } = replayStream('chat', cutAt(bytesOf(stream), [at]), true)
      expect(output).toBe(framed('chat', [...before, '[DONE]']).replaceAll('"model":"m"', `"model":${MODEL}`))
      expect([reading.usage.output, reading.source, end]).toEqual([3, 'upstream', 'complete'])
    }
  })

  test.each([
    ['usage on a chunk with a choice', { ...delta({}, 'stop'), usage }],
    ['a chunk without choices that says usage null', chat({ choices: [], usage: null, moderation: {} })],
    ['an error beside the usage', { error: { message: 'x' }, usage }],
  ])('%s is the client’s', (_name, event) => {
    const stream = framed('chat', [...before, event, '[DONE]'])
    const whole = 'error' in event ? stream.replace('data: [DONE]\n\n', '') : stream
    expect(replayStream('chat', stream, true).output).toBe(
      whole.replaceAll('"model":"m"', `"model":${MODEL}`),
    )
  })

  test('is the client’s when the client asked for it', () => {
    const stream = framed('chat', [...before, chat({ choices: [], usage }), '[DONE]'])
    expect(replayStream('chat', stream, false).output).toBe(
      stream.replaceAll('"model":"m"', `"model":${MODEL}`),
    )
  })
})

describe('images', () => {
  const png = { mimeType: 'image/png', data: 'AAAA' }
  const call = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'AAAA' }
  const part = (rest: object): object => ({ candidates: [{ content: { parts: [rest] } }] })

  test.each<[ProtocolId, string, readonly object[], number]>([
    ['chat', 'an image part', [delta({ images: [{ image_url: { url: 'data:' } }] })], 1],
    ['chat', 'two of them', [delta({ images: [{ image_url: {} }, { image_url: {} }] })], 2],
    ['chat', 'a content part', [delta({ content: [{ type: 'image_url', image_url: { url: 'data:' } }] })], 1],
    [
      'responses',
      'a finished call, said three times',
      [
        { type: 'response.output_item.added', item: { ...call, result: null } },
        { type: 'response.image_generation_call.partial_image', partial_image_b64: 'AA' },
        { type: 'response.output_item.done', item: call },
        { type: 'response.completed', response: { output: [call] } },
      ],
      1,
    ],
    [
      'responses',
      'a call without a result',
      [{ type: 'response.output_item.done', item: { ...call, result: null } }],
      0,
    ],
    [
      'responses',
      'another tool',
      [{ type: 'response.output_item.done', item: { ...call, type: 'web_search_call' } }],
      0,
    ],
    ['gemini', 'inline data', [part({ inlineData: png }), part({ inlineData: png })], 2],
    ['gemini', 'a thought', [part({ thought: true, inlineData: png })], 0],
    ['gemini', 'sound', [part({ inlineData: { mimeType: 'audio/wav', data: 'AA' } })], 0],
  ])('%s: %s', (protocol, _name, events, images) => {
    expect(replayStream(protocol, framed(protocol, events)).reading.images).toBe(images)
  })
})

test('a failure of ours can name the answer and go on counting', () => {
  const { observed } = replayStream(
    'responses',
    framed('responses', SAMPLE_STREAMS.responses.events.slice(0, 4)),
  )
  expect([observed.answerId, observed.sequenceNumber]).toEqual(['resp_1', 3])
})

test('an event beyond the bound is reported, and the stream counts as cut', () => {
  const tap = createStreamTap('chat', {
    replacementModel: 'x',
    removeUsageChunk: false,
    meter: {
      observeUsage() {},
      observeText() {},
      observeJsonText() {},
      observeKeptText() {},
      observeImages() {},
      observeImagePart() {},
      observeProduced() {},
    },
    decodeError: (raw) => ({ status: undefined, type: undefined, code: undefined, message: '', raw }),
  })
  tap.push(bytesOf('data: '))
  const megabyte = new Uint8Array(1_048_576).fill(0x61)
  for (let count = 0; count <= SSE_EVENT_BYTES_MAX / megabyte.length; count++) tap.push(megabyte)
  expect(tap.observed.overflow).toBe(true)
  expect(tap.push(bytesOf('\n\ndata: [DONE]\n\n'))).toEqual([])
  expect(tap.finish()).toEqual({ kind: 'cut', output: [] })
})

describe('a messages stream with more than one message_start', () => {
  const start = (id: string) =>
    framed('messages', [{ type: 'message_start', message: { id, model: 'm', content: [], usage: {} } }])
  const text = framed('messages', [
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  ])
  const stop = framed('messages', [{ type: 'message_stop' }])

  test.each([
    ['after its answer has begun', `${start('msg_1')}${text}`],
    ['before that', start('msg_1')],
  ])('a message of another id, %s, is none of this answer: the stream is broken there', (_when, before) => {
    const stream = `${before}${start('msg_2')}${text}${stop}`
    for (let at = 0; at <= stream.length; at += 7) {
      const { output, end } = replayStream('messages', cutAt(bytesOf(stream), [at]))
      expect(output, `cut at ${at}`).toBe(before.replaceAll('"model":"m"', `"model":${MODEL}`))
      expect(end).toBe('cut')
    }
  })

  test('the same message sent again passes: proxies do that, and bytes are unchanged', () => {
    const stream = `${start('msg_1')}${text}${start('msg_1')}${text}${stop}`
    const { output, end } = replayStream('messages', [bytesOf(stream)])
    expect(output).toBe(stream.replaceAll('"model":"m"', `"model":${MODEL}`))
    expect(end).toBe('complete')
  })
})

describe('bytes that only keep the connection alive', () => {
  const comment = ': OPENROUTER PROCESSING\n\n'
  const ping = 'event: ping\ndata: {"type": "ping"}\n\n'
  const keepalive = 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n'

  test.each<[string, ProtocolId, string, number]>([
    ['comments', 'chat', comment.repeat(3), 3 * comment.length],
    ['pings of the messages protocol', 'messages', ping.repeat(2), 2 * ping.length],
    ['keep-alives of the responses protocol', 'responses', keepalive, keepalive.length],
    ['nothing of an answer', 'chat', framed('chat', [delta({ content: 'ping' })]), 0],
    [
      'nothing of what comes before an answer',
      'messages',
      framed('messages', [{ type: 'message_start', message: {} }]),
      0,
    ],
  ])('are %s', (_what, protocol, stream, expected) => {
    const tap = createStreamTap(protocol, {
      replacementModel: 'm',
      meter: createMeter({ countTokens: () => 0, countInput: () => 0, inputTokensEstimate: 0 }),
      removeUsageChunk: false,
      decodeError: () => ({ status: undefined, type: undefined, code: undefined, message: '', raw: null }),
    })
    tap.push(bytesOf(stream))
    expect(tap.observed.keepAliveBytes).toBe(expected)
  })
})

test('a long event goes out in views of what came: its bytes are not copied once more for the model’s name', () => {
  const tap = createStreamTap('chat', {
    replacementModel: 'platform',
    removeUsageChunk: false,
    meter: createMeter({ countTokens: () => 1, countInput: () => 1, inputTokensEstimate: 1 }),
    decodeError: (raw) => ({ status: undefined, type: undefined, code: undefined, message: '', raw }),
  })
  const text = 'x'.repeat(3_000_000)
  const stream = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`
  const cuts = Array.from({ length: 45 }, (_, at) => (at + 1) * 65_536)
  const output = cutAt(bytesOf(stream), cuts).flatMap((piece) => tap.push(piece))
  expect(Buffer.concat(output).toString()).toBe(stream.replace('"m"', '"platform"'))
  const [before, model, after] = output
  expect([output.length, Buffer.from(model ?? []).toString()]).toEqual([3, '"platform"'])
  expect(before?.buffer).toBe(after?.buffer)
})
