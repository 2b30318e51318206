import { DAY_MS } from '../durations.ts'
import { describe, expect, test } from 'vitest'
import { credits, exampleAccount, exampleMember } from '../calls/examples.ts'
import type { AccountRow, MemberRow } from '../ledger/hot-rows.ts'
import type { CostBounds } from '../pricing/bound-cost.ts'
import { decideCredits, exchangeWhenLow } from './credits.ts'

const JUNE = Date.UTC(2026, 5, 1) - 8 * 3_600_000
const JULY = JUNE + 30 * DAY_MS
const NOW = JUNE + 9 * DAY_MS

const cost = (full: number, rest: { least?: number; worst?: number; covered?: number } = {}): CostBounds => ({
  full: credits(full),
  least: credits(rest.least ?? full),
  worst: credits(rest.worst ?? rest.covered ?? full),
  ...(rest.covered === undefined ? {} : { covered: credits(rest.covered) }),
})

function decide(account: Partial<AccountRow>, bounds: CostBounds, endAt: number | undefined = JULY) {
  const row = exampleAccount({ monthStart: JUNE, ...account })
  return decideCredits({ account: row, member: undefined }, bounds, {
    at: NOW,
    month: { startAt: JUNE, endAt },
  })
}

describe('the hold', () => {
  test.each<[string, Partial<AccountRow>, CostBounds, object]>([
    ['is the whole bound where that can be paid', { credits: credits(10) }, cost(10), { held: credits(10) }],
    [
      'does not count what other calls hold: they may end',
      { credits: credits(10), held: credits(1), monthHeld: credits(1) },
      cost(10),
      { kind: 'held-up' },
    ],
    [
      'is refused where there is too little with nothing held',
      { credits: credits(9), held: credits(1), monthHeld: credits(1) },
      cost(10),
      { kind: 'too-few' },
    ],
    ['shrinks to what is there', { credits: credits(7) }, cost(10, { least: 2 }), { held: credits(7) }],
    ['does not shrink below the least', { credits: credits(1) }, cost(10, { least: 2 }), { kind: 'too-few' }],
    ['needs nothing for a free model', { credits: credits(0) }, cost(0), { kind: 'held', held: 0n }],
    ['is refused below zero, even for a free model', { credits: credits(-1) }, cost(0), { kind: 'too-few' }],
  ])('%s', (_sentence, account, bounds, expected) => {
    expect(decide(account, bounds)).toMatchObject(expected)
  })
})

describe('the hold of a call whose worst case is more expensive', () => {
  const bounds = cost(10, { least: 2, covered: 60 })
  test.each<[string, Partial<AccountRow>, object]>([
    [
      'is the worst case where Credits have it',
      { credits: credits(60) },
      { held: credits(60), monthHeld: credits(60) },
    ],
    [
      'is the likely price where they have less, and the rest is lent',
      { credits: credits(59) },
      { held: credits(10), monthHeld: credits(60) },
    ],
    [
      'is what is there where that is less still',
      { credits: credits(7) },
      { held: credits(7), monthHeld: credits(60) },
    ],
    [
      'may be lent beside calls that are held for in full',
      { credits: credits(30), held: credits(20), monthHeld: credits(20) },
      { held: credits(10), monthHeld: credits(60) },
    ],
    [
      'is lent to one call at a time',
      { credits: credits(30), held: credits(10), monthHeld: credits(60) },
      { kind: 'held-up' },
    ],
    [
      'may be in full beside the one that is lent to',
      { credits: credits(90), held: credits(10), monthHeld: credits(60) },
      { held: credits(60), monthHeld: credits(60) },
    ],
    [
      'leaves nothing below the least',
      { credits: credits(10), held: credits(9), monthHeld: credits(9) },
      { kind: 'held-up' },
    ],
  ])('%s', (_sentence, account, expected) => {
    expect(decide(account, bounds)).toMatchObject(expected)
  })
})

describe('the monthly cap', () => {
  const wait = JULY - NOW
  test.each<[string, Partial<AccountRow>, CostBounds, object]>([
    [
      '0 is no cap',
      { monthSpent: credits(1e6) },
      cost(10, { worst: 99 }),
      { kind: 'held', monthHeld: credits(10) },
    ],
    [
      'holds the worst case, while Credits hold the estimate',
      { monthlyCap: credits(100) },
      cost(10, { worst: 60 }),
      { held: credits(10), monthHeld: credits(60) },
    ],
    [
      'a call whose worst case would pass what is left is refused',
      { monthlyCap: credits(100), monthSpent: credits(50) },
      cost(10, { worst: 60 }),
      { kind: 'capped', retryAfterMs: wait, fitsLeast: true },
    ],
    [
      'also where its bound may shrink: what it costs in the end is charged in full',
      { monthlyCap: credits(100), monthSpent: credits(95) },
      cost(10, { least: 2, worst: 60 }),
      { kind: 'capped', retryAfterMs: wait, fitsLeast: true },
    ],
    [
      'spent: refused until the month ends',
      { monthlyCap: credits(100), monthSpent: credits(100) },
      cost(10),
      { kind: 'capped', retryAfterMs: wait },
    ],
    [
      'not enough left: refused until the month ends',
      { monthlyCap: credits(100), monthSpent: credits(91) },
      cost(10),
      { kind: 'capped', retryAfterMs: wait },
    ],
    [
      'held by running calls: refused for a moment',
      { monthlyCap: credits(100), monthHeld: credits(95) },
      cost(10),
      { kind: 'capped', retryAfterMs: 1000 },
    ],
    [
      'a lowered cap below what was spent refuses',
      { monthlyCap: credits(10), monthSpent: credits(50) },
      cost(1),
      { kind: 'capped', retryAfterMs: wait },
    ],
    [
      'a free model passes a spent cap and holds nothing',
      { monthlyCap: credits(10), monthSpent: credits(50) },
      cost(0),
      { held: 0n, monthHeld: 0n },
    ],
    [
      'what was spent last month does not count',
      { monthlyCap: credits(100), monthSpent: credits(100), monthStart: JUNE - 30 * DAY_MS },
      cost(10),
      { kind: 'held' },
    ],
  ])('%s', (_sentence, account, bounds, expected) => {
    expect(decide({ credits: credits(1e6), ...account }, bounds)).toMatchObject(expected)
  })
})

