/** `POST /v1/audio/speech`: sound passes byte for byte while it is made, and its text is what is charged. */
import OpenAI from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { get, postJson } from '../../gateway/client.ts'
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

const PATH = '/v1/audio/speech'
/** 110 yuan for a million characters: 110 000 µCr each. */
const BY_CHARACTER = { ...NO_TOKEN_PRICES, billingModes: ['character' as const], characterPrice: '110' }
const PER_CHARACTER = 110_000n
const BY_TOKEN = { ...TOKEN_PRICES, inputPrice: '10', outputPrice: '40', cacheInputPrice: null }

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('acme', at.upstream),
  ...putVendor('spare', at.spare, { kind: 'groq' }),
  ...putVendor('sandbox', 'https://sandbox.invalid', { kind: 'sandbox' }),
  putModel('voice', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'voice', vendor: 'acme', protocol: 'speech' }),
  putChain({ model: 'voice', vendor: 'spare', protocol: 'speech', priority: 2 }),
  putModel('hasty', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'hasty', vendor: 'acme', protocol: 'speech', clientGoneGraceMs: 0 }),
  putModel('by-token', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({ model: 'by-token', vendor: 'acme', protocol: 'speech' }),
  putModel('hasty-by-token', { supportFeatures: ['audio'], pricing: BY_TOKEN }),
  putChain({ model: 'hasty-by-token', vendor: 'acme', protocol: 'speech', clientGoneGraceMs: 0 }),
  putModel('sandbox-voice', { supportFeatures: ['audio'], pricing: BY_CHARACTER }),
  putChain({ model: 'sandbox-voice', vendor: 'sandbox', protocol: 'speech', forward: 'sandbox-voice' }),
])

const post = (body: object) =>
  postJson(`${gateway.baseUrl}${PATH}`, body, { authorization: `Bearer ${gateway.key}` })

/** Bytes that are no text in any encoding. */
const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x00, 0x0a, 0x7b, 0x22, 0xc3, 0x28])

const sound: Answerer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg' })
  response.end(SOUND)
}

test('the request passes but for its model, and the sound byte for byte [D-speech-01]', async () => {
  upstream.answer(sound)
  const sent = '{ "model":"voice", "input":"a\\u0041", "voice" : {"id":"v"}, "own":1e3 }'
  const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: sent,
  })
  expect(answer.headers.get('content-type')).toBe('audio/mpeg')
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(SOUND)
  expect(upstream.requests.map(({ path, body }) => [path, body.toString()])).toEqual([
    ['/audio/speech', sent.replace('"voice",', '"voice-upstream",')],
  ])
})

test.each([
  ['letters', 'Hello', 5],
  ['characters of several bytes', '你好，世界', 5],
  ['a character of two UTF-16 units', '\u{1f600}a', 2],
])('%s are charged as Unicode code points [D-speech-02]', async (_what, input, characters) => {
  upstream.answer(sound)
  await post({ model: 'voice', input, voice: 'alloy' })
  expect(await gateway.lastLog()).toMatchObject({
    characters,
    audioSeconds: 0,
    amount: BigInt(characters) * PER_CHARACTER,
    ending: 'complete',
  })
})

test('a surrogate pair that is written in escapes is one character, and of two texts the longer one is charged', async () => {
  upstream.answer(sound)
  await fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: '{"model":"voice","input":"\\ud83d\\ude00\\n\\"","voice":"v","input":"a"}',
  })
  expect(await gateway.lastLog()).toMatchObject({ characters: 3 })
})

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

  test('gets a sound file [D-speech-03]', async () => {
    const answer = await client().audio.speech.create({
      model: 'sandbox-voice',
      input: 'Fifteen letters',
      voice: 'alloy',
    })
    const file = Buffer.from(await answer.arrayBuffer())
    expect(file.subarray(0, 4).toString()).toBe('RIFF')
    // A second of 8 000 samples of two bytes.
    expect(file.length).toBe(44 + 16_000)
    expect(await gateway.lastLog()).toMatchObject({ characters: 15, amount: 15n * PER_CHARACTER })
  })

  test('is told what is wrong in its vendor’s words', async () => {
    const refused = client().audio.speech.create({ model: 'sandbox-voice', input: '', voice: 'alloy' })
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_input' })
    expect(await gateway.lastLog()).toMatchObject({ characters: 0, amount: 0n })
  })
})

