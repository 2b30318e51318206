/**
 * `POST /v1/audio/transcriptions` over models that take files by their addresses: the sound is put where its vendor fetches
 * it, a task is ordered and asked for, and the result fetched from where it lies.
 */
import OpenAI, { toFile } from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { modelId, vendorCode } from '../../../src/core/ids.ts'
import { Secret } from '../../../src/core/secret.ts'
import { probeChain } from '../../../src/pipeline/explain/probe.ts'
import { readAnswer } from '../../gateway/client.ts'
import { NO_TOKEN_PRICES, PATIENCE_MS, putChain, putModel, putVendor } from '../../gateway/gateway.ts'
import { openStand } from '../../gateway/open-stand.ts'
import { type Answerer, answerJson, hangUp, type ReceivedRequest } from '../../gateway/scripted-upstream.ts'
import { waveFile } from '../wave-file.ts'

/** A yuan a second: ten million µCr for a hundredth. */
const BY_SECOND = { ...NO_TOKEN_PRICES, billingModes: ['audio_second' as const], audioSecondPrice: '1' }
const PER_HUNDREDTH = 10_000_000n

const over = (model: string, forward: string) => [
  putModel(model, { supportFeatures: ['audio'], pricing: BY_SECOND }),
  putChain({ model, vendor: 'dashscope', protocol: 'transcription', forward }),
]

const { gateway, upstream, spare } = await openStand((at) => [
  ...putVendor('dashscope', at.upstream, { kind: 'dashscope' }),
  ...putVendor('spare', at.spare, { kind: 'groq' }),
  ...over('paraformer', 'paraformer-v2'),
  ...over('older', 'paraformer-8k-v2'),
  ...over('fun', 'fun-asr-2025-11-07'),
  ...over('sense', 'sensevoice-v1'),
  ...over('long', 'qwen3-asr-flash-filetrans'),
  ...over('two', 'paraformer-v2'),
  putChain({ model: 'two', vendor: 'spare', protocol: 'transcription', priority: 2 }),
])

const PLACE = '/api/v1/uploads'
const STORE = '/store'
const ORDER = '/api/v1/services/audio/asr/transcription'
const TASK = '/api/v1/tasks/t1'
const RESULT = '/results/1.json'

const SENTENCE = {
  begin_time: 760,
  end_time: 3240,
  text: 'Hello world.',
  sentence_id: 1,
  words: [
    { begin_time: 760, end_time: 1000, text: 'Hello', punctuation: '' },
    { begin_time: 1000, end_time: 1120, text: ' world', punctuation: '.' },
  ],
}
const WRITTEN = {
  file_url: 'https://inside.example/a.wav',
  properties: { original_duration_in_milliseconds: 3834 },
  transcripts: [
    { channel_id: 0, content_duration_in_milliseconds: 2480, text: 'Hello world.', sentences: [SENTENCE] },
  ],
}

const place = (change: object = {}) => ({
  request_id: 'r',
  data: {
    policy: 'a policy',
    signature: 'a signature',
    upload_dir: 'dashscope-instant/x/2026-01-01/y',
    upload_host: `${upstream.url}${STORE}`,
    expire_in_seconds: 300,
    max_file_size_mb: 100,
    oss_access_key_id: 'an id',
    x_oss_object_acl: 'private',
    x_oss_forbid_overwrite: 'true',
    ...change,
  },
})
const task = (task_status: string, more: object = {}) => ({
  request_id: 'r',
  output: { task_id: 't1', task_status, ...more },
})
const link = () => `${upstream.url}${RESULT}`
const ended = (url = link()) =>
  task('SUCCEEDED', { results: [{ file_url: 'x', subtask_status: 'SUCCEEDED', transcription_url: url }] })
const failed = (code: string) =>
  task('FAILED', { code, message: 'no', results: [{ subtask_status: 'FAILED', code, message: 'no' }] })

