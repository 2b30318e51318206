/** Between the naive model's words and the product's. */
import { NO_PRICES } from '../../src/core/calls/examples.ts'
import type { AccountRow, KeyRow, MemberRow } from '../../src/core/ledger/hot-rows.ts'
import type {
  NaiveAccount,
  NaiveAnswer,
  NaiveFunding,
  NaiveKey,
  NaiveMember,
  NaiveModelPrice,
  NaiveRefusal,
  NaiveReserve,
} from '../../src/core/calls/naive-model.ts'
import type { Demand, Funding, HotOutcome, Refusal } from '../../src/core/ledger/operations.ts'
import { accountId, keyId, memberId, modelId, vendorCode } from '../../src/core/ids.ts'
import { microCredits } from '../../src/core/money.ts'
import type { PriceTerms } from '../../src/core/pricing/terms.ts'
import type { Answer } from './store.ts'

export function termsOf(model: NaiveModelPrice): PriceTerms {
  const perMillion = (micro: number) => (micro / 1000).toString()
  const perPiece = (micro: number) => (micro / 1_000_000_000).toString()
  return {
    pricing: {
      ...NO_PRICES,
      billingModes: ['token', 'image', 'video_second'],
      inputPrice: perMillion(model.input),
      outputPrice: perMillion(model.output),
      imagePrice: perPiece(model.image),
      videoPrice: perPiece(model.second),
    },
    creditsPerUnit: '1000',
    multipliers: Object.fromEntries(
      Object.entries(model.tenths).map(([id, tenths]) => [id, String(tenths / 10)]),
    ),
  }
}

export function demandOf(
  model: NaiveModelPrice,
  ask: Pick<NaiveReserve, 'counts' | 'tokens' | 'strict' | 'coversWorst'>,
): Demand {
  return {
    modelId: modelId(model.id),
    requiredVerification: model.verification,
    requiredPlan: model.plan,
    subscriptionCovered: model.covered,
    vendors: model.vendors.map(vendorCode),
    terms: JSON.stringify(termsOf(model)),
    estimate: {
      inputTokens: ask.tokens.input,
      outputTokens: ask.tokens.output,
      images: ask.counts.images,
      videoSeconds: ask.counts.videoSeconds,
      bound: ask.strict ? 'strict' : 'affordable',
      worstInputTokens: ask.tokens.worstInput,
      worstOutputTokens: ask.tokens.worstOutput,
      ...(ask.coversWorst && { covers: 'worst' }),
    },
  }
}

export function keyRow(key: NaiveKey): KeyRow {
  const { status, expiresAt, policy } = key
  return {
    id: keyId(key.id),
    accountId: accountId(key.account),
    memberId: key.member === undefined ? undefined : memberId(key.member),
    status,
    expiresAt,
    policy,
  }
}

export function memberRow(member: NaiveMember): MemberRow {
  return {
    id: memberId(member.id),
    organisationId: accountId(member.account),
    status: member.status,
    personStatus: member.personSuspended ? 'suspended' : 'active',
    monthlyCap: microCredits(member.cap),
    monthStart: member.monthStart,
    monthSpent: microCredits(member.spent),
    monthHeld: microCredits(member.monthHeld),
    policy: member.policy,
  }
}

export function accountRow(account: NaiveAccount): AccountRow {
  const { exchange, subscription } = account
  return {
    id: accountId(account.id),
    status: account.suspended ? 'suspended' : 'active',
    verification: account.verification,
    userRate: String(account.ratePercent),
    credits: microCredits(account.credits),
    held: microCredits(account.held),
    balance: microCredits(account.balance),
    owed: microCredits(account.owed),
    apiDeduction: account.deduction,
    monthlyCap: microCredits(account.cap),
    monthStart: account.monthStart,
    monthSpent: microCredits(account.spent),
    monthHeld: microCredits(account.monthHeld),
    autoExchange: {
      enabled: exchange.enabled,
      belowCredits: microCredits(exchange.below),
      step: microCredits(exchange.step),
    },
    subscription: subscription && {
      plan: 'any',
      level: subscription.level,
      expiresAt: subscription.expiresAt,
      quota: subscription.quota.map((tier) => ({ ...tier, credits: microCredits(tier.credits) })),
    },
    policy: account.policy,
    byokVendors: account.byok.map(vendorCode),
  }
}

/** An answer in the model's words. */
export function plain(answer: Answer): unknown {
  switch (answer.kind) {
    case 'impossible':
      return 'impossible'
    case 'refused':
      return { kind: 'refused', refusal: plainRefusal(answer.refusal) } satisfies NaiveAnswer
    case 'reserved':
      return {
        kind: 'reserved',
        held: answer.held,
        model: plainFunding(answer.model),
        fallback: plainFallback(answer.fallback),
      } satisfies NaiveAnswer
    case 'claimed':
      return 'claimed'
    case 'full':
      return answer.retryAfterMs
    case 'settled':
      return { first: answer.first, late: answer.late, deducted: answer.deducted }
    case 'done':
      return 'done'
  }
}

/** Codes whose own sentence is about the key or the account; another one is about the member. */
const OF_MEMBER: readonly number[] = [40102, 40303, 42906]

export const isOfMember = ({ code, message }: Refusal): boolean =>
  message !== undefined &&
  OF_MEMBER.includes(code) &&
  !(code === 42906 && message.includes('of this account'))

/** The cap would do for the least, not for the most. */
const isInWorstCase = ({ message }: Refusal): boolean => message?.startsWith('in the worst case') === true

const plainRefusal = (refusal: Refusal): NaiveRefusal => ({
  code: refusal.code,
  waitMs: refusal.retryAfterMs,
  ...(isOfMember(refusal) && { ofMember: true }),
  ...(isInWorstCase(refusal) && { inWorstCase: true }),
})
const plainFunding = ({ byokVendors, otherwise }: Funding): NaiveFunding => ({
  byok: byokVendors,
  payer: otherwise,
})

function plainFallback(
  fallback: Extract<HotOutcome, { kind: 'reserved' }>['fallback'],
): NaiveFunding | NaiveRefusal | undefined {
  if (fallback === undefined) return undefined
  return fallback.kind === 'funded' ? plainFunding(fallback) : plainRefusal(fallback.refusal)
}
