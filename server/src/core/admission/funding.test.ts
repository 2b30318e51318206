import { describe, expect, test } from 'vitest'
import { credits, exampleAccount } from '../calls/examples.ts'
import type { AccountRow, LimitState } from '../ledger/hot-rows.ts'
import { vendorCode } from '../ids.ts'
import { decideFunding, type FundingQuestion } from './funding.ts'
import { refuseRightToCall } from './right-to-call.ts'

const NOW = 1_000_000
const OPENAI = vendorCode('openai')
const GOOGLE = vendorCode('google')
const HOUR_S = 3600

const NO_QUOTA_USED: LimitState = { subject: 'quota:acc_1', slots: 0, windows: [] }
const subscription = {
  plan: 'PRO',
  level: 2,
  expiresAt: NOW + 1,
  quota: [
    { credits: credits(50), seconds: HOUR_S },
    { credits: credits(200), seconds: 24 * HOUR_S },
  ],
}
const used = (amount: number, held = 0): LimitState => ({
  ...NO_QUOTA_USED,
  windows: [
    { tier: `amount:${HOUR_S}`, anchor: NOW - 600_000, used: credits(amount), held: credits(held) },
    { tier: `amount:${24 * HOUR_S}`, anchor: NOW - 600_000, used: credits(amount), held: credits(held) },
  ],
})

interface Asked {
  readonly account?: Partial<AccountRow>
  readonly quota?: LimitState
  readonly covered?: boolean
  readonly vendors?: FundingQuestion['demand']['vendors']
  readonly least?: number
  /** The most the call may cost, where that is held. */
  readonly worst?: number
}

function decide({ account, quota, covered, vendors, least, worst }: Asked) {
  return decideFunding({
    account: exampleAccount({ credits: credits(0), apiDeduction: false, ...account }),
    member: undefined,
    quota: quota ?? NO_QUOTA_USED,
    demand: { vendors: vendors ?? [OPENAI], subscriptionCovered: covered ?? true },
    cost: {
      full: credits(10),
      least: credits(least ?? 10),
      worst: credits(worst ?? 10),
      ...(worst === undefined ? {} : { covered: credits(worst) }),
    },
    at: NOW,
    month: { startAt: 0, endAt: undefined },
  })
}

const rich = { credits: credits(100), apiDeduction: true }
const byok = { byokVendors: [OPENAI] }

describe('order of payment', () => {
  test.each<[string, Asked, object]>([
    [
      'an own credential pays first and holds nothing',
      { account: { ...rich, ...byok, subscription } },
      { funding: { byokVendors: [OPENAI], otherwise: 'none' }, held: 0n, quotaHeld: 0n },
    ],
    [
      'chains of other vendors are paid by the subscription',
      { account: { ...rich, ...byok, subscription }, vendors: [OPENAI, GOOGLE] },
      { funding: { byokVendors: [OPENAI], otherwise: 'subscription' }, held: 0n, quotaHeld: credits(10) },
    ],
    [
      'where nothing pays for the others, own credentials still carry the call',
      { account: byok, vendors: [OPENAI, GOOGLE] },
      { funding: { byokVendors: [OPENAI], otherwise: 'none' }, held: 0n },
    ],
    [
      'an own credential of a vendor without a chain pays nothing',
      { account: { ...byok, ...rich }, vendors: [GOOGLE] },
      { funding: { byokVendors: [], otherwise: 'credits' }, held: credits(10) },
    ],
    [
      'the subscription pays second, Credits stay',
      { account: { ...rich, subscription } },
      { funding: { otherwise: 'subscription' }, held: 0n, quotaHeld: credits(10) },
    ],
    [
      'a model the plan does not cover is paid by Credits',
      { account: { ...rich, subscription }, covered: false },
      { funding: { otherwise: 'credits' }, held: credits(10), quotaHeld: 0n },
    ],
    [
      'an expired subscription pays nothing',
      { account: { ...rich, subscription: { ...subscription, expiresAt: NOW } } },
      { funding: { otherwise: 'credits' } },
    ],
    [
      'a used-up quota leaves the call to Credits',
      { account: { ...rich, subscription }, quota: used(45) },
      { funding: { otherwise: 'credits' }, held: credits(10), quotaHeld: 0n },
    ],
    [
      'a quota that may shrink holds what is left of its tightest tier',
      { account: { subscription }, quota: used(45), least: 2 },
      { funding: { otherwise: 'subscription' }, quotaHeld: credits(5) },
    ],
    [
      'a quota holds the worst case where it has that much',
      { account: { subscription }, quota: used(0, 5), worst: 40 },
      { funding: { otherwise: 'subscription' }, quotaHeld: credits(40) },
    ],
    [
      'one that has less lends the rest while nothing of it is held',
      { account: { subscription }, quota: used(20), worst: 40 },
      { funding: { otherwise: 'subscription' }, quotaHeld: credits(10) },
    ],
    [
      'one that running calls hold lends nothing: Credits pay where they may',
      { account: { ...rich, subscription }, quota: used(0, 20), worst: 40 },
      { funding: { otherwise: 'credits' }, held: credits(40), quotaHeld: 0n },
    ],
    [
      'a plan without quota opens models and pays for none',
      { account: { ...rich, subscription: { ...subscription, quota: [] } } },
      { funding: { otherwise: 'credits' } },
    ],
  ])('%s', (_sentence, asked, expected) => {
    expect(decide(asked)).toMatchObject({ kind: 'funded', ...expected })
  })
})

