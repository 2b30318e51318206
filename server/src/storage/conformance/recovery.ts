import { expect, test } from 'vitest'
import {
  ACCOUNT,
  CHAIN,
  credits,
  exampleAbandon,
  exampleReserve,
  exampleSettle,
  KEY,
  MODEL,
  VENDOR,
} from '../../core/calls/examples.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { callId, credentialId, instanceId } from '../../core/ids.ts'
import type { Storage } from '../storage.ts'
import { NOW, openWithAccount, settleTwoCredits, type StorageSuite, TWO_CREDITS, recover } from './suite.ts'

const DEAD = instanceId('dead')
const ALIVE = instanceId('alive')
const LATER = NOW + 120_000
/** The dead instance's last heartbeat was long before; slots last 600 s (docs/reference/contract.md#8-06). */
const BOUNDS = { at: LATER, deadBefore: LATER - 30_000, leakedBefore: LATER - 600_000 }

const ONE_AT_ONCE = { concurrency: 1, windows: [] }

const DESCRIPTION = {
  requestId: 'request_1',
  createdAt: NOW - 5,
  endpoint: '/v1/chat/completions',
  clientProtocol: 'chat',
  modelRequested: MODEL,
  stream: true,
  user: 'user_1',
  appId: undefined,
  customId: undefined,
  chains: { [CHAIN]: { vendorCode: VENDOR, upstreamProtocol: 'chat' } },
}

