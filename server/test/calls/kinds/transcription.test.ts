/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`: a form passes byte for byte, and how long its sound plays is what is charged. */
import OpenAI, { toFile } from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { modelId, vendorCode } from '../../../src/core/ids.ts'
import { Secret } from '../../../src/core/secret.ts'
import { get, postJson, readAnswer } from '../../gateway/client.ts'
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
/** A yuan a second: a thousand Credits, ten million µCr for a hundredth. */
const BY_SECOND = { ...NO_TOKEN_PRICES, billingModes: ['audio_second' as const], audioSecondPrice: '1' }
const PER_HUNDREDTH = 10_000_000n
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare, { kind: 'groq' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  putModel('listener', { supportFeatures: ['audio'], pricing: BY_SECOND }),
  putChain({ model: 'listener', vendor: 'acme', protocol: 'transcription' }),
  putChain({ model: 'listener', vendor: 'spare', protocol: 'transcription', priority: 2 }),
  putModel('hasty', { supportFeatures: ['audio'], pricing: BY_SECOND }),
  putChain({ model: 'hasty', vendor: 'acme', protocol: 'transcription', clientGoneGraceMs: 0 }),
  putModel('other-listener', { supportFeatures: ['audio'], pricing: BY_SECOND }),
  putChain({ model: 'other-listener', vendor: 'spare', protocol: 'transcription' }),
  putModel('talk'),
  putChain({ model: 'talk', vendor: 'spare' }),
  putModel('by-token', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({ model: 'by-token', vendor: 'acme', protocol: 'transcription' }),
  putModel('sandbox-listen', { supportFeatures: ['audio'], pricing: BY_SECOND }),
  putChain({
    model: 'sandbox-listen',
    vendor: 'sandbox',
    protocol: 'transcription',
    forward: 'sandbox-listen',
  }),
])

const BOUNDARY = 'a-boundary-of-ours'
/** Two and a half seconds. */
const SOUND = waveFile(2.5)

type Part = readonly [header: string, content: string | Uint8Array]

const text = (name: string, value: string): Part => [`Content-Disposition: form-data; name="${name}"`, value]
const file = (content: Uint8Array = SOUND, name = 'file'): Part => [
  `Content-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: audio/wav`,
  content,
]

function form(...parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(([header, content]) => [`--${BOUNDARY}\r\n${header}\r\n\r\n`, content, '\r\n'])
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)))
}

async function send(body: Buffer, options: { path?: string; key?: string; type?: string } = {}) {
  const { path = PATH, key = gateway.key, type = `multipart/form-data; boundary=${BOUNDARY}` } = options
  return readAnswer(
    await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      body: new Uint8Array(body),
    }),
  )
}

const written: Answerer = answerJson({ text: 'Hello' })

describe('the form passes but for its model', () => {
  test.each([
    ['before the file', [text('model', 'listener'), file()]],
    ['behind the file', [file(), text('model', 'listener')]],
    ['between other fields', [text('prompt', 'ä\r\n--b'), text('model', 'listener'), file(), text('x', '')]],
  ])('which may stand %s [D-transcription-01]', async (_where, parts) => {
    upstream.answer(written)
    const sent = form(...parts)
    const answer = await send(sent)
    expect([answer.status, answer.text]).toEqual([200, '{"text":"Hello"}'])
    const [got] = upstream.requests
    expect(got?.path).toBe('/audio/transcriptions')
    expect(got?.headers['content-type']).toBe(`multipart/form-data; boundary=${BOUNDARY}`)
    const expected = sent.toString('latin1').replace('\r\n\r\nlistener\r\n', '\r\n\r\nlistener-upstream\r\n')
    expect(got?.body.toString('latin1')).toBe(expected)
    expect(await gateway.lastLog()).toMatchObject({
      audioSeconds: 2.5,
      characters: 0,
      amount: 250n * PER_HUNDREDTH,
      ending: 'complete',
    })
  })

  test('also to where English is made of it [D-transcription-02]', async () => {
    upstream.answer(written)
    await send(form(text('model', 'listener'), file()), { path: '/v1/audio/translations' })
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/audio/translations'])
  })

  test.each([
    ['text/plain; charset=utf-8', 'Hello\n'],
    ['text/plain', '1\n00:00:00,000 --> 00:00:02,500\nHello\n\n'],
    ['text/vtt', 'WEBVTT\n\n00:00.000 --> 00:02.500\nHello\n'],
    ['application/json', '{"task":"transcribe","duration":900.0,"text":"Hello","segments":[]}'],
  ])(
    'and an answer of %s comes back as it is, whatever it says of the length [D-transcription-03]',
    async (type, body) => {
      upstream.answer((_request, response) => {
        response.writeHead(200, { 'content-type': type })
        response.end(body)
      })
      const answer = await send(form(file(), text('model', 'listener'), text('stream', 'true')))
      expect([answer.status, answer.text]).toEqual([200, body])
      expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH })
    },
  )
})

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const sound = () => toFile(SOUND, 'a.wav')

  test('gets a text [D-transcription-04]', async () => {
    const answer = await client().audio.transcriptions.create({
      model: 'sandbox-listen',
      file: await sound(),
    })
    expect(answer.text).toBe('Somebody speaks for 2.5 seconds.')
    expect(await gateway.lastLog()).toMatchObject({
      endpoint: PATH,
      audioSeconds: 2.5,
      amount: 250n * PER_HUNDREDTH,
    })
  })

  test.each([
    ['text', 'Somebody speaks for 2.5 seconds.\n'],
    ['srt', '1\n00:00:00,000 --> 00:00:02,500\nSomebody speaks for 2.5 seconds.\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nSomebody speaks for 2.5 seconds.\n\n'],
  ] as const)('gets it as %s', async (format, expected) => {
    const answer = await client().audio.transcriptions.create({
      model: 'sandbox-listen',
      file: await sound(),
      response_format: format,
    })
    expect(answer).toBe(expected)
  })

  test('gets it with its times', async () => {
    const answer = await client().audio.transcriptions.create({
      model: 'sandbox-listen',
      file: await sound(),
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    })
    expect(answer).toMatchObject({ duration: 2.5, segments: [{ start: 0, end: 2.5 }] })
  })

  test('reads it while it is written down [D-transcription-05]', async () => {
    const events = await client().audio.transcriptions.create({
      model: 'sandbox-listen',
      file: await sound(),
      stream: true,
    })
    const heard: string[] = []
    for await (const event of events) if (event.type === 'transcript.text.delta') heard.push(event.delta)
    expect(heard.join('')).toBe('Somebody speaks for 2.5 seconds.')
    expect(await gateway.lastLog()).toMatchObject({ stream: true, ending: 'complete', audioSeconds: 2.5 })
  })

  test('gets English [D-transcription-06]', async () => {
    const answer = await client().audio.translations.create({ model: 'sandbox-listen', file: await sound() })
    expect(answer.text).toContain('2.5 seconds')
  })
})

test('a vendor that names its model in an answer is told by the platform’s name of it', async () => {
  upstream.answer(answerJson({ id: 't', model: 'listener-upstream', text: 'Hello' }))
  expect((await send(form(file(), text('model', 'listener')))).body).toEqual({
    id: 't',
    model: 'listener',
    text: 'Hello',
  })
})

describe('events', () => {
  const DELTA = 'data: {"type":"transcript.text.delta","delta":"Hel"}\n\n'
  const DONE =
    'data: {"type":"transcript.text.done","text":"Hello","usage":{"type":"tokens","input_tokens":14,"output_tokens":5,"total_tokens":19}}\n\n'
  const streamed = (...events: readonly string[]): Answerer =>
    answerJson(events.join(''), 200, { 'content-type': 'text/event-stream' })
  const body = (model: string) => form(text('model', model), text('stream', 'true'), file())

  test('pass as they are, and their usage is charged where the model is billed by token [D-transcription-07]', async () => {
    upstream.answer(streamed(DELTA, DELTA, DONE))
    const answer = await send(body('by-token'))
    expect(answer.text).toBe(`${DELTA}${DELTA}${DONE}`)
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 14, output: 5 },
      usageSource: 'upstream',
      audioSeconds: 2.5,
      amount: 14n * 10_000n + 5n * 40_000n,
    })
  })

  test.each([
    [
      'of Mistral’s names',
      'data: {"type":"transcription.text.delta","text":"Hello"}\n\n',
      'data: {"type":"transcription.done","text":"Hello","usage":{"prompt_audio_seconds":3,"prompt_tokens":14,"completion_tokens":5}}\n\n',
    ],
    ['with an end of chats behind them', DELTA, `${DONE}data: [DONE]\n\n`],
  ])('%s pass as well', async (_what, first, last) => {
    upstream.answer(streamed(first, last))
    expect((await send(body('by-token'))).text).toBe(`${first}${last}`)
    expect(await gateway.lastLog()).toMatchObject({ usage: { input: 14, output: 5 }, ending: 'complete' })
  })

  describe('of vLLM, which are those of chats', () => {
    const chunk = (choices: readonly object[], more: object = {}, model = 'by-token-upstream') =>
      `data: ${JSON.stringify({ id: 't', object: 'transcription.chunk', created: 1, choices, model, ...more })}\n\n`
    const says = (content: string, finish_reason?: string) => ({
      delta: { content },
      ...(finish_reason === undefined ? {} : { finish_reason }),
    })
    const used = { usage: { prompt_tokens: 14, completion_tokens: 5, total_tokens: 19 } }
    // A reason to finish comes with each piece of the sound.
    const events = (model?: string) => [
      chunk([says('Hel')], {}, model),
      chunk([says('', 'stop')], {}, model),
      chunk([says('lo')], {}, model),
      chunk([says('', 'stop')], {}, model),
    ]
    const END = 'data: [DONE]\n\n'

    test.each<[string, object, object]>([
      ['with usage, which is charged', used, { usageSource: 'upstream', usage: { input: 14, output: 5 } }],
      ['without, when the length of the sound counts', {}, { usageSource: 'estimated' }],
    ])('pass but for the model’s name, %s [D-transcription-29]', async (_what, more, row) => {
      upstream.answer(streamed(...events(), chunk([], more), END))
      const told = [...events('by-token'), chunk([], more, 'by-token'), END].join('')
      expect((await send(body('by-token'))).text).toBe(told)
      expect(await gateway.lastLog()).toMatchObject({ ending: 'complete', audioSeconds: 2.5, ...row })
    })

    test('that break off after a piece of the sound are told as broken', async () => {
      upstream.answer(streamed(...events()))
      await send(body('listener'))
      expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, ending: 'upstream-cut' })
    })

    test('that begin with an error lead to the next chain', async () => {
      upstream.answer(
        streamed('data: {"error":{"message":"x","type":"InternalServerError","code":500}}\n\n', END),
      )
      spare.answer(written)
      expect((await send(body('listener'))).body).toEqual({ text: 'Hello' })
      expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', audioSeconds: 2.5 })
    })
  })

  test('that end without the last of them are told as broken, and charged for their sound', async () => {
    upstream.answer(streamed(DELTA))
    await send(body('listener'))
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, ending: 'upstream-cut' })
  })
})

test('a model that is billed by token, and whose vendor tells none, is charged by the length of the sound [D-transcription-08]', async () => {
  upstream.answer(written)
  await send(form(text('model', 'by-token'), file()))
  expect(await gateway.lastLog()).toMatchObject({
    usage: { output: 10 },
    usageSource: 'estimated',
    ending: 'complete',
  })
})

describe('a form that cannot be called is refused before anything is spent:', () => {
  const model = text('model', 'listener')
  test.each<[string, number, RegExp, Buffer, string?]>([
    ['without a model', 40002, /model is required/, form(file())],
    ['with an empty model', 40002, /model must not be empty/, form(file(), text('model', ''))],
    ['with two models', 40000, /model must be given once/, form(file(), model, model)],
    [
      'with a model in capitals',
      40000,
      /"Model": field names are lower case/,
      form(file(), text('Model', 'x')),
    ],
    [
      'with a model that is a file',
      40000,
      /model must be a text/,
      form(file(), file(Buffer.from('x'), 'model')),
    ],
    ['without a file', 40000, /file is required/, form(model)],
    ['with a file that is a text', 40000, /file must be a file/, form(model, text('file', 'sound'))],
    [
      'with sound that lies elsewhere',
      40000,
      /url: send the sound itself/,
      form(model, file(), text('url', 'https://a.b/c')),
    ],
    [
      'with a stream that is neither',
      40000,
      /stream must be true or false/,
      form(model, file(), text('stream', 'perhaps')),
    ],
    ['cut short', 40000, /ends before its last boundary/, form(model, file()).subarray(0, -8)],
    ['without its boundary', 40000, /names its boundary/, form(model, file()), 'multipart/form-data'],
    [
      'of another boundary',
      40000,
      /does not begin with its boundary/,
      form(model, file()),
      'multipart/form-data; boundary=b',
    ],
    ['that is no form', 40000, /must be a form/, Buffer.from('{"model":"listener"}'), 'application/json'],
    ['that is empty', 40000, /is empty/, Buffer.alloc(0)],
    [
      'whose file holds its boundary behind a bare line feed',
      40000,
      /boundary occurs inside a part/,
      form(
        model,
        file(Buffer.from(`x\n--${BOUNDARY}\nContent-Disposition: form-data; name="model"\n\nother`)),
      ),
    ],
    [
      'with a name that is read in two ways',
      40000,
      /or an encoded one/,
      form(file(), ['Content-Disposition: form-data; name="x"; name*=utf-8\'\'model', 'listener'], model),
    ],
    [
      'with an encoded part',
      40000,
      /unsupported Content-Transfer-Encoding/,
      form(file(), [`${model[0]}\r\nContent-Transfer-Encoding: base64`, 'bGlzdGVuZXI=']),
    ],
  ])('%s [D-transcription-09]', async (_what, code, message, body, type) => {
    const answer = await send(body, type === undefined ? {} : { type })
    expect([answer.status, answer.body.code]).toEqual([400, code])
    expect(answer.body.message).toMatch(message)
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ code, amount: 0n, audioSeconds: 0 })
  })
})

describe('sound whose length cannot be told', () => {
  const noise = (model: string) => form(text('model', model), file(Buffer.alloc(12_345, 'x')))

  test('is refused where it is paid for by its length, and nothing is sent [D-transcription-10]', async () => {
    const answer = await send(noise('listener'))
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toContain('file: the length of its sound cannot be determined')
    expect(upstream.requests).toHaveLength(0)
    expect(await gateway.lastLog()).toMatchObject({ code: 40000, amount: 0n, audioSeconds: 0 })
  })

  test('counts by its bytes elsewhere, whatever the vendor says [D-transcription-21]', async () => {
    upstream.answer(answerJson({ text: 'Hello', duration: 0.1 }))
    expect((await send(noise('by-token'))).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 12.35 })
  })

  test('is not looked at for whom has no right to call, or has used up a limit [D-transcription-22]', async () => {
    const poor = await gateway.newAccount({ credits: 0 })
    expect((await send(noise('listener'), { key: poor.key })).body.code).toBe(40202)
    const policy = {
      concurrency: undefined,
      windows: [{ dimension: 'requests' as const, limit: 1, seconds: 60 }],
    }
    const { key } = await gateway.newKey(gateway.accountId, { policy })
    upstream.answer(written)
    expect((await send(form(text('model', 'listener'), file()), { key })).status).toBe(200)
    expect((await send(noise('listener'), { key })).body.code).toBe(42902)
  })

  test('of several files all are charged', async () => {
    upstream.answer(written)
    await send(form(text('model', 'listener'), file(), file(waveFile(1.5), 'other')))
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 4 })
  })
})

describe('before the first byte', () => {
  test.each<[string, Answerer]>([
    ['a broken connection', hangUp],
    ['an error', answerJson({ error: { message: 'busy' } }, 503)],
    ['an error inside a 200', answerJson({ error: { message: 'busy' } })],
    ['an empty answer', answerJson('', 200, { 'content-type': 'text/plain' })],
    ['a page', answerJson('<html>sign in</html>', 200, { 'content-type': 'text/html; charset=utf-8' })],
  ])(
    '%s leads to the next chain, which gets the whole form [D-transcription-11]',
    async (_what, answerer) => {
      upstream.answer(answerer)
      spare.answer(written)
      const sent = form(text('model', 'listener'), file(waveFile(100)))
      expect(sent.length).toBeGreaterThan(1_500_000)
      const answer = await send(sent)
      expect(answer.status).toBe(200)
      const expected = sent.length + 'listener-upstream'.length - 'listener'.length
      expect(spare.requests.map(({ path, body }) => [path, body.length])).toEqual([
        ['/audio/transcriptions', expected],
      ])
      expect(spare.requests[0]?.body.subarray(-1_000_000).equals(sent.subarray(-1_000_000))).toBe(true)
      expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 100, amount: 10_000n * PER_HUNDREDTH })
    },
  )
})

test('with the fallback model, when all chains fail, but only with one that listens [D-transcription-12]', async () => {
  const busy = answerJson({ error: { message: 'busy' } }, 503)
  const sent = form(text('model', 'hasty'), file())
  upstream.answer(busy)
  spare.answer(written)
  const account = await gateway.newAccount({ credits: 10_000, fallbackModel: modelId('other-listener') })
  const answer = await send(sent, { key: account.key })
  expect([answer.status, answer.headers.get('gw-model')]).toEqual([200, 'other-listener'])
  expect(spare.requests.map(({ body }) => body.toString('latin1'))).toEqual([
    sent.toString('latin1').replace('\r\n\r\nhasty\r\n', '\r\n\r\nother-listener-upstream\r\n'),
  ])
  expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH })
  await gateway.resetHealth()
  const talker = await gateway.newAccount({ credits: 10_000, fallbackModel: modelId('talk') })
  expect((await send(sent, { key: talker.key })).status).toBe(503)
  expect(spare.requests).toHaveLength(1)
  expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 0, amount: 0n })
})

test('the customer’s own credential is used, where there is one, and then nothing is taken [D-transcription-13]', async () => {
  const owner = await gateway.newAccount({ credits: 10 })
  await gateway.storage.accounts.putByok(
    owner.id,
    vendorCode('acme'),
    { secret: new Secret('own-secret'), fields: {} },
    { enabled: true },
  )
  upstream.answer(written)
  expect((await send(form(text('model', 'listener'), file()), { key: owner.key })).status).toBe(200)
  expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer own-secret'])
  expect(await gateway.lastLog()).toMatchObject({ byok: true, audioSeconds: 2.5, deducted: 0n })
})

test.each(['hasty', 'listener'])(
  'who leaves %s before a byte has come pays for all of the sound [D-transcription-14]',
  async (model) => {
    const before = (await gateway.lastLog())?.callId
    const leaving = new AbortController()
    upstream.answer(() => leaving.abort())
    const left = fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
      body: new Uint8Array(form(text('model', model), file())),
      signal: leaving.signal,
    })
    await expect(left).rejects.toThrow()
    await vi.waitFor(async () => {
      const row = await gateway.lastLog()
      expect(row?.callId).not.toBe(before)
      expect(row).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH, ending: 'client-gone' })
    }, PATIENCE_MS)
  },
)

test('a model that listens is 40403 at the path of chats, which names the right one [D-transcription-15]', async () => {
  const answer = await postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'listener', messages: [] },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect([answer.status, answer.body.code]).toEqual([404, 40403])
  expect(answer.text).toContain(PATH)
})

test('the catalogue says where it is called and what a second costs [D-transcription-16]', async () => {
  const prices = await get(`${gateway.baseUrl}/api/v1/user/user/pricing?model_id=listener`)
  expect(prices.body.data).toContainEqual(
    expect.objectContaining({
      endpoints: [PATH, '/v1/audio/translations'],
      billing_modes: ['audio_second'],
      audio_second_price: 1,
    }),
  )
})

describe('explain', () => {
  const asked = (question: object) =>
    postJson(
      `${gateway.baseUrl}/api/v1/user/user/explain`,
      { protocol: 'transcription', body: { model: 'listener' }, ...question },
      { authorization: `Bearer ${gateway.key}` },
    )

  test('takes the seconds that the sound would play, and holds them [D-transcription-17]', async () => {
    const { body } = await asked({ audio_seconds: 2.4901 })
    expect(body.data).toMatchObject({
      refusal: null,
      estimate: { images: 0, characters: 0, audio_seconds: 2.5 },
      hold: { credits: '2500' },
      routes: [{ chains: [{ protocol: 'transcription' }, {}] }],
    })
  })

  test('says what is missing where nobody told them', async () => {
    const { status, body } = await asked({})
    expect([status, body.code]).toEqual([400, 40000])
    expect(body.message).toContain('audio_seconds: say how long the sound of the form would play')
  })
})

describe('before it is sent', () => {
  const listen = (key: string, seconds: number) =>
    send(form(text('model', 'listener'), file(waveFile(seconds))), { key })

  test('its sound is held, and what an account has not cannot be written down [D-transcription-18]', async () => {
    // Enough for eleven seconds.
    const account = await gateway.newAccount({ credits: 11_000 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await written(request, response)
    })
    expect((await listen(account.key, 11.5)).body.code).toBe(40202)
    expect((await listen(account.key, 6)).status).toBe(200)
    expect(held).toEqual([600n * PER_HUNDREDTH])
    expect((await listen(account.key, 6)).body.code).toBe(40202)
    expect((await gateway.account(account.id)).held).toBe(0n)
  })

  test('of calls at once only those are made that the account can pay [D-transcription-19]', async () => {
    const account = await gateway.newAccount({ credits: 11_000 })
    upstream.answer(written)
    const answers = await Promise.all(Array.from({ length: 10 }, () => listen(account.key, 4)))
    expect(upstream.requests.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(upstream.requests.length)
    const paid = BigInt(upstream.requests.length) * 400n * PER_HUNDREDTH
    expect(paid).toBeLessThanOrEqual(11_000_000_000n)
    expect(await gateway.account(account.id)).toMatchObject({ credits: 11_000_000_000n - paid, held: 0n })
  })

  test('its seconds count in the windows of its key, and those of a call that failed are given back [D-transcription-20]', async () => {
    const windows = [{ dimension: 'audio_seconds' as const, limit: 8, seconds: 60 }]
    const { key } = await gateway.newKey(gateway.accountId, { policy: { concurrency: undefined, windows } })
    upstream.answer(answerJson({ error: { message: 'no such language' } }, 400))
    expect((await listen(key, 5)).status).toBe(400)
    upstream.answer(written)
    expect((await listen(key, 5)).status).toBe(200)
    expect((await listen(key, 5)).body.code).toBe(42902)
    expect((await listen(key, 3)).status).toBe(200)
  })
})
