import { describe, expect, test } from 'vitest'
import {
  credits,
  exampleAbandon,
  exampleAccount,
  exampleReserve,
  exampleSettle,
  exampleStore,
} from './examples.ts'

describe('a call from hold to door', () => {
  test('a settled call costs its amount, and what was held is free again', () => {
    const store = exampleStore()
    const [outcome] = store.run(exampleReserve('a'))
    expect(outcome).toMatchObject({ kind: 'reserved', held: credits(11) })
    expect(store.account()).toMatchObject({ credits: credits(1000), held: credits(11) })
    expect(store.run(exampleSettle('a', { usage: { input: 1000, output: 500 } }))).toEqual([
      { kind: 'settled', first: true, deducted: credits(6) },
    ])
    expect(store.account()).toMatchObject({ credits: credits(994), held: 0n, monthSpent: credits(6) })
    expect(store.transfers.map(({ kind, sequence, amount }) => ({ kind, sequence, amount }))).toEqual([
      { kind: 'hold', sequence: 1, amount: credits(11) },
      { kind: 'charge', sequence: 2, amount: credits(6) },
      { kind: 'release', sequence: 4, amount: credits(5) },
    ])
    expect(store.rows().openCalls.size).toBe(0)
  })

  test('exactly as many parallel calls pass as the account can fund', () => {
    const store = exampleStore({ account: exampleAccount({ credits: credits(80) }) })
    const outcomes = store.run(...Array.from({ length: 200 }, (_, index) => exampleReserve(`call_${index}`)))
    expect(outcomes.filter((outcome) => outcome.kind === 'reserved')).toHaveLength(7)
    expect(store.account().held).toBe(credits(77))
  })

  test('an abandoned call leaves money as it was and its row in the log', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    store.run(exampleAbandon('a'))
    expect(store.account()).toEqual(exampleAccount())
    expect(store.logs).toMatchObject([{ amount: 0n, deducted: 0n }])
  })
})
