import { DAY_MS } from '../durations.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { microCredits } from '../money.ts'
import { decideOrder, refundsOf } from './decide-order.ts'
import { decideRenewal, RENEWAL_GRACE_MS, RENEWAL_RETRY_MS } from './decide-renewal.ts'
import { type PlanOffer, type Pool, RENEWAL_LEAD_MS, type Subscriber, unusedOf } from './terms.ts'

const NOW = 1_700_000_000_000
const yuan = (amount: number) => microCredits(BigInt(amount) * 1_000_000_000n)

const plan = (code: string, level: number, price: bigint): PlanOffer => ({
  code,
  level,
  price: microCredits(price),
  periodMs: 30 * DAY_MS,
  quota: [{ credits: yuan(50), seconds: 18_000 }],
})
const PLUS = plan('PLUS', 1, yuan(99))
const PRO = plan('PRO', 2, yuan(199))
const NOBODY: Subscriber = {
  subscription: undefined,
  terms: undefined,
  funds: { balance: yuan(1_000), credits: yuan(1_000) },
}
const order = (offer: PlanOffer, at = NOW, pool: Pool = 'balance') => ({
  plan: offer,
  pool,
  renews: true,
  at,
})

function ordered(subscriber: Subscriber, asked: ReturnType<typeof order>) {
  const decision = decideOrder(subscriber, asked)
  if (decision.kind !== 'ordered') throw new Error(decision.reason)
  return decision
}

function after(subscriber: Subscriber, asked: ReturnType<typeof order>): Subscriber {
  const { subscription, terms } = ordered(subscriber, asked)
  return { ...subscriber, subscription, terms }
}

describe('orders', () => {
  test('a new plan is charged whole, begins now and lasts its period', () => {
    expect(ordered(NOBODY, order(PLUS))).toMatchObject({
      change: 'new',
      charge: { pool: 'balance', amount: PLUS.price },
      refunds: [],
      subscription: { plan: 'PLUS', level: 1, expiresAt: NOW + PLUS.periodMs, quota: PLUS.quota },
    })
  })

  test('a higher plan begins now; a third of the time used leaves two thirds of the price', () => {
    const plus = after(NOBODY, order(PLUS))
    const upgrade = ordered(plus, order(PRO, NOW + 10 * DAY_MS))
    expect(upgrade.change).toBe('upgrade')
    expect(upgrade.refunds).toEqual([{ pool: 'balance', amount: yuan(66) }])
    expect(upgrade.charge.amount).toBe(PRO.price)
    expect(upgrade.subscription.expiresAt).toBe(NOW + 40 * DAY_MS)
  })

  test('what is given back helps to pay: funds for the difference are enough, one µCr less is not', () => {
    const plus = after(NOBODY, order(PLUS))
    const due = yuan(199 - 99)
    const holding = (balance: bigint) => ({
      ...plus,
      funds: { balance: microCredits(balance), credits: yuan(0) },
    })
    expect(decideOrder(holding(due), order(PRO)).kind).toBe('ordered')
    expect(decideOrder(holding(due - 1n), order(PRO))).toEqual({
      kind: 'refused',
      reason: 'too-few',
      missing: { pool: 'balance', amount: 1n },
    })
  })

  test('money goes back where it came from: Credits never become balance', () => {
    const plus = after(NOBODY, order(PLUS, NOW, 'credits'))
    const upgrade = ordered(plus, order(PRO, NOW, 'balance'))
    expect(upgrade.refunds).toEqual([{ pool: 'credits', amount: PLUS.price }])
    expect(upgrade.charge).toEqual({ pool: 'balance', amount: PRO.price })
  })

  test.each([
    ['the same plan while it runs', PRO, 'same-plan'],
    ['a lower one while it runs', PLUS, 'not-higher'],
  ])('refused: %s', (_what, asked, reason) => {
    expect(decideOrder(after(NOBODY, order(PRO)), order(asked, NOW + DAY_MS))).toEqual({
      kind: 'refused',
      reason,
    })
  })

  test('after its end any plan may be bought, and nothing is given back', () => {
    const pro = after(NOBODY, order(PRO))
    expect(ordered(pro, order(PLUS, NOW + PRO.periodMs))).toMatchObject({ change: 'new', refunds: [] })
  })

  test('a subscription an operator put in its place was not paid for', () => {
    const given = {
      ...after(NOBODY, order(PLUS)),
      subscription: { plan: 'PLUS', level: 1, expiresAt: NOW + 90 * DAY_MS, quota: [] },
    }
    expect(refundsOf(given, NOW)).toEqual([])
  })

  test('negative funds count as none', () => {
    const overdrawn = { ...NOBODY, funds: { balance: microCredits(-5n), credits: yuan(0) } }
    expect(decideOrder(overdrawn, order(PLUS))).toMatchObject({ missing: { amount: PLUS.price } })
  })
})

