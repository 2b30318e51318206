/**
 * Limits on an upstream credential bind orders of videos like every call: a full one steers to the
 * next chain, and what an order took of it is held for as long as its task runs, whoever looks after that.
 */
import { MINUTE_MS } from '../../src/core/durations.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import {
  type TestGateway,
  openGateway,
  putChain,
  putCredential,
  putModel,
  putVendor,
} from '../gateway/gateway.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { ARK, creates, eventually, playArk, VIDEO_PRICES } from '../gateway/videos.ts'
import type { LimitState } from '../../src/core/ledger/hot-rows.ts'
import { vendorCode } from '../../src/core/ids.ts'
import type { Policy, WindowLimit } from '../../src/core/limits/policy.ts'
import { Secret } from '../../src/core/secret.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
/** Polls of one test. */
const MOVES_MAX = 600
const ONE_AT_ONCE: Policy = { concurrency: 1, windows: [] }

/** Epoch ms: the gateway's clock stands still unless a test moves it. */
let now = Date.UTC(2026, 0, 5, 8)

/** `ark` is behind the first chain, over a limited credential; `spare` behind the second. */
const { gateway, ark, spare } = await withGateway({
  upstreams: ['ark', 'spare'],
  now: () => now,
  catalogue: ({ ark, spare }) => [
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    ...putVendor('spare', spare.url, { kind: 'ark' }),
    // Makes eight seconds by itself, the others five.
    ...putVendor('long', spare.url, { kind: 'xai' }),
  ],
})
afterAll(async () => {
  await videosEnd()
})
beforeEach(async () => {
  await videosEnd()
  now += 60 * MINUTE_MS
  await gateway.resetHealth()
  ark.requests.length = 0
  spare.requests.length = 0
  playArk(ark, { polls: [ARK.running, ARK.running, ARK.done(LINK)] })
  playArk(spare, { polls: [ARK.done(LINK)] })
})

const windowOf = (dimension: WindowLimit['dimension'], limit: number, seconds = 60): Policy => ({
  concurrency: undefined,
  windows: [{ dimension, limit, seconds }],
})

/** A chain to `vendor` over a credential of the model's name with these limits. */
const limitedChain = (
  model: string,
  { limits, vendor = 'ark', priority = 1 }: { limits: Policy; vendor?: string; priority?: number },
): readonly CatalogueChange[] => [
  putCredential(vendor, model, limits),
  putChain({
    model,
    vendor,
    credentialName: model,
    protocol: 'video',
    forward: 'seedance-1-0-pro',
    priority,
  }),
]

const spareChain = (model: string): CatalogueChange =>
  putChain({ model, vendor: 'spare', protocol: 'video', forward: 'seedance-1-0-pro', priority: 2 })

const putVideo = (model: string, ...changes: readonly CatalogueChange[]): Promise<void> =>
  gateway.catalogue(putModel(model, { supportFeatures: ['video'], pricing: VIDEO_PRICES }), ...changes)

/** Accepted at once, so that nobody waits for a clock that stands still. */
const place = (model: string, { key = gateway.key, at = gateway, seconds = '5' } = {}): Promise<Answer> =>
  postJson(
    `${at.baseUrl}/v1/videos`,
    { model, prompt: 'a cat on the moon', seconds },
    { authorization: `Bearer ${key}`, prefer: 'respond-async' },
  )

/** Placed, and taken or refused by every vendor it was sent to. */
async function order(model: string, options: Parameters<typeof place>[1] = {}): Promise<Answer> {
  const { creating } = (options.at ?? gateway).running.pipeline.videos
  const answer = await place(model, options)
  await eventually(() => creating.size === 0)
  return answer
}

/** Waits for the end, which a refused order has at once. */
const orderAndWait = (model: string, key = gateway.key): Promise<Answer> =>
  postJson(
    `${gateway.baseUrl}/v1/videos`,
    { model, prompt: 'a cat on the moon', seconds: '5' },
    { authorization: `Bearer ${key}` },
  )

