import { expect, test } from 'vitest'
import { ACCOUNT, credits, exampleReserve } from '../../../core/calls/examples.ts'
import { accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { InvalidCursor } from '../../failures/invalid-cursor.ts'
import { transferCursor } from '../../sql/cursor.ts'
import {
  createAccount,
  exampleGrant,
  NOW,
  openWithAccount,
  OTHER_ACCOUNT,
  settleTwoCredits,
  type StorageSuite,
} from '../suite.ts'

export function describeLedger(suite: StorageSuite): void {
  test('the same movement sent twice is booked once [D-money-15]', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: microCredits(0n) })
    const grant = [exampleGrant(ACCOUNT, { transactionId: 'grant_1', amount: credits(5) })]
    const other = await database.open()
    const booked = await Promise.all([storage.ledger.book(grant), other.ledger.book(grant)])
    expect(booked.filter((first) => first)).toHaveLength(1)
    expect(await storage.ledger.book(grant)).toBe(false)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(5) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a booking moves the stored balances with its entries, all of it or nothing', async () => {
    const { storage } = await openWithAccount(suite, { credits: microCredits(0n) })
    const exchange = { transactionId: 'exchange_1', at: NOW, kind: 'exchange', reference: 'manual' } as const
    const topUp = exampleGrant(ACCOUNT, {
      transactionId: 'top-up_1',
      debit: 'platform/payments',
      credit: `${ACCOUNT}/balance`,
      amount: credits(20),
      kind: 'top-up',
    })
    await storage.ledger.book([topUp])
    await storage.ledger.book([
      exampleGrant(ACCOUNT, { ...exchange, debit: `${ACCOUNT}/balance`, amount: credits(8) }),
      exampleGrant(ACCOUNT, { ...exchange, sequence: 1, debit: `${ACCOUNT}/balance`, amount: credits(2) }),
    ])
    const balances = { credits: credits(10), balance: credits(10), held: 0n }
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject(balances)
    const broken = [
      exampleGrant(ACCOUNT, { transactionId: 'broken' }),
      exampleGrant(ACCOUNT, { transactionId: 'broken' }),
    ]
    await expect(storage.ledger.book(broken)).rejects.toThrow()
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject(balances)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('an account nobody knows is not booked on', async () => {
    const { storage } = await openWithAccount(suite)
    await expect(storage.ledger.book([exampleGrant(accountId('nobody'))])).rejects.toThrow('nobody')
  })

  test.each(['update transfers set amount = 1', 'delete from transfers'])(
    'the database itself refuses to change entries: %s [D-money-16] [D-money-17]',
    async (statement) => {
      const { database, storage } = await openWithAccount(suite)
      const before = await storage.ledger.transfers({ limit: 10, after: undefined })
      await expect(database.execute(statement)).rejects.toThrow('never changed or deleted')
      expect(await storage.ledger.transfers({ limit: 10, after: undefined })).toEqual(before)
    },
  )

  test('a statement is newest first, of one account, and its pages join without gap or repetition', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    for (let index = 0; index < 7; index++) {
      const at = NOW + 1 + Math.floor(index / 3)
      await storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: `grant_${index}`, at })])
    }
    const ids: string[] = []
    let after: string | undefined
    do {
      const page = await storage.ledger.transfers({ accountId: ACCOUNT, limit: 3, after })
      ids.push(...page.map(({ transactionId }) => transactionId))
      const last = page.at(-1)
      after = page.length < 3 || last === undefined ? undefined : transferCursor(last)
    } while (after !== undefined)
    const grants = ['grant_6', 'grant_5', 'grant_4', 'grant_3', 'grant_2', 'grant_1', 'grant_0']
    expect(ids).toEqual([...grants, `opening-${ACCOUNT}`])
    const all = await storage.ledger.transfers({ limit: 100, after: undefined })
    expect(all).toHaveLength(9)
    await expect(storage.ledger.transfers({ limit: 3, after: 'unreadable' })).rejects.toThrow(InvalidCursor)
  })

  test.each([
    ["update accounts set credits = credits + 1 where id = 'acc_1'", 'credits by the ledger'],
    ["update accounts set balance = 5 where id = 'acc_1'", 'balance by the ledger'],
    ["update accounts set held = held - 1 where id = 'acc_1'", 'held by open calls'],
    ["update open_calls set held = held - 1 where call_id = 'open'", 'held by open calls'],
    ["update limit_states set slots = 7 where subject = 'key:key_1'", 'slots'],
    ["delete from limit_states where subject = 'account:acc_1'", 'slots'],
    [
      `insert into limit_states (subject, slots, windows) values ('quota:acc_1', 0, '[["amount:60",5,7,0]]')`,
      'used in amount:60',
    ],
    [
      `insert into limit_states (subject, slots, windows) values ('quota:acc_1', 0, '[["amount:60",5,0,0,9,3,5]]')`,
      'carried over in amount:60',
    ],
    ["update call_logs set deducted = 1 where call_id = 'ended'", 'deducted by the ledger'],
    ["update call_logs set amount = amount + 1 where call_id = 'ended'", 'amount by the recipe'],
  ])('verify finds what does not follow from the entries: %s', async (statement, what) => {
    const { database, storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('ended'))
    await storage.calls.settle(settleTwoCredits('ended'))
    await storage.calls.reserve(exampleReserve('open'))
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute(statement)
    expect((await storage.ledger.verify()).map((difference) => difference.what)).toContain(what)
  })

  test('verify finds nothing where an older release, which books what calls hold, ends the call of a newer one', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('taken-over'))
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute(`update open_calls set body = replace(body, ',"holdIsUnbooked":true', '')`)
    await storage.calls.settle(settleTwoCredits('taken-over'))
    const moved = await storage.ledger.transfers({ limit: 10, after: undefined })
    expect(moved.map(({ kind }) => kind)).toContain('release')
    expect(await storage.ledger.verify()).toEqual([])
  })
}
