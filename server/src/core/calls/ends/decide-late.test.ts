/** The report of an instance about a call that recovery has ended: the difference is booked, once, and the total stays the same. */
import { describe, expect, test } from 'vitest'
import { chargeOwed } from '../../admission/owed.ts'
import type { Policy } from '../../limits/policy.ts'
import { ZERO } from '../../money.ts'
import {
  ACCOUNT,
  credits,
  exampleAbandon,
  exampleAccount,
  exampleKey,
  exampleReserve,
  exampleSettle,
  exampleStore,
} from '../examples.ts'

const NOW = 1_000_000
const LATER = NOW + 5_000
/** The cost of so many Credits: output at 100 tokens each. */
const of = (count: number) => ({ usage: { output: count * 100 } })
const recovery = true as const

/** A call that was charged `charged` Credits by recovery, of an account with a cap of `cap`. */
function recovered(charged: number, cap: number) {
  const store = exampleStore({
    account: exampleAccount({ credits: credits(1_000), monthlyCap: credits(cap) }),
  })
  store.run(exampleReserve('a'))
  store.run(exampleSettle('a', of(charged), { recovery }))
  return store
}
type Store = ReturnType<typeof recovered>

/** What this cap has room for of what is owed is paid before the truth is known. */
const pay = (store: Store, cap: number) => {
  const account = { ...store.account(), monthlyCap: credits(cap) }
  store.put({ account: chargeOwed(account, { startAt: account.monthStart }).account })
}

const AT_ONCE = () => undefined

describe('money of a call that was recovered', () => {
  test.each<
    [
      string,
      { charged: number; cap: number; between: (store: Store) => void; truth: number },
      { credits: number; owed: number; spent: number; row: { deducted: number; owed: number } },
    ]
  >([
    [
      'too little was charged: the rest is',
      { charged: 5, cap: 0, between: AT_ONCE, truth: 8 },
      { credits: 992, owed: 0, spent: 8, row: { deducted: 8, owed: 0 } },
    ],
    [
      'too little, and the cap is reached: the rest is owed',
      { charged: 10, cap: 12, between: AT_ONCE, truth: 20 },
      { credits: 988, owed: 8, spent: 12, row: { deducted: 20, owed: 8 } },
    ],
    [
      'too much: it comes back',
      { charged: 8, cap: 0, between: AT_ONCE, truth: 5 },
      { credits: 995, owed: 0, spent: 5, row: { deducted: 5, owed: 0 } },
    ],
    [
      'too much, a part of it owed: first what is owed goes',
      { charged: 30, cap: 12, between: AT_ONCE, truth: 20 },
      { credits: 988, owed: 8, spent: 12, row: { deducted: 20, owed: 8 } },
    ],
    [
      'more than what is owed of it: the rest comes back',
      { charged: 30, cap: 12, between: AT_ONCE, truth: 5 },
      { credits: 995, owed: 0, spent: 5, row: { deducted: 5, owed: 0 } },
    ],
    [
      'what was owed of it was paid meanwhile: Credits come back, and nobody is owed anything',
      { charged: 30, cap: 12, between: (store) => pay(store, 100), truth: 20 },
      { credits: 980, owed: 0, spent: 20, row: { deducted: 20, owed: 18 } },
    ],
    [
      'a part of it was paid meanwhile: the other part goes first',
      { charged: 30, cap: 12, between: (store) => pay(store, 25), truth: 20 },
      { credits: 980, owed: 0, spent: 20, row: { deducted: 20, owed: 13 } },
    ],
  ])('%s', (_what, { charged, cap, between, truth }, expected) => {
    const store = recovered(charged, cap)
    between(store)
    const told = exampleSettle('a', of(truth), { at: LATER })
    expect(store.run(told)).toEqual([{ kind: 'settled', first: true, late: true, deducted: credits(truth) }])
    expect(store.account()).toMatchObject({
      credits: credits(expected.credits),
      owed: credits(expected.owed),
      monthSpent: credits(expected.spent),
      held: ZERO,
      monthHeld: ZERO,
    })
    expect(store.logs.find(({ callId }) => callId === told.callId)).toMatchObject({
      deducted: credits(expected.row.deducted),
      owed: credits(expected.row.owed),
      recovered: true,
    })
    const after = store.account()
    expect(store.run(told)).toMatchObject([{ first: false, late: false, deducted: 0n }])
    expect(store.account()).toEqual(after)
  })

  test('in another month what comes back makes no room in that month', () => {
    const store = recovered(8, 0)
    store.put({ account: { ...store.account(), monthStart: NOW, monthSpent: credits(3) } })
    store.run(exampleSettle('a', of(5), { at: LATER }))
    expect(store.account()).toMatchObject({ credits: credits(995), monthSpent: credits(3) })
  })

  test('a recovery that comes after another, or another settlement after the truth, is none', () => {
    const store = recovered(8, 0)
    expect(store.run(exampleSettle('a', of(3), { at: LATER, recovery }))).toMatchObject([{ first: false }])
    store.run(exampleAbandon('a', { at: LATER, recovery }))
    expect(store.account()).toMatchObject({ credits: credits(992) })
    store.run(exampleAbandon('a', { at: LATER }))
    store.run(exampleSettle('a', of(8), { at: LATER }))
    expect(store.account()).toMatchObject({ credits: credits(1_000), monthSpent: 0n })
  })

  test('the ledger says so too', () => {
    const store = recovered(30, 12)
    store.run(exampleSettle('a', of(5), { at: LATER }))
    const moved = store.transfers.filter(({ at }) => at === LATER)
    expect(moved.map(({ kind, debit, credit, amount }) => [kind, debit, credit, amount])).toEqual([
      ['charge-correction', 'platform/revenue', `${ACCOUNT}/credits`, credits(7)],
      ['owed-correction', 'platform/revenue', `${ACCOUNT}/owed`, credits(18)],
    ])
  })
})

