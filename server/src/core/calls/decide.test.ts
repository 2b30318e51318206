import { describe, expect, test } from 'vitest'
import { accountId, credentialId, vendorCode } from '../ids.ts'
import type { Policy, WindowLimit } from '../limits/policy.ts'
import { ZERO } from '../money.ts'
import { decideBatch } from './decide.ts'
import {
  ACCOUNT,
  CHAIN,
  credits,
  exampleAbandon,
  exampleAccount,
  exampleDemand,
  exampleKey,
  exampleLog,
  exampleReserve,
  exampleSettle,
  exampleStore,
  FALLBACK,
  MODEL,
  TERMS,
  VENDOR,
} from './examples.ts'
import type { AccountRow, KeyRow } from '../ledger/hot-rows.ts'
import type { ReserveOperation } from '../ledger/operations.ts'

const NOW = 1_000_000
const policy = (windows: readonly WindowLimit[], concurrency?: number): Policy => ({ concurrency, windows })
const used = (input: number, output: number) => ({ usage: { input, output } })
const affordable = { ...exampleDemand().estimate, bound: 'affordable' as const }

/** Likely 11 Credits, at most 51. */
const LENT = exampleDemand({
  estimate: { ...exampleDemand().estimate, worstOutputTokens: 5_000, covers: 'worst' },
})

describe('reserve: order of checks', () => {
  const deaf = exampleDemand({ requiredVerification: 2, requiredPlan: 3 })
  const poor: Partial<AccountRow> = { credits: ZERO }
  const full = policy([{ dimension: 'requests', limit: 0, seconds: 60 }], 0)
  test.each<[string, Partial<KeyRow>, Partial<AccountRow>, Partial<ReserveOperation>, number]>([
    ['a deleted key', { status: 'deleted' }, { status: 'suspended', ...poor }, { model: deaf }, 40101],
    ['a key of another account', { accountId: accountId('acc_2') }, {}, {}, 40101],
    ['a disabled key', { status: 'disabled' }, { status: 'suspended', ...poor }, { model: deaf }, 40102],
    ['a disabled key that has expired too', { status: 'disabled', expiresAt: 1 }, {}, {}, 40102],
    ['an expired key', { expiresAt: NOW }, { status: 'suspended', ...poor }, { model: deaf }, 40103],
    ['a key just before it expires', { expiresAt: NOW + 1 }, {}, {}, 0],
    ['a suspended account', {}, { status: 'suspended', ...poor }, { model: deaf }, 40303],
    ['model admission before the right to call', { policy: full }, poor, { model: deaf }, 40203],
    ['the right to call before limits', { policy: full }, poor, {}, 40202],
    ['limits before the hold', { policy: full }, { monthlyCap: credits(1) }, {}, 42902],
    ['concurrency', { policy: policy([], 0) }, {}, {}, 42901],
    ['the cap last', {}, { monthlyCap: credits(1) }, {}, 42906],
    ['nothing wrong', {}, {}, {}, 0],
  ])('%s', (_what, key, account, operation, code) => {
    const rows = { key: exampleKey(key), account: exampleAccount(account) }
    const store = exampleStore(rows)
    const [outcome] = store.run(exampleReserve('a', operation))
    if (code === 0) {
      expect(outcome?.kind).toBe('reserved')
      return
    }
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code } })
    expect(store.account()).toEqual(rows.account)
    expect(store.rows().limitStates.size + store.rows().openCalls.size + store.transfers.length).toBe(0)
  })

  test('a call that held nothing is charged all the same when the platform’s credential answered', () => {
    const store = exampleStore({ account: exampleAccount({ byokVendors: [VENDOR] }) })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ held: 0n, model: { otherwise: 'none' } }])
    expect(store.run(exampleSettle('a', used(1000, 200)))).toMatchObject([{ deducted: credits(3) }])
    expect(store.account()).toMatchObject({ credits: credits(997), monthSpent: credits(3) })
  })

  test.each([
    ['told where nothing else is in the way', [], { code: 42901, retryAfterMs: 1_000 }],
    [
      'a matter of the hold, so a full window comes first',
      [{ dimension: 'requests', limit: 1, seconds: 60 }],
      { code: 42902, retryAfterMs: 60_000 },
    ],
  ] as const)('Credits that running calls hold are %s', (_what, windows, refusal) => {
    const store = exampleStore({
      key: exampleKey({ policy: policy(windows) }),
      account: exampleAccount({ credits: credits(30) }),
    })
    store.run(exampleReserve('a', { model: LENT }))
    expect(store.run(exampleReserve('b', { model: LENT }))).toMatchObject([{ kind: 'refused', refusal }])
  })

  test('an unknown key and an unknown account are one answer', () => {
    const rows = {
      keys: new Map(),
      members: new Map(),
      accounts: new Map(),
      limitStates: new Map(),
      openCalls: new Map(),
    }
    expect(decideBatch(rows, [exampleReserve('a')]).outcomes).toMatchObject([{ refusal: { code: 40101 } }])
    const key = exampleKey()
    const outcomes = decideBatch({ ...rows, keys: new Map([[key.id, key]]) }, [exampleReserve('a')]).outcomes
    expect(outcomes).toMatchObject([{ refusal: { code: 40101 } }])
  })

  test('unreadable terms or an unreadable rate refuse the one call, not the batch', () => {
    const store = exampleStore()
    const unreadable = exampleReserve('a', { model: exampleDemand({ terms: 'nine yuan' }) })
    expect(store.run(unreadable, exampleReserve('b'))).toMatchObject([
      { refusal: { code: 50000 } },
      { kind: 'reserved' },
    ])
    store.put({ account: exampleAccount({ userRate: 'all' }) })
    expect(store.run(exampleReserve('c'))).toMatchObject([{ refusal: { code: 50000 } }])
  })

  test('a key without a policy has the default one, a key with one has its own', () => {
    const strict = policy([{ dimension: 'requests', limit: 1, seconds: 60 }])
    const store = exampleStore()
    const calls = ['a', 'b'].map((id) => exampleReserve(id, { defaultPolicy: strict }))
    expect(store.run(...calls)).toMatchObject([{ kind: 'reserved' }, { refusal: { code: 42902 } }])
    store.put({ key: exampleKey({ policy: policy([]) }) })
    expect(store.run(exampleReserve('c', { defaultPolicy: strict }))).toMatchObject([{ kind: 'reserved' }])
  })
})

