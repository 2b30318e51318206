import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credentialId } from '../ids.ts'
import { decideBatch } from './decide.ts'
import {
  credits,
  exampleAbandon,
  exampleAccount,
  exampleDemand,
  exampleKey,
  exampleReserve,
  exampleSettle,
  exampleStore,
  FALLBACK,
} from './examples.ts'
import type { HotOperation } from '../ledger/operations.ts'

const NOW = 1_000_000
const windows = [
  { dimension: 'requests', limit: 4, seconds: 20 },
  { dimension: 'tokens', limit: 3000, seconds: 30 },
  { dimension: 'video_seconds', limit: 10, seconds: 20 },
  { dimension: 'amount', limit: 40, seconds: 60 },
] as const
const policy = { concurrency: 3, windows }

const start = () =>
  exampleStore({
    key: exampleKey({ policy }),
    account: exampleAccount({
      credits: credits(60),
      balance: credits(40),
      monthlyCap: credits(70),
      autoExchange: { enabled: true, belowCredits: credits(20), step: credits(15) },
      subscription: {
        plan: 'PLUS',
        level: 1,
        expiresAt: NOW + 60_000,
        quota: [{ credits: credits(15), seconds: 30 }],
      },
    }),
  })

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const times = fc.nat({ max: 90_000 }).map((later) => NOW + later)
const counts = fc.record({
  requests: fc.constant(1),
  images: fc.nat({ max: 1 }),
  videos: fc.constant(0),
  videoSeconds: fc.nat({ max: 5 }),
})
const operations: fc.Arbitrary<HotOperation> = fc.oneof(
  fc.record({ id: ids, at: times, counts, fallback: fc.boolean(), covered: fc.boolean() }).map((ask) =>
    exampleReserve(ask.id, {
      at: ask.at,
      counts: ask.counts,
      model: exampleDemand({ subscriptionCovered: ask.covered }),
      fallback: ask.fallback ? exampleDemand({ modelId: FALLBACK, subscriptionCovered: false }) : undefined,
    }),
  ),
  fc
    .record({
      id: ids,
      at: times,
      input: fc.nat({ max: 3000 }),
      output: fc.nat({ max: 3000 }),
      byok: fc.boolean(),
    })
    .map(({ id, at, input, output, byok }) =>
      exampleSettle(id, { usage: { input, output }, videoSeconds: 2 }, { at, byok }),
    ),
  fc.record({ id: ids, at: times }).map(({ id, at }) => exampleAbandon(id, { at })),
  fc.record({ id: ids, at: times, name: fc.constantFrom('one', 'two'), counts }).map((claim) => ({
    kind: 'claim' as const,
    callId: exampleReserve(claim.id).callId,
    at: claim.at,
    credentialId: credentialId(claim.name),
    policy: { concurrency: 1, windows: [] },
    counts: claim.counts,
  })),
)
const batches = fc.array(operations, { maxLength: 25 })

const snapshot = (store: ReturnType<typeof exampleStore>) => ({
  account: store.account(),
  // A subject that has used nothing looks the same with a row and without one.
  limits: [...store.rows().limitStates.values()].filter(
    (state) => state.slots > 0 || state.windows.length > 0,
  ),
  // Which of them was opened first is no part of the rows.
  open: new Map(store.rows().openCalls),
  transfers: store.transfers,
  logs: store.logs,
})

describe('laws of a batch', () => {
  test('cutting a batch anywhere changes neither an answer nor a row', () => {
    fc.assert(
      fc.property(batches, fc.nat({ max: 25 }), (all, cut) => {
        const whole = start()
        const parts = start()
        const outcomes = whole.run(...all)
        expect([...parts.run(...all.slice(0, cut)), ...parts.run(...all.slice(cut))]).toEqual(outcomes)
        const byName = (left: { subject: string }, right: { subject: string }) =>
          left.subject < right.subject ? -1 : 1
        const [left, right] = [snapshot(whole), snapshot(parts)]
        expect({ ...right, limits: [...right.limits].sort(byName) }).toEqual({
          ...left,
          limits: [...left.limits].sort(byName),
        })
      }),
    )
  })

  test('no order of operations makes a movement of nothing, or from a pool to itself', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const store = start()
        store.run(...all)
        for (const { debit, credit, amount } of store.transfers) {
          expect(debit).not.toBe(credit)
          expect(amount > 0n).toBe(true)
        }
      }),
    )
  })

  test('the rows agree with the ledger, and the total stays the same', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const store = start()
        const before = store.account()
        store.run(...all)
        const after = store.account()
        const moved = (pool: string) =>
          store.transfers.reduce(
            (sum, { debit, credit, amount }) =>
              sum + (credit === pool ? amount : 0n) - (debit === pool ? amount : 0n),
            0n,
          )
        const open = [...store.rows().openCalls.values()]
        expect(after.held).toBe(open.reduce((sum, { held }) => sum + held, 0n))
        expect(moved('acc_1/held')).toBe(0n)
        expect(after.credits - before.credits).toBe(moved('acc_1/credits'))
        expect(after.balance - before.balance).toBe(moved('acc_1/balance'))
        expect(after.monthSpent).toBe(moved('platform/revenue'))
        const deducted = store.logs.reduce((sum, log) => sum + log.deducted, 0n)
        expect(deducted).toBe(moved('platform/revenue') + moved('platform/quota-revenue'))
        expect(after.monthSpent <= before.monthlyCap).toBe(true)
      }),
    )
  })

  test('a refused operation changes nothing at all', () => {
    fc.assert(
      fc.property(batches, times, (all, at) => {
        const store = start()
        store.run(...all)
        const { outcomes, changes } = decideBatch(store.rows(), [exampleReserve('next', { at })])
        fc.pre(outcomes[0]?.kind === 'refused')
        const rows = [
          changes.accounts,
          changes.limitStates,
          changes.openCallsPut,
          changes.transfers,
          changes.logs,
        ]
        expect(rows.flat()).toEqual([])
      }),
    )
  })

  test('ended calls can be ended again without a trace', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const store = start()
        const ends = all.filter(({ kind }) => kind === 'settle' || kind === 'abandon')
        store.run(...all, ...ends)
        const { changes } = decideBatch(store.rows(), ends)
        expect([changes.accounts, changes.limitStates, changes.transfers, changes.logs].flat()).toEqual([])
      }),
    )
  })

  test('when every call has ended no slot, hold or claim is left', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const store = start()
        store.run(...all)
        store.run(...[...store.rows().openCalls.keys()].map((id) => exampleAbandon(id)))
        expect(store.account()).toMatchObject({ held: 0n, monthHeld: 0n })
        for (const state of store.rows().limitStates.values()) {
          expect(state.slots).toBe(0)
          expect(state.windows.every(({ held }) => held === 0n)).toBe(true)
        }
      }),
    )
  })
})