/** Tasks are polled by the gateway's clock, which goes on when nothing is due: what is due takes the time it takes. */
async function videosEnd(): Promise<void> {
  const { videos } = gateway.storage
  let moves = 0
  for (let due = await videos.nextDue(); due !== undefined; due = await videos.nextDue()) {
    if (due > now) {
      if (moves === MOVES_MAX) throw new Error('a video is still in the making')
      moves += 1
      now = due
    }
    await gateway.running.pipeline.videos.poller.beat()
    await turn()
  }
  await gateway.settled()
}

async function stateOf(name: string, at = gateway): Promise<LimitState | undefined> {
  const credentials = (await at.storage.catalogue.read()).credentials.values()
  const credential = [...credentials].find((one) => one.name === name)
  if (credential === undefined) throw new Error(`no credential ${name}`)
  const subject = `credential:${credential.id}` as const
  return (await at.storage.customers.limits.read([subject])).get(subject)
}

const sent = (): readonly number[] => [creates(ark).length, creates(spare).length]

function expectFull(answer: Answer, retryAfter: string): void {
  expect(answer).toMatchObject({ status: 429, body: { code: 42904 } })
  expect(answer.headers.get('retry-after')).toBe(retryAfter)
}

/** Each fits one video of 5 seconds, at 500 Credits a second. */
const WINDOWS: readonly [dimension: WindowLimit['dimension'], limit: number][] = [
  ['requests', 1],
  ['videos', 1],
  ['video_seconds', 8],
  ['amount', 2_500],
]