describe('reserve: limits of key and account', () => {
  const two = [{ dimension: 'requests', limit: 2, seconds: 60 }] as const
  const three = [{ dimension: 'requests', limit: 3, seconds: 3600 }] as const

  test('a refusal of either takes nothing of the other', () => {
    const store = exampleStore({
      key: exampleKey({ policy: policy(two) }),
      account: exampleAccount({ policy: policy(three) }),
    })
    const run = (id: string, at: number) => store.run(exampleReserve(id, { at }))[0]
    expect(run('a', NOW)).toMatchObject({ kind: 'reserved' })
    expect(run('b', NOW)).toMatchObject({ kind: 'reserved' })
    const before = [...store.rows().limitStates]
    expect(run('c', NOW)).toMatchObject({ refusal: { code: 42902, retryAfterMs: 60_000 } })
    expect([...store.rows().limitStates]).toEqual(before)
    expect(run('d', NOW + 60_000)).toMatchObject({ kind: 'reserved' })
    expect(run('e', NOW + 60_001)).toMatchObject({ refusal: { code: 42902, retryAfterMs: 3_539_999 } })
  })

  test('a refused call leaves the whole store as it was', () => {
    const store = exampleStore({ key: exampleKey({ policy: policy(two, 1) }) })
    store.run(exampleReserve('a'))
    const { changes } = decideBatch(store.rows(), [exampleReserve('b')])
    expect(changes).toEqual({
      accounts: [],
      members: [],
      limitStates: [],
      openCallsPut: [],
      openCallsClosed: [],
      transfers: [],
      logs: [],
      logsCorrected: [],
      videosEnded: [],
    })
  })

  test('the answer carries the tightest window per dimension after the call', () => {
    const store = exampleStore({
      key: exampleKey({ policy: policy(three) }),
      account: exampleAccount({ policy: policy(two) }),
    })
    expect(store.run(exampleReserve('a'))).toMatchObject([
      { windows: [{ dimension: 'requests', limit: 2, remaining: 1, seconds: 60, resetMs: 60_000 }] },
    ])
  })

  test('a slot is free again when its call ends, settled or abandoned', () => {
    const store = exampleStore({ key: exampleKey({ policy: policy([], 1) }) })
    store.run(exampleReserve('a'))
    expect(store.run(exampleReserve('b'))).toMatchObject([{ refusal: { code: 42901, retryAfterMs: 1000 } }])
    store.run(exampleSettle('a', used(1, 1)))
    expect(store.run(exampleReserve('c'), exampleReserve('d'))).toMatchObject([
      { kind: 'reserved' },
      { refusal: { code: 42901 } },
    ])
    store.run(exampleAbandon('c'))
    expect(store.run(exampleReserve('e'))).toMatchObject([{ kind: 'reserved' }])
  })
})