interface Hops {
  readonly place?: Answerer
  readonly store?: Answerer
  readonly order?: Answerer
  /** One after the other, and the last for ever. */
  readonly polls?: readonly Answerer[]
  readonly result?: Answerer
}

function play({ place: placed, store, order, polls = [], result }: Hops = {}): void {
  const left = [...polls]
  const hops: Readonly<Record<string, () => Answerer>> = {
    [PLACE]: () => placed ?? answerJson(place()),
    [STORE]: () => store ?? answerJson('', 200),
    [ORDER]: () => order ?? answerJson(task('PENDING')),
    [TASK]: () => (left.length > 1 ? left.shift() : left[0]) ?? answerJson(ended()),
    [RESULT]: () => result ?? answerJson(WRITTEN),
  }
  upstream.answer((request, response) => {
    const hop = hops[request.path]
    if (hop === undefined) throw new Error(`nobody plays ${request.path}`)
    return hop()(request, response)
  })
}

const SOUND = waveFile(2.5)
const client = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
const listen = async (
  asked: Partial<OpenAI.Audio.TranscriptionCreateParamsNonStreaming> & { model: string },
  sound: Uint8Array = SOUND,
) =>
  client()
    .audio.transcriptions.create({ file: await toFile(sound, 'a.bin'), ...asked })
    .withResponse()

const send = async (
  model: string,
  fields: Readonly<Record<string, string>> = {},
  {
    path = '/v1/audio/transcriptions',
    key = gateway.key,
  }: { readonly path?: string; readonly key?: string } = {},
) => {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model, ...fields })) form.append(name, value)
  form.append('file', new Blob([new Uint8Array(SOUND)]), 'a.bin')
  const headers = { authorization: `Bearer ${key}` }
  return readAnswer(await fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: form }))
}

const paths = () => upstream.requests.map(({ method, path }) => `${method} ${path}`)
const ALL = [`GET ${PLACE}`, `POST ${STORE}`, `POST ${ORDER}`, `GET ${TASK}`, `GET ${RESULT}`]
const at = (path: string): ReceivedRequest => {
  const found = upstream.requests.find((request) => request.path === path)
  if (found === undefined) throw new Error(`nobody asked ${path}`)
  return found
}

/** The fields of the form that was posted, in order, and its file. */
function posted(): readonly (readonly [string, string])[] {
  const { headers, body } = at(STORE)
  const boundary = /boundary=(.*)$/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  return body
    .toString('latin1')
    .split(`--${boundary}`)
    .slice(1, -1)
    .map(
      (part) =>
        [/name="([^"]*)"/.exec(part)?.[1] ?? '', part.slice(part.indexOf('\r\n\r\n') + 4, -2)] as const,
    )
}