describe('events', () => {
  const DELTA = 'data: {"type":"speech.audio.delta","audio":"//uQ"}\n\n'
  const DONE =
    'data: {"type":"speech.audio.done","usage":{"input_tokens":14,"output_tokens":101,"total_tokens":115}}\n\n'
  const streamed = (...events: readonly string[]): Answerer =>
    answerJson(events.join(''), 200, { 'content-type': 'text/event-stream' })

  test('pass as they are, and their usage is charged where the model is billed by token [D-speech-04]', async () => {
    upstream.answer(streamed(DELTA, DELTA, DONE))
    const answer = await post({ model: 'by-token', input: 'Hello', voice: 'alloy', stream_format: 'sse' })
    expect(answer.text).toBe(`${DELTA}${DELTA}${DONE}`)
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 14, output: 101 },
      usageSource: 'upstream',
      characters: 5,
      // 10 yuan a million tokens of input, 40 of output; 1 000 Credits a yuan.
      amount: 14n * 10_000n + 101n * 40_000n,
    })
  })

  test('that end without the last of them are told as broken, and charged for their text', async () => {
    upstream.answer(streamed(DELTA))
    await post({ model: 'voice', input: 'Hello', voice: 'alloy', stream_format: 'sse' })
    expect(await gateway.lastLog()).toMatchObject({ characters: 5, ending: 'upstream-cut' })
  })

  test('of the sandbox hold the same file', async () => {
    const { text } = await post({ model: 'sandbox-voice', input: 'Hi', voice: 'v', stream_format: 'sse' })
    const events = text
      .split('\n\n')
      .filter((line) => line !== '')
      .map((line): { type: string; audio?: string } => JSON.parse(line.slice('data: '.length)))
    expect(events.at(-1)?.type).toBe('speech.audio.done')
    const file = Buffer.concat(events.map(({ audio = '' }) => Buffer.from(audio, 'base64')))
    expect(file.subarray(0, 4).toString()).toBe('RIFF')
  })
})

describe('sound of a model that is billed by token', () => {
  test('is taken for one and a half tokens a byte, where its vendor tells none [D-speech-05]', async () => {
    upstream.answer(sound)
    await post({ model: 'by-token', input: 'x'.repeat(100), voice: 'alloy' })
    expect(await gateway.lastLog()).toMatchObject({ usage: { output: 150 }, usageSource: 'estimated' })
  })
})

describe('before the first byte', () => {
  test.each<[string, Answerer]>([
    ['a broken connection', hangUp],
    ['an error', answerJson({ error: { message: 'busy' } }, 503)],
    ['an empty answer', answerJson('', 200, { 'content-type': 'audio/mpeg' })],
    ['an error inside a 200', answerJson({ error: { message: 'busy' } })],
    [
      'one whose type is written otherwise',
      answerJson({ error: {} }, 200, { 'content-type': 'Application/JSON' }),
    ],
    ['a document that tells of no error', answerJson({ status: 'queued', data: [] })],
    ['one in the form of problems', answerJson({ error: {} }, 200, { 'content-type': 'application/x+json' })],
    ['a page', answerJson('<html>sign in</html>', 200, { 'content-type': 'text/html; charset=utf-8' })],
    ['a line of a proxy', answerJson('no healthy upstream', 200, { 'content-type': 'text/plain' })],
    ['a fault in XML', answerJson('<Error/>', 200, { 'content-type': 'application/xml' })],
  ])('%s leads to the next chain [D-speech-06]', async (_what, answerer) => {
    upstream.answer(answerer)
    spare.answer(sound)
    const answer = await post({ model: 'voice', input: 'Hello', voice: 'alloy' })
    expect(answer.status).toBe(200)
    expect(spare.requests).toHaveLength(1)
    expect(await gateway.lastLog()).toMatchObject({ characters: 5, amount: 5n * PER_CHARACTER })
  })

  test('the first byte begins the answer, before the others are there [D-speech-07]', async () => {
    let finish: () => void = () => undefined
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      response.write(SOUND.subarray(0, 1))
      finish = () => response.end(SOUND.subarray(1))
    })
    const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'voice', input: 'Hello', voice: 'alloy' }),
    })
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.value).toEqual(new Uint8Array(SOUND.subarray(0, 1)))
    finish()
    expect(Buffer.from((await reader?.read())?.value ?? [])).toEqual(SOUND.subarray(1))
    expect((await reader?.read())?.done).toBe(true)
  })
})

