/** `POST /v1/audio/speech` over vendors that speak in a form of their own: a document goes and comes, the client gets sound. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor, NO_TOKEN_PRICES, TOKEN_PRICES } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { type Answerer, answerJson } from '../../gateway/scripted-upstream.ts'
import { grantingTokens, serviceAccount } from '../../gateway/service-account.ts'

/** 110 yuan for a million characters: 110 000 µCr each. */
const BY_CHARACTER = { ...NO_TOKEN_PRICES, billingModes: ['character' as const], characterPrice: '110' }
const PER_CHARACTER = 110_000n
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('minimax', at.upstream, { kind: 'minimax' }),
  ...putVendor('google', at.upstream, { kind: 'google' }),
  ...putVendor('vertex', at.upstream, { kind: 'vertex' }),
  serviceAccount(at.upstream),
  ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
  ...putVendor('mistral', at.upstream, { kind: 'mistral' }),
  ...putVendor('spare', at.spare),
  putModel('of-mistral', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'of-mistral', vendor: 'mistral', protocol: 'speech', forward: 'voxtral-mini-tts-2603' }),
  putChain({ model: 'of-mistral', vendor: 'spare', protocol: 'speech', priority: 2 }),
  putModel('of-qwen', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({
    model: 'of-qwen',
    vendor: 'dashscope',
    protocol: 'speech',
    forward: 'qwen3-tts-instruct-flash',
  }),
  putChain({ model: 'of-qwen', vendor: 'spare', protocol: 'speech', priority: 2 }),
  putModel('of-cosy', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'of-cosy', vendor: 'dashscope', protocol: 'speech', forward: 'cosyvoice-v3-flash' }),
  putChain({ model: 'of-cosy', vendor: 'spare', protocol: 'speech', priority: 2 }),
  putModel('plain-cosy', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'plain-cosy', vendor: 'dashscope', protocol: 'speech', forward: 'cosyvoice-v3-plus' }),
  putModel('cosy-over-a-socket', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({
    model: 'cosy-over-a-socket',
    vendor: 'dashscope',
    protocol: 'speech',
    forward: 'cosyvoice-v1',
  }),
  putModel('of-minimax', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'of-minimax', vendor: 'minimax', protocol: 'speech', forward: 'speech-2.8-hd' }),
  putChain({ model: 'of-minimax', vendor: 'spare', protocol: 'speech', priority: 2 }),
  putModel('of-google', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({
    model: 'of-google',
    vendor: 'google',
    protocol: 'speech',
    forward: 'gemini-2.5-flash-preview-tts',
  }),
  putModel('of-vertex', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({
    model: 'of-vertex',
    vendor: 'vertex',
    protocol: 'speech',
    forward: 'gemini-2.5-flash-preview-tts',
  }),
  putModel('newer-google', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({
    model: 'newer-google',
    vendor: 'google',
    protocol: 'speech',
    forward: 'gemini-3.8-flash-tts',
  }),
])

const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

const sent = () => upstream.requests.map(({ path, body }): unknown => [path, JSON.parse(body.toString())])

const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x00, 0x0a, 0x7b, 0x22, 0xc3, 0x28])
const spare200: Answerer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg' })
  response.end(SOUND)
}

interface Spoken {
  readonly sound: Buffer
  readonly type: string | null
  readonly dropped: string | null
}

async function speak(asked: OpenAI.Audio.SpeechCreateParams & Record<string, unknown>): Promise<Spoken> {
  const answer = await client().audio.speech.create(asked)
  return {
    sound: Buffer.from(await answer.arrayBuffer()),
    type: answer.headers.get('content-type'),
    dropped: answer.headers.get('gw-dropped-fields'),
  }
}