test('the official SDK gets the text of a file that was put where its vendor fetched it [D-transcription-31]', async () => {
  play({ polls: [answerJson(task('RUNNING')), answerJson(ended())] })
  const { data, response } = await listen({ model: 'paraformer', language: 'en', prompt: 'x' })
  expect(data).toEqual({ text: 'Hello world.', usage: { type: 'duration', seconds: 2.5 } })
  expect(response.headers.get('gw-dropped-fields')).toBe('prompt')
  expect(paths()).toEqual([...ALL.slice(0, 4), `GET ${TASK}`, `GET ${RESULT}`])
  expect(at(PLACE).query).toBe('action=getPolicy&model=paraformer-v2')
  const order = at(ORDER)
  expect(order.headers).toMatchObject({
    'x-dashscope-async': 'enable',
    'x-dashscope-ossresourceresolve': 'enable',
    'content-type': 'application/json',
  })
  const [, ...rest] = posted().toReversed()
  expect(Object.fromEntries(rest)).toEqual({
    OSSAccessKeyId: 'an id',
    Signature: 'a signature',
    policy: 'a policy',
    'x-oss-object-acl': 'private',
    'x-oss-forbid-overwrite': 'true',
    key: expect.stringMatching(/^dashscope-instant\/x\/2026-01-01\/y\/[\w-]+\.wav$/),
    success_action_status: '200',
  })
  const [name, bytes] = posted().at(-1) ?? []
  expect([name, Buffer.from(bytes ?? '', 'latin1').equals(SOUND)]).toEqual(['file', true])
  expect(order.json()).toEqual({
    model: 'paraformer-v2',
    input: { file_urls: [`oss://${Object.fromEntries(rest)['key'] ?? ''}`] },
    parameters: { channel_id: [0], language_hints: ['en'] },
  })
  const keyed = upstream.requests.map(({ path, headers }) => [path, headers.authorization])
  expect(Object.fromEntries(keyed)).toEqual({
    [PLACE]: 'Bearer secret-of-dashscope-main',
    [STORE]: undefined,
    [ORDER]: 'Bearer secret-of-dashscope-main',
    [TASK]: 'Bearer secret-of-dashscope-main',
    [RESULT]: undefined,
  })
  expect(await gateway.lastLog()).toMatchObject({
    audioSeconds: 2.5,
    amount: 250n * PER_HUNDREDTH,
    ending: 'complete',
  })
})

test('a file too large for memory is posted as it is, whatever its name [D-transcription-31]', async () => {
  const long = waveFile(200)
  long.fill('sound', 44)
  play()
  expect((await listen({ model: 'paraformer' }, long)).data.text).toBe('Hello world.')
  expect(Buffer.from(posted().at(-1)?.[1] ?? '', 'latin1').equals(long)).toBe(true)
  expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 200 })
})

