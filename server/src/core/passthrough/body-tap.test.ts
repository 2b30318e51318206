import { describe, expect, test } from 'vitest'
import { PLATFORM_MODEL, replayBody } from '../../../test/passthrough/replay.ts'
import { bytesOf, cutAt } from '../../../test/passthrough/test-kit.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../catalogue.ts'
import { createBodyTap } from './body-tap.ts'

const MODEL = JSON.stringify(PLATFORM_MODEL)

/** Whole answers: the text as it comes, the words that were generated, and input, cached input, output. */
const BODIES: Readonly<
  Record<ProtocolId, { readonly body: string; readonly text: string; readonly usage: readonly number[] }>
> = {
  chat: {
    body: '{ "id":"c", "model" : "m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello \\"w\\"","reasoning_content":"think","tool_calls":[{"id":"t","function":{"name":"f","arguments":"{}"}}],"model":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":12}},"x":1.0 }\n',
    text: 'Hello "w"thinkf{}',
    usage: [8, 12, 9],
  },
  responses: {
    body: '{"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":12},"output_tokens":9},"error":null,"output":[{"type":"reasoning","summary":[{"text":"think"}]},{"type":"message","content":[{"type":"output_text","text":"Hello"}]},{"type":"function_call","name":"f","arguments":"{}"}],"metadata":{"model":"no"},"model":"m"}',
    text: 'thinkHellof{}',
    usage: [8, 12, 9],
  },
  messages: {
    body: '{"type":"message","model":"m","content":[{"type":"thinking","thinking":"think"},{"type":"text","text":"Hello"},{"type":"tool_use","name":"f","input":{"a": 1}}],"stop_reason":"end_turn","usage":{"input_tokens":8,"cache_read_input_tokens":12,"output_tokens":9}}',
    text: 'thinkHellof{"a": 1}',
    usage: [8, 12, 9],
  },
  gemini: {
    body: '{"candidates":[{"content":{"parts":[{"text":"Hello"},{"functionCall":{"name":"f","args":{"a": 1}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":20,"cachedContentTokenCount":12,"candidatesTokenCount":9},"modelVersion":"m","model":"m"}',
    text: 'Hellof{"a": 1}',
    usage: [8, 12, 9],
  },
}

const everyByte = (text: string): number[] => [...bytesOf(text).keys()]

const withModel = (protocol: ProtocolId, body: string): string =>
  protocol === 'gemini' ? body : body.replace(/("model" ?: ?)"m"/, `$1${MODEL}`)

describe.each(PROTOCOL_IDS)('%s answer', (protocol) => {
  const { body, text, usage } = BODIES[protocol]

  test('only the model changes, wherever it is cut, and the usage is the upstream’s', () => {
    const bytes = bytesOf(body)
    for (let at = 0; at <= bytes.length; at++) {
      const { output, end, reading, counted } = replayBody(protocol, cutAt(bytes, [at]))
      expect(output, `cut at ${at}`).toBe(withModel(protocol, body))
      expect([end, counted]).toEqual(['complete', []])
      expect(reading).toMatchObject({
        usage: { input: usage[0], cachedInput: usage[1], output: usage[2] },
        source: 'upstream',
        produced: true,
      })
    }
    expect(replayBody(protocol, cutAt(bytes, [...bytes.keys()])).output).toBe(withModel(protocol, body))
  })

  test('without usage the words are counted', () => {
    const bytes = bytesOf(body.replace(/"usage(Metadata)?"/, '"other"'))
    const { counted, reading } = replayBody(protocol, cutAt(bytes, [...bytes.keys()]))
    expect(counted.join('')).toBe(text)
    expect(reading).toMatchObject({ usage: { input: 1_000, output: text.length }, source: 'estimated' })
  })

  test('a body that is cut or no JSON is unreadable, and passes as it is', () => {
    for (const broken of [body.slice(0, -2), '<html>', '']) {
      const { output, end } = replayBody(protocol, [bytesOf(broken)])
      expect([output, end]).toEqual([withModel(protocol, broken), 'unreadable'])
    }
  })

  test('an error object in a 200 is reported', () => {
    const failed = '{"type":"error","error":{"code":429,"message":"busy"},"model":"m"}'
    for (let at = 0; at <= failed.length; at++) {
      const { output, end, error, reading } = replayBody(protocol, cutAt(bytesOf(failed), [at]))
      expect(output).toBe(withModel(protocol, failed))
      expect([end, error]).toEqual(['error', { error: { code: 429, message: 'busy' } }])
      expect(reading.produced).toBe(false)
    }
  })
})