describe('Mistral', () => {
  const spoken = answerJson({ audio_data: SOUND.toString('base64') })
  const asked = { model: 'of-mistral', input: '你好', voice: 'gb_jane_neutral' } as const

  test('is asked for a voice by its id, and the sound comes as bytes [D-speech-19]', async () => {
    upstream.answer(spoken)
    const { sound, type, dropped } = await speak({
      ...asked,
      instructions: 'gently',
      response_format: 'opus',
    })
    expect([sound, type, dropped]).toEqual([SOUND, 'audio/opus', 'instructions'])
    expect(sent()).toEqual([
      [
        '/audio/speech',
        {
          model: 'voxtral-mini-tts-2603',
          input: '你好',
          voice_id: 'gb_jane_neutral',
          response_format: 'opus',
          stream: false,
        },
      ],
    ])
    expect(await gateway.lastLog()).toMatchObject({ characters: 2, amount: 2n * PER_CHARACTER })
  })

  test('speaks in one event where events were asked for', async () => {
    upstream.answer(spoken)
    const { sound, type } = await speak({ ...asked, stream_format: 'sse' })
    expect(type).toBe('text/event-stream; charset=utf-8')
    expect(sound.toString()).toContain(SOUND.toString('base64'))
  })

  test.each<[string, Answerer]>([
    ['speaks nothing', answerJson({ audio_data: '' })],
    ['writes what is no base64', answerJson({ audio_data: 'ab*d' })],
    ['breaks off in its base64', answerJson({ audio_data: 'AAAAA' })],
    ['answers something else', answerJson({ object: 'error', message: 'x' })],
    ['sends events', answerJson('data: {}\n\n', 200, { 'content-type': 'text/event-stream' })],
  ])('that %s leads to the next chain, and is not paid', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(spare200)
    expect(await speak(asked)).toMatchObject({ sound: SOUND })
    expect(spare.requests).toHaveLength(1)
    expect(await gateway.lastLog()).toMatchObject({ characters: 2, amount: 2n * PER_CHARACTER })
  })

  test('that refuses a voice is told so, and nothing is charged', async () => {
    upstream.answer(answerJson({ object: 'error', message: 'voice_id: unknown' }, 422))
    await expect(speak(asked)).rejects.toMatchObject({ message: expect.stringContaining('voice_id') })
    expect(spare.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

describe('MiniMax', () => {
  const spoken = (bytes: Buffer, format = 'mp3') =>
    answerJson({
      data: { audio: bytes.toString('hex'), status: 2 },
      extra_info: { audio_format: format, usage_characters: 7 },
      base_resp: { status_code: 0, status_msg: 'success' },
    })

  test('is asked in its own form, and the sound comes as bytes [D-speech-14]', async () => {
    upstream.answer(spoken(SOUND))
    const { sound, type, dropped } = await speak({
      model: 'of-minimax',
      input: '你好，世界',
      voice: 'male-qn-qingse',
      speed: 1.2,
      response_format: 'mp3',
      instructions: 'gently',
      language_boost: 'Chinese',
      voice_setting: { emotion: 'happy' },
    })
    expect([sound, type, dropped]).toEqual([SOUND, 'audio/mpeg', 'instructions'])
    expect(sent()).toEqual([
      [
        '/t2a_v2',
        {
          model: 'speech-2.8-hd',
          text: '你好，世界',
          stream: false,
          output_format: 'hex',
          language_boost: 'Chinese',
          voice_setting: { emotion: 'happy', voice_id: 'male-qn-qingse', speed: 1.2 },
          audio_setting: { format: 'mp3' },
        },
      ],
    ])
  })

  test('is not told fields of names that no header takes, of which the client hears', async () => {
    upstream.answer(spoken(SOUND))
    const asked = { model: 'of-minimax', input: 'Hi', voice: 'v', ü: 1, 'x\r\ny: z': 1 } as const
    expect(await speak(asked)).toMatchObject({ dropped: '%C3%BC,x%0D%0Ay:%20z' })
  })

  test('speaks no words but those that are counted', async () => {
    upstream.answer(spoken(SOUND))
    const { dropped } = await speak({
      model: 'of-minimax',
      input: 'Hi',
      voice: 'v',
      pronunciation_dict: { tone: ['Hi/a long text'] },
    })
    expect(dropped).toBe('pronunciation_dict')
    expect(sent()).toMatchObject([[expect.any(String), { text: 'Hi', voice_setting: { voice_id: 'v' } }]])
    expect(upstream.requests[0]?.body.toString()).not.toContain('a long text')
  })

  test('is charged by the characters counted here, whatever it tells', async () => {
    upstream.answer(spoken(SOUND))
    await speak({ model: 'of-minimax', input: '你好，世界', voice: 'v' })
    expect(await gateway.lastLog()).toMatchObject({
      characters: 5,
      amount: 5n * PER_CHARACTER,
      ending: 'complete',
    })
  })

  test.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['flac', 'audio/flac'],
    ['pcm', 'audio/pcm'],
    ['of tomorrow', 'application/octet-stream'],
    ['constructor', 'application/octet-stream'],
    ['__proto__', 'application/octet-stream'],
    ['mp3\r\nx: y', 'application/octet-stream'],
  ])('says that the format %s is %s', async (format, type) => {
    upstream.answer(spoken(SOUND, format))
    expect(await speak({ model: 'of-minimax', input: 'Hi', voice: 'v' })).toMatchObject({ type })
  })

  test('that speaks for minutes is taken apart beside the calls', async () => {
    const long = Buffer.alloc(1_500_000, SOUND)
    upstream.answer(spoken(long))
    const { sound } = await speak({ model: 'of-minimax', input: 'Hi', voice: 'v' })
    expect(sound.equals(long)).toBe(true)
    expect(await gateway.lastLog()).toMatchObject({ characters: 2, ending: 'complete' })
  })

  test('gives sound that was asked for as events as one of them', async () => {
    upstream.answer(spoken(SOUND))
    const { sound, type } = await speak({
      model: 'of-minimax',
      input: 'Hi',
      voice: 'v',
      stream_format: 'sse',
    })
    expect(type).toBe('text/event-stream; charset=utf-8')
    expect(sound.toString()).toBe(
      `data: ${JSON.stringify({ type: 'speech.audio.delta', audio: SOUND.toString('base64') })}\n\n` +
        'data: {"type":"speech.audio.done"}\n\n',
    )
  })

  test.each<[string, Answerer]>([
    ...['1008', 'zero', '0x0', '00', ' 0', '', '1e3', true, null, [0], { '0': 0 }].map(
      (code): [string, Answerer] => [
        `speaks, and says ${JSON.stringify(code)} where 0 is well,`,
        answerJson({ data: { audio: SOUND.toString('hex') }, base_resp: { status_code: code } }),
      ],
    ),
    ['is out of money', answerJson({ base_resp: { status_code: 1008, status_msg: 'insufficient balance' } })],
    ['speaks nothing', spoken(Buffer.alloc(0))],
    ['writes no hexadecimal text', answerJson({ data: { audio: 'abxy' }, base_resp: { status_code: 0 } })],
    ['writes half a byte', answerJson({ data: { audio: 'abc' }, base_resp: { status_code: 0 } })],
    ['answers something else', answerJson({ task_id: 7 })],
    ['says that it is well, and nothing else', answerJson({ data: null, base_resp: { status_code: 0 } })],
    ['answers with a page', answerJson('<html>', 200, { 'content-type': 'text/html' })],
    ['ends in the middle of its document', answerJson('{"data":{"audio":"fffb90')],
  ])('that %s leads to the next chain, and is not paid', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(spare200)
    expect(await speak({ model: 'of-minimax', input: 'Hello', voice: 'v' })).toMatchObject({ sound: SOUND })
    expect(spare.requests).toHaveLength(1)
    expect(await gateway.lastLog()).toMatchObject({ characters: 5, amount: 5n * PER_CHARACTER })
  })

  test('that says in a text that all is well has spoken', async () => {
    upstream.answer(answerJson({ data: { audio: SOUND.toString('hex') }, base_resp: { status_code: '0' } }))
    expect(await speak({ model: 'of-minimax', input: 'Hello', voice: 'v' })).toMatchObject({ sound: SOUND })
    expect(spare.requests).toHaveLength(0)
  })

  test('that refuses a voice is told so in its own words, and nothing is charged', async () => {
    upstream.answer(answerJson({ base_resp: { status_code: 2013, status_msg: 'invalid params, voice_id' } }))
    await expect(speak({ model: 'of-minimax', input: 'Hello', voice: 'none' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('voice_id'),
    })
    expect(spare.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ characters: 0, amount: 0n })
  })
})

describe('Gemini', () => {
  const SAMPLES = Buffer.from([1, 0, 2, 0, 3, 0])
  const spoken = (mimeType = 'audio/L16;codec=pcm;rate=16000', bytes: Buffer = SAMPLES) =>
    answerJson({
      candidates: [
        {
          content: { parts: [{ inlineData: { mimeType, data: bytes.toString('base64') } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 60, totalTokenCount: 67 },
    })

  test('is asked in its own form, and its samples come as a WAV file of their rate [D-speech-15]', async () => {
    upstream.answer(spoken())
    const { sound, type, dropped } = await speak({
      model: 'of-google',
      input: 'Hello',
      voice: 'Kore',
      instructions: 'Say it gently',
      response_format: 'mp3',
      speed: 2,
    })
    expect([type, dropped]).toEqual(['audio/wav', 'speed,response_format'])
    expect(sound.subarray(0, 4).toString()).toBe('RIFF')
    expect(sound.readUInt32LE(24)).toBe(16_000)
    expect(sound.readUInt32LE(40)).toBe(SAMPLES.length)
    expect(sound.subarray(44)).toEqual(SAMPLES)
    expect(sent()).toEqual([
      [
        '/models/gemini-2.5-flash-preview-tts:generateContent',
        {
          contents: [{ role: 'user', parts: [{ text: 'Say it gently: Hello' }] }],
          generationConfig: {
            responseModalities: ['AUDIO'],
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
          },
        },
      ],
    ])
  })

  const PART = { inlineData: { mimeType: 'audio/wav', data: SOUND.toString('base64') } }
  const saying = (parts: readonly object[], usageMetadata?: object) =>
    answerJson({ candidates: [{ content: { parts } }], ...(usageMetadata && { usageMetadata }) })
  const holding = (mimeType: string, data: string) =>
    saying([{ inlineData: { mimeType, data } }], { promptTokenCount: 7, candidatesTokenCount: 60 })

  test.each<[string, Answerer]>([
    ['no part that is sound', saying([{ text: 'Hello' }], { promptTokenCount: 7, candidatesTokenCount: 60 })],
    ['a picture', holding('image/png', SOUND.toString('base64'))],
    ['a page', holding('text/html', SOUND.toString('base64'))],
    ['a type that holds another header', holding('audio/wav\r\nx: y', SOUND.toString('base64'))],
    ['a type that no header takes', holding('audio/wav; name=你', SOUND.toString('base64'))],
    ['nothing in base64', holding('audio/wav', '')],
    ['base64 that is none', holding('audio/wav', '//uQ!!AAp7')],
    ['base64 that breaks off', holding('audio/wav', '//uQA')],
    ['half a sample', holding('audio/L16;rate=24000', Buffer.from([1, 0, 2]).toString('base64'))],
  ])('that answers with %s has not spoken: 502, and nothing is charged', async (_what, answerer) => {
    upstream.answer(grantingTokens(answerer))
    for (const model of ['of-google', 'of-vertex']) {
      await expect(speak({ model, input: 'Hello', voice: 'Kore' })).rejects.toMatchObject({ status: 502 })
      expect(await gateway.lastLog()).toMatchObject({ modelRequested: model, amount: 0n })
    }
  })

  test('that names no rate of any sound is taken at its usual one', async () => {
    upstream.answer(spoken('audio/L16;rate=0000'))
    const { sound } = await speak({ model: 'of-google', input: 'Hello', voice: 'Kore' })
    expect(sound.readUInt32LE(24)).toBe(24_000)
  })

  test.each<[string, object | undefined, object]>([
    ['nothing', undefined, { output: 8 }],
    ['an empty count', {}, { output: 8 }],
    ['a total alone', { totalTokenCount: 67 }, { output: 8 }],
    ['its input alone', { promptTokenCount: 7 }, { input: 7, output: 8 }],
    ['words in place of numbers', { promptTokenCount: '7', candidatesTokenCount: '60' }, { output: 8 }],
    ['fewer than none', { promptTokenCount: -7, candidatesTokenCount: -60 }, { output: 8 }],
    ['more than any', { promptTokenCount: 1e12, candidatesTokenCount: 1e12 }, { output: 16_000 }],
  ])('that tells %s of its tokens is charged by what can be', async (_what, told, usage) => {
    upstream.answer(grantingTokens(saying([PART], told)))
    for (const model of ['of-google', 'of-vertex']) {
      await speak({ model, input: 'Hello', voice: 'Kore' })
      expect(await gateway.lastLog()).toMatchObject({ modelRequested: model, usage })
    }
  })

  test('is charged by the tokens it tells', async () => {
    upstream.answer(spoken())
    await speak({ model: 'of-google', input: 'Hello', voice: 'Kore' })
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 7, output: 60 },
      usageSource: 'upstream',
      amount: 7n * 10_000n + 60n * 40_000n,
    })
  })

  test('gives raw samples to whoever asks for them', async () => {
    upstream.answer(spoken())
    expect(
      await speak({ model: 'of-google', input: 'Hello', voice: 'Kore', response_format: 'pcm' }),
    ).toMatchObject({ sound: SAMPLES, type: 'audio/pcm', dropped: null })
  })

  test('of a newer release gives a file of its own, and reads no instructions aloud', async () => {
    upstream.answer(spoken('audio/wav', SOUND))
    expect(
      await speak({ model: 'newer-google', input: 'Hello', voice: 'Kore', instructions: 'Gently' }),
    ).toMatchObject({ sound: SOUND, type: 'audio/wav', dropped: 'instructions' })
    expect(sent()).toMatchObject([[expect.any(String), { contents: [{ parts: [{ text: 'Hello' }] }] }]])
  })

  test('tells its tokens in the last of the events that were asked for', async () => {
    upstream.answer(spoken('audio/wav', SOUND))
    const { sound } = await speak({
      model: 'of-google',
      input: 'Hello',
      voice: 'Kore',
      stream_format: 'sse',
    })
    expect(sound.toString()).toContain(
      '{"type":"speech.audio.done","usage":{"input_tokens":7,"output_tokens":60,"total_tokens":67}}',
    )
  })

  test('that will not read a text tells so, and nothing is charged', async () => {
    upstream.answer(answerJson({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }))
    await expect(speak({ model: 'of-google', input: 'Hello', voice: 'Kore' })).rejects.toMatchObject({
      status: 400,
    })
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

describe('DashScope', () => {
  const event = (output: object, usage?: object) =>
    `id:1\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({ output, ...(usage === undefined ? {} : { usage }) })}\n\n`
  const piece = (bytes: Uint8Array) =>
    event({ audio: { data: Buffer.from(bytes).toString('base64') }, finish_reason: null })
  const OVER = event(
    { audio: { data: '', url: 'http://v/a.wav' }, finish_reason: 'stop' },
    { characters: 99 },
  )
  const spoken = (...events: readonly string[]) =>
    answerJson(events.join(''), 200, { 'content-type': 'text/event-stream' })
  const SAMPLES = Buffer.from([1, 2, 3, 4, 5, 6])

  test('is asked for events in its own form, and their samples come as one file', async () => {
    upstream.answer(spoken(piece(SAMPLES.subarray(0, 2)), piece(SAMPLES.subarray(2)), OVER))
    const { sound, type, dropped } = await speak({
      model: 'of-qwen',
      input: '你好',
      voice: 'Cherry',
      instructions: 'gently',
      language_type: 'Chinese',
      speed: 2,
      response_format: 'mp3',
    })
    expect([type, dropped, sound.subarray(44)]).toEqual(['audio/wav', 'speed,response_format', SAMPLES])
    expect([sound.toString('latin1', 0, 4), sound.readUInt32LE(24)]).toEqual(['RIFF', 24_000])
    expect(upstream.requests[0]?.headers['x-dashscope-sse']).toBe('enable')
    expect(sent()).toEqual([
      [
        '/api/v1/services/aigc/multimodal-generation/generation',
        {
          model: 'qwen3-tts-instruct-flash',
          input: { text: '你好', voice: 'Cherry', instructions: 'gently', language_type: 'Chinese' },
        },
      ],
    ])
    expect(await gateway.lastLog()).toMatchObject({ characters: 2, amount: 2n * PER_CHARACTER })
  })

  test('gives its samples to a client that asks for them', async () => {
    upstream.answer(spoken(piece(SAMPLES), OVER))
    const asked = { model: 'of-qwen', input: 'Hi', voice: 'v', response_format: 'pcm' } as const
    expect(await speak(asked)).toMatchObject({ type: 'audio/pcm', sound: SAMPLES })
  })

  test('that speaks for minutes is taken apart beside the calls', async () => {
    const long = Buffer.alloc(300_000, SAMPLES)
    upstream.answer(spoken(piece(long), OVER))
    const { sound } = await speak({ model: 'of-qwen', input: 'Hi', voice: 'v' })
    expect(sound.subarray(44).equals(long)).toBe(true)
  })

  test.each<[string, Answerer]>([
    ['that break off', spoken(piece(SAMPLES))],
    ['without a sample', spoken(OVER)],
    ['with an error', spoken(piece(SAMPLES), 'event:error\ndata:{"code":"InternalError","message":"x"}\n\n')],
    ['that are none', spoken('data: what?\n\n')],
    ['of no base64', spoken(event({ audio: { data: 'AQID!!' }, finish_reason: null }), OVER)],
    ['in whose place there is an address', answerJson({ output: { audio: { url: 'http://v/a.wav' } } })],
  ])('with events %s leads to the next chain', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(spare200)
    expect(await speak({ model: 'of-qwen', input: 'Hi', voice: 'v' })).toMatchObject({ type: 'audio/mpeg' })
    expect(spare.requests).toHaveLength(1)
  })
})

describe('CosyVoice', () => {
  /** Its vendor may write the data of one event over several lines. */
  const event = (output: object, usage: object = { characters: 99 }) =>
    `id:1\nevent:result\n:HTTP_STATUS/200\n${JSON.stringify({ output, usage }, undefined, 1)
      .split('\n')
      .map((line) => `data:${line}\n`)
      .join('')}\n`
  const piece = (type: string, bytes?: Uint8Array) =>
    event({
      type: `sentence-${type}`,
      finish_reason: 'null',
      sentence: { index: 0, words: [] },
      audio: { data: Buffer.from(bytes ?? []).toString('base64') },
    })
  const over = (data = '') =>
    event({ finish_reason: 'stop', audio: { data, url: 'http://v/a.mp3', expires_at: 1 } })
  const spoken = (...events: readonly string[]) =>
    answerJson(events.join(''), 200, { 'content-type': 'text/event-stream' })
  const speaking = spoken(
    piece('begin'),
    piece('synthesis', SOUND.subarray(0, 3)),
    piece('synthesis', SOUND.subarray(3)),
    piece('end'),
    over(),
  )

  test('is asked for events at its own address, and the client gets its sound [D-speech-17]', async () => {
    upstream.answer(speaking)
    const { sound, type, dropped } = await speak({
      model: 'of-cosy',
      input: '你好，世界',
      voice: 'longanyang',
      speed: 1.2,
      instructions: 'gently',
      seed: 7,
      language_hints: ['zh'],
    })
    expect([sound, type, dropped]).toEqual([SOUND, 'audio/mpeg', null])
    expect(upstream.requests[0]?.headers['x-dashscope-sse']).toBe('enable')
    expect(sent()).toEqual([
      [
        '/api/v1/services/audio/tts/SpeechSynthesizer',
        {
          model: 'cosyvoice-v3-flash',
          input: {
            text: '你好，世界',
            voice: 'longanyang',
            format: 'mp3',
            rate: 1.2,
            instruction: 'gently',
            seed: 7,
            language_hints: ['zh'],
          },
        },
      ],
    ])
    expect(await gateway.lastLog()).toMatchObject({
      characters: 5,
      amount: 5n * PER_CHARACTER,
      ending: 'complete',
    })
  })

  const SAMPLES = Buffer.from([1, 2, 3, 4])
  test.each([
    ['mp3', { format: 'mp3' }, 'audio/mpeg', SAMPLES, null],
    ['opus', { format: 'opus' }, 'audio/ogg', SAMPLES, null],
    ['pcm', { format: 'pcm', sample_rate: 24_000 }, 'audio/pcm', SAMPLES, null],
    ['aac', { format: 'mp3' }, 'audio/mpeg', SAMPLES, 'response_format'],
  ] as const)('asked for %s is asked for %j', async (wanted, asked, type, made, dropped) => {
    upstream.answer(spoken(piece('synthesis', SAMPLES), over()))
    const got = await speak({ model: 'of-cosy', input: 'Hi', voice: 'v', response_format: wanted })
    expect(got).toEqual({ sound: made, type, dropped })
    expect(sent()).toMatchObject([[expect.any(String), { input: asked }]])
  })

  test('gives samples as a WAV file that tells their rate', async () => {
    upstream.answer(spoken(piece('synthesis', SAMPLES), over()))
    const asked = { model: 'of-cosy', input: 'Hi', voice: 'v', response_format: 'wav', sample_rate: 16_000 }
    const { sound, type } = await speak(asked as OpenAI.Audio.SpeechCreateParams & Record<string, unknown>)
    expect([type, sound.toString('latin1', 0, 4), sound.readUInt32LE(24)]).toEqual([
      'audio/wav',
      'RIFF',
      16_000,
    ])
    expect(sound.subarray(44)).toEqual(SAMPLES)
    expect(sent()).toMatchObject([[expect.any(String), { input: { format: 'pcm', sample_rate: 16_000 } }]])
  })

  test('speaks no words but those that are counted, and names nobody in the sound', async () => {
    upstream.answer(speaking)
    const { dropped } = await speak({
      model: 'plain-cosy',
      input: 'Hi',
      voice: 'v',
      instructions: 'gently',
      hot_fix: { replace: [{ Hi: 'a long text' }] },
      enable_aigc_tag: true,
      aigc_propagator: 'somebody',
    })
    expect(dropped).toBe('instructions,hot_fix,enable_aigc_tag,aigc_propagator')
    expect(sent()).toMatchObject([[expect.any(String), { input: { text: 'Hi', voice: 'v', format: 'mp3' } }]])
  })

  test('whose last event repeats the sound gives it once', async () => {
    upstream.answer(spoken(piece('synthesis', SOUND), over(SOUND.toString('base64'))))
    expect((await speak({ model: 'of-cosy', input: 'Hi', voice: 'v' })).sound).toEqual(SOUND)
  })

  test.each<[string, Answerer]>([
    ['that break off', spoken(piece('synthesis', SOUND))],
    ['without any sound', spoken(piece('begin'), piece('end'), over())],
    ['of no base64', spoken(event({ type: 'sentence-synthesis', audio: { data: 'AQID!!' } }), over())],
    ['with an error', spoken(piece('synthesis', SOUND), 'event:error\ndata:{"code":"x","message":"x"}\n\n')],
    ['that are refused', answerJson({ code: 'Throttling.RateQuota', message: 'busy' }, 429)],
    ['in whose place there is a link', answerJson({ output: { audio: { url: 'http://v/a.mp3' } } })],
  ])('with events %s leads to the next chain', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(spare200)
    await speak({ model: 'of-cosy', input: 'Hi', voice: 'v' })
    expect(spare.requests).toHaveLength(1)
    expect(await gateway.lastLog()).toMatchObject({ characters: 2, ending: 'complete' })
  })

  test('that only speaks over a socket is refused, and the message says so [D-speech-20]', async () => {
    const asked = speak({ model: 'cosy-over-a-socket', input: 'Hi', voice: 'v' })
    await expect(asked).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('model: this vendor serves cosyvoice-v1 over WebSocket only'),
    })
    expect(upstream.requests).toHaveLength(0)
  })
})
