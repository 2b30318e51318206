/** What exceeds an account's cap is owed: booked, shown, and charged as soon as the cap allows. */
import { describe, expect, test } from 'vitest'
import {
  ACCOUNT,
  credits,
  exampleAbandon,
  exampleReserve,
  exampleSettle,
} from '../../../core/calls/examples.ts'
import { accountId } from '../../../core/ids.ts'
import type { Storage } from '../../storage.ts'
import { createTeam, TEAM } from '../organisations.ts'
import {
  createAccount,
  exampleApiKey,
  exampleGrant,
  NOW,
  openWithAccount,
  recover,
  type StorageSuite,
} from '../suite.ts'

const NEXT_MONTH = NOW + 500_000

/** 50 Credits, 15 of which fit under the cap. */
const OVER = { usage: { output: 5_000 } }

export function describeOwed(suite: StorageSuite): void {
  const owing = async () => {
    const opened = await openWithAccount(suite, { monthlyCap: credits(15) })
    await opened.storage.calls.reserve(exampleReserve('call_1'))
    await opened.storage.calls.settle(exampleSettle('call_1', OVER))
    return opened
  }
  const account = (storage: Storage) => storage.accounts.find(ACCOUNT)

  test('a call over the cap takes what there is room for and owes the rest', async () => {
    const { database, storage } = await owing()
    const owes = { credits: credits(985), owed: credits(35), monthSpent: credits(15) }
    for (const reader of [storage, await database.open()]) expect(await account(reader)).toMatchObject(owes)
    expect(await storage.ledger.transaction('call_1')).toContainEqual(
      expect.objectContaining({ kind: 'owed', debit: `${ACCOUNT}/owed`, amount: credits(35) }),
    )
    const { rows } = await storage.logs.page({}, { limit: 1, cursor: undefined })
    expect(rows).toMatchObject([{ deducted: credits(50), owed: credits(35), capped: true }])
    expect(await storage.ledger.verify()).toEqual([])
  })

  test.each([
    ['raised a little', 20, 30, 20],
    ['raised enough', 60, 0, 50],
    ['removed', 0, 0, 50],
    ['lowered', 5, 35, 15],
  ])(
    'a cap that is %s charges what it has room for in the same transaction',
    async (_how, cap, owed, spent) => {
      const { storage } = await owing()
      for (let again = 0; again < 2; again++) {
        await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(cap) })
        expect(await account(storage)).toMatchObject({
          credits: credits(1000 - spent),
          owed: credits(owed),
          monthSpent: credits(spent),
        })
        expect(await storage.ledger.verify()).toEqual([])
      }
    },
  )

  test('raised, spent and lowered again, it makes no answer cheaper', async () => {
    const { storage } = await owing()
    for (const [index, cap] of [27, 1, 38, 0, 12].entries()) {
      await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(cap) })
      const id = `again_${index}`
      const { kind } = await storage.calls.reserve(exampleReserve(id))
      if (kind === 'reserved') await storage.calls.settle(exampleSettle(id, OVER))
    }
    const { rows } = await storage.logs.page({}, { limit: 10, cursor: undefined })
    const { credits: left, owed, monthSpent } = (await account(storage)) ?? expect.fail('no account')
    expect(credits(1000) - left + owed).toBe(credits(50 * rows.length))
    expect(monthSpent + owed).toBe(credits(50 * rows.length))
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('with the next month it is charged before anything else, as far as that month’s cap goes', async () => {
    const { storage } = await owing()
    const next = { at: NEXT_MONTH, monthStart: NEXT_MONTH }
    expect(await storage.calls.reserve(exampleReserve('early', next))).toMatchObject({
      refusal: { code: 42906 },
    })
    expect(await account(storage)).toMatchObject({ owed: credits(35), monthSpent: credits(15) })
    expect(await storage.accounts.chargeOwed(next)).toBe(1)
    expect(await account(storage)).toMatchObject({
      credits: credits(970),
      owed: credits(20),
      monthStart: NEXT_MONTH,
      monthSpent: credits(15),
    })
    expect(await storage.accounts.chargeOwed(next)).toBe(0)
    await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(60) })
    expect(await account(storage)).toMatchObject({ owed: 0n, monthSpent: credits(35) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a call that begins in the next month pays first what is owed', async () => {
    const { storage } = await owing()
    await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(16) })
    await storage.calls.reserve(exampleReserve('call_2', { at: NEXT_MONTH, monthStart: NEXT_MONTH }))
    expect(await account(storage)).toMatchObject({ owed: credits(34) })
    const month = { at: 2 * NEXT_MONTH, monthStart: 2 * NEXT_MONTH }
    await storage.accounts.chargeOwed({ at: NEXT_MONTH, monthStart: NEXT_MONTH })
    await storage.accounts.chargeOwed(month)
    expect(await account(storage)).toMatchObject({ owed: credits(2), credits: credits(952) })
    expect(
      await storage.calls.reserve(exampleReserve('call_3', { ...month, monthStart: 3 * NEXT_MONTH })),
    ).toMatchObject({ kind: 'reserved' })
    expect(await account(storage)).toMatchObject({
      owed: 0n,
      credits: credits(950),
      monthSpent: credits(2),
      monthHeld: credits(11),
    })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('what running calls hold of the month is theirs; it pays what is owed when they leave it', async () => {
    const { storage } = await openWithAccount(suite, { monthlyCap: credits(26) })
    await storage.calls.reserve(exampleReserve('call_1'))
    await storage.calls.reserve(exampleReserve('call_2'))
    await storage.calls.settle(exampleSettle('call_1', OVER))
    expect(await account(storage)).toMatchObject({ monthSpent: credits(15), owed: credits(35) })
    await storage.calls.abandon(exampleAbandon('call_2'))
    expect(await account(storage)).toMatchObject({ monthSpent: credits(26), owed: credits(24), held: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('30 calls in parallel over two processes pay or owe the whole of what they cost', async () => {
    const { database, storage } = await openWithAccount(suite, { monthlyCap: credits(330) })
    const processes = [storage, await database.open()]
    const ids = Array.from({ length: 30 }, (_, index) => `call_${index}`)
    const on = (index: number) => processes[index % 2] ?? storage
    await Promise.all(ids.map((id, index) => on(index).calls.reserve(exampleReserve(id))))
    await Promise.all(ids.map((id, index) => on(index).calls.settle(exampleSettle(id, OVER))))
    expect(await account(storage)).toMatchObject({
      credits: credits(670),
      monthSpent: credits(330),
      owed: credits(1_170),
    })
    await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(0) })
    expect(await account(storage)).toMatchObject({ credits: credits(-500), owed: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('accounts that owe and make no call are all charged when the month begins', async () => {
    const { storage } = await owing()
    const others = Array.from({ length: 3 }, (_, index) => accountId(`other_${index}`))
    for (const id of others) await createAccount(storage, { id })
    expect(await storage.accounts.chargeOwed({ at: NEXT_MONTH, monthStart: NEXT_MONTH })).toBe(1)
  })

  describe('where nobody has begun the month yet', () => {
    /** 2027-02-01 00:00:30 in Shanghai; the account is still in January. */
    const FEBRUARY = Date.UTC(2027, 0, 31, 16)
    const AT = FEBRUARY + 30_000
    const JANUARY = Date.UTC(2026, 11, 31, 16)
    const owingSinceJanuary = async () => {
      const database = await suite.createDatabase()
      const storage = await database.open({ now: AT })
      await createAccount(storage, { monthlyCap: credits(26) })
      await storage.keys.create(exampleApiKey())
      for (const id of ['call_1', 'call_2'])
        await storage.calls.reserve(exampleReserve(id, { at: FEBRUARY - 1_000, monthStart: JANUARY }))
      await storage.calls.settle(exampleSettle('call_1', OVER, { at: FEBRUARY - 500, monthStart: JANUARY }))
      expect(await account(storage)).toMatchObject({ owed: credits(35), monthSpent: credits(15) })
      return storage
    }
    const inFebruary = { monthStart: FEBRUARY, monthSpent: credits(26), owed: credits(9) }

    test('another cap charges what is owed in the month that runs', async () => {
      const storage = await owingSinceJanuary()
      await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(37) })
      // The running call holds 11.
      expect(await account(storage)).toMatchObject(inFebruary)
      expect(await storage.ledger.verify()).toEqual([])
    })

    test('a call that is given back charges it there', async () => {
      const storage = await owingSinceJanuary()
      await storage.calls.abandon(exampleAbandon('call_2', { at: AT, monthStart: FEBRUARY }))
      expect(await account(storage)).toMatchObject(inFebruary)
      expect(await storage.ledger.verify()).toEqual([])
    })

    test('a call that is taken over charges it there', async () => {
      const storage = await owingSinceJanuary()
      expect(await recover(storage, { at: AT, deadBefore: AT, leakedBefore: 0 })).toBe(1)
      expect(await account(storage)).toMatchObject(inFebruary)
      expect(await storage.ledger.verify()).toEqual([])
    })

    test('a recovered call that is given back after all charges it there', async () => {
      const storage = await owingSinceJanuary()
      const { callId, keyId, accountId: id } = exampleAbandon('call_2')
      const settled = exampleSettle('call_2', { usage: { output: 1_100 } }, { at: FEBRUARY - 1 })
      await storage.calls.settle({ ...settled, monthStart: JANUARY, recovery: true })
      expect(await account(storage)).toMatchObject({ monthSpent: credits(26), owed: credits(35) })
      const late = { callId, keyId, accountId: id, sent: false, at: AT, monthStart: FEBRUARY }
      await storage.calls.abandon(exampleAbandon('call_2', late))
      expect(await account(storage)).toMatchObject({ ...inFebruary, credits: credits(1_000 - 41) })
      expect(await storage.ledger.verify()).toEqual([])
    })
  })

  test('a closed organisation owes nothing any more', async () => {
    const { storage } = await openWithAccount(suite)
    await createTeam(storage)
    await storage.ledger.book([exampleGrant(TEAM, { amount: credits(40) })])
    expect(await storage.organisations.close(TEAM, { at: NOW, forfeit: 'allow' })).toMatchObject({
      kind: 'closed',
      credits: credits(40),
    })
    expect(await storage.accounts.find(TEAM)).toMatchObject({ owed: 0n, monthlyCap: 0n })
  })

  test.each([
    ["update accounts set owed = owed + 1 where id = 'acc_1'", 'owed by the ledger'],
    ["update accounts set owed = 0 where id = 'acc_1'", 'owed by the ledger'],
    ["update accounts set monthly_cap = 0 where id = 'acc_1'", 'owed without a monthly cap'],
    ["update call_logs set detail = replace(detail, '35000000', '34000000')", 'owed by the ledger'],
    ["update call_logs set deducted = 15000000 where call_id = 'call_1'", 'deducted by the ledger'],
  ])('verify finds what does not follow from what is owed: %s', async (statement, what) => {
    const { database, storage } = await owing()
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute(statement)
    expect((await storage.ledger.verify()).map((difference) => difference.what)).toContain(what)
  })
}
