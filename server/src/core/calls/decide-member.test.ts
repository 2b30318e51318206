/** What a call of a member's key is held to beside its organisation's account. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountId, callId, keyId, memberId, vendorCode } from '../ids.ts'
import type { Policy } from '../limits/policy.ts'
import {
  ACCOUNT,
  credits,
  exampleAbandon,
  exampleAccount,
  exampleDemand,
  exampleKey,
  exampleMember,
  exampleReserve,
  exampleSettle,
  exampleStore,
  MEMBER,
} from './examples.ts'
import type { AccountRow, MemberRow } from '../ledger/hot-rows.ts'
import { decideRecovery } from './ends/recover.ts'

const NOW = 1_000_000
const requests = (limit: number, seconds = 60): Policy => ({
  concurrency: undefined,
  windows: [{ dimension: 'requests', limit, seconds }],
})

function team(member: Partial<MemberRow>, account: Partial<AccountRow> = {}) {
  return exampleStore({ account: exampleAccount(account), member: exampleMember(member) })
}

describe('who may call', () => {
  test.each<[string, Partial<MemberRow>, Partial<AccountRow>, number, string | undefined]>([
    ['a removed member’s key is unknown', { status: 'removed' }, {}, 40101, undefined],
    [
      'so is one of another organisation’s member',
      { organisationId: accountId('other') },
      {},
      40101,
      undefined,
    ],
    ['a suspended member’s key is disabled', { status: 'suspended' }, {}, 40102, 'member'],
    ['a member whose own account is suspended', { personStatus: 'suspended' }, {}, 40303, 'member'],
    [
      'the organisation’s suspension is told first',
      { status: 'suspended' },
      { status: 'suspended' },
      40303,
      undefined,
    ],
    ['a member before model admission', { status: 'suspended' }, { credits: credits(0) }, 40102, 'member'],
  ])('%s', (_sentence, member, account, code, words) => {
    const store = team(member, account)
    const [outcome] = store.run(exampleReserve('a'))
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code } })
    const message = outcome?.kind === 'refused' ? outcome.refusal.message : undefined
    if (words === undefined) expect(message).toBeUndefined()
    else expect(message).toContain(words)
    expect(store.rows().openCalls.size + store.rows().limitStates.size).toBe(0)
  })

  test('the next call after the member was suspended is refused, the running one settles', () => {
    const store = team({ monthlyCap: credits(100) })
    store.run(exampleReserve('a'))
    store.put({ member: { ...store.member(), status: 'suspended' } })
    expect(store.run(exampleReserve('b'))).toMatchObject([{ refusal: { code: 40102 } }])
    store.run(exampleSettle('a', { usage: { output: 200 } }))
    expect(store.member()).toMatchObject({ monthSpent: credits(2), monthHeld: 0n })
  })
})

describe('the member’s limits', () => {
  test('a call is held to key, member and account, and the tightest window is shown', () => {
    const store = exampleStore({
      key: exampleKey({ memberId: MEMBER, policy: requests(9) }),
      member: exampleMember({ policy: requests(2) }),
      account: exampleAccount({ policy: requests(5) }),
    })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ windows: [{ limit: 2, remaining: 1 }] }])
    store.run(exampleReserve('b'))
    expect(store.run(exampleReserve('c'))).toMatchObject([{ refusal: { code: 42902, retryAfterMs: 60_000 } }])
    const used = ['key:key_1', `member:${MEMBER}`, `account:${ACCOUNT}`].map((subject) =>
      [...store.rows().limitStates.values()].find((state) => state.subject === subject),
    )
    expect(used.map((state) => [state?.slots, state?.windows[0]?.used])).toEqual([
      [2, 2n],
      [2, 2n],
      [2, 2n],
    ])
    store.run(exampleAbandon('a'), exampleAbandon('b'))
    expect([...store.rows().limitStates.values()].every(({ slots }) => slots === 0)).toBe(true)
  })

  test('all keys of a member share the member’s slots, other members have their own', () => {
    const store = team({ policy: { concurrency: 1, windows: [] } })
    store.put({ key: exampleKey({ id: keyId('key_2'), memberId: MEMBER }) })
    const other = exampleMember({ id: memberId('mem_2'), policy: { concurrency: 1, windows: [] } })
    store.put({ member: other })
    store.put({ key: exampleKey({ id: keyId('key_3'), memberId: other.id }) })
    store.put({ key: exampleKey({ id: keyId('key_4') }) })
    const calls = ['key_1', 'key_2', 'key_3', 'key_4'].map((key) =>
      exampleReserve(key, { keyId: keyId(key) }),
    )
    expect(store.run(...calls)).toMatchObject([
      { kind: 'reserved' },
      { refusal: { code: 42901 } },
      { kind: 'reserved' },
      { kind: 'reserved' },
    ])
  })

  test('a repeated reservation takes nothing twice and shows the same windows', () => {
    const store = team({ policy: requests(5), monthlyCap: credits(50) })
    const [first] = store.run(exampleReserve('a'))
    const before = store.member()
    const [again] = store.run(exampleReserve('a'))
    expect(again).toEqual(first)
    expect(store.member()).toEqual(before)
  })
})

describe('the member’s monthly cap', () => {
  test('refuses with 42906 and says whose it is', () => {
    const store = team({ monthlyCap: credits(10) })
    const [outcome] = store.run(exampleReserve('a', { monthEnd: NOW + 5_000 }))
    expect(outcome).toEqual({
      kind: 'refused',
      refusal: {
        code: 42906,
        message: 'your monthly consumption cap in this organisation is reached',
        retryAfterMs: 5_000,
        windows: [],
      },
    })
  })

  test('is held, charged exactly and given back, each once', () => {
    const store = team({ monthlyCap: credits(40) })
    store.run(exampleReserve('a'), exampleReserve('b'), exampleReserve('c'))
    expect(store.member().monthHeld).toBe(credits(33))
    expect(store.run(exampleReserve('d'))).toMatchObject([{ refusal: { code: 42906, retryAfterMs: 1_000 } }])
    const settle = exampleSettle('a', { usage: { input: 1000, output: 100 } })
    store.run(settle, settle, exampleAbandon('b'), exampleAbandon('b'), exampleSettle('b'))
    expect(store.member()).toMatchObject({ monthSpent: credits(2), monthHeld: credits(11) })
    expect(store.account()).toMatchObject({ monthSpent: credits(2), monthHeld: credits(11) })
  })

  test('gates only: the organisation pays the whole call, and the member counts all of it', () => {
    const store = team({ monthlyCap: credits(20) })
    store.run(exampleReserve('a'), exampleSettle('a', { usage: { output: 5_000 } }))
    expect(store.member()).toMatchObject({ monthSpent: credits(50), monthHeld: 0n })
    expect(store.account()).toMatchObject({ monthSpent: credits(50), credits: credits(950), owed: 0n })
    expect(store.logs).toMatchObject([{ deducted: credits(50), owed: 0n, capped: false }])
    expect(store.run(exampleReserve('b'))).toMatchObject([{ refusal: { code: 42906 } }])
  })

  test('that is lowered while calls run is no discount', () => {
    const store = team({ monthlyCap: credits(40) })
    store.run(exampleReserve('a'), exampleReserve('b'))
    store.put({ member: { ...store.member(), monthlyCap: credits(1) } })
    const use = { usage: { output: 5_000 } }
    store.run(exampleSettle('a', use), exampleSettle('b', use))
    expect(store.member()).toMatchObject({ monthSpent: credits(100), monthHeld: 0n })
    expect(store.account()).toMatchObject({ credits: credits(900), owed: 0n })
    expect(store.run(exampleReserve('c'))).toMatchObject([{ refusal: { code: 42906 } }])
  })

  test('beside a cap of the organisation: the member counts what is owed too', () => {
    const store = team({ monthlyCap: credits(60) }, { monthlyCap: credits(12) })
    store.run(exampleReserve('a'), exampleSettle('a', { usage: { output: 5_000 } }))
    expect(store.member()).toMatchObject({ monthSpent: credits(50) })
    expect(store.account()).toMatchObject({ monthSpent: credits(12), owed: credits(38) })
  })

  test('does not count what the subscription or an own credential pays', () => {
    const subscription = {
      plan: 'PRO',
      level: 2,
      expiresAt: NOW + 1,
      quota: [{ credits: credits(50), seconds: 60 }],
    }
    const byQuota = team({ monthlyCap: credits(1) }, { subscription })
    byQuota.run(exampleReserve('a'), exampleSettle('a', { usage: { output: 1_000 } }))
    expect(byQuota.logs).toMatchObject([{ deducted: credits(10), subscriptionCovered: true }])
    expect(byQuota.member()).toMatchObject({ monthSpent: 0n, monthHeld: 0n })
    const own = team({ monthlyCap: credits(1) }, { byokVendors: [vendorCode('openai')] })
    own.run(exampleReserve('a'), exampleSettle('a', { usage: { output: 1_000 } }, { byok: true }))
    expect(own.member()).toMatchObject({ monthSpent: 0n, monthHeld: 0n })
  })

  test('begins anew with the organisation’s month', () => {
    const store = team({ monthlyCap: credits(12), monthStart: 0, monthSpent: credits(12) })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ refusal: { code: 42906 } }])
    store.run(exampleReserve('b', { monthStart: 500 }))
    store.run(exampleSettle('b', { usage: { output: 100 } }, { monthStart: 500 }))
    expect(store.member()).toMatchObject({ monthStart: 500, monthSpent: credits(1) })
    expect(store.account()).toMatchObject({ monthStart: 500, monthSpent: credits(1) })
  })

  test('is settled by recovery as the call would have settled it', () => {
    const store = team({ monthlyCap: credits(100) })
    store.run(exampleReserve('a'), exampleReserve('b'))
    const open = [...store.rows().openCalls.values()]
    store.run(...open.map((call) => decideRecovery(call, NOW)))
    expect(store.member()).toMatchObject({ monthSpent: 0n, monthHeld: 0n })
    expect([...store.rows().openCalls.values()]).toMatchObject([
      { memberHeld: 0n, recovered: { charged: 0n } },
      { memberHeld: 0n, recovered: { charged: 0n } },
    ])
  })

  test('the fallback model shares one hold with the requested one', () => {
    const store = team({ monthlyCap: credits(100) })
    const small = exampleDemand({
      estimate: { ...exampleDemand().estimate, outputTokens: 100, worstOutputTokens: 100 },
    })
    store.run(exampleReserve('a', { model: small, fallback: exampleDemand() }))
    expect(store.member().monthHeld).toBe(credits(11))
  })

  test('a call of a key without a member touches none', () => {
    const store = exampleStore({ key: exampleKey(), member: exampleMember({ monthlyCap: credits(1) }) })
    expect(store.run(exampleReserve('a'))).toMatchObject([{ kind: 'reserved' }])
    expect(store.rows().openCalls.get(callId('a'))).toMatchObject({ memberId: undefined, memberHeld: 0n })
    store.run(exampleSettle('a', { usage: { output: 100 } }))
    expect(store.member()).toEqual(exampleMember({ monthlyCap: credits(1) }))
  })

  test('however calls of several members interleave, the organisation pays or owes all of it, and holds are open calls’', () => {
    const ids = ['mem_1', 'mem_2', 'mem_3'].map(memberId)
    const step = fc.record({
      call: fc.integer({ min: 0, max: 11 }),
      act: fc.constantFrom('reserve', 'reserve', 'settle', 'abandon'),
      output: fc.integer({ min: 0, max: 4_000 }),
      month: fc.constantFrom(0, 0, 0, 500),
    })
    const caps = fc.tuple(...ids.map(() => fc.integer({ min: 0, max: 60 })))
    fc.assert(
      fc.property(
        caps,
        fc.integer({ min: 0, max: 90 }),
        fc.array(step, { maxLength: 60 }),
        (each, whole, steps) => {
          const store = exampleStore({ account: exampleAccount({ monthlyCap: credits(whole) }) })
          for (const [index, id] of ids.entries()) {
            store.put({ member: exampleMember({ id, monthlyCap: credits(each[index] ?? 0) }) })
            store.put({ key: exampleKey({ id: keyId(`key_${index}`), memberId: id }) })
          }
          for (const { call, act, output, month } of steps) {
            const id = `call_${call}`
            const whose = { keyId: keyId(`key_${call % 3}`), monthStart: month }
            if (act === 'reserve') store.run(exampleReserve(id, whose))
            else if (act === 'settle') store.run(exampleSettle(id, { usage: { output } }, whose))
            else store.run(exampleAbandon(id))
            const { members, openCalls } = store.rows()
            const account = store.account()
            let spent = 0n
            for (const member of members.values()) {
              const open = [...openCalls.values()].filter(({ memberId: of }) => of === member.id)
              expect(member.monthHeld).toBe(open.reduce((sum, { memberHeld }) => sum + memberHeld, 0n))
              expect(member.monthStart <= account.monthStart).toBe(true)
              if (member.monthStart === account.monthStart) spent += member.monthSpent
            }
            if (account.monthlyCap > 0n) expect(account.monthSpent <= account.monthlyCap).toBe(true)
            else expect(account.owed).toBe(0n)
            expect(spent <= account.monthSpent + account.owed).toBe(true)
            const deducted = store.logs.reduce((sum, log) => sum + log.deducted, 0n)
            expect(exampleAccount().credits - account.credits + account.owed).toBe(deducted)
          }
        },
      ),
    )
  })
})
