/** What a call uses beyond a subscription's quota is carried over into the window that follows. */
import { MINUTE_MS } from '../durations.ts'
import { expect, test } from 'vitest'
import { readQuota } from '../limits/quota.ts'
import { ZERO } from '../money.ts'
import {
  credits,
  exampleAbandon,
  exampleAccount,
  exampleDemand,
  exampleReserve,
  exampleSettle,
  exampleStore,
} from './examples.ts'
import type { Subscription } from '../ledger/hot-rows.ts'

const NOW = 1_000_000
const plan = (amount: number): Subscription => ({
  plan: 'PRO',
  level: 2,
  expiresAt: NOW * 2,
  quota: [{ credits: credits(amount), seconds: 60 }],
})
/** Likely 3 Credits. */
const SMALL = exampleDemand({ estimate: { ...exampleDemand().estimate, outputTokens: 200 } })
/** Input costs 1 Credit a thousand tokens, output 10. */
const used = (input: number, output: number) => ({ usage: { input, output } })

/** An account that has only a quota of 25 Credits a minute. */
function subscriber(subscription = plan(25)) {
  const account = exampleAccount({ credits: ZERO, apiDeduction: false, subscription })
  const store = exampleStore({ account })
  const state = () =>
    store.rows().limitStates.get('quota:acc_1') ?? { subject: 'quota:acc_1' as const, slots: 0, windows: [] }
  return {
    store,
    change: (to: Subscription) => store.put({ account: { ...account, subscription: to } }),
    /** What the quota can still give, in Credits. */
    left: (at: number, of = subscription.quota) =>
      Number(readQuota(state(), of, { least: 0n, at }).room / 1_000_000n),
  }
}

test('the next window begins where the one before ends, and no call uses up more than that one', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 9000), { at: NOW + 10_000 }))
  const minutes = [0, 0.99, 1, 1.99, 2, 3, 3.99, 4, 100]
  expect(minutes.map((minute) => left(NOW + minute * MINUTE_MS))).toEqual([
    -66, -66, 0, 0, 25, 25, 25, 25, 25,
  ])
  expect(store.account().credits).toBe(0n)
})

test('Retry-After names the first window that has room for the call', () => {
  const { store } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 4000)))
  const at = NOW + 10_000
  expect(store.run(exampleReserve('b', { at }))).toMatchObject([
    { refusal: { code: 42905, retryAfterMs: 110_000 } },
  ])
  expect(store.run(exampleReserve('c', { at, model: SMALL }))).toMatchObject([
    { refusal: { code: 42905, retryAfterMs: 50_000 } },
  ])
  const then = NOW + MINUTE_MS
  expect(
    store.run(exampleReserve('d', { at: then }), exampleReserve('e', { at: then, model: SMALL })),
  ).toMatchObject([{ kind: 'refused' }, { kind: 'reserved' }])
})

test('what was carried over and what is used since go on together', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 2900)))
  const second = NOW + MINUTE_MS
  expect(left(second)).toBe(20)
  store.run(exampleReserve('b', { at: second + 30_000 }))
  store.run(exampleSettle('b', used(1000, 4900), { at: second + 40_000 }))
  expect([0, 59_999, 60_000, 120_000, 180_000].map((later) => left(second + later))).toEqual([
    -30, -30, 0, 25, 25,
  ])
})

test('an end that is reported again, and one that releases its hold, carry nothing over', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'), exampleReserve('b'))
  store.run(exampleSettle('a', used(1000, 3400)))
  for (const minute of [0, 1, 2])
    store.run(exampleSettle('a', used(1000, 3400), { at: NOW + minute * MINUTE_MS }))
  expect(left(NOW + MINUTE_MS)).toBe(15 - 11)
  store.run(exampleAbandon('b', { at: NOW + MINUTE_MS }))
  expect(left(NOW + MINUTE_MS)).toBe(15)
})

test('a call that another instance ended for too much lessens what was carried over, once', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'), exampleReserve('b'))
  store.run(exampleSettle('a', used(1000, 1000)))
  store.run(exampleSettle('b', used(1000, 2400), { recovery: true }))
  const second = NOW + MINUTE_MS
  expect(left(second)).toBe(14)
  // Anchors the window anew in its row, as any call does.
  store.run(exampleReserve('c', { at: second, model: SMALL }))
  store.run(exampleAbandon('c', { at: second }))
  expect(left(second)).toBe(14)
  store.run(exampleSettle('b', used(1000, 2300), { at: NOW + 30_000 }))
  store.run(exampleSettle('b', used(1000, 2300), { at: NOW + 30_000 }))
  expect(left(second)).toBe(15)
})

test('no more is given back than is still carried over', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 3400), { recovery: true }))
  const second = NOW + MINUTE_MS
  store.run(exampleReserve('b', { at: second }))
  store.run(exampleSettle('b', used(1000, 500), { at: second }))
  expect(left(second)).toBe(9)
  store.run(exampleAbandon('a', { at: NOW }))
  expect(left(second)).toBe(19)
})

test('what was used in a window that carried nothing over is not given back into a later one', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 1000), { recovery: true }))
  // Whole lengths later, as windows that follow on each other lie.
  const [later, next] = [NOW + 2 * MINUTE_MS, NOW + 3 * MINUTE_MS]
  store.run(exampleReserve('b', { at: later }))
  store.run(exampleSettle('b', used(1000, 3400), { at: later }))
  store.run(exampleReserve('c', { at: next, model: SMALL }))
  store.run(exampleAbandon('c', { at: next }))
  expect(left(next)).toBe(15)
  store.run(exampleAbandon('a', { at: NOW }))
  expect(left(next)).toBe(15)
})

test('what an instance reports late counts in the window that has followed', () => {
  const { store, left } = subscriber()
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', used(1000, 3400), { recovery: true }))
  store.run(exampleReserve('b', { at: NOW + MINUTE_MS, model: SMALL }))
  store.run(exampleSettle('a', used(1000, 3500), { at: NOW }))
  store.run(exampleAbandon('b', { at: NOW + MINUTE_MS }))
  expect(left(NOW + MINUTE_MS)).toBe(14)
})

test('an upgrade grants what it says from the next call on; a smaller plan makes no overrun of what was granted', () => {
  const up = subscriber()
  up.store.run(exampleReserve('a'))
  up.store.run(exampleSettle('a', used(1000, 9000)))
  up.change(plan(100))
  up.store.run(exampleReserve('b', { at: NOW + 1, model: SMALL }))
  up.store.run(exampleAbandon('b', { at: NOW + 1 }))
  expect([0, 1].map((minute) => up.left(NOW + minute * MINUTE_MS, plan(100).quota))).toEqual([9, 100])

  const down = subscriber(plan(100))
  down.store.run(exampleReserve('a'))
  down.store.run(exampleSettle('a', used(1000, 8900)))
  down.change(plan(25))
  expect([0, 1].map((minute) => down.left(NOW + minute * MINUTE_MS, plan(25).quota))).toEqual([-65, 25])
})

test('a window that a charge began grants what the plan does then', () => {
  const { store, left } = subscriber()
  const nothing = { ...exampleDemand().estimate, inputTokens: 0, outputTokens: 0 }
  store.run(exampleReserve('a', { model: exampleDemand({ estimate: nothing }) }))
  store.run(exampleSettle('a', used(1000, 3400), { at: NOW + 5 }))
  expect(left(NOW + 5 + MINUTE_MS)).toBe(15)
})
