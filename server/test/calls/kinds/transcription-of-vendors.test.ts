/** `POST /v1/audio/transcriptions` over vendors that take a document in place of the form: its text comes in the format asked for. */
import OpenAI, { toFile } from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { postJson, readAnswer } from '../../gateway/client.ts'
import {
  NO_TOKEN_PRICES,
  PATIENCE_MS,
  putChain,
  putModel,
  putVendor,
  TOKEN_PRICES,
} from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { type Answerer, answerJson, hangUp } from '../../gateway/scripted-upstream.ts'
import { waveFile } from '../wave-file.ts'

const PATH = '/v1/audio/transcriptions'
/** A yuan a second: ten million µCr for a hundredth. */
const BY_SECOND = { ...NO_TOKEN_PRICES, billingModes: ['audio_second' as const], audioSecondPrice: '1' }
const PER_HUNDREDTH = 10_000_000n
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }

const over = (model: string, forward: string, pricing: typeof BY_SECOND | typeof BY_TOKEN = BY_SECOND) => [
  putModel(model, { supportFeatures: ['audio'], pricing }),
  putChain({ model, vendor: 'dashscope', protocol: 'transcription', forward }),
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
  ...putVendor('spare', at.spare, { kind: 'groq' }),
  ...over('qwen', 'qwen3-asr-flash'),
  ...over('fun', 'fun-asr-flash-2026-06-15'),
  ...over('by-token', 'qwen-audio-asr', BY_TOKEN),
  ...over('over-a-socket', 'qwen3-asr-flash-realtime'),
  ...over('two', 'qwen3-asr-flash'),
  putChain({ model: 'two', vendor: 'spare', protocol: 'transcription', priority: 2 }),
])

/** Two and a half seconds. */
const SOUND = waveFile(2.5)
const sound = (bytes: Uint8Array = SOUND, name = 'a.wav') => toFile(bytes, name)

const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
const listen = (asked: Partial<OpenAI.Audio.TranscriptionCreateParamsNonStreaming> & { model: string }) =>
  sound().then((file) =>
    client()
      .audio.transcriptions.create({ file, ...asked })
      .withResponse(),
  )

const send = async (form: FormData, path = PATH) =>
  readAnswer(
    await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    }),
  )

function formOf(model: string, fields: Readonly<Record<string, string>> = {}, bytes: Uint8Array = SOUND) {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model, ...fields })) form.append(name, value)
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'audio/x-whatever' }), 'a.bin')
  return form
}

/** So many bytes that they play for little more than a second each hundred thousand. */
function dense(bytes: number): Buffer {
  const file = waveFile(bytes / 16_000)
  file.writeUInt32LE(48_000, 24)
  file.writeUInt32LE(96_000, 28)
  return file
}

const sent = () => upstream.requests.map(({ path, body }): unknown => [path, JSON.parse(body.toString())])

const choice = (message: object, finish_reason: unknown = 'stop'): Answerer =>
  answerJson({ output: { choices: [{ finish_reason, message }] }, usage: { seconds: 900 } })
const heard = (...texts: readonly string[]) =>
  choice({ role: 'assistant', content: texts.map((text) => ({ text })) })
const spare200 = answerJson({ text: 'of the spare' })

const ADDRESS = '/api/v1/services/aigc/multimodal-generation/generation'

