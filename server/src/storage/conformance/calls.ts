import { expect, test } from 'vitest'
import {
  ACCOUNT,
  credits,
  exampleDemand,
  exampleAbandon,
  exampleLog,
  exampleReserve,
  FALLBACK,
  KEY,
  VENDOR,
} from '../../core/calls/examples.ts'
import { callId, credentialId, keyId, vendorCode } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'
import { Secret } from '../../core/secret.ts'
import {
  countReserved,
  exampleApiKey,
  exampleGrant,
  NOW,
  openWithAccount,
  settleTwoCredits,
  type StorageSuite,
  TWO_CREDITS,
} from './suite.ts'

/** The hold of one example call. */
const HELD = credits(11)
const CREDENTIAL = credentialId('credential_1')
const ONE_REQUEST = { requests: 1, images: 0, videos: 0, videoSeconds: 0 }
const ONE_AT_ONCE: Policy = { concurrency: 1, windows: [] }

export function describeCalls(suite: StorageSuite): void {
  test('a reserved call holds, a settled one is charged and logged, and the ledger agrees', async () => {
    const { storage } = await openWithAccount(suite)
    expect(await storage.calls.reserve(exampleReserve('call_1'))).toMatchObject({
      kind: 'reserved',
      held: HELD,
    })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), held: HELD })
    expect(await storage.ledger.verify()).toEqual([])
    const settled = await storage.calls.settle(settleTwoCredits('call_1'))
    expect(settled).toEqual({ kind: 'settled', first: true, late: false, deducted: TWO_CREDITS })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows).toMatchObject([{ callId: 'call_1', amount: TWO_CREDITS, deducted: TWO_CREDITS }])
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('of 200 parallel calls on an account that funds exactly 7, exactly 7 pass [D-money-10]', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(11 * 7 + 10) })
    expect(await countReserved([storage], 200)).toBe(7)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: credits(77) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('exactly as many pass when two processes reserve on one account at once', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(11 * 7 + 10) })
    expect(await countReserved([storage, await database.open()], 60)).toBe(7)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a window of a key lets exactly its limit pass over two processes', async () => {
    const { database, storage } = await openWithAccount(suite)
    const policy: Policy = {
      concurrency: undefined,
      windows: [{ dimension: 'requests', limit: 5, seconds: 60 }],
    }
    await storage.keys.patch(KEY, { policy })
    expect(await countReserved([storage, await database.open()], 20)).toBe(5)
  })

  test('what a window has counted survives closing and opening', async () => {
    const { database, storage } = await openWithAccount(suite)
    const policy: Policy = {
      concurrency: undefined,
      windows: [{ dimension: 'requests', limit: 1, seconds: 60 }],
    }
    await storage.keys.patch(KEY, { policy })
    await storage.calls.reserve(exampleReserve('call_1'))
    await storage.calls.settle(settleTwoCredits('call_1'))
    await storage.close()
    const again = await database.open()
    expect(await again.calls.reserve(exampleReserve('call_2', { at: NOW + 59_999 }))).toMatchObject({
      kind: 'refused',
      refusal: { code: 42902, retryAfterMs: 1 },
    })
    expect(await again.calls.reserve(exampleReserve('call_3', { at: NOW + 60_000 }))).toMatchObject({
      kind: 'reserved',
    })
  })

  test.each([
    ['disabled', 40102],
    ['deleted', 40101],
  ] as const)('a key that another process has %s is refused on the very next call', async (status, code) => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    expect(await other.calls.reserve(exampleReserve('before'))).toMatchObject({ kind: 'reserved' })
    await storage.keys.patch(KEY, { status })
    expect(await other.calls.reserve(exampleReserve('after'))).toMatchObject({
      kind: 'refused',
      refusal: { code },
    })
  })

  test.each(['another process', 'this process'])(
    'an account that %s has suspended is refused on the very next call',
    async (who) => {
      const { database, storage } = await openWithAccount(suite)
      const calling = who === 'this process' ? storage : await database.open()
      expect(await calling.calls.reserve(exampleReserve('before'))).toMatchObject({ kind: 'reserved' })
      await storage.accounts.patch(ACCOUNT, { status: 'suspended' })
      expect(await calling.calls.reserve(exampleReserve('after'))).toMatchObject({
        kind: 'refused',
        refusal: { code: 40303 },
      })
    },
  )

  test('what another process books, reserves and settles in between is reckoned with', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: HELD })
    const other = await database.open()
    expect(await storage.calls.reserve(exampleReserve('call_1'))).toMatchObject({ kind: 'reserved' })
    expect(await other.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: true })
    expect(await storage.calls.reserve(exampleReserve('call_2'))).toMatchObject({ kind: 'refused' })
    await other.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'grant_1', amount: TWO_CREDITS })])
    expect(await storage.calls.reserve(exampleReserve('call_3'))).toMatchObject({ kind: 'reserved' })
    expect(await other.calls.reserve(exampleReserve('call_4'))).toMatchObject({ kind: 'refused' })
    expect(await storage.calls.settle(settleTwoCredits('call_1'))).toMatchObject({ first: false })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a key nobody knows is refused and leaves nothing', async () => {
    const { storage } = await openWithAccount(suite)
    const outcome = await storage.calls.reserve(exampleReserve('call_1', { keyId: keyId('unknown') }))
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 40101 } })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('own credentials of the account decide who pays, as they are at that moment', async () => {
    const { storage } = await openWithAccount(suite)
    const secret = { secret: new Secret('own'), fields: {} }
    const byokVendors = async (id: string) => {
      const outcome = await storage.calls.reserve(exampleReserve(id))
      return outcome.kind === 'reserved' ? outcome.model.byokVendors : outcome
    }
    await storage.accounts.putByok(ACCOUNT, vendorCode('openai'), secret, { enabled: true })
    expect(await byokVendors('call_1')).toEqual([VENDOR])
    await storage.accounts.putByok(ACCOUNT, vendorCode('openai'), secret, { enabled: false })
    expect(await byokVendors('call_2')).toEqual([])
  })

  test('a call is given back whatever kind of waiting end asks for it', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('call_1'))
    const waited = { ...exampleAbandon('call_1'), kind: 'lost-reservation' }
    expect(await storage.calls.abandon(waited)).toMatchObject({ kind: 'done' })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: 0n })
  })

  test('abandoning gives slot, window and hold back and logs the call', async () => {
    const { storage } = await openWithAccount(suite)
    const policy: Policy = { concurrency: 1, windows: [{ dimension: 'requests', limit: 1, seconds: 60 }] }
    await storage.keys.patch(KEY, { policy })
    await storage.calls.reserve(exampleReserve('call_1'))
    expect(await storage.calls.reserve(exampleReserve('call_2'))).toMatchObject({ kind: 'refused' })
    await storage.calls.abandon({
      callId: callId('call_1'),
      keyId: KEY,
      accountId: ACCOUNT,
      at: NOW,
      sent: false,
      log: exampleLog('call_1', { httpStatus: 502, ending: 'upstream-error' }),
    })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), held: 0n })
    expect(await storage.calls.reserve(exampleReserve('call_3'))).toMatchObject({ kind: 'reserved' })
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    expect(rows).toMatchObject([{ callId: 'call_1', httpStatus: 502, amount: 0n }])
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a place on an upstream credential is taken once and free when its call ends', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await Promise.all(['call_1', 'call_2'].map((id) => storage.calls.reserve(exampleReserve(id))))
    const claim = (of: typeof storage, id: string) =>
      of.calls.claim({
        callId: callId(id),
        at: NOW,
        credentialId: CREDENTIAL,
        policy: ONE_AT_ONCE,
        counts: ONE_REQUEST,
      })
    const both = await Promise.all([claim(storage, 'call_1'), claim(other, 'call_2')])
    expect(both.map(({ kind }) => kind).sort()).toEqual(['claimed', 'full'])
    expect(await storage.ledger.verify()).toEqual([])
    const holder = both[0].kind === 'claimed' ? 'call_1' : 'call_2'
    await storage.calls.settle(settleTwoCredits(holder))
    const waiting = holder === 'call_1' ? 'call_2' : 'call_1'
    expect(await claim(storage, waiting)).toEqual({ kind: 'claimed' })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a place on an upstream credential that is given back is free while its call goes on', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    const place = { at: NOW, credentialId: CREDENTIAL, policy: ONE_AT_ONCE, counts: ONE_REQUEST }
    for (const id of ['call_1', 'call_2']) await storage.calls.reserve(exampleReserve(id))
    await storage.calls.claim({ ...place, callId: callId('call_1') })
    expect(await other.calls.claim({ ...place, callId: callId('call_2') })).toMatchObject({ kind: 'full' })
    await storage.calls.unclaim({ callId: callId('call_1'), credentialId: CREDENTIAL })
    expect(await other.calls.claim({ ...place, callId: callId('call_2') })).toEqual({ kind: 'claimed' })
    await storage.calls.settle(settleTwoCredits('call_1'))
    expect(await storage.ledger.verify()).toEqual([])
    await other.calls.settle(settleTwoCredits('call_2'))
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('the fallback model is funded with the call and billed at its own prices', async () => {
    const { storage } = await openWithAccount(suite)
    const fallback = exampleDemand({ modelId: FALLBACK })
    expect(await storage.calls.reserve(exampleReserve('call_1', { fallback }))).toMatchObject({
      kind: 'reserved',
      fallback: { kind: 'funded', otherwise: 'credits' },
    })
    expect(await storage.calls.settle(settleTwoCredits('call_1', { modelId: FALLBACK }))).toMatchObject({
      first: true,
    })
  })

  test('operations that arrive together run in their order, in one transaction', async () => {
    const { storage } = await openWithAccount(suite)
    const [reserved, settled] = await Promise.all([
      storage.calls.reserve(exampleReserve('call_1')),
      storage.calls.settle(settleTwoCredits('call_1')),
    ])
    expect(reserved).toMatchObject({ kind: 'reserved' })
    expect(settled).toMatchObject({ first: true })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('an operation that cannot be written fails alone, not with those it shared a transaction with', async () => {
    const { storage } = await openWithAccount(suite)
    const results = await Promise.allSettled([
      storage.calls.reserve(exampleReserve('call_1')),
      storage.calls.log({ log: exampleLog('broken', { createdAt: Number.NaN }) }),
      storage.calls.reserve(exampleReserve('call_2')),
      storage.calls.log({ log: exampleLog('sound') }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ held: 2n * HELD })
  })

  test('money beyond 2^53 µCr stays exact', async () => {
    const opening = credits(0) + 9_007_199_254_741_993n
    const { storage } = await openWithAccount(suite, { credits: opening as typeof HELD })
    await storage.calls.reserve(exampleReserve('call_1'))
    await storage.calls.settle(settleTwoCredits('call_1'))
    expect((await storage.accounts.find(ACCOUNT))?.credits).toBe(opening - TWO_CREDITS)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('keys of one account share its limits', async () => {
    const { storage } = await openWithAccount(suite, { policy: ONE_AT_ONCE })
    await storage.keys.create(exampleApiKey({ id: keyId('key_2'), hash: '2'.repeat(64) }))
    expect(await storage.calls.reserve(exampleReserve('call_1'))).toMatchObject({ kind: 'reserved' })
    expect(await storage.calls.reserve(exampleReserve('call_2', { keyId: keyId('key_2') }))).toMatchObject({
      kind: 'refused',
      refusal: { code: 42901 },
    })
  })
}