describe('a member’s cap beside the account’s', () => {
  const team = { credits: credits(1e6), monthlyCap: credits(100) }
  const decideFor = (
    account: Partial<AccountRow>,
    member: Partial<MemberRow>,
    bounds = cost(10, { worst: 60 }),
  ) =>
    decideCredits(
      {
        account: exampleAccount({ monthStart: JUNE, ...account }),
        member: exampleMember({ monthStart: JUNE, ...member }),
      },
      bounds,
      { at: NOW, month: { startAt: JUNE, endAt: JULY } },
    )

  test.each<[string, Partial<AccountRow>, Partial<MemberRow>, object]>([
    [
      'each holds the worst case for itself',
      { ...team, monthSpent: credits(40) },
      { monthlyCap: credits(60) },
      { kind: 'held', held: credits(10), monthHeld: credits(60), memberHeld: credits(60) },
    ],
    [
      'room that other calls of the member hold may be free as soon as one ends',
      { ...team, monthSpent: credits(5) },
      { monthlyCap: credits(70), monthHeld: credits(13) },
      { kind: 'capped', whose: 'member', retryAfterMs: 1_000 },
    ],
    [
      'without one, the member counts what Credits hold',
      team,
      {},
      { held: credits(10), monthHeld: credits(60), memberHeld: credits(10) },
    ],
    [
      'a member’s cap is held where the account has none',
      { credits: credits(1e6) },
      { monthlyCap: credits(70) },
      { held: credits(10), monthHeld: credits(10), memberHeld: credits(60) },
    ],
    [
      'the member’s is used up',
      team,
      { monthlyCap: credits(10), monthSpent: credits(1) },
      { kind: 'capped', whose: 'member', retryAfterMs: JULY - NOW },
    ],
    [
      'the account’s is used up',
      { ...team, monthSpent: credits(95) },
      { monthlyCap: credits(60) },
      { kind: 'capped', whose: 'account', retryAfterMs: JULY - NOW },
    ],
    [
      'of both the one that takes longer is told',
      { ...team, monthHeld: credits(95) },
      { monthlyCap: credits(10), monthSpent: credits(9) },
      { kind: 'capped', whose: 'member', retryAfterMs: JULY - NOW },
    ],
    [
      'a member who did not call this month has all of it',
      team,
      { monthlyCap: credits(60), monthSpent: credits(60), monthStart: JUNE - 30 * DAY_MS },
      { kind: 'held', memberHeld: credits(60) },
    ],
    [
      'a member’s month is the organisation’s, also for a call that arrives late',
      { ...team, monthStart: JULY },
      { monthlyCap: credits(60), monthSpent: credits(60) },
      { kind: 'held', memberHeld: credits(60) },
    ],
  ])('%s', (_sentence, account, member, expected) => {
    expect(decideFor(account, member)).toMatchObject(expected)
  })
})

describe('automatic exchange', () => {
  const autoExchange = { enabled: true, belowCredits: credits(100), step: credits(30) }
  test.each<[string, Partial<AccountRow>, number]>([
    ['above the threshold nothing happens', { credits: credits(100), balance: credits(500) }, 0],
    ['below it a step is converted', { credits: credits(99), balance: credits(500) }, 30],
    ['as few whole steps as lift Credits to it', { credits: credits(39), balance: credits(500) }, 90],
    ['never more than the balance has', { credits: credits(0), balance: credits(75) }, 60],
    ['a balance below one step stays', { credits: credits(0), balance: credits(29) }, 0],
    [
      'switched off: nothing',
      { credits: credits(0), balance: credits(500), autoExchange: { ...autoExchange, enabled: false } },
      0,
    ],
    [
      'a step of 0 cannot convert',
      { credits: credits(0), balance: credits(500), autoExchange: { ...autoExchange, step: credits(0) } },
      0,
    ],
    ['a negative balance cannot convert', { credits: credits(0), balance: credits(-60) }, 0],
  ])('%s', (_sentence, account, exchanged) => {
    expect(exchangeWhenLow(exampleAccount({ autoExchange, ...account }))).toBe(credits(exchanged))
  })

  test('a call that holds keep from being funded is funded by the steps it needs', () => {
    const account = { credits: credits(200), held: credits(195), balance: credits(500), autoExchange }
    expect(decide(account, cost(50))).toMatchObject({
      kind: 'held',
      held: credits(50),
      exchanged: credits(60),
    })
  })

  test('where the balance cannot fund the call either, nothing is converted', () => {
    const account = { credits: credits(10), balance: credits(60), autoExchange }
    expect(decide(account, cost(500))).toEqual({ kind: 'too-few' })
  })
})