describe('Qwen-ASR', () => {
  test('is sent the sound inside of a document, and its text comes as the SDK reads it [D-transcription-23]', async () => {
    upstream.answer(heard('欢迎使用', '阿里云。'))
    const { data, response } = await listen({
      model: 'qwen',
      language: 'zh',
      prompt: 'Alibaba',
      temperature: 0.2,
    })
    expect(data).toEqual({ text: '欢迎使用阿里云。', usage: { type: 'duration', seconds: 2.5 } })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(response.headers.get('gw-dropped-fields')).toBe('temperature')
    expect(upstream.requests[0]?.headers['content-type']).toContain('application/json')
    expect(sent()).toEqual([
      [
        ADDRESS,
        {
          model: 'qwen3-asr-flash',
          input: {
            messages: [
              { role: 'system', content: [{ text: 'Alibaba' }] },
              {
                role: 'user',
                content: [{ audio: `data:audio/wav;base64,${SOUND.toString('base64')}` }],
              },
            ],
          },
          parameters: { asr_options: { language: 'zh' } },
        },
      ],
    ])
  })

  test('is charged by the length that was measured here, whatever it tells [D-transcription-24]', async () => {
    upstream.answer(heard('Hello'))
    await listen({ model: 'qwen' })
    expect(await gateway.lastLog()).toMatchObject({
      audioSeconds: 2.5,
      amount: 250n * PER_HUNDREDTH,
      ending: 'complete',
    })
  })

  test('gives the text alone to whoever asks for that', async () => {
    upstream.answer(heard('Hello'))
    const { data, response } = await listen({ model: 'qwen', response_format: 'text' })
    expect([data, response.headers.get('content-type')]).toEqual(['Hello\n', 'text/plain; charset=utf-8'])
  })

  test('gives a text that was asked for as events as one of them', async () => {
    upstream.answer(heard('Hello'))
    const events = await client().audio.transcriptions.create({
      model: 'qwen',
      file: await sound(),
      stream: true,
    })
    const seen: unknown[] = []
    for await (const event of events) seen.push(event)
    expect(seen).toEqual([
      { type: 'transcript.text.delta', delta: 'Hello' },
      { type: 'transcript.text.done', text: 'Hello', usage: { type: 'duration', seconds: 2.5 } },
    ])
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, ending: 'complete' })
  })

  test('that hears nothing says so', async () => {
    upstream.answer(choice({ content: [] }))
    expect((await listen({ model: 'qwen' })).data.text).toBe('')
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, ending: 'complete' })
  })

  test('is charged by the tokens that it tells, where its model is', async () => {
    upstream.answer(
      answerJson({
        output: { choices: [{ finish_reason: 'stop', message: { content: [{ text: 'Hello' }] } }] },
        usage: { input_tokens: 65, output_tokens: 12, audio_tokens: 50 },
      }),
    )
    const { data } = await listen({ model: 'by-token' })
    expect(data.usage).toEqual({ type: 'tokens', input_tokens: 65, output_tokens: 12, total_tokens: 77 })
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 65, output: 12 },
      usageSource: 'upstream',
      amount: 65n * 10_000n + 12n * 40_000n,
    })
  })

  test('is sent what the file is, not what its sender says', async () => {
    upstream.answer(heard('x'))
    await send(formOf('qwen'))
    await send(formOf('by-token', {}, Buffer.from('OggS and no more of it')))
    await send(formOf('by-token', {}, Buffer.from('nothing that is known')))
    const kinds = upstream.requests.map(({ body }) => /data:([^;]*);base64/.exec(body.toString())?.[1])
    expect(kinds).toEqual(['audio/wav', 'audio/ogg', 'application/octet-stream'])
  })

  test('writes numbers as digits where a client says so', async () => {
    upstream.answer(heard('x'))
    await send(formOf('qwen', { enable_itn: 'true' }))
    expect(sent()).toMatchObject([[ADDRESS, { parameters: { asr_options: { enable_itn: true } } }]])
  })

  test('that takes minutes of sound is asked beside the calls, as exactly', async () => {
    const long = waveFile(200)
    long.fill('sound', 44)
    upstream.answer(heard('Hello'))
    const { data } = await listen({ model: 'qwen', file: await sound(long) })
    expect(data.text).toBe('Hello')
    const [request] = upstream.requests
    const encoded = /base64,([^"]*)"/.exec(request?.body.toString() ?? '')?.[1] ?? ''
    expect(Buffer.from(encoded, 'base64').equals(long)).toBe(true)
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 200 })
  })

  test('drops fields too long to be read, and tells their names', async () => {
    upstream.answer(heard('x'))
    const { headers } = await send(formOf('qwen', { prompt: 'a'.repeat(70_000), ü: 'x', 'a[]': 'y' }))
    expect(headers.get('gw-dropped-fields')).toBe('%C3%BC,a,prompt')
  })
})

describe('Fun-ASR-Flash and Qwen-Audio-ASR', () => {
  test('are asked in their own form [D-transcription-25]', async () => {
    upstream.answer(
      answerJson({ output: { output: { sentence: { text: 'Hello' } }, text: 'Hello' }, request_id: 'r' }),
    )
    const { data, response } = await listen({ model: 'fun', language: 'en', prompt: 'Alibaba' })
    expect([data.text, response.headers.get('gw-dropped-fields')]).toEqual(['Hello', 'prompt'])
    expect(sent()).toEqual([
      [
        ADDRESS,
        {
          model: 'fun-asr-flash-2026-06-15',
          input: {
            messages: [
              {
                role: 'user',
                content: [
                  {
                    type: 'input_audio',
                    input_audio: { data: `data:audio/wav;base64,${SOUND.toString('base64')}` },
                  },
                ],
              },
            ],
          },
          parameters: { format: 'wav', language_hints: ['en'] },
        },
      ],
    ])
  })
})

