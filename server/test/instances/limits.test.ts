/**
 * Three equal instances on one PostgreSQL (contract §8; decisions, Admission): together they let through exactly what
 * one would, whatever arrives where and at once.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Policy, WindowLimit } from '../../src/core/limits/policy.ts'
import { type Answer, postJson } from '../house/client.ts'
import { type House, openHouse, putChain, putModel, putVendor, TOKEN_PRICES } from '../house/house.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../house/scripted-upstream.ts'
import { createFreshDatabase, type FreshDatabase } from '../postgres/fresh-database.ts'

const CLIENTS = 50
const MINUTE_MS = 60_000
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

let database: FreshDatabase
let upstream: ScriptedUpstream
let houses: readonly House[]
let first: House

beforeAll(async () => {
  // Before the instances take their clock.
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  database = await createFreshDatabase()
  upstream = await openScriptedUpstream()
  const environment = {
    SLUICE_DATABASE_URL: database.url,
    SLUICE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  first = await openHouse({ environment })
  houses = [
    first,
    await openHouse({ environment, owner: 'second@example.com' }),
    await openHouse({ environment, owner: 'third@example.com' }),
  ]
  await first.catalogue(
    ...putVendor('acme', upstream.url),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme' }),
    putModel('picture', {
      pricing: {
        ...TOKEN_PRICES,
        billingModes: ['image'],
        inputPrice: null,
        outputPrice: null,
        imagePrice: '0.1',
      },
    }),
    putChain({ model: 'picture', vendor: 'acme' }),
  )
  await Promise.all(houses.map((house) => house.running.gateway.refreshCatalogue()))
})

beforeEach(() => {
  start += 60 * MINUTE_MS
  vi.setSystemTime(start)
  upstream.answer(answerJson(COMPLETION))
})

afterAll(async () => {
  for (const house of [...houses].reverse()) await house.close()
  await upstream.close()
  await database.drop()
  vi.useRealTimers()
})

const window = (dimension: WindowLimit['dimension'], limit: number): Policy => ({
  concurrency: undefined,
  windows: [{ dimension, limit, seconds: 60 }],
})

async function keyWith(policy: Policy): Promise<string> {
  return (await first.newKey(first.accountId, { policy })).key
}

/** The nth call goes to the nth instance in turn. */
function call(key: string, index: number, model = 'm', fields: object = {}): Promise<Answer> {
  const house = houses[index % houses.length] ?? first
  return postJson(
    `${house.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content: 'Hi' }], ...fields },
    { authorization: `Bearer ${key}` },
  )
}

const atOnce = (count: number, one: (index: number) => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => one(index)))

function expectPassed(answers: readonly Answer[], passed: number, code: number): readonly Answer[] {
  const refused = answers.filter((answer) => answer.status === 429)
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(passed)
  expect(refused).toHaveLength(answers.length - passed)
  expect(refused.map((answer) => answer.body.code)).toEqual(refused.map(() => code))
  return refused
}

describe(`${CLIENTS} clients at once on three instances`, () => {
  test.each([
    ['requests', 7, 'm', 42902],
    ['images', 5, 'picture', 42902],
  ] as const)(
    '[D-admission-12] %s: exactly %i pass, and after Retry-After exactly as many again',
    async (dimension, limit, model, code) => {
      const key = await keyWith(window(dimension, limit))
      // An image model's answer holds no image here: its count is settled to none and given back, so let each make one.
      if (model === 'picture') upstream.answer(answerJson(PICTURED))
      const refused = expectPassed(await atOnce(CLIENTS, (index) => call(key, index, model)), limit, code)
      expect(new Set(refused.map((answer) => answer.headers.get('retry-after')))).toEqual(new Set(['60']))
      vi.setSystemTime(start + MINUTE_MS - 1)
      expectPassed(await atOnce(6, (index) => call(key, index, model)), 0, code)
      vi.setSystemTime(start + MINUTE_MS)
      expectPassed(await atOnce(CLIENTS, (index) => call(key, index, model)), limit, code)
    },
  )

  test('concurrency: exactly 7 run at once, none is queued, and each that ends makes room for one', async () => {
    const key = await keyWith({ concurrency: 7, windows: [] })
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    let arrived = 0
    let full = (): void => undefined
    const sevenArrived = new Promise<void>((resolve) => (full = resolve))
    upstream.answer(async (request, response) => {
      arrived += 1
      if (arrived === 7) full()
      await released
      await answerJson(COMPLETION)(request, response)
    })
    const running = atOnce(CLIENTS, (index) => call(key, index))
    await sevenArrived
    const late = await call(key, 0)
    expect(late.body.code).toBe(42901)
    expect(late.headers.get('retry-after')).toBe('1')
    release()
    expectPassed(await running, 7, 42901)
    expect((await call(key, 1)).status).toBe(200)
  })

  test('funds: an account that can pay exactly 7 calls has exactly 7 pass, on any number of instances', async () => {
    const { key, id } = await first.newAccount({ credits: 7 * 25 + 5 })
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    upstream.answer(async (request, response) => {
      await released
      await answerJson(COMPLETION)(request, response)
    })
    // Seven holds of a little over 25 Credits fit into 180, eight do not.
    const running = Promise.all(
      Array.from({ length: 200 }, (_, index) => call(key, index, 'm', { max_tokens: 833, messages: [] })),
    )
    await vi.waitFor(() => expect(upstream.requests.length).toBeGreaterThanOrEqual(7))
    release()
    const answers = await running
    const passed = answers.filter((answer) => answer.status === 200).length
    expect(passed).toBe(7)
    expect(
      new Set(answers.filter((answer) => answer.status !== 200).map((answer) => answer.body.code)),
    ).toEqual(new Set([40202]))
    expect((await first.account(id)).held).toBe(0n)
  })
})

describe('one after the other, each on the next instance', () => {
  test.each([
    ['tokens', 5 * 1500, 5, 42903],
    ['amount', 5 * 25, 5, 42902],
  ] as const)(
    '%s: the call after the one that fills the window is refused',
    async (dimension, limit, calls, code) => {
      const key = await keyWith(window(dimension, limit))
      for (let index = 0; index < calls; index++) expect((await call(key, index)).status).toBe(200)
      const refused = await call(key, calls)
      expect(refused.body.code).toBe(code)
      vi.setSystemTime(start + Number(refused.headers.get('retry-after')) * 1_000)
      expect((await call(key, calls + 1)).status).toBe(200)
    },
  )

  test('[5-16] a key that is disabled on one instance is refused by the next call on every other', async () => {
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