describe('hold and charge', () => {
  test('a settled call costs its amount, and what was held is free again [8-28] [8-29] [D-money-09]', () => {
    const store = exampleStore()
    expect(store.run(exampleReserve('a'))).toMatchObject([{ kind: 'reserved', held: credits(11) }])
    expect(store.account()).toMatchObject({ credits: credits(1000), held: credits(11) })
    expect(store.run(exampleSettle('a', used(1000, 500)))).toEqual([
      { kind: 'settled', first: true, late: false, deducted: credits(6) },
    ])
    expect(store.account()).toEqual(exampleAccount({ credits: credits(994), monthSpent: credits(6) }))
    expect(store.transfers.map(({ kind, sequence, amount }) => ({ kind, sequence, amount }))).toEqual([
      { kind: 'charge', sequence: 2, amount: credits(6) },
    ])
    expect(store.rows().openCalls.size).toBe(0)
  })

  test.each([
    [
      'settled for less than it holds',
      exampleSettle('a', used(1000, 500)),
      [
        [2, 6],
        [4, 5],
      ],
    ],
    [
      'settled for more than it holds',
      exampleSettle('a', used(1000, 2000)),
      [
        [2, 11],
        [3, 10],
      ],
    ],
    ['abandoned', exampleAbandon('a'), [[4, 11]]],
  ] as const)(
    'a call whose hold an older release booked books its release too when it is %s',
    (_how, end, moved) => {
      const store = exampleStore()
      store.run(exampleReserve('a'))
      const { rows } = store
      const openCalls = new Map(
        [...rows().openCalls].map(([id, call]) => [id, { ...call, holdIsBooked: true as const }]),
      )
      const { changes } = decideBatch({ ...rows(), openCalls }, [end])
      expect(changes.transfers.map(({ sequence, amount }) => [sequence, amount])).toEqual(
        moved.map(([sequence, amount]) => [sequence, credits(amount)]),
      )
      const heldBy = (pool: 'debit' | 'credit') =>
        changes.transfers
          .filter((transfer) => transfer[pool].endsWith('/held'))
          .reduce((sum, { amount }) => sum + amount, 0n)
      expect(heldBy('debit') - heldBy('credit')).toBe(credits(11))
    },
  )

  test('of 200 parallel calls on an account that funds exactly 7, exactly 7 pass [D-money-10]', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(80) }) })
    const outcomes = store.run(...Array.from({ length: 200 }, (_, index) => exampleReserve(`call_${index}`)))
    expect(outcomes.filter((outcome) => outcome.kind === 'reserved')).toHaveLength(7)
    expect(store.account().held).toBe(credits(77))
  })

  test('a bound that may shrink holds what is there', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(5) }) })
    const model = exampleDemand({ estimate: affordable })
    expect(store.run(exampleReserve('a', { model }))).toMatchObject([{ held: credits(5) }])
    expect(store.run(exampleReserve('b', { model }))).toMatchObject([
      { refusal: { code: 42901, retryAfterMs: 1_000 } },
    ])
    store.run(exampleSettle('a', used(1000, 400)))
    expect(store.run(exampleReserve('b', { model }))).toMatchObject([{ refusal: { code: 40202 } }])
  })

  test('what is less than the worst case is lent to one call at a time; the others may run beside it', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(30) }) })
    expect(store.run(exampleReserve('a', { model: LENT }))).toMatchObject([{ held: credits(11) }])
    expect(store.account()).toMatchObject({ held: credits(11), monthHeld: credits(51) })
    expect(store.run(exampleReserve('b', { model: LENT }))).toMatchObject([{ refusal: { code: 42901 } }])
    expect(store.run(exampleReserve('c'))).toMatchObject([{ held: credits(11) }])
    store.run(exampleSettle('a', used(1000, 100)))
    // 'c' runs still, and is held for in full.
    expect(store.run(exampleReserve('d', { model: LENT }))).toMatchObject([{ held: credits(11) }])
    store.run(exampleSettle('c', used(1000, 1000)), exampleSettle('d', used(1000, 5000)))
    expect(store.account()).toMatchObject({ credits: credits(30 - 2 - 11 - 51), held: ZERO, monthHeld: ZERO })
  })

  test('an overrun may take Credits below zero, then the next call is refused [D-money-11] [D-money-12]', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(11) }) })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 2000)))
    expect(store.account()).toMatchObject({ credits: credits(-10), held: ZERO })
    expect(store.transfers.map(({ kind, sequence, amount }) => ({ kind, sequence, amount }))).toEqual([
      { kind: 'charge', sequence: 2, amount: credits(21) },
    ])
    expect(store.run(exampleReserve('b'))).toMatchObject([{ refusal: { code: 40202 } }])
  })

  test('below 1 Credit nothing is deducted, the log keeps the exact amount [8-33] [8-34] [D-names-12] [D-names-13]', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(999, 0)))
    expect(store.account()).toEqual(exampleAccount())
    expect(store.logs).toMatchObject([{ amount: 999_000n, deducted: 0n, recipe: { amount: '999000' } }])
    expect(store.transfers).toEqual([])
  })

  test('an amount of exactly 1 Credit is deducted [8-35]', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 0)))
    expect(store.account().credits).toBe(credits(999))
  })

  test('an abandoned call leaves money as it was and its row in the log [7.3-11]', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    store.run(exampleAbandon('a'))
    expect(store.account()).toEqual(exampleAccount())
    expect(store.logs).toMatchObject([{ amount: 0n, deducted: 0n }])
    expect(store.transfers).toEqual([])
  })

  test('a free call moves no money at all', () => {
    const store = exampleStore({ account: exampleAccount({ userRate: '0', credits: ZERO }) })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', { ...used(1000, 1000), userRate: '0' }))
    expect(store.transfers).toEqual([])
  })

  test('the user rate of the time of the reservation is frozen into the call', () => {
    const store = exampleStore({ account: exampleAccount({ userRate: '50' }) })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ userRate: '50', held: credits(5.5) }])
    expect([...store.rows().openCalls.values()]).toMatchObject([{ userRate: '50' }])
  })

  test('an account missing at settlement is a broken store, and throws', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    const rows = { ...store.rows(), accounts: new Map() }
    expect(() => decideBatch(rows, [exampleSettle('a', used(1000, 0))])).toThrow(/was not loaded/)
    expect(() => decideBatch(rows, [exampleAbandon('a')])).toThrow(/was not loaded/)
  })
})

