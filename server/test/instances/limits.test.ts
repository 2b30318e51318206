/**
 * Three equal instances on one PostgreSQL: together they let through exactly what
 * one would, whatever arrives where and at once.
 */
import { MINUTE_MS } from '../../src/core/durations.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Policy, WindowLimit } from '../../src/core/limits/policy.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { type Answer, postJson } from '../gateway/client.ts'
import {
  type TestGateway,
  openGateway,
  putChain,
  putCredential,
  putModel,
  putVendor,
  TOKEN_PRICES,
} from '../gateway/gateway.ts'
import {
  type Answerer,
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../gateway/scripted-upstream.ts'
import { ARK, creates, eventually, playArk, VIDEO_PRICES } from '../gateway/videos.ts'
import { createMigratedDatabase, type FreshDatabase } from '../postgres/fresh-database.ts'

const CLIENTS = 50
const VIDEO_SECONDS = 5
/** Half a minute of the instances' clock. */
const VIDEO_MOVES_MAX = 600
/** Epoch ms of the test at hand; the instances' clock stands still unless a test moves it. */
let start = Date.UTC(2026, 0, 5, 8)

/** 1000 + 500 tokens at 10 and 30 yuan a million are 25 Credits. */
const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
}

const PICTURE = {
  pricing: {
    ...TOKEN_PRICES,
    billingModes: ['image'],
    inputPrice: null,
    outputPrice: null,
    imagePrice: '0.1',
  },
} satisfies Parameters<typeof putModel>[1]

const VIDEO = { supportFeatures: ['video'], pricing: VIDEO_PRICES } satisfies Parameters<typeof putModel>[1]

let database: FreshDatabase
let upstream: ScriptedUpstream
/** Where the second chains lead. */
let spare: ScriptedUpstream
let videos: ScriptedUpstream
let gateways: readonly TestGateway[]
let first: TestGateway