test('bytes go on as they come; only a cut model name waits', () => {
  const tap = createBodyTap('chat', {
    replacementModel: 'x',
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
  const give = (text: string): string =>
    tap
      .push(bytesOf(text))
      .map((piece) => new TextDecoder().decode(piece))
      .join('')
  expect(give('{"choices":[{"message":{"content":"half a')).toBe('{"choices":[{"message":{"content":"half a')
  expect(give(' text"}}],"model":"ven')).toBe(' text"}}],"model":')
  expect(give('dor')).toBe('')
  expect(give('","z":')).toBe('"x","z":')
})

test('several models are all replaced', () => {
  expect(replayBody('chat', [bytesOf('{"model":"a","model":"b"}')]).output).toBe(
    `{"model":${MODEL},"model":${MODEL}}`,
  )
})

test('a gemini stream that comes as one array is read answer by answer', () => {
  const one = {
    candidates: [{ content: { parts: [{ text: 'Hel' }] } }],
    usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 1 },
  }
  const two = {
    candidates: [{ content: { parts: [{ text: 'lo' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3 },
  }
  const body = JSON.stringify([one, two], null, 1)
  const whole = replayBody('gemini', cutAt(bytesOf(body), everyByte(body)))
  expect([whole.output, whole.end]).toEqual([body, 'complete'])
  expect(whole.reading).toMatchObject({ usage: { input: 8, output: 3 }, source: 'upstream' })
  const cut = replayBody('gemini', [
    bytesOf(JSON.stringify([one, { candidates: [{ content: { parts: [{ text: 'lo' }] } }] }]).slice(0, -1)),
  ])
  expect(cut.reading).toMatchObject({ usage: { input: 8, output: 3 }, source: 'estimated' })
})

test.each<[ProtocolId, string, number]>([
  ['chat', '{"choices":[{"message":{"images":[{"image_url":{"url":"data:"}}]}}]}', 1],
  [
    'responses',
    '{"output":[{"type":"image_generation_call","result":"AAAA"},{"type":"image_generation_call","result":null},{"type":"web_search_call","result":"x"}]}',
    1,
  ],
  [
    'gemini',
    '{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"A"}},{"thought":true,"inlineData":{"mimeType":"image/png","data":"A"}},{"text":"x"}]}}]}',
    1,
  ],
])('images of a whole %s answer are counted', (protocol, body, images) => {
  const { reading } = replayBody(protocol, cutAt(bytesOf(body), everyByte(body)))
  expect(reading.images).toBe(images)
})

describe('a value of many megabytes, in pieces', () => {
  const piecesOf = (head: string, filling: string, count: number, tail: string): Uint8Array[] => [
    bytesOf(head),
    ...Array.from({ length: count }, () => bytesOf(filling)),
    bytesOf(tail),
  ]
  const filling = 'word '.repeat(20_000)

  test('a text is counted by its beginning and its length, and passes whole', () => {
    const pieces = piecesOf('{"model":"m","choices":[{"message":{"content":"', filling, 30, '"}}]}')
    const { output, end, reading, counted } = replayBody('chat', pieces)
    expect(output).toBe(`{"model":${MODEL},"choices":[{"message":{"content":"${filling.repeat(30)}"}}]}`)
    expect([end, reading.source, counted.join('').length]).toEqual(['complete', 'estimated', 16_384])
    expect(reading.usage.output).toBe(filling.length * 30)
  })

  test('an error is reported as one, without its text', () => {
    const { error, end } = replayBody('chat', piecesOf('{"error":{"message":"', filling, 30, '"}}'))
    expect([error, end]).toEqual([{ error: null }, 'error'])
  })

  test('a usage object that long is none', () => {
    const { reading } = replayBody(
      'chat',
      piecesOf('{"usage":{"completion_tokens":7,"x":"', filling, 30, '"}}'),
    )
    expect(reading.source).toBe('estimated')
  })
})