describe('own credentials', () => {
  const account = exampleAccount({ credits: ZERO, apiDeduction: false, byokVendors: [VENDOR] })

  test('a call over one holds and costs nothing [8-37]', () => {
    const store = exampleStore({ account })
    expect(store.run(exampleReserve('a'))).toMatchObject([
      { held: 0n, model: { byokVendors: [VENDOR], otherwise: 'none' } },
    ])
    store.run(exampleSettle('a', used(1000, 1000), { byok: true }))
    expect(store.account()).toEqual(account)
    expect(store.transfers).toEqual([])
    expect(store.logs).toMatchObject([
      { amount: credits(11), deducted: 0n, byok: true, subscriptionCovered: false },
    ])
  })

  test('limits apply to it all the same: tokens count, money spent does not', () => {
    const windows = [
      { dimension: 'tokens', limit: 10, seconds: 60 },
      { dimension: 'amount', limit: 1, seconds: 60 },
    ] as const
    const store = exampleStore({ account, key: exampleKey({ policy: policy(windows) }) })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 1000), { byok: true }))
    expect(
      store
        .rows()
        .limitStates.get('key:key_1')
        ?.windows.map(({ tier }) => tier),
    ).toEqual(['tokens:60'])
  })

  test('a chain of another vendor is held for and charged', () => {
    const store = exampleStore({ account: exampleAccount({ byokVendors: [VENDOR] }) })
    const model = exampleDemand({ vendors: [VENDOR, vendorCode('google')] })
    expect(store.run(exampleReserve('a', { model }))).toMatchObject([
      { held: credits(11), model: { byokVendors: [VENDOR], otherwise: 'credits' } },
    ])
    store.run(exampleSettle('a', used(1000, 1000)))
    expect(store.account().credits).toBe(credits(989))
  })

  test('held for another vendor, run on the own credential: all is released', () => {
    const store = exampleStore({ account: exampleAccount({ byokVendors: [VENDOR] }) })
    const model = exampleDemand({ vendors: [VENDOR, vendorCode('google')] })
    store.run(exampleReserve('a', { model }), exampleSettle('a', used(1000, 1000), { byok: true }))
    expect(store.account()).toEqual(exampleAccount({ byokVendors: [VENDOR] }))
  })
})

describe('subscription', () => {
  const subscription = {
    plan: 'PRO',
    level: 2,
    expiresAt: NOW * 2,
    quota: [
      { credits: credits(25), seconds: 60 },
      { credits: credits(40), seconds: 3600 },
    ],
  }
  const account = exampleAccount({ credits: ZERO, apiDeduction: false, subscription })
  const quota = (store: ReturnType<typeof exampleStore>) =>
    store
      .rows()
      .limitStates.get('quota:acc_1')
      ?.windows.map(({ used: charged, held }) => [charged, held])

  test('its quota is held, then charged in every tier; Credits stay [8-36]', () => {
    const store = exampleStore({ account })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ held: 0n, model: { otherwise: 'subscription' } }])
    expect(quota(store)).toEqual([
      [0n, credits(11)],
      [0n, credits(11)],
    ])
    expect(store.run(exampleSettle('a', used(1000, 200)))).toMatchObject([{ deducted: credits(3) }])
    expect(quota(store)).toEqual([
      [credits(3), 0n],
      [credits(3), 0n],
    ])
    expect(store.account()).toEqual(account)
    expect(store.logs).toMatchObject([{ subscriptionCovered: true, deducted: credits(3) }])
    expect(store.transfers).toMatchObject([
      { kind: 'quota-charge', debit: `${ACCOUNT}/quota`, amount: credits(3) },
    ])
  })

  test('parallel calls never hold more than the quota [D-money-10]', () => {
    const store = exampleStore({ account })
    expect(store.run(exampleReserve('a'), exampleReserve('b'), exampleReserve('c'))).toMatchObject([
      { kind: 'reserved' },
      { kind: 'reserved' },
      { refusal: { code: 42905, retryAfterMs: 1000 } },
    ])
  })

  test('used up: refused until the tier frees, then passes', () => {
    const store = exampleStore({ account })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 2000)))
    expect(store.run(exampleReserve('b', { at: NOW + 10_000 }))).toMatchObject([
      { refusal: { code: 42905, retryAfterMs: 50_000 } },
    ])
    expect(store.run(exampleReserve('c', { at: NOW + 60_000 }))).toMatchObject([{ kind: 'reserved' }])
  })

  test('an overrun stays with the quota: the call is covered as a whole', () => {
    const store = exampleStore({ account })
    store.run(exampleReserve('a'))
    expect(store.run(exampleSettle('a', used(1000, 9000)))).toMatchObject([{ deducted: credits(91) }])
    expect(store.account().credits).toBe(0n)
    expect(quota(store)?.[0]).toEqual([credits(91), 0n])
  })

  test('below 1 Credit the quota gives nothing either', () => {
    const store = exampleStore({ account })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(999, 0)))
    expect(quota(store)).toEqual([])
    expect(store.logs).toMatchObject([{ subscriptionCovered: true, deducted: 0n, amount: 999_000n }])
  })

  test('a call that was estimated to cost nothing is the quota’s to pay when it costs something', () => {
    const store = exampleStore({ account })
    const estimate = { ...exampleDemand().estimate, inputTokens: 0, outputTokens: 0 }
    store.run(exampleReserve('a', { model: exampleDemand({ estimate }) }))
    expect(quota(store)).toBeUndefined()
    expect(store.run(exampleSettle('a', used(1000, 200)))).toMatchObject([{ deducted: credits(3) }])
    expect(quota(store)).toEqual([
      [credits(3), 0n],
      [credits(3), 0n],
    ])
    expect(store.transfers).toMatchObject([{ kind: 'quota-charge', amount: credits(3) }])
  })

  test('a plan changed meanwhile leaves no hold behind', () => {
    const store = exampleStore({ account })
    store.run(exampleReserve('a'))
    const upgraded = { ...subscription, quota: [{ credits: credits(1000), seconds: 7200 }] }
    store.put({ account: { ...account, subscription: upgraded } })
    store.run(exampleReserve('b'))
    store.run(exampleAbandon('a'), exampleAbandon('b'))
    expect(quota(store)).toEqual([])
  })

  test('the cap counts nothing of it', () => {
    const store = exampleStore({ account: { ...account, monthlyCap: credits(1) } })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 200)))
    expect(store.account().monthSpent).toBe(0n)
  })
})

