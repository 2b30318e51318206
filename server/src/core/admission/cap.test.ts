import { DAY_MS } from '../durations.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../calls/examples.ts'
import { microCredits, ZERO } from '../money.ts'
import { type CapHolder, chargeableNow, decideCap, monthOf, spentIn } from './cap.ts'

const JUNE = Date.UTC(2026, 5, 1) - 8 * 3_600_000
const JULY = JUNE + 30 * DAY_MS
const NOW = JUNE + 9 * DAY_MS

function holder(changes: Partial<CapHolder> = {}): CapHolder {
  return {
    monthlyCap: credits(100),
    monthStart: JUNE,
    monthSpent: credits(0),
    monthHeld: credits(0),
    ...changes,
  }
}

const call = { at: NOW, month: { startAt: JUNE, endAt: JULY } }

describe('whether a call may begin', () => {
  test.each<[string, Partial<CapHolder>, object]>([
    ['0 is no cap', { monthlyCap: credits(0), monthSpent: credits(1e6) }, { kind: 'none' }],
    ['all is left', {}, { kind: 'within' }],
    [
      'exactly the worst case is left by what was spent and is held',
      { monthSpent: credits(20), monthHeld: credits(60) },
      { kind: 'within' },
    ],
    [
      'too much is spent: until the month ends',
      { monthSpent: credits(91) },
      { kind: 'capped', retryAfterMs: JULY - NOW, fitsLeast: false },
    ],
    [
      'the worst case would pass it, the least would not: until the month ends',
      { monthSpent: credits(81) },
      { kind: 'capped', retryAfterMs: JULY - NOW, fitsLeast: true },
    ],
    ['too much is held: until one ends', { monthHeld: credits(81) }, { kind: 'capped', retryAfterMs: 1_000 }],
    [
      'what was spent in another month does not count',
      { monthSpent: credits(99), monthStart: JUNE - 1 },
      { kind: 'within' },
    ],
    [
      'a cap lowered below what was spent',
      { monthlyCap: credits(5), monthSpent: credits(50) },
      { kind: 'capped' },
    ],
  ])('%s', (_sentence, changes, expected) => {
    const cost = { least: credits(10), worst: credits(20) }
    expect(decideCap(holder(changes), cost, call)).toMatchObject(expected)
  })

  test('what costs nothing begins with no room at all', () => {
    const full = holder({ monthSpent: credits(120) })
    const nothing = { least: credits(0), worst: credits(0) }
    expect(decideCap(full, nothing, call)).toEqual({ kind: 'within' })
  })

  test('without a known end of the month the wait covers the longest one', () => {
    const unknown = { at: NOW, month: { startAt: JUNE, endAt: undefined } }
    const cost = { least: credits(10), worst: credits(10) }
    expect(decideCap(holder({ monthSpent: credits(100) }), cost, unknown)).toEqual({
      kind: 'capped',
      fitsLeast: false,
      retryAfterMs: JUNE + 31 * DAY_MS - NOW,
    })
  })
})

test('an operation that arrives late counts in the month the account is in', () => {
  const account = holder({ monthStart: JULY, monthSpent: credits(3) })
  expect(monthOf(account, { startAt: JUNE, endAt: JULY })).toEqual({ startAt: JULY, endAt: undefined })
  expect(monthOf(account, { startAt: JULY, endAt: undefined })).toEqual({ startAt: JULY, endAt: undefined })
  expect(spentIn(account, { startAt: JULY })).toBe(credits(3))
  expect(spentIn(account, { startAt: JULY + 31 * DAY_MS })).toBe(0n)
})

test('what is charged at once, one call after the other, never passes the cap, and is no less than there was room for', () => {
  const amounts = fc.array(fc.bigInt({ min: 0n, max: 300n }), { maxLength: 20 })
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 1_000n }), amounts, (cap, dues) => {
      let state = holder({ monthlyCap: microCredits(cap) })
      let asked = 0n
      for (const due of dues) {
        asked += due
        const charged = chargeableNow(state, microCredits(due), { held: ZERO, month: { startAt: JUNE } })
        state = { ...state, monthSpent: microCredits(state.monthSpent + charged) }
      }
      expect(state.monthSpent).toBe(asked < cap ? asked : cap)
    }),
  )
})

test.each([
  // [cap, spent, held by all, held by it, due, charged]
  ['within the cap, all', 100, 0, 20, 20, 15, 15],
  ['beyond what it held, of what nobody holds', 100, 0, 20, 20, 120, 100],
  ['beyond what it held, never of what others hold', 100, 10, 70, 20, 90, 40],
  ['what it held, although others hold all there is', 100, 30, 70, 20, 90, 20],
  ['what it held, although the cap was lowered meanwhile', 1, 30, 70, 20, 20, 20],
  ['no more than it held, once the cap was lowered', 1, 30, 70, 20, 90, 20],
  ['nothing that nobody held, beyond the cap', 100, 100, 0, 0, 5, 0],
  ['everything, where there is no cap', 0, 100, 70, 20, 500, 500],
])('a call is charged at once %s', (_what, cap, spent, heldByAll, held, due, charged) => {
  const state = holder({
    monthlyCap: credits(cap),
    monthSpent: credits(spent),
    monthHeld: credits(heldByAll),
  })
  const call = { held: credits(held), month: { startAt: JUNE } }
  expect(chargeableNow(state, credits(due), call)).toBe(credits(charged))
})