export function describeRecovery(suite: StorageSuite): void {
  const reserve = (storage: Storage, id: string, instance = DEAD) =>
    storage.calls.reserve(exampleReserve(id, { instanceId: instance, description: DESCRIPTION }))
  const produce = (storage: Storage, id: string) =>
    storage.calls.progress({
      callId: callId(id),
      at: NOW + 10,
      chainId: CHAIN,
      modelId: MODEL,
      byok: false,
      usage: { ...NO_USAGE, input: 1000, output: 100 },
      usageSource: 'upstream',
      images: 0,
    })

  test('calls of a dead instance are settled at their last usage, or given back when nothing came', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: { concurrency: 2, windows: [] } })
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await reserve(storage, 'call_2')
    await produce(storage, 'call_1')
    expect(await recover(storage, BOUNDS)).toBe(2)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    const byId = new Map(rows.map((row) => [row.callId, row]))
    expect(byId.get(callId('call_1'))).toMatchObject({
      ending: 'recovered',
      requestId: 'request_1',
      deducted: TWO_CREDITS,
      user: 'user_1',
      vendorCode: VENDOR,
    })
    expect(byId.get(callId('call_2'))).toMatchObject({ ending: 'recovered', deducted: 0n })
    expect(await reserve(storage, 'call_3', ALIVE)).toMatchObject({ kind: 'reserved' })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('calls of a living instance are left alone', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(ALIVE, NOW)
    await reserve(storage, 'call_1', ALIVE)
    await storage.calls.heartbeat(ALIVE, LATER - 1)
    expect(await recover(storage, BOUNDS)).toBe(0)
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: true })
  })

  test('a heartbeat renews the slots of calls that run long [D-admission-29]', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: ONE_AT_ONCE })
    await storage.calls.heartbeat(ALIVE, NOW)
    await reserve(storage, 'call_1', ALIVE)
    const at = NOW + 650_000
    await storage.calls.heartbeat(ALIVE, at - 5_000)
    const bounds = { at, deadBefore: at - 30_000, leakedBefore: at - 600_000, isRunning: () => true }
    expect(await recover(storage, bounds)).toBe(0)
    const second = exampleReserve('call_2', { at })
    expect(await storage.calls.reserve(second)).toMatchObject({
      kind: 'refused',
      refusal: { code: 42901 },
    })
  })

  test('a slot that nobody renewed is free after 600 s, even if its instance lives [8-06] [8-07] [D-admission-30]', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: ONE_AT_ONCE })
    await storage.calls.heartbeat(ALIVE, NOW)
    await reserve(storage, 'leaked', ALIVE)
    const recoverAt = (at: number) => recover(storage, { at, deadBefore: 0, leakedBefore: at - 600_000 })
    const next = (id: string, at: number) => storage.calls.reserve(exampleReserve(id, { at }))
    expect(await recoverAt(NOW + 600_000)).toBe(0)
    expect(await next('call_1', NOW + 600_000)).toMatchObject({ kind: 'refused' })
    expect(await recoverAt(NOW + 600_001)).toBe(1)
    expect(await next('call_2', NOW + 600_001)).toMatchObject({ kind: 'reserved' })
  })

  test('two instances that recover at once end each call once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await storage.calls.heartbeat(DEAD, NOW)
    const ids = Array.from({ length: 40 }, (_, index) => `call_${index}`)
    await Promise.all(ids.map((id) => reserve(storage, id)))
    await Promise.all(ids.map((id) => produce(storage, id)))
    const counts = await Promise.all([recover(storage, BOUNDS), recover(other, BOUNDS)])
    expect(counts[0] + counts[1]).toBe(ids.length)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000 - 80), held: 0n })
    expect(await recover(storage, BOUNDS)).toBe(0)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('nobody takes over from an instance that has beaten since it was seen', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    const seen = await storage.calls.readInstances()
    expect(seen).toEqual([{ id: DEAD, epoch: 1, beats: 1, beatAt: NOW, gone: false, hasCalls: true }])
    // Its clock is stopped, or was set back to exactly the same time.
    await storage.calls.heartbeat(DEAD, NOW)
    expect(await storage.calls.takeOver(seen, LATER)).toBe(0)
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: true })
  })

  test('an instance that was taken over is told so once for each time, and keeps what it began since', async () => {
    const { storage } = await openWithAccount(suite)
    const { calls } = storage
    expect(await calls.heartbeat(DEAD, NOW)).toEqual({ kind: 'beaten', first: true })
    expect(await calls.heartbeat(DEAD, NOW)).toEqual({ kind: 'beaten', first: false })
    for (const epoch of [2, 3]) {
      await reserve(storage, `lost_${epoch}`)
      expect(await calls.takeOver(await calls.readInstances(), LATER)).toBe(1)
      // It resumes and takes a call before its next beat.
      await reserve(storage, `begun_${epoch}`)
      expect(await calls.heartbeat(DEAD, LATER, epoch - 1)).toEqual({ kind: 'taken-over', epoch })
      expect(await calls.heartbeat(DEAD, LATER, epoch)).toEqual({ kind: 'beaten', first: false })
      expect(await calls.settle(settleTwoCredits(`begun_${epoch}`))).toMatchObject({ first: true })
    }
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a take-over at the very moment in which the owner settles ends each call once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const owner = await database.open()
    await owner.calls.heartbeat(DEAD, NOW)
    const ids = Array.from({ length: 60 }, (_, index) => `call_${index}`)
    await Promise.all(ids.map((id) => reserve(owner, id)))
    await Promise.all(ids.map((id) => produce(owner, id)))
    const seen = await storage.calls.readInstances()
    await Promise.all([
      storage.calls.takeOver(seen, LATER),
      ...ids.map((id) => owner.calls.settle(settleTwoCredits(id))),
    ])
    const { rows } = await storage.logs.page({}, { limit: 100, cursor: undefined })
    expect(new Set(rows.map((row) => row.callId)).size).toBe(ids.length)
    expect(rows.map(({ deducted }) => deducted)).toEqual(ids.map(() => TWO_CREDITS))
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000 - 120), held: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('who takes over twice by one look finds nothing the second time', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    const seen = await storage.calls.readInstances()
    expect(await storage.calls.takeOver(seen, LATER)).toBe(1)
    await reserve(storage, 'call_2')
    expect(await storage.calls.takeOver(seen, LATER)).toBe(0)
  })

  test('calls of an instance without a row are taken over by one, and it is told when it beats', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await reserve(storage, 'call_1')
    const seen = await storage.calls.readInstances()
    expect(seen).toEqual([{ id: DEAD, epoch: undefined, beats: 0, beatAt: 0, gone: false, hasCalls: true }])
    const counts = await Promise.all([storage.calls.takeOver(seen, LATER), other.calls.takeOver(seen, LATER)])
    expect(counts.toSorted()).toEqual([0, 1])
    expect(await storage.calls.heartbeat(DEAD, LATER)).toEqual({ kind: 'taken-over', epoch: 2 })
  })

  test('an instance that left nothing open is forgotten, unless it has beaten meanwhile', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    const seen = await storage.calls.readInstances()
    await storage.calls.heartbeat(DEAD, LATER)
    await storage.calls.takeOver(seen, LATER)
    expect(await storage.calls.readInstances()).toHaveLength(1)
    await storage.calls.takeOver(await storage.calls.readInstances(), LATER)
    expect(await storage.calls.readInstances()).toEqual([])
    // After it resumed, it learns that it was taken over.
    expect(await storage.calls.heartbeat(DEAD, LATER)).toEqual({ kind: 'beaten', first: true })
  })

  test('what a living instance runs is ended by nobody, however old; what it has forgotten it ends itself', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(ALIVE, NOW)
    for (const id of ['running', 'forgotten', 'young']) await reserve(storage, id, ALIVE)
    await produce(storage, 'forgotten')
    const leaked = {
      instance: ALIVE,
      at: LATER,
      startedBefore: NOW + 1,
      isRunning: (call: string) => call !== 'forgotten',
    }
    expect(await storage.calls.recoverLeaked({ ...leaked, instance: DEAD })).toEqual([])
    expect(await storage.calls.recoverLeaked({ ...leaked, startedBefore: NOW })).toEqual([])
    expect(await storage.calls.recoverLeaked(leaked)).toEqual(['forgotten'])
    expect(await storage.calls.recoverLeaked(leaked)).toEqual([])
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows).toMatchObject([{ callId: 'forgotten', ending: 'recovered', deducted: TWO_CREDITS }])
    expect(await storage.calls.settle(settleTwoCredits('running'))).toMatchObject({ first: true })
  })

  test.each([
    [
      'nothing was charged',
      'another true amount',
      { produced: false, use: { usage: { output: 700 } }, due: 7 },
    ],
    ['less was charged', 'another true amount', { produced: true, use: { usage: { output: 700 } }, due: 7 }],
    ['more was charged', 'a smaller amount', { produced: true, use: { usage: { output: 150 } }, due: 1.5 }],
    [
      'as much was charged',
      'the same amount',
      { produced: true, use: { usage: { input: 1000, output: 100 } }, due: 2 },
    ],
    [
      'something was charged',
      'less than one Credit',
      { produced: true, use: { usage: { output: 50 } }, due: 0 },
    ],
  ] as const)(
    'of a recovered call for which %s the instance that comes back books %s, once',
    async (_what, _truth, { produced, use, due }) => {
      const { database, storage } = await openWithAccount(suite)
      const other = await database.open()
      await storage.keys.patch(KEY, {
        policy: {
          concurrency: 1,
          windows: [
            { dimension: 'requests', limit: 9, seconds: 3600 },
            { dimension: 'amount', limit: 100, seconds: 3600 },
          ],
        },
      })
      await storage.calls.heartbeat(DEAD, NOW)
      await reserve(storage, 'call_1')
      if (produced) await produce(storage, 'call_1')
      expect(await recover(storage, BOUNDS)).toBe(1)
      expect(await storage.ledger.verify()).toEqual([])
      const truth = exampleSettle('call_1', use, { at: LATER + 1 })
      expect(await other.calls.settle(truth)).toMatchObject({
        first: true,
        late: true,
        deducted: credits(due),
      })
      for (const again of [storage, other]) {
        expect(await again.calls.settle(truth)).toMatchObject({ first: false, deducted: 0n })
        await again.calls.abandon(exampleAbandon('call_1'))
      }
      const account = await storage.accounts.find(ACCOUNT)
      expect(account).toMatchObject({
        credits: credits(1000 - due),
        monthSpent: credits(due),
        held: 0n,
        owed: 0n,
      })
      const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
      expect(rows).toMatchObject([
        { callId: 'call_1', ending: 'complete', recovered: true, httpStatus: 200, deducted: credits(due) },
      ])
      expect(await storage.calls.reserve(exampleReserve('next', { at: LATER + 2 }))).toMatchObject({
        kind: 'reserved',
        windows: [
          { dimension: 'requests', remaining: 7 },
          { dimension: 'amount', remaining: 100 - due },
        ],
      })
      expect(await storage.ledger.verify()).toEqual([])
    },
  )

  test('a recovered call that its instance gives up after all is given back what it was charged', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await produce(storage, 'call_1')
    await recover(storage, BOUNDS)
    const abandon = exampleAbandon('call_1', { at: LATER + 1, sent: true })
    await storage.calls.abandon(abandon)
    await storage.calls.abandon(abandon)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), monthSpent: 0n })
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows).toMatchObject([{ httpStatus: 502, recovered: true, amount: 0n, deducted: 0n }])
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a recovered call takes no slot, is none that runs, and is not begun again', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: ONE_AT_ONCE })
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await recover(storage, BOUNDS)
    await expect(reserve(storage, 'call_1')).rejects.toThrow('has ended')
    await produce(storage, 'call_1')
    const credential = credentialId('credential_1')
    const claim = { callId: callId('call_1'), at: LATER, credentialId: credential, policy: ONE_AT_ONCE }
    const counts = { requests: 1, images: 0, videos: 0, videoSeconds: 0 }
    expect(await storage.calls.claim({ ...claim, counts })).toMatchObject({ kind: 'full' })
    expect(await reserve(storage, 'call_2', ALIVE)).toMatchObject({ kind: 'reserved' })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('what nobody has said by then stays as recovery left it', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await recover(storage, BOUNDS)
    await storage.calls.forgetRecovered(LATER)
    expect(await storage.calls.settle(exampleSettle('other'))).toMatchObject({ first: false })
    await storage.calls.forgetRecovered(LATER + 1)
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: false })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), held: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a row that cannot be read any more does not keep the other calls open', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await reserve(storage, 'call_2')
    await produce(storage, 'call_1')
    await database.execute("update open_calls set body = 'broken' where call_id = 'call_1'")
    expect(await recover(storage, BOUNDS)).toBe(1)
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows.map((row) => row.callId)).toEqual(['call_2'])
  })
}