describe('the text comes in the format asked for [D-transcription-32]:', () => {
  test.each<[string, Readonly<Record<string, string>>, unknown]>([
    ['text', { response_format: 'text' }, 'Hello world.\n'],
    ['srt', { response_format: 'srt' }, '1\n00:00:00,760 --> 00:00:03,240\nHello world.\n\n'],
    ['vtt', { response_format: 'vtt' }, 'WEBVTT\n\n00:00:00.760 --> 00:00:03.240\nHello world.\n\n'],
    [
      'verbose_json with words',
      { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', language: 'en' },
      {
        language: 'en',
        duration: 2.5,
        text: 'Hello world.',
        segments: [{ id: 0, start: 0.76, end: 3.24, text: 'Hello world.' }],
        words: [
          { word: 'Hello', start: 0.76, end: 1 },
          { word: 'world', start: 1, end: 1.12 },
        ],
      },
    ],
  ])('%s', async (_what, fields, told) => {
    play()
    const { status, text, body } = await send('paraformer', fields)
    expect(status).toBe(200)
    if (typeof told === 'string') expect(text).toBe(told)
    else expect(body).toMatchObject(told as object)
  })

  test('events', async () => {
    play()
    const events = await client().audio.transcriptions.create({
      model: 'paraformer',
      file: await toFile(SOUND, 'a.wav'),
      stream: true,
    })
    const seen: string[] = []
    for await (const event of events) seen.push(event.type)
    expect(seen).toEqual(['transcript.text.delta', 'transcript.text.done'])
  })
})

describe('each model is asked in its own form:', () => {
  test.each<[string, string, Readonly<Record<string, string>>, object, string | null]>([
    ['Fun-ASR', 'fun', { language: 'zh' }, { parameters: { channel_id: [0], language_hints: ['zh'] } }, null],
    [
      'a Paraformer of one language',
      'older',
      { language: 'zh', enable_itn: 'true', channel_id: '[0,1]', vocabulary_id: 'v' },
      { parameters: { channel_id: [0] } },
      'channel_id,enable_itn,language,vocabulary_id',
    ],
    [
      'Qwen for long files',
      'long',
      {
        language: 'zh',
        enable_itn: 'false',
        'timestamp_granularities[]': 'word',
        response_format: 'verbose_json',
      },
      {
        input: { file_url: expect.stringMatching(/^oss:/) },
        parameters: { channel_id: [0], language: 'zh', enable_itn: false, enable_words: true },
      },
      null,
    ],
  ])('%s', async (_what, model, fields, asked, dropped) => {
    play()
    const { status, headers } = await send(model, fields)
    expect([status, headers.get('gw-dropped-fields')?.split(',').toSorted().join(',') ?? null]).toEqual([
      200,
      dropped,
    ])
    expect(at(ORDER).json()).toMatchObject(asked)
  })

  test('Qwen for long files tells its result in another place', async () => {
    const result = { transcription_url: link() }
    play({ polls: [answerJson(task('SUCCEEDED', { result }))] })
    expect((await listen({ model: 'long' })).data.text).toBe('Hello world.')
  })

  test('what SenseVoice writes of moods and noises is left out', async () => {
    const text = '<|Speech|> Hello  <|HAPPY|>world. <|/Speech|>'
    play({ result: answerJson({ transcripts: [{ text, sentences: [{ ...SENTENCE, text }] }] }) })
    expect((await listen({ model: 'sense' })).data.text).toBe('Hello  world.')
  })
})

describe('before the task is ordered, a failure leads to the next chain, and nothing is charged twice [D-transcription-33]:', () => {
  test.each<[string, Hops]>([
    ['no place is given', { place: answerJson({ code: 'Throttling.RateQuota', message: 'busy' }, 429) }],
    ['the key is refused', { place: answerJson({ code: 'InvalidApiKey', message: 'no' }, 401) }],
    [
      'a page stands in the way',
      { place: answerJson('<html></html>', 200, { 'content-type': 'text/html' }) },
    ],
    ['the place is incomplete', { place: answerJson(place({ signature: null })) }],
    ['the place is no address', { place: answerJson(place({ upload_host: 'file:///etc/passwd' })) }],
    ['asking breaks off', { place: hangUp }],
    ['the store refuses the file', { store: answerJson('<Error><Code>AccessDenied</Code></Error>', 403) }],
    ['the store leads elsewhere', { store: answerJson('', 307, { location: 'http://127.0.0.1:1/' }) }],
    ['the store hangs up', { store: hangUp }],
    ['the order is refused', { order: answerJson({ code: 'Throttling', message: 'busy' }, 429) }],
    ['the order is no task', { order: answerJson({ output: {} }) }],
  ])('%s', async (_what, hops) => {
    play(hops)
    spare.answer(answerJson({ text: 'of the spare' }))
    const { status, body } = await send('two')
    expect([status, body]).toEqual([200, { text: 'of the spare' }])
    expect(paths()).not.toContain(`GET ${TASK}`)
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: 250n * PER_HUNDREDTH })
  })

  test('a place inside the operator’s network gets nothing', async () => {
    play({ place: answerJson(place({ upload_host: spare.url.replace('127.0.0.1', 'localhost') })) })
    const { status } = await send('paraformer')
    expect([status, spare.requests, paths().includes(`POST ${ORDER}`)]).toEqual([502, [], false])
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 0, amount: 0n })
  })

  test('a file too large for the place is the client’s to mend', async () => {
    play({ place: answerJson(place({ max_file_size_mb: 0.01 })) })
    const { status, body } = await send('two')
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('up to 0.01 MiB')
    expect(paths()).toEqual([`GET ${PLACE}`])
    expect(await gateway.lastLog()).toMatchObject({ amount: 0n })
  })
})