describe('monthly cap', () => {
  const capped = (monthlyCap: number) =>
    exampleAccount({ credits: credits(1e6), monthlyCap: credits(monthlyCap) })
  const worst = exampleDemand({
    estimate: { ...exampleDemand().estimate, worstInputTokens: 1000, worstOutputTokens: 4000 },
  })

  test('an overrun is charged up to the cap, and the rest is owed [8-12] [D-money-24]', () => {
    const store = exampleStore({ account: capped(15) })
    store.run(exampleReserve('a'))
    expect(store.run(exampleSettle('a', used(1000, 9000)))).toMatchObject([{ deducted: credits(91) }])
    expect(store.account()).toMatchObject({
      credits: credits(1e6 - 15),
      owed: credits(76),
      monthSpent: credits(15),
      monthHeld: 0n,
    })
    expect(store.logs).toMatchObject([
      { amount: credits(91), deducted: credits(91), owed: credits(76), capped: true },
    ])
    expect(store.run(exampleReserve('b'))).toMatchObject([{ refusal: { code: 42906 } }])
  })

  test('parallel calls hold the worst case and never pass the cap together [D-money-25]', () => {
    const store = exampleStore({ account: capped(100) })
    const ids = Array.from({ length: 9 }, (_, index) => `call_${index}`)
    const outcomes = store.run(...ids.map((id) => exampleReserve(id, { model: worst })))
    // 41 + 41; what is left of the cap, 18, is less than the worst case of the third.
    expect(outcomes.map(({ kind }) => kind).slice(0, 3)).toEqual(['reserved', 'reserved', 'refused'])
    expect(outcomes[2]).toMatchObject({ refusal: { code: 42906, retryAfterMs: 1000 } })
    expect(store.account()).toMatchObject({ held: credits(22), monthHeld: credits(82) })
    store.run(...ids.slice(0, 2).map((id) => exampleSettle(id, used(1000, 4000))))
    expect(store.account()).toMatchObject({ monthSpent: credits(82), held: 0n, monthHeld: 0n, owed: 0n })
    expect(store.logs.map((log) => log.capped)).toEqual([false, false])
  })

  test('neither a subscription nor an own credential beside a cap leaves anything owed or unpaid', () => {
    const quota = [{ credits: credits(5), seconds: 60 }]
    const subscription = { plan: 'PRO', level: 2, expiresAt: NOW + 1, quota }
    const byQuota = exampleStore({ account: { ...capped(12), subscription } })
    byQuota.run(exampleReserve('a', { model: exampleDemand({ estimate: affordable }) }))
    byQuota.run(exampleSettle('a', used(0, 9000)))
    expect(byQuota.logs).toMatchObject([{ deducted: credits(90), owed: 0n, subscriptionCovered: true }])
    expect(byQuota.account()).toMatchObject({ credits: credits(1e6), owed: 0n, monthSpent: 0n })
    // The used-up quota leaves the next call to Credits and their cap.
    expect(byQuota.run(exampleReserve('b'))[0]?.kind).toBe('reserved')
    byQuota.run(exampleSettle('b', used(0, 9000)))
    expect(byQuota.account()).toMatchObject({ credits: credits(1e6 - 12), owed: credits(78) })
    const own = exampleStore({ account: { ...capped(12), byokVendors: [VENDOR] } })
    own.run(exampleReserve('a'), exampleSettle('a', used(0, 9000), { byok: true }))
    expect(own.account()).toMatchObject({ credits: credits(1e6), owed: 0n, monthSpent: 0n })
  })

  test('a call that runs across the month’s end owes in the month that it ends in', () => {
    const store = exampleStore({ account: capped(15) })
    store.run(exampleReserve('a'), exampleSettle('a', used(0, 5000)))
    expect(store.account()).toMatchObject({ owed: credits(35), monthSpent: credits(15) })
    store.put({ account: { ...store.account(), monthlyCap: credits(61) } })
    store.run(exampleReserve('b', { monthStart: 0 }), exampleSettle('b', used(0, 2000), { monthStart: 500 }))
    // What was owed was charged before the call began; the new month begins with the call's own price.
    expect(store.account()).toMatchObject({ owed: 0n, monthStart: 500, monthSpent: credits(20) })
    expect(store.account().credits).toBe(credits(1e6 - 70))
  })

  test('0 is unlimited [8-11]', () => {
    const store = exampleStore({ account: capped(0) })
    store.run(exampleReserve('a'), exampleSettle('a', used(1000, 90_000)))
    expect(store.run(exampleReserve('b'))).toMatchObject([{ kind: 'reserved' }])
  })

  test('a new month begins at 0, with the charge of a call that ran across [D-money-20]', () => {
    const store = exampleStore({ account: capped(100) })
    store.run(exampleReserve('a'))
    store.run(exampleSettle('a', used(1000, 5000)))
    store.run(exampleReserve('b'))
    store.run(exampleSettle('b', used(1000, 500), { monthStart: NOW - 1 }))
    expect(store.account()).toMatchObject({ monthStart: NOW - 1, monthSpent: credits(6) })
    store.run(exampleReserve('c'))
    store.run(exampleSettle('c', used(1000, 500), { monthStart: 0 }))
    expect(store.account()).toMatchObject({ monthStart: NOW - 1, monthSpent: credits(12) })
  })

  test('refused with the wait until the month ends', () => {
    const store = exampleStore({ account: capped(1) })
    expect(store.run(exampleReserve('a', { monthEnd: NOW + 5000 }))).toMatchObject([
      { refusal: { code: 42906, retryAfterMs: 5000 } },
    ])
  })
})