beforeAll(async () => {
  // Before the instances take their clock.
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  database = await createMigratedDatabase()
  upstream = await openScriptedUpstream()
  spare = await openScriptedUpstream()
  videos = await openScriptedUpstream()
  const environment = {
    SLUICE_DATABASE_URL: database.url,
    SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  first = await openGateway({ environment })
  gateways = [
    first,
    await openGateway({ environment, owner: 'second@example.com' }),
    await openGateway({ environment, owner: 'third@example.com' }),
  ]
  await putCatalogue(
    // The first calls wait until fifty have arrived.
    ...putVendor('acme', upstream.url, { timeouts: { connectMs: 60_000, firstByteMs: 60_000 } }),
    ...putVendor('spare', spare.url),
    ...putVendor('ark', videos.url, { kind: 'ark' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme' }),
    putModel('picture', PICTURE),
    putChain({ model: 'picture', vendor: 'acme' }),
    putModel('video', VIDEO),
    putChain({ model: 'video', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  )
})

beforeEach(async () => {
  start += 60 * MINUTE_MS
  vi.setSystemTime(start)
  // Whoever looks first would take the others, silent for an hour, for dead and end their calls.
  await Promise.all(
    gateways.map(({ storage, running }) => storage.calls.heartbeat(running.pipeline.instanceId, start)),
  )
  for (const one of [upstream, spare, videos]) one.requests.length = 0
  upstream.answer(answerCompletion)
  spare.answer(answerCompletion)
  playArk(videos, { polls: [ARK.done('https://videos.example/one.mp4')] })
})

afterAll(async () => {
  for (const gateway of [...gateways].reverse()) await gateway.close()
  await Promise.all([upstream.close(), spare.close(), videos.close()])
  await database.drop()
  vi.useRealTimers()
})

async function putCatalogue(...changes: readonly CatalogueChange[]): Promise<void> {
  await first.catalogue(...changes)
  await Promise.all(gateways.map((gateway) => gateway.running.pipeline.refreshCatalogue()))
}

const window = (dimension: WindowLimit['dimension'], limit: number): Policy => ({
  concurrency: undefined,
  windows: [{ dimension, limit, seconds: 60 }],
})

const limitedKey = async (policy: Policy): Promise<Keys> => {
  const { key } = await first.newKey(first.accountId, { policy })
  return [key]
}

/** Two keys without limits of their own: what the one uses the other misses. */
const keysOfLimitedAccount = async (policy: Policy): Promise<Keys> => {
  const { id, key } = await first.newAccount({ policy })
  return [key, (await first.newKey(id)).key]
}

type Keys = readonly [string, ...string[]]

/** The nth call goes to the nth instance in turn, with the nth key. */
function call(keys: Keys | string, index: number, model = 'm', fields: object = {}): Promise<Answer> {
  const gateway = gateways[index % gateways.length] ?? first
  const own = typeof keys === 'string' ? keys : (keys[index % keys.length] ?? keys[0])
  const authorization = `Bearer ${own}`
  if (model.startsWith('video')) {
    const order = { model, prompt: 'a cat on the moon', seconds: String(VIDEO_SECONDS) }
    return postJson(`${gateway.baseUrl}/v1/videos`, order, { authorization, prefer: 'respond-async' })
  }
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization },
  )
}

const atOnce = (count: number, one: (index: number) => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => one(index)))

async function inTurns(count: number, one: (index: number) => Promise<Answer>): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (let index = 0; index < count; index++) answers.push(await one(index))
  return answers
}

const hasPassed = ({ status }: Answer): boolean => status === 200 || status === 202

function expectPassed(answers: readonly Answer[], passed: number, code: number): readonly Answer[] {
  const refused = answers.filter((answer) => answer.status === 429)
  expect(answers.filter(hasPassed)).toHaveLength(passed)
  expect(refused).toHaveLength(answers.length - passed)
  expect(refused.map((answer) => answer.body.code)).toEqual(refused.map(() => code))
  return refused
}

const retryAfters = (answers: readonly Answer[]): ReadonlySet<string | null> =>
  new Set(answers.map((answer) => answer.headers.get('retry-after')))

interface LimitCase {
  readonly dimension: WindowLimit['dimension']
  readonly limit: number
  /** Calls that fit. */
  readonly calls: number
  readonly model: 'm' | 'picture' | 'video'
  readonly code: number
  /** What is only known when a call ends lets in whoever comes before that: those clients come in turns. */
  readonly arrive: typeof atOnce
}

const CASES: readonly LimitCase[] = [
  { dimension: 'requests', limit: 7, calls: 7, model: 'm', code: 42902, arrive: atOnce },
  { dimension: 'images', limit: 5, calls: 5, model: 'picture', code: 42902, arrive: atOnce },
  { dimension: 'videos', limit: 5, calls: 5, model: 'video', code: 42902, arrive: atOnce },
  {
    dimension: 'video_seconds',
    limit: 4 * VIDEO_SECONDS,
    calls: 4,
    model: 'video',
    code: 42910,
    arrive: atOnce,
  },
  { dimension: 'tokens', limit: 5 * 1500, calls: 5, model: 'm', code: 42903, arrive: inTurns },
  { dimension: 'amount', limit: 5 * 25, calls: 5, model: 'm', code: 42902, arrive: inTurns },
]

describe.each([
  ['a key', limitedKey],
  ['an account', keysOfLimitedAccount],
] as const)(`${CLIENTS} clients on three instances, limits of %s`, (_, limited) => {
  test.each(CASES)(
    '$dimension: exactly $calls pass, and after Retry-After exactly as many again [D-admission-12]',
    async ({ dimension, limit, calls, model, code, arrive }) => {
      const keys = await limited(window(dimension, limit))
      const one = (index: number) => call(keys, index, model)
      const refused = expectPassed(await arrive(CLIENTS, one), calls, code)
      expect(retryAfters(refused)).toEqual(new Set(['60']))
      await videosEnd()
      vi.setSystemTime(start + MINUTE_MS - 1)
      expect(retryAfters(expectPassed(await arrive(6, one), 0, code))).toEqual(new Set(['1']))
      vi.setSystemTime(start + MINUTE_MS)
      expectPassed(await arrive(calls + 3, one), calls, code)
      await videosEnd()
    },
  )

  test('concurrency: exactly 7 run at once, none is queued, and each that ends makes room for one', async () => {
    const keys = await limited({ concurrency: 7, windows: [] })
    const held = await holdAnswers({ clients: CLIENTS, running: 7 }, (index) => call(keys, index))
    const late = await call(keys, 0)
    expect(late.body.code).toBe(42901)
    expect(late.headers.get('retry-after')).toBe('1')
    expectPassed(await held.release(), 7, 42901)
    expect((await call(keys, 1)).status).toBe(200)
  })
})

/** Where routing meets them: a full credential refuses nobody who can go elsewhere. */
describe(`${CLIENTS} clients on three instances, limits of an upstream credential`, () => {
  const chats = CASES.filter(({ model }) => model !== 'video')

  test.each(chats)(
    '$dimension: exactly $calls go over it and the others over the next chain [D-admission-22]',
    async ({ dimension, limit, calls, model, arrive }) => {
      const name = `two-${dimension}`
      await putLimited(name, { model, limits: window(dimension, limit) })
      await putCatalogue(putChain({ model: name, vendor: 'spare', priority: 2 }))
      const answers = await arrive(CLIENTS, (index) => call(first.key, index, name))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect([sentTo(upstream, name), sentTo(spare, name)]).toEqual([calls, CLIENTS - calls])
    },
  )

  test.each(chats)(
    '$dimension: where it is the only one exactly $calls pass, and after Retry-After exactly as many again',
    async ({ dimension, limit, calls, model, arrive }) => {
      const name = `one-${dimension}`
      await putLimited(name, { model, limits: window(dimension, limit) })
      const one = (index: number) => call(first.key, index, name)
      const refused = expectPassed(await arrive(CLIENTS, one), calls, 42904)
      expect(retryAfters(refused)).toEqual(new Set(['60']))
      vi.setSystemTime(start + MINUTE_MS)
      expectPassed(await arrive(calls + 3, one), calls, 42904)
      expect(sentTo(upstream, name)).toBe(2 * calls)
    },
  )

  test.each(CASES.filter(({ model }) => model === 'video'))(
    '$dimension: exactly $calls are made over it and the others over the next chain, or by nobody [D-admission-22]',
    async ({ dimension, limit, calls, arrive }) => {
      const [alone, two] = [`video-one-${dimension}`, `video-two-${dimension}`]
      for (const name of [alone, two])
        await putLimited(name, { model: 'video', limits: window(dimension, limit) })
      await putCatalogue(
        putChain({
          model: two,
          vendor: 'ark',
          protocol: 'video',
          forward: `${two}-spare-upstream`,
          priority: 2,
        }),
      )
      for (const name of [alone, two]) await arrive(CLIENTS, (index) => call(first.key, index, name))
      // On a busy machine the clock would run ahead of orders that are still on their way.
      await eventually(() => gateways.every((gateway) => gateway.running.pipeline.videos.creating.size === 0))
      await videosEnd()
      const made = [alone, two, `${two}-spare`].map((name) => sentTo(videos, name))
      expect(made).toEqual([calls, calls, CLIENTS - calls])
      const ended = (await first.logs(2 * CLIENTS)).map(({ httpStatus, code }) => code ?? httpStatus)
      expect(ended.filter((status) => status === 42904)).toHaveLength(CLIENTS - calls)
      expect(ended.filter((status) => status === 200)).toHaveLength(CLIENTS + calls)
    },
  )

  test('concurrency: exactly 7 run at once over it, the others are told to come again in a second', async () => {
    await putLimited('one-at-once', { model: 'm', limits: { concurrency: 7, windows: [] } })
    const held = await holdAnswers({ clients: CLIENTS, running: 7 }, (index) =>
      call(first.key, index, 'one-at-once'),
    )
    const late = await call(first.key, 0, 'one-at-once')
    expect(late.body.code).toBe(42904)
    expect(late.headers.get('retry-after')).toBe('1')
    expectPassed(await held.release(), 7, 42904)
    vi.setSystemTime(start + 1_000)
    expect((await call(first.key, 1, 'one-at-once')).status).toBe(200)
  })
})

/** A model whose first chain goes over a credential of its own, with these limits. */
function putLimited(
  name: string,
  { model, limits }: { readonly model: LimitCase['model']; readonly limits: Policy },
): Promise<void> {
  const vendor = model === 'video' ? 'ark' : 'acme'
  const fields = { m: {}, picture: PICTURE, video: VIDEO }[model]
  const protocol = model === 'video' ? 'video' : 'chat'
  return putCatalogue(
    putCredential(vendor, name, limits),
    putModel(name, fields),
    putChain({ model: name, vendor, credentialName: name, protocol, priority: 1 }),
  )
}

const sentTo = (one: ScriptedUpstream, model: string): number =>
  creates(one).filter(({ body }) => modelOf(body) === `${model}-upstream`).length

const modelOf = (body: Buffer): unknown => (JSON.parse(body.toString()) as { readonly model?: unknown }).model

/** An image model's answer makes one: with none its count would be settled to none and given back. */
const answerCompletion: Answerer = (request, response) => {
  const isPicture = /^(picture|.*-images)-upstream$/.test(String(modelOf(request.body)))
  return answerJson(isPicture ? PICTURED : COMPLETION)(request, response)
}

/**
 * As many clients at once as are told, whose calls the upstream does not answer until `release`; resolves when all but
 * `running` of them have been refused.
 */
async function holdAnswers(
  { clients, running }: { readonly clients: number; readonly running: number },
  one: (index: number) => Promise<Answer>,
): Promise<{ release(): Promise<readonly Answer[]> }> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  upstream.answer(async (request, response) => {
    await released
    await answerCompletion(request, response)
  })
  let refused = 0
  let others = (): void => undefined
  const othersAnswered = new Promise<void>((resolve) => (others = resolve))
  const all = atOnce(clients, async (index) => {
    const answer = await one(index)
    if (!hasPassed(answer)) refused += 1
    if (refused === clients - running) others()
    return answer
  })
  await othersAnswered
  return {
    release() {
      release()
      return all
    },
  }
}

