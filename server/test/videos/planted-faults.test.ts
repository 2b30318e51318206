/**
 * A fault of our own, planted at every step of a video's creation after its order was let in: the order still ends once,
 * is logged, gives back what it holds, is sent to no vendor twice, and is charged exactly when there is a video.
 */
import { afterEach, beforeEach, expect, type Mock, test, vi } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { PATIENCE_MS, putChain, putCredential, putModel, putVendor } from '../gateway/gateway.ts'
import { ARK, creates, playArk, VIDEO_PRICES } from '../gateway/videos.ts'
import type { Pipeline } from '../../src/pipeline/context.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const COST = 2_500_000_000n
/** More than any lease, watch or pause after an error. */
const STEP_MS = 60_000
const STEPS_WITH_FAULT = 3
const STEPS_MAX = 40

/** How far the gateway's clock is ahead, ms. */
let ahead = 0

const { gateway, vendor } = await withGateway({
  upstreams: ['vendor'],
  now: () => Date.now() + ahead,
  catalogue: ({ vendor }) => [
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    // A credential with a limit, so that orders take a place on it.
    putCredential('ark', 'main', { concurrency: 1, windows: [] }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  ],
})
beforeEach(async () => {
  await gateway.resetHealth()
  vendor.requests.length = 0
  playArk(vendor, { polls: [ARK.running, ARK.done('https://videos.example/one.mp4')] })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const planted = () => new Error('planted')
const fault = (): never => {
  throw planted()
}

/** Struck for some minutes by the gateway's clock; then the fault is gone, as with a better build. */
const PLANTS: readonly { readonly where: string; readonly plant: (gateway: Pipeline) => Mock }[] = [
  {
    where: 'writing the intent',
    plant: ({ storage }) => vi.spyOn(storage.videos, 'create').mockRejectedValue(planted()),
  },
  {
    where: 'hearing that the intent is written',
    plant: ({ storage }) => {
      const { create } = storage.videos
      return vi.spyOn(storage.videos, 'create').mockImplementation(async (...order) => {
        await create(...order)
        return fault()
      })
    },
  },
  {
    where: 'looking at a chain’s health',
    plant: ({ health }) => vi.spyOn(health, 'of').mockImplementation(fault),
  },
  {
    where: 'beginning with a chain',
    plant: ({ health }) => vi.spyOn(health, 'begin').mockImplementation(fault),
  },
  {
    where: 'claiming the credential',
    plant: ({ storage }) => vi.spyOn(storage.calls, 'claim').mockRejectedValue(planted()),
  },
  {
    where: 'opening the exchange',
    plant: ({ upstream }) => vi.spyOn(upstream, 'open').mockImplementation(fault),
  },
  {
    where: 'counting an attempt',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'attemptEnded').mockImplementation(fault),
  },
  {
    where: 'writing how far it is',
    plant: ({ storage }) => vi.spyOn(storage.videos, 'patch').mockRejectedValue(planted()),
  },
  {
    where: 'counting a poll',
    plant: ({ telemetry }) => vi.spyOn(telemetry.metrics, 'videoPolled').mockImplementation(fault),
  },
  {
    where: 'counting an ended call',
    plant: (gateway) => vi.spyOn(gateway, 'observeEnd').mockImplementation(fault),
  },
]

const order = (key: string): Promise<Answer> =>
  postJson(
    `${gateway.baseUrl}/v1/videos`,
    { model: 'seedance', prompt: 'a cat', seconds: '5' },
    { authorization: `Bearer ${key}` },
  )

/** One step by the gateway's clock, with whatever is due. */
async function letTimePass(): Promise<void> {
  ahead += STEP_MS
  await gateway.running.pipeline.videos.poller.beat()
  await gateway.running.pipeline.telemetry.background.drain(1_000)
}

async function untilItEnds(): Promise<void> {
  for (let steps = 0; (await gateway.storage.videos.nextDue()) !== undefined; steps += 1) {
    if (steps === STEPS_MAX) throw new Error('the task never ends')
    await letTimePass()
  }
  await gateway.settled()
}

test.each(PLANTS)('a fault in $where', async ({ plant }) => {
  const { id, key } = await gateway.newAccount()
  const before = (await gateway.account(id)).credits
  const struck = plant(gateway.running.pipeline)
  const answering = order(key)
  await vi.waitUntil(() => struck.mock.calls.length > 0, { timeout: PATIENCE_MS, interval: 5 })
  for (let steps = 0; steps < STEPS_WITH_FAULT; steps += 1) await letTimePass()
  vi.restoreAllMocks()
  await untilItEnds()
  const answer = await answering
  const [task] = await gateway.storage.videos.list({
    accountId: id,
    limit: 10,
    after: undefined,
    order: 'desc',
  })
  const made = task?.status === 'completed'
  const account = await gateway.account(id)
  expect(account).toMatchObject({ held: 0n, credits: made ? before - COST : before })
  expect(answer.status === 200).toBe(made)
  expect(creates(vendor).length).toBeLessThanOrEqual(1)
  const rows = (await gateway.logs(200)).filter(({ accountId }) => accountId === id)
  expect(rows.map(({ deducted }) => deducted)).toEqual([made ? COST : 0n])
  expect(await gateway.storage.ledger.verify()).toEqual([])
})