describe('renewal', () => {
  const findPlan = (code: string) => [PLUS, PRO].find((one) => one.code === code)
  const end = NOW + PLUS.periodMs
  const plus = after(NOBODY, order(PLUS))
  const poor = { ...plus, funds: { balance: yuan(98), credits: yuan(1_000) } }

  test('not before its time', () => {
    expect(decideRenewal(plus, { at: end - RENEWAL_LEAD_MS - 1, findPlan })).toEqual({ kind: 'not-due' })
  })

  test('the next period follows without a gap, charged whole', () => {
    const decision = decideRenewal(plus, { at: end - RENEWAL_LEAD_MS, findPlan })
    expect(decision).toMatchObject({
      kind: 'renewed',
      charge: { pool: 'balance', amount: PLUS.price },
      subscription: { plan: 'PLUS', expiresAt: end + PLUS.periodMs },
    })
    if (decision.kind !== 'renewed') return
    const renewed = { ...plus, ...decision }
    expect(decideRenewal(renewed, { at: end, findPlan })).toEqual({ kind: 'not-due' })
    // Prepaid periods are refunded in full, and the remainder of the running period in proportion.
    expect(refundsOf(renewed, end - RENEWAL_LEAD_MS)[0]?.amount).toBe(
      PLUS.price + (PLUS.price * BigInt(RENEWAL_LEAD_MS)) / BigInt(PLUS.periodMs),
    )
  })

  test('too little money: tried at the end, then by the hour, then given up', () => {
    const first = decideRenewal(poor, { at: end - RENEWAL_LEAD_MS, findPlan })
    expect(first).toMatchObject({
      kind: 'not-renewed',
      why: 'too-few',
      terms: { renewal: { dueAt: end } },
    })
    const late = decideRenewal(poor, { at: end + 5, findPlan })
    expect(late).toMatchObject({ terms: { renewal: { dueAt: end + 5 + RENEWAL_RETRY_MS } } })
    expect(decideRenewal(poor, { at: end + RENEWAL_GRACE_MS, findPlan })).toMatchObject({
      terms: { renewal: undefined },
    })
  })

  test('money that came late begins a period of its own: the time between was not bought', () => {
    const late = end + RENEWAL_RETRY_MS
    expect(decideRenewal(plus, { at: late, findPlan })).toMatchObject({
      subscription: { expiresAt: late + PLUS.periodMs },
    })
  })

  test('a plan that is no longer sold ends with its period', () => {
    expect(decideRenewal(plus, { at: end, findPlan: () => undefined })).toMatchObject({
      kind: 'not-renewed',
      why: 'plan-gone',
      terms: { renewal: undefined },
    })
  })
})

describe('laws', () => {
  test('at any moment: used + unused = paid, and unused only falls', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
    fc.assert(
      fc.property(
        amount,
        fc.nat(10 ** 9),
        fc.nat(10 ** 9),
        fc.nat(10 ** 9),
        (paid, lengthMs, first, later) => {
          const period = {
            from: NOW,
            until: NOW + lengthMs + 1,
            paid: microCredits(paid),
            pool: 'balance',
          } as const
          const before = unusedOf(period, NOW + Math.min(first, later))
          const then = unusedOf(period, NOW + Math.max(first, later))
          expect(before).toBeLessThanOrEqual(paid)
          expect(then).toBeLessThanOrEqual(before)
          expect(then).toBeGreaterThanOrEqual(0n)
        },
      ),
    )
  })

  test('no yuan is lost by upgrades at any moments: all that was charged is used, given back or still paid for', () => {
    const step = fc.record({ afterMs: fc.nat(40 * DAY_MS), price: fc.bigInt({ min: 0n, max: 10n ** 12n }) })
    const pool = fc.constantFrom<Pool>('balance', 'credits')
    fc.assert(
      fc.property(fc.array(fc.tuple(step, pool), { minLength: 1, maxLength: 6 }), (steps) => {
        let subscriber: Subscriber = {
          ...NOBODY,
          funds: { balance: microCredits(10n ** 15n), credits: microCredits(10n ** 15n) },
        }
        let at = NOW
        let charged = 0n
        let back = 0n
        let used = 0n
        for (const [index, [{ afterMs, price }, from]] of steps.entries()) {
          at += afterMs
          const running = subscriber.terms?.periods ?? []
          const decision = ordered(subscriber, {
            ...order(plan(`P${index}`, index + 1, price), at, from),
          })
          charged += decision.charge.amount
          for (const refund of decision.refunds) back += refund.amount
          for (const period of running) used += period.paid - unusedOf(period, at)
          subscriber = { ...subscriber, ...decision }
        }
        const stillPaid = (subscriber.terms?.periods ?? []).reduce((sum, period) => sum + period.paid, 0n)
        expect(charged).toBe(used + back + stillPaid)
      }),
    )
  })
})
