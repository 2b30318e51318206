/** Repeating any verb changes nothing: a process without an answer asks again. */
import { expect, test } from 'vitest'
import { ACCOUNT, CHAIN, exampleLog, exampleReserve, KEY, MODEL } from '../../core/calls/examples.ts'
import { callId, credentialId } from '../../core/ids.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { Storage } from '../storage.ts'
import { type DatabaseUnderTest, NOW, openWithAccount, settleTwoCredits, type StorageSuite } from './suite.ts'

const CALL = callId('call_1')
const abandon = {
  callId: CALL,
  keyId: KEY,
  accountId: ACCOUNT,
  at: NOW,
  sent: false,
  log: exampleLog('call_1'),
}
const claim = {
  callId: CALL,
  at: NOW,
  credentialId: credentialId('credential_1'),
  policy: { concurrency: 5, windows: [{ dimension: 'requests', limit: 5, seconds: 60 }] },
  counts: { requests: 1, images: 0, videos: 0, videoSeconds: 0 },
} as const
const progress = {
  callId: CALL,
  at: NOW + 1,
  chainId: CHAIN,
  modelId: MODEL,
  byok: false,
  usage: { ...NO_USAGE, input: 10, output: 5 },
  usageSource: 'upstream',
  images: 0,
} as const

const reserve = (storage: Storage) => storage.calls.reserve(exampleReserve('call_1'))
const settle = (storage: Storage) => storage.calls.settle(settleTwoCredits('call_1'))

export function describeIdempotency(suite: StorageSuite): void {
  test.each([
    { verb: 'reserve', before: [], run: reserve },
    { verb: 'claim', before: [reserve], run: (storage: Storage) => storage.calls.claim(claim) },
    {
      verb: 'unclaim',
      before: [reserve, (storage: Storage) => storage.calls.claim(claim)],
      run: (storage: Storage) => storage.calls.unclaim(claim),
    },
    { verb: 'progress', before: [reserve], run: (storage: Storage) => storage.calls.progress(progress) },
    { verb: 'abandon', before: [reserve], run: (storage: Storage) => storage.calls.abandon(abandon) },
    { verb: 'log', before: [], run: (storage: Storage) => storage.calls.log({ log: exampleLog('call_1') }) },
  ])('$verb repeated gives the same outcome and changes nothing', async ({ before, run }) => {
    const { database, storage } = await openWithAccount(suite)
    for (const step of before) await step(storage)
    const first = await run(storage)
    expect(await run(storage)).toEqual(first)
    const other = await database.open()
    const state = await stateOf(database)
    expect(await run(storage)).toEqual(first)
    expect(await run(other)).toEqual(first)
    expect(await stateOf(database)).toEqual(state)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('settle repeated says so and changes nothing', async () => {
    const { database, storage } = await openWithAccount(suite)
    await reserve(storage)
    expect(await settle(storage)).toMatchObject({ first: true })
    const state = await stateOf(database)
    expect(await settle(storage)).toEqual({ kind: 'settled', first: false, late: false, deducted: 0n })
    await storage.calls.abandon(abandon)
    await storage.calls.progress(progress)
    expect(await storage.calls.claim(claim)).toMatchObject({ kind: 'full' })
    expect(await stateOf(database)).toEqual(state)
  })

  test('a call that was abandoned is not settled after', async () => {
    const { database, storage } = await openWithAccount(suite)
    await reserve(storage)
    await storage.calls.abandon(abandon)
    const state = await stateOf(database)
    expect(await settle(storage)).toMatchObject({ first: false })
    expect(await stateOf(database)).toEqual(state)
  })

  test('a call that has ended is not reserved again: nothing would ever give its hold back', async () => {
    const { database, storage } = await openWithAccount(suite)
    await reserve(storage)
    await settle(storage)
    const state = await stateOf(database)
    await expect(reserve(storage)).rejects.toThrow('has ended')
    expect(await stateOf(database)).toEqual(state)
  })

  test('the same call reserved from two processes at once is held for once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    const outcomes = await Promise.all([reserve(storage), reserve(other), reserve(storage), reserve(other)])
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    expect(await storage.ledger.verify()).toEqual([])
    const { held } = outcomes[0]?.kind === 'reserved' ? outcomes[0] : { held: 0n }
    expect(held).toBeGreaterThan(0n)
    expect((await storage.accounts.find(ACCOUNT))?.held).toBe(held)
  })

  test('the same call settled from two processes at once is charged once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await reserve(storage)
    const outcomes = await Promise.all([settle(storage), settle(other), settle(storage), settle(other)])
    expect(outcomes.filter(({ first }) => first)).toHaveLength(1)
    expect(await storage.ledger.verify()).toEqual([])
  })
}

/** Everything stored except the time of this process's last heartbeat. */
async function stateOf(database: DatabaseUnderTest): Promise<string> {
  return database.dump()
}