describe('automatic exchange', () => {
  const autoExchange = { enabled: true, belowCredits: credits(50), step: credits(100) }

  test('before the call when Credits lie below the threshold [D-money-18]', () => {
    const account = exampleAccount({ credits: ZERO, balance: credits(250), autoExchange })
    const store = exampleStore({ account })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ kind: 'reserved' }])
    expect(store.account()).toMatchObject({ credits: credits(100), balance: credits(150), held: credits(11) })
    expect(store.transfers).toMatchObject([
      {
        kind: 'exchange',
        sequence: 0,
        debit: 'acc_1/balance',
        credit: 'acc_1/credits',
        amount: credits(100),
      },
    ])
  })

  test('after the call when the charge took them below it', () => {
    const account = exampleAccount({ credits: credits(55), balance: credits(250), autoExchange })
    const store = exampleStore({ account })
    store.run(exampleReserve('a'))
    expect(store.account().balance).toBe(credits(250))
    store.run(exampleSettle('a', used(1000, 500)))
    expect(store.account()).toMatchObject({ credits: credits(149), balance: credits(150) })
    expect(store.transfers.at(-1)).toMatchObject({ kind: 'exchange', sequence: 6, amount: credits(100) })
  })

  test('not when it is switched off, and not for a call that is refused [5-37]', () => {
    const off = exampleAccount({
      credits: ZERO,
      balance: credits(250),
      autoExchange: { ...autoExchange, enabled: false },
    })
    const store = exampleStore({ account: off })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ refusal: { code: 40202 } }])
    expect(store.account()).toEqual(off)
    const stopped = exampleStore({
      account: exampleAccount({ credits: ZERO, balance: credits(250), autoExchange, policy: policy([], 0) }),
    })
    stopped.run(exampleReserve('a'))
    expect(stopped.account().balance).toBe(credits(250))
  })

  test('without an exchange a call never changes the balance [5-33]', () => {
    const store = exampleStore({ account: exampleAccount({ balance: credits(250) }) })
    store.run(exampleReserve('a'), exampleSettle('a', used(1000, 500)))
    expect(store.account().balance).toBe(credits(250))
  })
})

describe('the fallback model', () => {
  const expensive = { ...TERMS, pricing: { ...TERMS.pricing, inputPrice: '2', outputPrice: '20' } }
  const fallback = exampleDemand({ modelId: FALLBACK, terms: JSON.stringify(expensive) })

  test('the hold covers the more expensive of the two', () => {
    const store = exampleStore()
    expect(store.run(exampleReserve('a', { fallback }))).toMatchObject([
      { held: credits(22), fallback: { kind: 'funded', otherwise: 'credits' } },
    ])
  })

  test('the model actually used is charged at its own price [8-31]', () => {
    const store = exampleStore()
    store.run(exampleReserve('a', { fallback }))
    const settle = exampleSettle('a', { ...used(1000, 1000), terms: expensive }, { modelId: FALLBACK })
    expect(store.run(settle)).toMatchObject([{ deducted: credits(22) }])
    expect(store.account()).toMatchObject({ credits: credits(978), held: 0n })
  })

  test('its refusal is reported and costs the call nothing', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(12) }) })
    const unverified = { ...fallback, requiredVerification: 2 }
    expect(store.run(exampleReserve('a', { fallback }))).toMatchObject([
      { held: credits(11), fallback: { kind: 'refused', refusal: { code: 40202 } } },
    ])
    store.run(exampleAbandon('a'))
    expect(store.run(exampleReserve('b', { fallback: unverified }))).toMatchObject([
      { kind: 'reserved', fallback: { kind: 'refused', refusal: { code: 40203 } } },
    ])
  })

  test('each of the two is paid by its own payer', () => {
    const subscription = {
      plan: 'PRO',
      level: 2,
      expiresAt: NOW * 2,
      quota: [{ credits: credits(100), seconds: 60 }],
    }
    const store = exampleStore({ account: exampleAccount({ subscription }) })
    const model = exampleDemand({ subscriptionCovered: false })
    expect(store.run(exampleReserve('a', { model, fallback }))).toMatchObject([
      { held: credits(11), model: { otherwise: 'credits' }, fallback: { otherwise: 'subscription' } },
    ])
    expect([...store.rows().openCalls.values()]).toMatchObject([{ quotaHeld: credits(22) }])
    store.run(exampleSettle('a', { ...used(1000, 1000), terms: expensive }, { modelId: FALLBACK }))
    expect(store.account()).toMatchObject({ credits: credits(1000), held: 0n })
    expect(store.logs).toMatchObject([{ subscriptionCovered: true }])
    expect(store.rows().limitStates.get('quota:acc_1')?.windows).toMatchObject([
      { used: credits(22), held: 0n },
    ])
  })
})