describe('what such a model cannot be told is refused, and nothing is sent:', () => {
  test.each<[string, FormData, RegExp]>([
    ['subtitles', formOf('qwen', { response_format: 'srt' }), /writes json, text$/],
    ['times', formOf('fun', { response_format: 'verbose_json' }), /writes json, text$/],
    ['a format nobody knows', formOf('qwen', { response_format: 'constructor' }), /writes json/],
    ['more than five minutes', formOf('qwen', {}, waveFile(300.5)), /up to 5 minutes/],
    ['more than ten megabytes', formOf('qwen', {}, dense(7_900_000)), /7.5 MiB/],
  ])('%s [D-transcription-26]', async (_what, form, message) => {
    const answer = await send(form)
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toMatch(message)
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n, audioSeconds: 0 })
  })

  test('two files', async () => {
    const form = formOf('qwen')
    form.append('file', new Blob([new Uint8Array(SOUND)]), 'b.wav')
    expect((await send(form)).body.message).toMatch(/one file per call/)
  })

  test('but another chain may be able to [D-transcription-27]', async () => {
    spare.answer(spare200)
    const answer = await send(formOf('two', { response_format: 'vtt' }))
    expect([answer.status, answer.body]).toEqual([200, { text: 'of the spare' }])
    expect(upstream.requests).toHaveLength(0)
    expect(spare.requests[0]?.headers['content-type']).toContain('multipart/form-data')
  })

  test.each([
    ['English of other languages', 'qwen', '/v1/audio/translations', 404, 40403],
    ['a model that listens over a socket', 'over-a-socket', PATH, 502, 50201],
  ])('%s', async (_what, model, path, status, code) => {
    const answer = await send(formOf(model), path)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(upstream.requests).toHaveLength(0)
  })

  test('explain says so without a file', async () => {
    const { body } = await postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'transcription', body: { model: 'qwen', response_format: 'srt' }, audio_seconds: 2 },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(JSON.stringify(body.data)).toContain('response_format: this model writes json, text')
  })
})

describe('an answer', () => {
  test.each<[string, Answerer]>([
    ['that never begins', hangUp],
    ['that is busy', answerJson({ code: 'Throttling.RateQuota', message: 'busy' }, 429)],
    ['that is an error inside a 200', answerJson({ code: 'InternalError', message: 'x' })],
    ['without a text', answerJson({ output: {} })],
    ['that breaks off', answerJson('{"output":{"choices":[{"mess')],
    ['that is told to be cut', choice({ content: [{ text: 'Hel' }] }, 'length')],
    ['whose content is none', choice({ content: 'Hello' })],
    ['that is a page', answerJson('<html></html>', 200, { 'content-type': 'text/html' })],
    ['that is empty', answerJson('', 200)],
  ])('%s leads to the next chain, which gets the form [D-transcription-28]', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(spare200)
    const answer = await send(formOf('two'))
    expect([answer.status, answer.body]).toEqual([200, { text: 'of the spare' }])
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH })
  })

  test('that refuses the sound is told in the form of the client, and costs nothing', async () => {
    upstream.answer(answerJson({ code: 'InvalidParameter', message: 'The audio is too short' }, 400))
    const answer = await send(formOf('two'))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      error: { message: 'The audio is too short' },
      upstream_body: { code: 'InvalidParameter' },
    })
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 0, amount: 0n })
  })

  test('that is left before it comes is paid for, like every sound that was sent', async () => {
    const before = (await gateway.lastLog())?.callId
    const leaving = new AbortController()
    upstream.answer(() => leaving.abort())
    const left = client().audio.transcriptions.create(
      { model: 'qwen', file: await sound() },
      { signal: leaving.signal },
    )
    await expect(left).rejects.toThrow()
    await vi.waitFor(async () => {
      const row = await gateway.lastLog()
      expect(row?.callId).not.toBe(before)
      expect(row).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH, ending: 'client-gone' })
    }, PATIENCE_MS)
  })
})
