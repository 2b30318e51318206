import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import { microCredits } from '../../core/money.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import { createAccount, eachAccount, findAccount, startSubscription, viewAccount } from './accounts.ts'
import { grantCredits, grantOpening } from '../money/grants.ts'

let store: TestStore
beforeEach(async () => {
  store = await openTestStore()
})
afterEach(() => store.close())

const micro = (credits: number) => microCredits(BigInt(credits) * 1_000_000n)

async function found(reference: string) {
  const account = await findAccount(store.storage, reference)
  if (account === undefined) throw new Error(`${reference} is missing`)
  return account
}

describe('an account', () => {
  test('is found by id, e-mail address in any case, and phone number', async () => {
    const id = await createAccount(
      store.storage,
      { email: 'a@example.com', phone: '+8613800000000' },
      TEST_TIME,
    )
    for (const reference of [id, 'A@Example.com ', '+8613800000000']) {
      expect((await findAccount(store.storage, reference))?.id).toBe(id)
    }
    expect(await findAccount(store.storage, 'b@example.com')).toBeUndefined()
  })

  test('is the only one of its address', async () => {
    await createAccount(store.storage, { email: 'a@example.com' }, TEST_TIME)
    await expect(createAccount(store.storage, { email: 'a@example.com' }, TEST_TIME)).rejects.toThrow(
      StorageConflict,
    )
  })

  test('is listed with all others, whatever the size of a page', async () => {
    for (let index = 0; index < 5; index += 1) {
      await createAccount(store.storage, { email: `a${index}@example.com` }, TEST_TIME + index)
    }
    for (const pageLimit of [1, 2, 5, 100]) {
      const emails: (string | undefined)[] = []
      for await (const account of eachAccount(store.storage, pageLimit)) emails.push(account.email)
      expect(emails).toEqual([0, 1, 2, 3, 4].map((index) => `a${index}@example.com`))
    }
  })
})

describe('the view of an account', () => {
  const options = { currency: 'CNY', creditsPerUnit: '1000', at: TEST_TIME, monthStart: TEST_TIME }

  test('shows amounts as decimal text: Credits in Credits, all others in yuan', async () => {
    const id = await createAccount(
      store.storage,
      { email: 'a@example.com', monthlyCap: micro(20_000), verification: 1, userRate: '87.5' },
      TEST_TIME,
    )
    await grantOpening(
      store.storage,
      id,
      { credits: microCredits(1_500_000n), balance: micro(12_500) },
      TEST_TIME,
    )
    expect(viewAccount(await found(id), options)).toMatchObject({
      credits: '1.5',
      held_credits: '0',
      owed: '0',
      balance: '12.5',
      monthly_cap_yuan: '20',
      month_spent_yuan: '0',
      verification: 'personal',
      user_rate: '87.5',
      plan: null,
    })
  })

  test('shows spendable Credits and held ones apart, and what was spent in this month only', async () => {
    const account = await found(await createAccount(store.storage, { email: 'a@example.com' }, TEST_TIME))
    const spending = {
      ...account,
      credits: micro(10),
      held: micro(4),
      monthSpent: micro(3000),
      monthStart: TEST_TIME,
    }
    expect(viewAccount(spending, options)).toMatchObject({
      credits: '6',
      held_credits: '4',
      owed: '0',
      month_spent_yuan: '3',
    })
    const nextMonth = { ...options, monthStart: TEST_TIME + 1 }
    expect(viewAccount(spending, nextMonth).month_spent_yuan).toBe('0')
  })

  test('shows a subscription until it ends', async () => {
    const plan = {
      code: 'PRO',
      level: 2,
      price: '199',
      currency: 'CNY',
      periodDays: 30,
      quota: [{ credits: '0.5', seconds: 60 }],
    }
    const subscription = startSubscription(plan, 30, TEST_TIME)
    expect(subscription).toMatchObject({ level: 2, quota: [{ credits: 500_000n, seconds: 60 }] })
    const id = await createAccount(store.storage, { email: 'a@example.com', subscription }, TEST_TIME)
    const account = await found(id)
    expect(viewAccount(account, options)).toMatchObject({
      plan: 'PRO',
      plan_expires_at: '2027-01-31T00:00:00.000Z',
    })
    expect(viewAccount(account, { ...options, at: subscription.expiresAt })).toMatchObject({ plan: null })
  })
})

describe('grants', () => {
  test('are booked once under their id, whatever their sign, and the ledger agrees', async () => {
    const id = await createAccount(store.storage, { email: 'a@example.com' }, TEST_TIME)
    const grant = {
      accountId: id,
      amount: micro(10),
      transactionId: 'grant:1',
      reference: 'welcome',
      at: TEST_TIME,
    }
    expect(await grantCredits(store.storage, grant)).toBe(true)
    expect(await grantCredits(store.storage, grant)).toBe(false)
    expect(await grantCredits(store.storage, { ...grant, amount: micro(-3), transactionId: 'grant:2' })).toBe(
      true,
    )
    expect((await found(id)).credits).toBe(micro(7))
    expect(await store.storage.ledger.verify()).toEqual([])
  })

  test('open an account only as long as nothing was ever booked for it', async () => {
    const id = await createAccount(store.storage, { email: 'a@example.com' }, TEST_TIME)
    const opening = { credits: micro(5), balance: micro(0) }
    expect(await grantOpening(store.storage, id, opening, TEST_TIME)).toBe(true)
    expect(await grantOpening(store.storage, id, opening, TEST_TIME)).toBe(false)
    const other = await createAccount(store.storage, { email: 'b@example.com' }, TEST_TIME)
    await grantCredits(store.storage, {
      accountId: other,
      amount: micro(1),
      transactionId: 'g',
      reference: undefined,
      at: TEST_TIME,
    })
    expect(await grantOpening(store.storage, other, opening, TEST_TIME)).toBe(false)
  })
})
