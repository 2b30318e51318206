/** What a video costs, and what its log row says. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { type TestGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { ARK, creates, sampleVideo, playArk, playSora, VIDEO_PRICES } from '../gateway/videos.ts'
import { vendorCode } from '../../src/core/ids.ts'
import { microCredits } from '../../src/core/money.ts'
import { Secret } from '../../src/core/secret.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const PER_SECOND = 500_000_000n

const video = { supportFeatures: ['video'] as const, pricing: VIDEO_PRICES }
const forward = 'seedance-1-0-pro'

const { gateway, ark, sora } = await withGateway({
  upstreams: ['ark', 'sora'],
  ops: true,
  catalogue: ({ ark, sora }) => [
    ...putVendor('ark', ark.url, { kind: 'ark' }),
    ...putVendor('sora', sora.url, { kind: 'openai-compatible' }),
    putModel('seedance', video),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward }),
    putModel('threefold', video),
    putChain({ model: 'threefold', vendor: 'ark', protocol: 'video', forward, rateMultiplier: '3' }),
    putModel('penny', { ...video, pricing: { ...VIDEO_PRICES, videoPrice: '0.0001' } }),
    putChain({ model: 'penny', vendor: 'ark', protocol: 'video', forward }),
    putModel('covered', { ...video, subscriptionCovered: true }),
    putChain({ model: 'covered', vendor: 'ark', protocol: 'video', forward }),
    putModel('sora-2', video),
    putChain({ model: 'sora-2', vendor: 'sora', protocol: 'video', forward: 'sora-2' }),
  ],
})

beforeEach(() => {
  ark.requests.length = 0
  playArk(ark, { polls: [ARK.done(LINK)] })
  playSora(sora, sampleVideo(1))
})

function post(body: Record<string, unknown>, key = gateway.key): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/videos`,
    { model: 'seedance', prompt: 'a cat', ...body },
    { authorization: `Bearer ${key}` },
  )
}

/** What the order takes from the account's Credits, in µCr. */
async function costOf(
  body: Record<string, unknown>,
  who?: Awaited<ReturnType<TestGateway['newAccount']>>,
): Promise<bigint> {
  const before = (await gateway.account(who?.id)).credits
  const answer = await post(body, who?.key)
  expect(answer.status).toBe(200)
  await gateway.settled()
  const account = await gateway.account(who?.id)
  expect(account.held).toBe(0n)
  return before - account.credits
}

