import { expect, test } from 'vitest'
import { ACCOUNT, CHAIN, credits, exampleReserve, KEY, MODEL, VENDOR } from '../../core/calls/examples.ts'
import { encodeDescription } from '../../core/calls/recover.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { callId, instanceId } from '../../core/ids.ts'
import type { Storage } from '../storage.ts'
import { NOW, openWithAccount, settleTwoCredits, type StorageSuite, TWO_CREDITS } from './suite.ts'

const DEAD = instanceId('dead')
const ALIVE = instanceId('alive')
const LATER = NOW + 120_000
/** The dead one was last heard of long before; slots live 600 s (contract §8). */
const BOUNDS = { at: LATER, deadBefore: LATER - 30_000, leakedBefore: LATER - 600_000 }

const ONE_AT_ONCE = { concurrency: 1, windows: [] }

const DESCRIPTION = encodeDescription({
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
})

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
    expect(await storage.calls.recover(BOUNDS)).toBe(2)
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
    expect(await storage.calls.recover(BOUNDS)).toBe(0)
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: true })
  })

  test('[D-admission-29] a heartbeat renews the slots of calls that run long', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: ONE_AT_ONCE })
    await storage.calls.heartbeat(ALIVE, NOW)
    await reserve(storage, 'call_1', ALIVE)
    const at = NOW + 650_000
    await storage.calls.heartbeat(ALIVE, at - 5_000)
    expect(await storage.calls.recover({ at, deadBefore: at - 30_000, leakedBefore: at - 600_000 })).toBe(0)
    const second = exampleReserve('call_2', { at })
    expect(await storage.calls.reserve(second)).toMatchObject({
      kind: 'refused',
      refusal: { code: 42901 },
    })
  })

  test('[8-06] [8-07] [D-admission-30] a slot that nobody renewed is free after 600 s, even if its instance lives', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.keys.patch(KEY, { policy: ONE_AT_ONCE })
    await storage.calls.heartbeat(ALIVE, NOW)
    await reserve(storage, 'leaked', ALIVE)
    const recover = (at: number) => storage.calls.recover({ at, deadBefore: 0, leakedBefore: at - 600_000 })
    const next = (id: string, at: number) => storage.calls.reserve(exampleReserve(id, { at }))
    expect(await recover(NOW + 600_000)).toBe(0)
    expect(await next('call_1', NOW + 600_000)).toMatchObject({ kind: 'refused' })
    expect(await recover(NOW + 600_001)).toBe(1)
    expect(await next('call_2', NOW + 600_001)).toMatchObject({ kind: 'reserved' })
  })

  test('two instances that recover at once end each call once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await storage.calls.heartbeat(DEAD, NOW)
    const ids = Array.from({ length: 40 }, (_, index) => `call_${index}`)
    await Promise.all(ids.map((id) => reserve(storage, id)))
    await Promise.all(ids.map((id) => produce(storage, id)))
    const counts = await Promise.all([storage.calls.recover(BOUNDS), other.calls.recover(BOUNDS)])
    expect(counts[0] + counts[1]).toBe(ids.length)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000 - 80), held: 0n })
    expect(await storage.calls.recover(BOUNDS)).toBe(0)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('the owner of a recovered call that comes back late changes nothing', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await storage.calls.recover(BOUNDS)
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: false })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), held: 0n })
  })

  test('a row that cannot be read any more does not keep the other calls open', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.calls.heartbeat(DEAD, NOW)
    await reserve(storage, 'call_1')
    await reserve(storage, 'call_2')
    await produce(storage, 'call_1')
    await database.execute("update open_calls set body = 'broken' where call_id = 'call_1'")
    expect(await storage.calls.recover(BOUNDS)).toBe(1)
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows.map((row) => row.callId)).toEqual(['call_2'])
  })
}