describe('refusals', () => {
  test.each<[string, Asked, object]>([
    ['nothing set up', {}, { code: 40202 }],
    ['enough Credits, deduction off', { account: { credits: credits(100) } }, { code: 40202 }],
    [
      'deduction on, too few Credits',
      { account: { apiDeduction: true, credits: credits(9) } },
      { code: 40202 },
    ],
    ['negative Credits', { account: { apiDeduction: true, credits: credits(-1) } }, { code: 40202 }],
    [
      'the plan does not cover the model and there are no Credits',
      { account: { subscription, apiDeduction: true }, covered: false },
      { code: 40202 },
    ],
    [
      'only a subscription could pay and its quota is used up: until its tier frees',
      { account: { subscription }, quota: used(50) },
      { code: 42905, retryAfterMs: 3_000_000 },
    ],
    [
      'several used-up tiers: the longest wait',
      { account: { subscription }, quota: used(200) },
      { code: 42905, retryAfterMs: 24 * 3_600_000 - 600_000 },
    ],
    [
      'quota only held by running calls: come back soon',
      { account: { subscription }, quota: used(0, 45) },
      { code: 42905, retryAfterMs: 1000 },
    ],
    [
      'quota has room for the likely price, running calls hold the rest: come back soon',
      { account: { subscription }, quota: used(0, 20), worst: 40 },
      { code: 42905, retryAfterMs: 1_000 },
    ],
    [
      'quota used up, deduction on, no Credits: the quota is what waiting brings back',
      { account: { subscription, apiDeduction: true }, quota: used(50) },
      { code: 42905 },
    ],
    [
      'Credits there, cap reached',
      { account: { ...rich, monthlyCap: credits(5), monthSpent: credits(5) } },
      { code: 42906 },
    ],
  ])('%s', (_sentence, asked, refusal) => {
    expect(decide(asked)).toMatchObject({ kind: 'refused', refusal })
  })

  test('a demand without any vendor is not free', () => {
    expect(decide({ account: byok, vendors: [] })).toMatchObject({
      kind: 'refused',
      refusal: { code: 40202 },
    })
  })

  test('the message also suggests verification to an unverified account, not to a verified one [5-29]', () => {
    for (const cause of [
      { kind: 'not-set-up' },
      { kind: 'too-few', needed: credits(5), free: credits(1) },
    ] as const) {
      expect(refuseRightToCall({ verification: 0 }, cause).message).toMatch(/verif/)
      expect(refuseRightToCall({ verification: 1 }, cause).message).not.toMatch(/verif/)
    }
  })

  test('the one cause is named, and what mends it', () => {
    const off = decide({ account: { verification: 1, credits: credits(100) } })
    expect(off.kind === 'refused' && off.refusal.message).toMatch(
      /API deduction access is off; subscribe, or set/,
    )
    const poor = decide({ account: { verification: 1, apiDeduction: true, credits: credits(9) } })
    expect(poor.kind === 'refused' && poor.refusal.message).toMatch(
      /^Credits are not enough: this call needs at least \d+ and 9 are free; top up/,
    )
  })
})