describe('once it is ordered,', () => {
  test.each<[string, Hops, number]>([
    ['polls are no longer answered', { polls: [hangUp] }, 504],
    [
      'a page answers every poll',
      { polls: [answerJson('<html>', 200, { 'content-type': 'text/html' })] },
      504,
    ],
    ['the result cannot be had', { result: answerJson('<Error/>', 403) }, 504],
    ['the result is no text', { result: answerJson({ transcripts: [{ text: 7 }] }) }, 502],
    ['the result is something else', { result: answerJson({ a: 1 }) }, 502],
    ['no result is named', { polls: [answerJson(task('SUCCEEDED'))] }, 502],
  ])(
    '%s: the task is lost, not ordered anew, and not charged [D-transcription-34]',
    async (_what, hops, status) => {
      play(hops)
      expect((await send('two')).status).toBe(status)
      expect(paths().filter((one) => one === `POST ${ORDER}`)).toHaveLength(1)
      expect(spare.requests).toEqual([])
      expect(await gateway.lastLog()).toMatchObject({
        audioSeconds: 0,
        amount: 0n,
        attempts: [{ outcome: 'lost-task' }],
      })
    },
  )

  test('a result inside the operator’s network is not fetched', async () => {
    play({ polls: [answerJson(ended(`${spare.url.replace('127.0.0.1', 'localhost')}/secret`))] })
    expect((await send('two')).status).toBe(504)
    expect(spare.requests).toEqual([])
  })

  test('a task that its vendor says has failed made nothing: the next chain gets the form', async () => {
    play({ polls: [answerJson(failed('InvalidFile.DownloadFailed'))] })
    spare.answer(answerJson({ text: 'of the spare' }))
    expect((await send('two')).body).toEqual({ text: 'of the spare' })
    expect(await gateway.lastLog()).toMatchObject({ vendorCode: 'spare', amount: 250n * PER_HUNDREDTH })
  })

  test.each(['UNSUPPORTED_FORMAT', 'DECODE_ERROR'])(
    'sound that fails by %s is asked of nobody else, and costs nothing',
    async (code) => {
      play({ polls: [answerJson(failed(code))] })
      const { status, body } = await send('two')
      expect(status).toBe(502)
      expect(body).toMatchObject({ upstream_body: { error: { code } } })
      expect(spare.requests).toEqual([])
      expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 0, amount: 0n })
    },
  )

  test('silence has an empty text, and is paid for like other sound', async () => {
    play({ polls: [answerJson(failed('SUCCESS_WITH_NO_VALID_FRAGMENT'))] })
    expect((await listen({ model: 'paraformer' })).data.text).toBe('')
    expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 2.5, amount: 250n * PER_HUNDREDTH })
  })

  test('a hindrance in between changes nothing', async () => {
    play({ polls: [hangUp, answerJson({}, 503), answerJson(task('RUNNING')), answerJson(ended())] })
    expect((await listen({ model: 'paraformer' })).data.text).toBe('Hello world.')
    expect(paths().filter((one) => one.startsWith('POST'))).toEqual([`POST ${STORE}`, `POST ${ORDER}`])
  })
})

test('an own credential is the one that is shown at every hop of its vendor, and pays for the call', async () => {
  const { id, key } = await gateway.newAccount({ credits: 0 })
  const own = { secret: new Secret('own'), fields: {} }
  await gateway.storage.accounts.putByok(id, vendorCode('dashscope'), own, { enabled: true })
  play({ polls: [answerJson(task('RUNNING')), answerJson(ended())] })
  expect((await send('two', {}, { key })).body.text).toBe('Hello world.')
  expect(upstream.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    [PLACE, 'Bearer own'],
    [STORE, undefined],
    [ORDER, 'Bearer own'],
    [TASK, 'Bearer own'],
    [TASK, 'Bearer own'],
    [RESULT, undefined],
  ])
  expect(await gateway.lastLog()).toMatchObject({ accountId: id, byok: true, ending: 'complete' })
  expect(await gateway.account(id)).toMatchObject({ credits: 0n, held: 0n })
  // A place is refused to it: nobody else pays for the call.
  play({ place: answerJson({ code: 'InvalidApiKey', message: 'no' }, 401) })
  expect((await send('two', {}, { key })).status).not.toBe(200)
  expect(spare.requests).toEqual([])
})