describe('declared seconds are billed', () => {
  test.each([
    ['as sent [3-08] [4.4-23] [8-25] [D-names-07]', { seconds: '8' }, 8n],
    ['as a number', { seconds: 8 }, 8n],
    ['whatever the vendor made [4.4-24]', { seconds: '3' }, 3n],
    ['out of range too [4.4-25]', { seconds: '90' }, 90n],
    ['as the vendor’s default where none are sent [D-video-18]', {}, 5n],
    ['as the vendor’s default where they are no number [D-video-21]', { seconds: 'as long as it takes' }, 5n],
    ['as the vendor’s default where they leave the length to it', { seconds: '-1' }, 5n],
    ['by their other name', { duration: 7 }, 7n],
  ])('%s', async (_name, body, seconds) => {
    expect(await costOf(body)).toBe(seconds * PER_SECOND)
  })

  test('at the price per second that the pricing entry shows [2.2-08]', async () => {
    const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/pricing?model_id=seedance`)
    const [entry] = body.data as readonly { readonly video_price: number }[]
    expect(entry?.video_price).toBe(0.5)
    expect(await costOf({ seconds: '6' })).toBe(6n * BigInt((entry?.video_price ?? 0) * 1_000) * 1_000_000n)
  })

  test('to the part of a second', async () => {
    expect(await costOf({ seconds: '7.5' })).toBe(3_750_000_000n)
  })

  test('with the same multipliers as a chat call [8-26]', async () => {
    const generous = await gateway.newAccount({ userRate: '50' })
    expect(await costOf({ model: 'threefold', seconds: '4' })).toBe(4n * PER_SECOND * 3n)
    expect(await costOf({ model: 'threefold', seconds: '4' }, generous)).toBe(2n * PER_SECOND * 3n)
  })

  test('below one Credit nothing is deducted, and the log has the exact amount', async () => {
    expect(await costOf({ model: 'penny', seconds: '5' })).toBe(0n)
    expect(await gateway.lastLog()).toMatchObject({ amount: 500_000n, deducted: 0n })
  })
})

describe('what the client sees of it', () => {
  test.each([
    ['the vendor’s default [D-video-19]', {}, '5'],
    ['what was sent', { seconds: '6' }, '6'],
  ])('%s', async (_name, body, shown) => {
    expect((await post(body)).body['seconds']).toBe(shown)
  })

  test('seconds that are no number reach the vendor as they are [D-video-20]', async () => {
    await post({ model: 'sora-2', seconds: 'eight' })
    expect(creates(sora).at(-1)?.json()).toMatchObject({ seconds: 'eight' })
  })
})

describe('who pays', () => {
  test('nobody, over the account’s own credential', async () => {
    const owner = await gateway.newAccount({ credits: 0 })
    await gateway.storage.accounts.putByok(
      owner.id,
      vendorCode('ark'),
      { secret: new Secret('my-own-ark'), fields: {} },
      { enabled: true },
    )
    const answer = await post({ seconds: '5' }, owner.key)
    expect(answer.status).toBe(200)
    expect(new Set(ark.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer my-own-ark']),
    )
    expect(await gateway.lastLog()).toMatchObject({ byok: true, deducted: 0n, amount: 5n * PER_SECOND })
  })

  test('the subscription, where it covers the model', async () => {
    const subscriber = await gateway.newAccount({
      credits: 0,
      subscription: {
        plan: 'PRO',
        level: 2,
        expiresAt: Date.now() + 3_600_000,
        quota: [{ credits: microCredits(100_000_000_000n), seconds: 3_600 }],
      },
    })
    expect((await post({ model: 'covered', seconds: '5' }, subscriber.key)).status).toBe(200)
    expect(await gateway.lastLog()).toMatchObject({ subscriptionCovered: true, deducted: 5n * PER_SECOND })
  })
})

describe('the log row', () => {
  test('says what was declared, what was made, and how it was billed [8-27] [D-accounts-74] [D-accounts-95] [D-accounts-96] [D-accounts-97] [4.4-24]', async () => {
    playArk(ark, { polls: [ARK.running, ARK.done(LINK, 9)] })
    await post({ seconds: '5' })
    expect(await gateway.lastLog()).toMatchObject({
      clientProtocol: 'video',
      usageSource: 'declared',
      secondsDeclared: 5,
      secondsProduced: 9,
      amount: 5n * PER_SECOND,
      recipe: { lines: [{ class: 'video_second', quantity: 5, price: '0.5', per: 1 }] },
      ending: 'complete',
      httpStatus: 200,
    })
    const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/logs?limit=1`, {
      authorization: `Bearer ${gateway.key}`,
    })
    const rows = JSON.stringify(body.data)
    expect(rows).toContain('"usage_source":"declared"')
    expect(rows).toContain('"seconds_declared":5')
    expect(rows).toContain('"seconds_produced":9')
  })
})

describe('metrics', () => {
  test('count polls by vendor and outcome', async () => {
    playArk(ark, { polls: [ARK.running, ARK.done(LINK)] })
    await post({ seconds: '5' })
    const { text } = await get(`${gateway.opsUrl}/metrics`)
    expect(text).toMatch(/sluice_video_polls_total\{vendor="ark",outcome="poll"\} \d+/)
    expect(text).toMatch(/sluice_video_polls_total\{vendor="ark",outcome="done"\} \d+/)
    expect(text).toContain('sluice_video_waiting 0')
  })
})