describe('a window of an upstream credential', () => {
  test.each(WINDOWS)(
    '%s: the second video goes over the next chain [D-admission-22] [D-admission-23] [D-admission-24]',
    async (dimension, limit) => {
      const model = `two-${dimension}`
      await putVideo(
        model,
        ...limitedChain(model, { limits: windowOf(dimension, limit, 3_600) }),
        spareChain(model),
      )
      await order(model)
      await videosEnd()
      expect(sent()).toEqual([1, 0])
      expect((await order(model)).status).toBe(202)
      expect(sent()).toEqual([1, 1])
      await videosEnd()
      expect(await gateway.lastLog()).toMatchObject({
        httpStatus: 200,
        vendorCode: 'spare',
        attempts: [
          { vendorCode: 'ark', outcome: 'credential-full' },
          { vendorCode: 'spare', why: 'failover' },
        ],
      })
    },
  )

  test.each(WINDOWS.filter(([dimension]) => dimension !== 'amount'))(
    '%s: where it is the only one the second video is 429/42904 until Retry-After, and nothing is taken',
    async (dimension, limit) => {
      const model = `one-${dimension}`
      await putVideo(model, ...limitedChain(model, { limits: windowOf(dimension, limit) }))
      const account = await gateway.newAccount({ keyFields: { policy: windowOf('videos', 2) } })
      const start = now
      await order(model, account)
      expectFull(await orderAndWait(model, account.key), '60')
      expect(await gateway.account(account.id)).toMatchObject({ held: 2_500_000_000n })
      await videosEnd()
      const { credits } = await gateway.account(account.id)
      now = start + MINUTE_MS - 1
      expectFull(await orderAndWait(model, account.key), '1')
      expect(await gateway.account(account.id)).toMatchObject({ credits, held: 0n })
      expect(await gateway.lastLog()).toMatchObject({ httpStatus: 429, code: 42904, deducted: 0n })
      expect(sent()).toEqual([1, 0])
      now = start + MINUTE_MS
      expect((await order(model, account)).status).toBe(202)
      expect(sent()).toEqual([2, 0])
    },
  )

  test('video seconds are those the chain makes when the order names none', async () => {
    await putVideo('unnamed', ...limitedChain('unnamed', { limits: windowOf('video_seconds', 30) }))
    await order('unnamed', { seconds: '' })
    const running = await stateOf('unnamed')
    expect(running?.windows).toMatchObject([{ used: 0n, held: 5n }])
    await videosEnd()
    expect((await stateOf('unnamed'))?.windows).toMatchObject([{ used: 5n, held: 0n }])
  })

  test('of a chain that makes shorter videos by itself is not full for the length of another’s', async () => {
    await putVideo(
      'lengths',
      ...limitedChain('lengths', { limits: windowOf('video_seconds', 5, 3_600) }),
      putChain({ model: 'lengths', vendor: 'long', protocol: 'video', forward: 'grok-imagine', priority: 2 }),
    )
    await order('lengths', { seconds: '' })
    expect(sent()).toEqual([1, 0])
  })

  test('questions about the task count nothing', async () => {
    await putVideo('asked', ...limitedChain('asked', { limits: windowOf('requests', 100, 3_600) }))
    await order('asked')
    await videosEnd()
    expect(ark.requests.length).toBeGreaterThan(3)
    expect(await stateOf('asked')).toMatchObject({ slots: 0, windows: [{ used: 1n }] })
  })

  test('of several full ones Retry-After is that of the first to have room', async () => {
    await putVideo(
      'several',
      ...limitedChain('several', { limits: windowOf('videos', 0, 90) }),
      ...limitedChain('several', { limits: windowOf('videos', 1, 30), vendor: 'spare', priority: 2 }),
    )
    expect((await order('several')).status).toBe(202)
    expect(sent()).toEqual([0, 1])
    expectFull(await orderAndWait('several'), '30')
  })

  test('a chat call for a video is told the same', async () => {
    await putVideo('chatted', ...limitedChain('chatted', { limits: windowOf('videos', 1) }))
    await order('chatted')
    const answer = await postJson(
      `${gateway.baseUrl}/v1/chat/completions`,
      { model: 'chatted', messages: [{ role: 'user', content: 'a cat' }], seconds: '5' },
      { authorization: `Bearer ${gateway.key}` },
    )
    expectFull(answer, '60')
    expect(sent()).toEqual([1, 0])
  })

  test('binds nobody who comes with a credential of their own', async () => {
    await putVideo('owned', ...limitedChain('owned', { limits: windowOf('videos', 0) }))
    const owner = await gateway.newAccount({ credits: 0 })
    const secret = { secret: new Secret('my-own-ark'), fields: {} }
    await gateway.storage.accounts.putByok(owner.id, vendorCode('ark'), secret, { enabled: true })
    expect((await order('owned', owner)).status).toBe(202)
    expect(creates(ark).map(({ headers }) => headers.authorization)).toEqual(['Bearer my-own-ark'])
    expect(await stateOf('owned')).toBeUndefined()
  })
})