describe('windows of a call that was recovered', () => {
  const policy: Policy = {
    concurrency: 1,
    windows: [
      { dimension: 'requests', limit: 10, seconds: 60 },
      { dimension: 'tokens', limit: 10_000, seconds: 60 },
    ],
  }
  const windows = (store: Store) =>
    Object.fromEntries(
      (store.rows().limitStates.get('key:key_1')?.windows ?? []).map(({ tier, used }) => [tier, used]),
    )
  const withWindows = () => {
    const store = exampleStore({ key: exampleKey({ policy }) })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', of(10), { recovery }))
    return store
  }

  test.each([
    ['more', 15, 1_500n],
    ['less', 4, 400n],
  ])('count %s as it is in truth', (_what, truth, tokens) => {
    const store = withWindows()
    expect(windows(store)).toEqual({ 'requests:60': 1n, 'tokens:60': 1_000n })
    store.run(exampleSettle('a', of(truth), { at: LATER }))
    expect(windows(store)).toEqual({ 'requests:60': 1n, 'tokens:60': tokens })
  })

  test('get nothing back that stood in one that is over', () => {
    const store = withWindows()
    store.run(exampleReserve('b', { at: NOW + 90_000 }))
    store.run(exampleSettle('b', of(2), { at: NOW + 90_000 }))
    store.run(exampleSettle('a', of(4), { at: NOW + 90_001 }))
    expect(windows(store)).toEqual({ 'requests:60': 1n, 'tokens:60': 200n })
  })

  test('a sent call that is given back keeps its request', () => {
    const store = withWindows()
    store.run(exampleAbandon('a', { at: LATER, sent: true }))
    expect(windows(store)).toEqual({ 'requests:60': 1n })
    expect(store.rows().limitStates.get('key:key_1')?.slots).toBe(0)
  })
})

describe('the quota of a call that was recovered', () => {
  const subscription = {
    plan: 'PRO',
    level: 2,
    expiresAt: NOW * 2,
    quota: [{ credits: credits(50), seconds: 60 }],
  }

  test.each([
    ['more', 8, 8],
    ['less', 2, 2],
    ['nothing', 0, 0],
  ])('counts %s as it is in truth; Credits stay', (_what, truth, used) => {
    const store = exampleStore({ account: exampleAccount({ subscription }) })
    store.run(exampleReserve('a'), exampleReserve('b'))
    store.run(exampleSettle('b', of(1)))
    store.run(exampleSettle('a', of(5), { recovery }))
    const quota = () =>
      store
        .rows()
        .limitStates.get('quota:acc_1')
        ?.windows.map((window) => window.used)
    expect(quota()).toEqual([credits(6)])
    store.run(exampleSettle('a', of(truth), { at: LATER }))
    expect(quota()).toEqual([credits(1 + used)])
    expect(store.account()).toMatchObject({ credits: credits(1_000), monthSpent: 0n })
  })
})