describe('claims on upstream credentials', () => {
  const claim = (id: string, credential: string, changes: object = {}) => ({
    kind: 'claim' as const,
    callId: exampleReserve(id).callId,
    at: NOW,
    credentialId: credentialId(credential),
    policy: policy(
      [
        { dimension: 'requests', limit: 2, seconds: 60 },
        { dimension: 'tokens', limit: 1000, seconds: 60 },
        { dimension: 'amount', limit: 1000, seconds: 60 },
      ],
      1,
    ),
    counts: exampleReserve(id).counts,
    ...changes,
  })
  const windowsOf = (store: ReturnType<typeof exampleStore>, credential: string) =>
    store
      .rows()
      .limitStates.get(`credential:${credential}`)
      ?.windows.map(({ tier, used: charged }) => [tier, charged])

  test('a full credential says so with its wait and takes nothing [D-admission-22]', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'), exampleReserve('b'))
    expect(store.run(claim('a', 'one'), claim('b', 'one'))).toEqual([
      { kind: 'claimed' },
      { kind: 'full', retryAfterMs: 1000 },
    ])
    expect([...store.rows().openCalls.values()].map((call) => call.claims)).toEqual([['one'], []])
  })

  test('asking again takes nothing more', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    expect(store.run(claim('a', 'one'), claim('a', 'one'))).toEqual([
      { kind: 'claimed' },
      { kind: 'claimed' },
    ])
    expect(store.rows().limitStates.get('credential:one')?.slots).toBe(1)
  })

  test('the credential that answered is charged, also below 1 Credit; one tried in vain gets all back', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'), claim('a', 'one'), claim('a', 'two'))
    store.run(exampleSettle('a', used(500, 0)))
    expect(windowsOf(store, 'one')).toEqual([])
    expect(windowsOf(store, 'two')).toEqual([
      ['requests:60', 1n],
      ['tokens:60', 500n],
      ['amount:60', 500_000n],
    ])
    expect(store.rows().limitStates.get('credential:two')?.slots).toBe(0)
  })

  test('the settlement may name the credential that answered', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'), claim('a', 'one'), claim('a', 'two'))
    store.run(exampleSettle('a', used(500, 0), { credentialId: credentialId('one') }))
    expect(windowsOf(store, 'one')?.map(([tier]) => tier)).toContain('tokens:60')
    expect(windowsOf(store, 'two')).toEqual([])
  })

  test('an abandoned call gives its places back', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'), claim('a', 'one'))
    store.run(exampleAbandon('a'))
    expect(store.rows().limitStates.get('credential:one')).toMatchObject({ slots: 0, windows: [] })
  })

  test('a released claim of a credential is free at once, with all that it took; the others are unchanged', () => {
    const store = exampleStore()
    const unclaim = (credential: string) => ({
      kind: 'unclaim' as const,
      callId: exampleReserve('a').callId,
      credentialId: credentialId(credential),
    })
    store.run(exampleReserve('a'), exampleReserve('b'), claim('a', 'one'), claim('a', 'two'))
    expect(store.run(unclaim('one'), claim('b', 'one'))).toEqual([{ kind: 'done' }, { kind: 'claimed' }])
    expect(windowsOf(store, 'one')).toContainEqual(['requests:60', 1n])
    const before = store.rows()
    expect(store.run(unclaim('one'), unclaim('three'))).toEqual([{ kind: 'done' }, { kind: 'done' }])
    expect(store.rows()).toEqual(before)
    store.run(exampleSettle('a', used(500, 0)))
    expect(store.run(unclaim('two'))).toEqual([{ kind: 'done' }])
    expect(windowsOf(store, 'one')).toEqual([['requests:60', 1n]])
    expect(windowsOf(store, 'two')).toContainEqual(['tokens:60', 500n])
    expect(store.rows().limitStates.get('credential:one')?.slots).toBe(1)
  })

  test('a call that is not open gets no place', () => {
    expect(exampleStore().run(claim('a', 'one'))).toEqual([{ kind: 'full', retryAfterMs: 1000 }])
  })
})