describe('a slot of an upstream credential', () => {
  test.each([
    ['is completed', ARK.done(LINK)],
    ['fails', ARK.failed],
  ])('is held while a task runs, and free when it %s', async (ending, last) => {
    const model = `slot-${ending.replaceAll(' ', '-')}`
    await putVideo(model, ...limitedChain(model, { limits: ONE_AT_ONCE }), spareChain(model))
    playArk(ark, { polls: [ARK.running] })
    await order(model)
    expect((await order(model)).status).toBe(202)
    expect(sent()).toEqual([1, 1])
    playArk(ark, { polls: [last] })
    await videosEnd()
    expect(await stateOf(model)).toMatchObject({ slots: 0 })
    await order(model)
    expect(sent()).toEqual([2, 1])
  })

  test('is asked for again in a second where it is the only one', async () => {
    await putVideo('slot-alone', ...limitedChain('slot-alone', { limits: ONE_AT_ONCE }))
    await order('slot-alone')
    expectFull(await orderAndWait('slot-alone'), '1')
    expect(await stateOf('slot-alone')).toMatchObject({ slots: 1 })
  })

  test('and all else is free again as soon as the order goes elsewhere, not when that video ends', async () => {
    const limits: Policy = {
      concurrency: 1,
      windows: [
        { dimension: 'videos', limit: 1, seconds: 3_600 },
        { dimension: 'video_seconds', limit: 5, seconds: 3_600 },
      ],
    }
    await putVideo('refused', ...limitedChain('refused', { limits }), spareChain('refused'))
    playArk(ark, { create: answerJson({ error: { code: 'InternalServiceError' } }, 500), polls: [] })
    playArk(spare, { polls: [ARK.running] })
    await order('refused')
    expect(sent()).toEqual([1, 1])
    await gateway.resetHealth()
    playArk(ark, { polls: [ARK.done(LINK)] })
    await order('refused')
    expect(sent()).toEqual([2, 1])
    playArk(spare, { polls: [ARK.done(LINK)] })
  })

  test('is kept while it is not known whether the order arrived, and free when it is given up', async () => {
    await putVideo('unknown', ...limitedChain('unknown', { limits: ONE_AT_ONCE }))
    let hangUp: (() => void) | undefined
    const waits: Answerer = (_request, response) => {
      hangUp = () => void response.destroy()
    }
    playArk(ark, { create: waits, polls: [] })
    const unanswered = orderAndWait('unknown')
    await eventually(async () => hangUp !== undefined && (await stateOf('unknown'))?.slots === 1)
    hangUp?.()
    expect(await unanswered).toMatchObject({ status: 504 })
    expect(await stateOf('unknown')).toMatchObject({ slots: 0 })
  })
})

describe('when an instance falls silent', () => {
  /** Two on one store; the first one's clock stands still, so that it says and does nothing more. */
  async function pair(run: (first: TestGateway, second: TestGateway) => Promise<void>): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-two-'))
    const environment = { SLUICE_DATA_DIR: directory }
    const stopped = Date.now()
    const first = await openGateway({ environment, now: () => stopped })
    try {
      await first.catalogue(
        ...putVendor('ark', ark.url, { kind: 'ark', timeouts: { firstByteMs: 60_000 } }),
        putModel('video', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
        ...limitedChain('video', { limits: ONE_AT_ONCE }),
      )
      await run(
        first,
        await openGateway({ environment, owner: 'second@example.com', now: () => Date.now() + MINUTE_MS }),
      )
    } finally {
      rmSync(directory, { recursive: true })
    }
  }

  test('the one that goes on with its task keeps the slot until the end', async () => {
    await pair(async (first, second) => {
      playArk(ark, { polls: [ARK.running] })
      await order('video', { at: first, key: first.key })
      await eventually(() => ark.requests.some(({ method }) => method === 'GET'))
      await order('video', { at: second, key: second.key })
      expect(sent()).toEqual([1, 0])
      expect(await stateOf('video', second)).toMatchObject({ slots: 1 })
      playArk(ark, { polls: [ARK.done(LINK)] })
      await second.videosEnded()
      expect(await stateOf('video', second)).toMatchObject({ slots: 0 })
      await order('video', { at: second, key: second.key })
      await second.videosEnded()
      expect(sent()).toEqual([2, 0])
      await first.close()
      await second.close()
    })
  })

  test('while its order was on the way, the slot is free as soon as another has given the task up', async () => {
    await pair(async (first, second) => {
      let hangUp = (): void => undefined
      const create: Answerer = (_request, response) => {
        hangUp = () => void response.destroy()
      }
      playArk(ark, { create, polls: [] })
      await place('video', { at: first, key: first.key })
      await eventually(() => creates(ark).length === 1)
      await second.videosEnded()
      expect(await second.lastLog()).toMatchObject({ httpStatus: 504, code: 50401 })
      expect(await stateOf('video', second)).toMatchObject({ slots: 0 })
      playArk(ark, { polls: [ARK.done(LINK)] })
      await order('video', { at: second, key: second.key })
      await second.videosEnded()
      expect(sent()).toEqual([2, 0])
      hangUp()
      await first.close()
      await second.close()
    })
  })
})