/** Tasks are polled by the instances' clock, which stands still unless it is moved. */
async function videosEnd(): Promise<void> {
  for (let moves = 0; (await first.storage.videos.nextDue()) !== undefined; moves++) {
    if (moves === VIDEO_MOVES_MAX) throw new Error('a video is still in the making')
    vi.setSystemTime(Date.now() + 50)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await first.settled()
}

describe('money and keys on three instances', () => {
  test('funds: an account that can pay exactly 7 calls has exactly 7 pass, on any number of instances', async () => {
    // Each holds its worst case: 25 for 833 tokens of output, a little over 20 for all the input a vendor may count.
    const { key, id } = await first.newAccount({ credits: 7 * 46 + 5 })
    const held = await holdAnswers({ clients: 200, running: 7 }, (index) =>
      call(key, index, 'm', { max_tokens: 833, messages: [] }),
    )
    const answers = await held.release()
    const passed = answers.filter((answer) => answer.status === 200).length
    expect(passed).toBe(7)
    expect(
      new Set(answers.filter((answer) => answer.status !== 200).map((answer) => answer.body.code)),
    ).toEqual(new Set([42901]))
    expect((await first.account(id)).held).toBe(0n)
  })

  test('a key that is disabled on one instance is refused by the next call on every other [5-16]', async () => {
    const { key, keyId } = await first.newKey(first.accountId)
    await atOnce(3, (index) => call(key, index))
    await first.storage.keys.patch(keyId, { status: 'disabled' })
    const answers = await atOnce(3, (index) => call(key, index))
    expect(answers.map((answer) => answer.body.code)).toEqual([40102, 40102, 40102])
  })
})

const PICTURED = {
  ...COMPLETION,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: '',
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      },
      finish_reason: 'stop',
    },
  ],
}