describe('repeats', () => {
  test('every verb repeated changes nothing [D-money-15]', () => {
    const store = exampleStore({ key: exampleKey({ policy: policy([], 5) }) })
    const reserve = exampleReserve('a', { fallback: exampleDemand({ modelId: FALLBACK }) })
    const settle = exampleSettle('a', used(1000, 500))
    const [first] = store.run(reserve)
    const again = decideBatch(store.rows(), [reserve])
    expect(again.outcomes).toEqual([first])
    expect(again.changes).toMatchObject({ accounts: [], limitStates: [], openCallsPut: [], transfers: [] })
    store.run(settle)
    const { outcomes, changes } = decideBatch(store.rows(), [settle, exampleAbandon('a')])
    expect(outcomes).toEqual([{ kind: 'settled', first: false, late: false, deducted: 0n }, { kind: 'done' }])
    expect(changes).toEqual({
      accounts: [],
      members: [],
      limitStates: [],
      openCallsPut: [],
      openCallsClosed: [],
      transfers: [],
      logs: [],
      logsCorrected: [],
      videosEnded: [],
    })
  })

  test('a video task ends with the first end of its call, once', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'), exampleReserve('b'))
    const done = { id: 'video_a', patch: { status: 'completed' } } as const
    const failed = { id: 'video_a', patch: { status: 'failed' } } as const
    const ends = decideBatch(store.rows(), [
      exampleSettle('a', used(1000, 0), { task: done }),
      exampleAbandon('a', { task: failed }),
      exampleSettle('a', used(1000, 0), { task: done }),
      exampleAbandon('b'),
    ])
    expect(ends.changes.videosEnded).toEqual([{ ...done, at: NOW }])
  })

  test('a client that left in time has used its request window when the call was sent, and nothing else', () => {
    const limited = policy(
      [
        { dimension: 'requests', limit: 2, seconds: 3600 },
        { dimension: 'images', limit: 2, seconds: 3600 },
      ],
      1,
    )
    const store = exampleStore({ key: exampleKey({ policy: limited }) })
    const counts = { requests: 1, images: 2, videos: 0, videoSeconds: 0 }
    const leave = (id: string, sent: boolean) =>
      store.run(exampleReserve(id, { counts }), exampleAbandon(id, { sent }))[0]
    expect(leave('never sent', false)?.kind).toBe('reserved')
    expect(leave('one', true)?.kind).toBe('reserved')
    expect(leave('two', true)?.kind).toBe('reserved')
    expect(leave('three', true)).toMatchObject({ kind: 'refused', refusal: { code: 42902 } })
    expect(store.account()).toEqual(exampleAccount())
    expect(store.rows().limitStates.get('key:key_1')).toMatchObject({
      slots: 0,
      windows: [{ tier: 'requests:3600', used: 2n }],
    })
  })

  test('within one batch the second of two ends is refused', () => {
    const store = exampleStore()
    const batch = [exampleReserve('a'), exampleAbandon('a'), exampleSettle('a', used(1000, 500))]
    expect(store.run(...batch)).toMatchObject([{ kind: 'reserved' }, { kind: 'done' }, { first: false }])
    expect(store.account()).toEqual(exampleAccount())
    expect(store.logs).toHaveLength(1)
  })
})

describe('changes', () => {
  test('each changed row comes back once, whole, as the last operation left it', () => {
    const store = exampleStore({ key: exampleKey({ policy: policy([], 9) }) })
    store.run(exampleReserve('a'))
    const { changes } = decideBatch(store.rows(), [
      exampleReserve('b'),
      exampleReserve('c'),
      exampleSettle('a', used(1000, 500)),
      exampleAbandon('b'),
    ])
    expect(changes.accounts).toMatchObject([{ credits: credits(994), held: credits(11) }])
    expect(changes.limitStates.map(({ subject, slots }) => [subject, slots])).toEqual([
      ['key:key_1', 1],
      ['account:acc_1', 1],
    ])
    expect(changes.openCallsPut.map(({ callId }) => callId)).toEqual(['c'])
    expect(changes.openCallsClosed).toEqual(['a'])
  })

  test('progress renews the call and is remembered, after its end it is nothing', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    const progress = {
      kind: 'progress' as const,
      callId: exampleReserve('a').callId,
      at: NOW + 5000,
      chainId: CHAIN,
      modelId: MODEL,
      byok: false,
      usage: exampleLog('a').usage,
      usageSource: 'estimated' as const,
      images: 0,
    }
    expect(store.run(progress)).toEqual([{ kind: 'done' }])
    expect([...store.rows().openCalls.values()]).toMatchObject([
      { touchedAt: NOW + 5000, progress: { chainId: CHAIN, usageSource: 'estimated' } },
    ])
    store.run(exampleAbandon('a'))
    expect(decideBatch(store.rows(), [progress]).changes.openCallsPut).toEqual([])
  })

  test('a refused call is logged by itself', () => {
    const store = exampleStore()
    store.run({ kind: 'log', log: exampleLog('r', { httpStatus: 429, code: 42902, ending: 'refused' }) })
    expect(store.logs).toMatchObject([{ code: 42902 }])
  })
})