test('sound whose type nobody says is bytes', async () => {
  upstream.answer((_request, response) => {
    response.writeHead(200)
    response.end(SOUND)
  })
  const answer = await fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'voice', input: 'Hello', voice: 'alloy' }),
  })
  expect(answer.headers.get('content-type')).toBe('application/octet-stream')
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(SOUND)
})

test.each([
  ['hasty', { characters: 5, amount: 5n * PER_CHARACTER }],
  ['voice', { characters: 5, amount: 5n * PER_CHARACTER }],
  // One and a half tokens a byte.
  ['hasty-by-token', { usage: expect.objectContaining({ output: 8 }), usageSource: 'estimated' }],
])('who leaves %s before a byte has come pays for the whole text [D-speech-08]', async (model, charged) => {
  const before = (await gateway.lastLog())?.callId
  const leaving = new AbortController()
  upstream.answer(() => leaving.abort())
  const left = fetch(`${gateway.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello', voice: 'alloy' }),
    signal: leaving.signal,
  })
  await expect(left).rejects.toThrow()
  await vi.waitFor(async () => {
    const row = await gateway.lastLog()
    expect(row?.callId).not.toBe(before)
    expect(row).toMatchObject({ ...charged, ending: 'client-gone' })
  }, PATIENCE_MS)
})

test('a model that speaks is 40403 at the path of chats, which names the right one [D-speech-09]', async () => {
  const answer = await postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'voice', messages: [] },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect(answer.status).toBe(404)
  expect(answer.text).toContain(PATH)
})

test('the catalogue says where it is called and what a million characters cost [D-speech-10]', async () => {
  const prices = await get(`${gateway.baseUrl}/api/v1/user/user/pricing?model_id=voice`)
  expect(prices.body.data).toContainEqual(
    expect.objectContaining({ endpoints: [PATH], billing_modes: ['character'], character_price: 110 }),
  )
})

describe('before it is sent', () => {
  const speak = (key: string, input: string) =>
    postJson(
      `${gateway.baseUrl}${PATH}`,
      { model: 'voice', input, voice: 'alloy' },
      { authorization: `Bearer ${key}` },
    )

  test('its characters are held, and what an account has not cannot be spoken [D-speech-11]', async () => {
    // Enough for a hundred characters.
    const account = await gateway.newAccount({ credits: 11 })
    const held: bigint[] = []
    upstream.answer(async (request, response) => {
      held.push((await gateway.account(account.id)).held)
      await sound(request, response)
    })
    expect((await speak(account.key, 'x'.repeat(101))).body.code).toBe(40202)
    expect((await speak(account.key, 'x'.repeat(60))).status).toBe(200)
    expect(held).toEqual([60n * PER_CHARACTER])
    expect((await speak(account.key, 'x'.repeat(60))).body.code).toBe(40202)
    expect((await gateway.account(account.id)).held).toBe(0n)
  })

  test('of calls at once only those are made that the account can pay [D-speech-12]', async () => {
    // Enough for a hundred characters.
    const account = await gateway.newAccount({ credits: 11 })
    upstream.answer(sound)
    const answers = await Promise.all(Array.from({ length: 10 }, () => speak(account.key, 'x'.repeat(40))))
    expect(upstream.requests.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(upstream.requests.length)
    const paid = BigInt(upstream.requests.length) * 40n * PER_CHARACTER
    expect(paid).toBeLessThanOrEqual(11_000_000n)
    expect(await gateway.account(account.id)).toMatchObject({ credits: 11_000_000n - paid, held: 0n })
  })

  test('its characters count in the windows of its key, and those of a call that failed are given back [D-speech-13]', async () => {
    const windows = [{ dimension: 'characters' as const, limit: 8, seconds: 60 }]
    const { key } = await gateway.newKey(gateway.accountId, { policy: { concurrency: undefined, windows } })
    upstream.answer(answerJson({ error: { message: 'no such voice' } }, 400))
    expect((await speak(key, 'Hello')).status).toBe(400)
    upstream.answer(sound)
    expect((await speak(key, 'Hello')).status).toBe(200)
    expect((await speak(key, 'Hello')).body.code).toBe(42902)
    expect((await speak(key, 'Hey')).status).toBe(200)
  })
})
