import { expect, test } from 'vitest'
import { ACCOUNT, credits } from '../../../core/calls/examples.ts'
import { accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { Reversal } from '../../../core/top-up/payment.ts'
import type { Storage } from '../../storage.ts'
import type { NewTopUp, Payment, PaymentOutcome, RedemptionBatch } from '../../stores/top-ups.ts'
import { NOW, openWithAccount, type StorageSuite } from '../suite.ts'

function exampleTopUp(changes: Partial<NewTopUp> = {}): NewTopUp {
  return {
    id: 'top_1',
    accountId: ACCOUNT,
    driver: 'stripe',
    currency: 'cny',
    priceMinor: 1_000,
    pool: 'balance',
    amount: credits(100),
    package: undefined,
    createdAt: NOW,
    ...changes,
  }
}

function examplePayment(changes: Partial<Payment> = {}): Payment {
  return {
    driver: 'stripe',
    topUpId: 'top_1',
    checkout: 'cs_1',
    payment: 'pi_1',
    amountMinor: 1_000,
    currency: 'cny',
    at: NOW + 1,
    ...changes,
  }
}

const refundedInAll = (amountMinor: number): Reversal => ({
  kind: 'refunded-in-all',
  amountMinor,
  currency: 'cny',
})

const reverse = (storage: Storage, reversal: Reversal, payment = 'pi_1'): Promise<PaymentOutcome> =>
  storage.topUps.payments.reverse({ driver: 'stripe', payment, reversal, at: NOW + 2 })

async function openWithTopUp(suite: StorageSuite, changes: Partial<NewTopUp> = {}) {
  const opened = await openWithAccount(suite, { credits: credits(0) })
  const { payments } = opened.storage.topUps
  await payments.begin(exampleTopUp(changes), undefined)
  await payments.opened('top_1', { reference: 'cs_1', url: 'https://pay.example/1', endsAt: NOW + 9 })
  return { ...opened, payments }
}

function exampleBatch(): RedemptionBatch {
  return {
    id: 'bat_1',
    pool: 'credits',
    amount: credits(5),
    codes: 1,
    expiresAt: undefined,
    note: undefined,
    createdAt: NOW,
    createdBy: 'owner@example.com',
  }
}

const fundsOf = async (storage: Storage) => {
  const account = await storage.accounts.find(ACCOUNT)
  return [account?.credits, account?.balance]
}

export function describePayments(suite: StorageSuite): void {
  test('a top-up is begun once per idempotency key, and keeps its first checkout', async () => {
    const { storage } = await openWithAccount(suite)
    const { payments } = storage.topUps
    const idempotency = { key: 'k', fingerprint: 'f' }
    const begun = await Promise.all(
      ['top_1', 'top_2', 'top_3'].map((id) => payments.begin(exampleTopUp({ id }), idempotency)),
    )
    const ids = begun.map((one) => (one.kind === 'begun' ? one.topUp.id : one.kind))
    expect(new Set(ids).size).toBe(1)
    expect(await payments.begin(exampleTopUp({ id: 'top_4' }), { key: 'k', fingerprint: 'g' })).toEqual({
      kind: 'other-request',
    })
    await payments.begin(exampleTopUp({ id: 'top_5' }), undefined)
    await payments.begin(exampleTopUp({ id: 'top_6' }), undefined)
    const checkout = { reference: 'cs_1', url: 'https://pay.example/1', endsAt: NOW + 9 }
    expect(await payments.opened('top_5', checkout)).toMatchObject({ status: 'open', checkout })
    expect(await payments.opened('top_5', { ...checkout, url: 'https://pay.example/2' })).toMatchObject({
      checkout,
    })
    const listed = await payments.list({ accountId: ACCOUNT, status: 'open' }, { limit: 2, after: 'top_6' })
    expect(listed.map(({ id }) => id)).toEqual(['top_5', ids[0]])
  })

  test('it is booked once, however often and from wherever it is told to be paid', async () => {
    const { database, storage } = await openWithTopUp(suite)
    const other = await database.open()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? storage : other).topUps.payments.pay(examplePayment()),
      ),
    )
    const moved = outcomes.map((outcome) => (outcome.kind === 'noted' ? outcome.moved : outcome.kind))
    expect(moved.filter((one) => one === credits(100))).toHaveLength(1)
    expect(moved.filter((one) => one === 0n)).toHaveLength(19)
    expect(await fundsOf(storage)).toEqual([0n, credits(100)])
    expect(await storage.topUps.payments.find('top_1')).toMatchObject({
      status: 'paid',
      paidAt: NOW + 1,
      booked: credits(100),
    })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test.each<[string, Partial<Payment>]>([
    ['amount', { amountMinor: 999 }],
    ['currency', { currency: 'usd' }],
    ['checkout', { checkout: 'cs_other' }],
  ])('another %s than was asked books nothing and is left for people to look at', async (_, changes) => {
    const { storage, payments } = await openWithTopUp(suite)
    expect(await payments.pay(examplePayment(changes))).toMatchObject({ kind: 'mismatch' })
    expect(await payments.find('top_1')).toMatchObject({ status: 'review', booked: 0n })
    expect(await fundsOf(storage)).toEqual([0n, 0n])
  })

  test('what is unknown, or another provider’s, changes nothing', async () => {
    const { storage, payments } = await openWithTopUp(suite)
    expect(await payments.pay(examplePayment({ topUpId: 'top_none' }))).toEqual({ kind: 'unknown' })
    expect(await payments.pay(examplePayment({ driver: 'other' }))).toEqual({ kind: 'unknown' })
    expect(await reverse(storage, refundedInAll(1_000), 'pi_other')).toEqual({ kind: 'unknown' })
    expect(await fundsOf(storage)).toEqual([0n, 0n])
  })

  test('a checkout that closed is closed unless it was paid; one paid after all is booked', async () => {
    const { storage, payments } = await openWithTopUp(suite)
    const closed = { driver: 'stripe', topUpId: 'top_1', checkout: 'cs_1', why: 'expired' } as const
    expect(await payments.close({ ...closed, checkout: 'cs_other' })).toBe(false)
    expect(await payments.close(closed)).toBe(true)
    expect(await payments.find('top_1')).toMatchObject({ status: 'expired' })
    await payments.pay(examplePayment())
    expect(await payments.close(closed)).toBe(false)
    expect(await payments.find('top_1')).toMatchObject({ status: 'paid' })
    expect(await fundsOf(storage)).toEqual([0n, credits(100)])
  })

  test('refunds take back their share, each once', async () => {
    const { storage, payments } = await openWithTopUp(suite)
    await payments.pay(examplePayment())
    await Promise.all([250, 250, 500, 500].map((amount) => reverse(storage, refundedInAll(amount))))
    expect(await fundsOf(storage)).toEqual([0n, credits(50)])
    expect(await payments.find('top_1')).toMatchObject({ status: 'partly-refunded', booked: credits(50) })
    await reverse(storage, refundedInAll(1_000))
    await payments.pay(examplePayment())
    expect(await fundsOf(storage)).toEqual([0n, 0n])
    expect(await payments.find('top_1')).toMatchObject({ status: 'refunded', booked: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a refund that is told before the payment is not lost', async () => {
    const { storage, payments } = await openWithTopUp(suite)
    expect(await reverse(storage, refundedInAll(300))).toEqual({ kind: 'unknown' })
    expect(await payments.pay(examplePayment())).toMatchObject({ kind: 'noted', moved: credits(70) })
    expect(await fundsOf(storage)).toEqual([0n, credits(70)])
  })

  test('payment and refund told at the same moment leave what is right', async () => {
    const { database, storage } = await openWithTopUp(suite)
    const other = await database.open()
    await Promise.all([
      storage.topUps.payments.pay(examplePayment()),
      reverse(other, refundedInAll(300)),
      other.topUps.payments.pay(examplePayment()),
      reverse(storage, refundedInAll(300)),
    ])
    expect(await fundsOf(storage)).toEqual([0n, credits(70)])
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('money that was exchanged is taken back where it is, and what is gone is a debt; a won dispute gives it back', async () => {
    const { storage, payments } = await openWithTopUp(suite)
    await payments.pay(examplePayment())
    const move = (transactionId: string, debit: string, credit: string, amount: number) =>
      storage.ledger.book([
        {
          transactionId,
          sequence: 0,
          at: NOW,
          debit,
          credit,
          amount: credits(amount),
          kind: 'exchange',
          reference: undefined,
        },
      ])
    await move('x1', `${ACCOUNT}/balance`, `${ACCOUNT}/credits`, 80)
    await move('x2', `${ACCOUNT}/credits`, 'platform/revenue', 50)
    expect(await fundsOf(storage)).toEqual([credits(30), credits(20)])
    const dispute = { kind: 'dispute', id: 'dp_1', amountMinor: 1_000, currency: 'cny' } as const
    await reverse(storage, { ...dispute, state: 'open', at: NOW })
    expect(await fundsOf(storage)).toEqual([0n, credits(-50)])
    expect(await payments.find('top_1')).toMatchObject({ status: 'disputed', booked: 0n })
    await reverse(storage, { ...dispute, state: 'won', at: NOW + 1 })
    await reverse(storage, { ...dispute, state: 'open', at: NOW })
    expect(await fundsOf(storage)).toEqual([0n, credits(50)])
    expect(await payments.find('top_1')).toMatchObject({ status: 'paid' })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('verify sees a top-up and a batch that say otherwise than the ledger', async () => {
    const { database, storage, payments } = await openWithTopUp(suite)
    await payments.pay(examplePayment())
    await reverse(storage, refundedInAll(100))
    await storage.topUps.codes.create(exampleBatch(), [{ id: 'bat_1.0', hash: 'h', hint: 'ABCDE' }])
    const redemption = { accountId: ACCOUNT, hash: 'h', transactionId: 'x', idempotency: undefined, at: NOW }
    await storage.topUps.codes.redeem({ ...redemption, answer: () => ({}) })
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute("update top_ups set booked = booked + 1 where id = 'top_1'")
    await database.execute("update redemption_codes set status = 'void', redeemed_by = null where hash = 'h'")
    const subjects = (await storage.ledger.verify()).map(({ subject, what }) => `${subject} ${what}`)
    expect(subjects).toEqual([
      'top-up:top_1 booked by the ledger',
      'codes:bat_1 codes redeemed',
      'codes worth of redeemed codes by the ledger',
    ])
  })

  test('what packages there are is what was put', async () => {
    const { storage } = await openWithAccount(suite)
    const { packages } = storage.topUps
    const small = {
      code: 'small',
      name: 'Small',
      price: '50',
      pool: 'credits',
      amount: microCredits(60n),
      status: 'enabled',
    } as const
    await packages.put({ ...small, price: '40' })
    await packages.put(small)
    await packages.put({ ...small, code: 'big', status: 'disabled' })
    expect(await packages.list()).toEqual([{ ...small, code: 'big', status: 'disabled' }, small])
    expect(await packages.find('small')).toEqual(small)
    expect([await packages.remove('big'), await packages.remove('big')]).toEqual([true, false])
    expect(await packages.find('big')).toBeUndefined()
  })

  test('nobody without an account tops up', async () => {
    const { storage } = await openWithAccount(suite)
    await expect(
      storage.topUps.payments.begin(exampleTopUp({ accountId: accountId('acc_none') }), undefined),
    ).rejects.toThrow()
  })
}
