/** Orders that come twice: by `Idempotency-Key`, and by the SDKs' own retries. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { ARK, creates, eventually, PNG, playArk, postForm, VIDEO_PRICES } from '../gateway/videos.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const LINK = 'https://videos.example/one.mp4'
const COST = 2_500_000_000n

let count = 0

const { gateway, vendor } = await withGateway({
  upstreams: ['vendor'],
  catalogue: ({ vendor }) => [
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  ],
})
beforeEach(async () => {
  await gateway.resetHealth()
  vendor.requests.length = 0
  playArk(vendor, { polls: [ARK.done(LINK)] })
})

/** An order nobody made before. */
function newOrder(): Record<string, string> {
  count += 1
  return { model: 'seedance', prompt: `cat number ${count}`, seconds: '5' }
}

function post(body: unknown, headers: Record<string, string> = {}, key = gateway.key): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/videos`, body, { authorization: `Bearer ${key}`, ...headers })
}

const again = { 'x-stainless-retry-count': '1' }

describe('Idempotency-Key', () => {
  test('joins the running task [D-video-08]', async () => {
    playArk(vendor, { polls: [ARK.running] })
    const order = newOrder()
    const named = { 'idempotency-key': 'running' }
    const first = post(order, named)
    await eventually(() => creates(vendor).length === 1)
    const second = post(order, named)
    await eventually(() => gateway.running.openCalls() === 2)
    playArk(vendor, { polls: [ARK.done(LINK)] })
    const [one, two] = await Promise.all([first, second])
    expect(one.status).toBe(200)
    expect(two.body).toEqual(one.body)
    expect(creates(vendor)).toHaveLength(1)
  })

  test('joins the finished task, and one charge is made [D-video-09]', async () => {
    const { credits } = await gateway.account()
    const order = newOrder()
    const first = await post(order, { 'idempotency-key': 'finished' })
    const second = await post(order, { 'idempotency-key': 'finished' })
    expect(second.body).toEqual(first.body)
    expect(creates(vendor)).toHaveLength(1)
    await gateway.settled()
    expect(credits - (await gateway.account()).credits).toBe(COST)
  })

  test('makes one task of ten parallel orders, even for a key with one slot [D-video-11]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { policy: { concurrency: 1, windows: [] } })
    const order = newOrder()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(order, { 'idempotency-key': 'ten' }, key)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    expect(creates(vendor)).toHaveLength(1)
  })

  test('holds per API key [D-video-10]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const order = newOrder()
    const one = await post(order, { 'idempotency-key': 'mine' })
    const two = await post(order, { 'idempotency-key': 'mine' }, key)
    expect(two.body['id']).not.toBe(one.body['id'])
    expect(creates(vendor)).toHaveLength(2)
  })

  test('with another body is 422/40004, and nothing is ordered [D-video-29]', async () => {
    await post(newOrder(), { 'idempotency-key': 'taken' })
    vendor.requests.length = 0
    const answer = await post(newOrder(), { 'idempotency-key': 'taken' })
    expect(answer).toMatchObject({ status: 422, body: { code: 40004 } })
    expect(vendor.requests).toHaveLength(0)
  })

  test('is the same order as JSON with its fields in another order, and as a form of other boundaries', async () => {
    const { model = '', prompt = '', seconds = '' } = newOrder()
    const one = await post({ model, prompt, seconds }, { 'idempotency-key': 'shape' })
    const two = await post({ seconds, prompt, model }, { 'idempotency-key': 'shape' })
    const three = await postForm(
      `${gateway.baseUrl}/v1/videos`,
      Object.entries({ prompt, model, seconds }).map(([name, value]) => ({ name, value })),
      { authorization: `Bearer ${gateway.key}`, 'idempotency-key': 'shape' },
    )
    expect([two.body['id'], three.body['id']]).toEqual([one.body['id'], one.body['id']])
  })

  test('joins a task that failed upstream, and gets the same failure', async () => {
    playArk(vendor, { polls: [ARK.failed] })
    const order = newOrder()
    const one = await post(order, { 'idempotency-key': 'failed' })
    const two = await post(order, { 'idempotency-key': 'failed' })
    expect([one.status, two.status]).toEqual([502, 502])
    expect(two.body).toEqual(one.body)
    expect(creates(vendor)).toHaveLength(1)
  })

  test('begins anew where no vendor had taken the order', async () => {
    playArk(vendor, { create: answerJson({ error: { code: 'InternalServiceError' } }, 500), polls: [] })
    const order = newOrder()
    expect((await post(order, { 'idempotency-key': 'anew' })).status).toBe(500)
    await gateway.resetHealth()
    playArk(vendor, { polls: [ARK.done(LINK)] })
    expect((await post(order, { 'idempotency-key': 'anew' })).status).toBe(200)
  })
})

describe('an SDK’s own retry', () => {
  test('joins the task of its lost POST, running or finished', async () => {
    playArk(vendor, { polls: [ARK.running] })
    const order = newOrder()
    const lost = new AbortController()
    const first = fetch(`${gateway.baseUrl}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
      signal: lost.signal,
    }).catch((error: unknown) => error)
    await eventually(() => creates(vendor).length === 1)
    lost.abort()
    await first
    const second = post(order, again)
    await eventually(() => gateway.running.openCalls() === 1)
    playArk(vendor, { polls: [ARK.done(LINK)] })
    const joined = await second
    expect(joined).toMatchObject({ status: 200, body: { status: 'completed' } })
    const third = await post(order, again)
    expect(third.body).toEqual(joined.body)
    expect(creates(vendor)).toHaveLength(1)
  })

  test('with a file joins as well: its boundary is another one, its bytes are not', async () => {
    const { model = '', prompt = '' } = newOrder()
    const send = (headers: Record<string, string>) =>
      postForm(
        `${gateway.baseUrl}/v1/videos`,
        [
          { name: 'model', value: model },
          { name: 'prompt', value: prompt },
          { name: 'input_reference', value: PNG },
        ],
        { authorization: `Bearer ${gateway.key}`, ...headers },
      )
    const one = await send({})
    const two = await send(again)
    expect(two.body['id']).toBe(one.body['id'])
  })

  test('of an order nobody took is a new order', async () => {
    playArk(vendor, { create: answerJson({ error: { code: 'InternalServiceError' } }, 500), polls: [] })
    const order = newOrder()
    await post(order)
    await gateway.resetHealth()
    playArk(vendor, { polls: [ARK.done(LINK)] })
    expect((await post(order, again)).status).toBe(200)
  })

  test('is nobody else’s: neither another key’s order nor a same order that is meant anew', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const order = newOrder()
    const one = await post(order)
    const two = await post(order)
    const other = await post(order, again, key)
    expect(new Set([one, two, other].map(({ body }) => body['id'])).size).toBe(3)
  })
})