describe('a test call of the operator', () => {
  const probe = () => {
    const { pipeline } = gateway.running
    const model = pipeline.catalogue().models.get(modelId('paraformer'))
    const [chain] = model?.chains ?? []
    if (model === undefined || chain === undefined) throw new Error('the model has no chain')
    return probeChain(pipeline, { chain, model })
  }

  test('asks for a place alone, which costs nothing', async () => {
    play()
    expect(await probe()).toMatchObject({ kind: 'answered', status: 200 })
    expect(paths()).toEqual([`GET ${PLACE}`])
  })

  test('tells what the vendor says of the credential', async () => {
    play({ place: answerJson({ code: 'InvalidApiKey', message: 'no' }, 401) })
    expect(await probe()).toMatchObject({ kind: 'refused', status: 401, class: 'auth' })
  })
})

describe('whoever leaves', () => {
  const RUNNING = answerJson(task('RUNNING'))

  /** Hangs up when this hop is asked. One before the order is not answered; others are answered when the client has gone. */
  async function leave(path: string, polls: readonly Answerer[]): Promise<void> {
    const leaving = new AbortController()
    let notifyGone: () => void = () => undefined
    const isGone = new Promise<void>((resolve) => {
      notifyGone = resolve
    })
    const unanswered: Answerer = () => leaving.abort()
    const later =
      (then: Answerer): Answerer =>
      async (request, response) => {
        leaving.abort()
        await isGone
        await then(request, response)
      }
    const found = answerJson(ended())
    const results = [later(answerJson('<Error/>', 404)), answerJson(WRITTEN)]
    play({
      ...(path === PLACE ? { place: unanswered } : {}),
      ...(path === STORE ? { store: unanswered } : {}),
      ...(path === TASK ? { polls: [later(RUNNING), RUNNING, RUNNING, ...polls] } : {}),
      ...(path === RESULT
        ? {
            polls: [found, RUNNING, RUNNING, found],
            result: (request, response) => (results.shift() ?? found)(request, response),
          }
        : {}),
    })
    const form = new FormData()
    form.append('model', 'paraformer')
    form.append('file', new Blob([new Uint8Array(SOUND)]), 'a.wav')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const init = { method: 'POST', headers, body: form, signal: leaving.signal }
    await expect(fetch(`${gateway.baseUrl}/v1/audio/transcriptions`, init)).rejects.toThrow()
    notifyGone()
  }

  test.each<[string, string, readonly Answerer[], number]>([
    ['before there is a place for the sound pays nothing', PLACE, [], 0],
    ['before the sound is there pays nothing', STORE, [], 0],
    ['while it is written down pays for that', TASK, [answerJson(ended())], 2.5],
    ['while the text is fetched pays for it', RESULT, [], 2.5],
    ['and whose task fails pays nothing', TASK, [answerJson(failed('SERVER_ERROR'))], 0],
    ['and of whose task nothing more is heard pays nothing', TASK, [hangUp], 0],
  ])('%s [D-transcription-35]', async (_what, path, polls, seconds) => {
    const before = (await gateway.lastLog())?.callId
    await leave(path, polls)
    await vi.waitFor(async () => {
      const row = await gateway.lastLog()
      expect(row?.callId).not.toBe(before)
      expect(row).toMatchObject({
        clientGone: true,
        ending: 'client-gone',
        audioSeconds: seconds,
        amount: BigInt(seconds * 100) * PER_HUNDREDTH,
      })
    }, PATIENCE_MS)
    expect(paths().includes(`POST ${ORDER}`)).toBe(path !== PLACE && path !== STORE)
  })
})

test('English of other languages is not made', async () => {
  const { status, body } = await send('paraformer', {}, { path: '/v1/audio/translations' })
  expect([status, body.code, upstream.requests]).toEqual([404, 40403, []])
})
