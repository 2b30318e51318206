import type { Month } from '../admission/credits.ts'
import { decideFunding, type Funded, type FundingDecision } from '../admission/funding.ts'
import { decideLevels } from '../admission/levels.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { decideLimits, type Exceeded, longer, readWindows, takeLimits } from '../limits/limit-state.ts'
import { holdQuota, quotaTiers } from '../limits/quota.ts'
import type { TieredPolicy } from '../limits/tiers.ts'
import { type MicroCredits, microCredits } from '../money.ts'
import { boundCost } from '../pricing/bound-cost.ts'
import { withFunds } from './account-funds.ts'
import type { Draft } from './draft.ts'
import type { AccountRow, KeyRow, LimitState, OpenCall } from './hot-rows.ts'
import type { Demand, Refusal, ReserveOperation, ReserveOutcome } from './operations.ts'

/**
 * Order of checks (decisions): key → account → model admission → right to call → limits and concurrency of key and
 * account → hold. Nothing is written before everything has passed.
 */
export function decideReserve(draft: Draft, operation: ReserveOperation): ReserveOutcome {
  const open = draft.openCall(operation.callId)
  if (open !== undefined) return repeatReserved(draft, operation, open)
  const key = draft.key(operation.keyId)
  const account = draft.account(operation.accountId)
  const keyCode = decideKey(key, operation)
  if (keyCode !== undefined) return refuse({ code: keyCode, message: undefined, retryAfterMs: undefined })
  if (key === undefined || account === undefined) return refuse(UNKNOWN_KEY)
  if (account.status === 'suspended') return refuse(SUSPENDED)
  const model = decideDemand(draft, operation, { account, demand: operation.model })
  if (model.kind === 'refused' && !waitsForLimits(model.refusal)) return refuse(model.refusal)
  const subjects = limitedSubjects(draft, operation, { key, account })
  const exceeded = decideSubjects(subjects, operation)
  if (exceeded !== undefined) return refuse({ ...exceeded, message: undefined })
  if (model.kind === 'refused') return refuse(model.refusal)
  const fallback =
    operation.fallback && decideDemand(draft, operation, { account, demand: operation.fallback })
  return take(draft, operation, { account, subjects, model, fallback })
}

const UNKNOWN_KEY: Refusal = { code: 40101, message: undefined, retryAfterMs: undefined }
const SUSPENDED: Refusal = { code: 40303, message: undefined, retryAfterMs: undefined }
const UNREADABLE_PRICE: Refusal = { code: 50000, message: undefined, retryAfterMs: undefined }

const refuse = (refusal: Refusal): ReserveOutcome => ({ kind: 'refused', refusal })

function decideKey(key: KeyRow | undefined, operation: ReserveOperation): ErrorCode | undefined {
  if (key === undefined || key.status === 'deleted' || key.accountId !== operation.accountId) return 40101
  if (key.status === 'disabled') return 40102
  return key.expiresAt !== undefined && operation.at >= key.expiresAt ? 40103 : undefined
}

/** A used-up quota or cap belongs to the hold, which comes after the limits. */
const waitsForLimits = (refusal: Refusal): boolean => refusal.code === 42905 || refusal.code === 42906

function decideDemand(
  draft: Draft,
  operation: ReserveOperation,
  asked: { readonly account: AccountRow; readonly demand: Demand },
): FundingDecision {
  const { account, demand } = asked
  const levels = decideLevels(account, demand, operation.at)
  if (levels !== undefined) return { kind: 'refused', refusal: levels }
  const terms = draft.reader.terms(demand.terms)
  const rate = draft.reader.rate(account.userRate)
  if (terms.kind === 'unreadable' || rate.kind === 'unreadable')
    return { kind: 'refused', refusal: UNREADABLE_PRICE }
  return decideFunding({
    account,
    quota: draft.limits(`quota:${account.id}`),
    demand,
    cost: boundCost(terms.bounds, demand.estimate, rate.rate),
    at: operation.at,
    month: monthOf(operation),
  })
}

function monthOf(operation: ReserveOperation): Month {
  return { startAt: operation.monthStart, endAt: operation.monthEnd }
}

interface LimitedSubject {
  readonly state: LimitState
  readonly policy: TieredPolicy
}

/** The key first, then its account. */
function limitedSubjects(
  draft: Draft,
  operation: ReserveOperation,
  owner: { readonly key: KeyRow; readonly account: AccountRow },
): readonly LimitedSubject[] {
  const { key, account } = owner
  return [
    { state: draft.limits(`key:${key.id}`), policy: draft.tiered(key.policy ?? operation.defaultPolicy) },
    { state: draft.limits(`account:${account.id}`), policy: draft.tiered(account.policy) },
  ]
}

function decideSubjects(
  subjects: readonly LimitedSubject[],
  operation: ReserveOperation,
): Exceeded | undefined {
  let exceeded: Exceeded | undefined
  for (const { state, policy } of subjects)
    exceeded = longer(exceeded, decideLimits(state, policy, operation))
  return exceeded
}

/**
 * Everything has passed: takes windows, slots and holds. One of the two models is billed in the end, so each pool holds
 * the larger demand; both were decided on the same rows, so the larger one is funded too.
 */
function take(
  draft: Draft,
  operation: ReserveOperation,
  decided: {
    readonly account: AccountRow
    readonly subjects: readonly LimitedSubject[]
    readonly model: Funded
    readonly fallback: FundingDecision | undefined
  },
): ReserveOutcome {
  const { account, model, fallback } = decided
  const { callId, at } = operation
  const second = fallback?.kind === 'funded' ? fallback : undefined
  const held = larger(model.held, second?.held)
  const monthHeld = larger(model.monthHeld, second?.monthHeld)
  const quotaHeld = larger(model.quotaHeld, second?.quotaHeld)
  const exchanged = larger(model.exchanged, second?.exchanged)
  const after = decided.subjects.map(({ state, policy }) => {
    const { state: taking, taken } = takeLimits(state, policy, operation)
    return { state: taking, taken, policy }
  })
  for (const { state } of after) draft.putLimits(state)
  holdCredits(draft, account, { held, monthHeld, exchanged })
  draft.move({ step: 'exchangeAtReserve', callId, accountId: account.id, at, amount: exchanged })
  draft.move({ step: 'hold', callId, accountId: account.id, at, amount: held })
  const tiers = quotaHeld > 0n ? quotaTiers(account.subscription?.quota ?? []) : []
  if (quotaHeld > 0n) {
    draft.putLimits(holdQuota(draft.limits(`quota:${account.id}`), tiers, { held: quotaHeld, at }))
  }
  draft.putOpenCall({
    callId,
    instanceId: operation.instanceId,
    keyId: operation.keyId,
    accountId: account.id,
    startedAt: at,
    touchedAt: at,
    held,
    quotaHeld,
    monthHeld,
    quotaTiers: tiers,
    taken: after.map(({ taken }) => taken),
    funding: { model: model.funding, fallback: second?.funding },
    userRate: account.userRate,
    modelId: operation.model.modelId,
    fallbackModelId: operation.fallback?.modelId,
    terms: operation.model.terms,
    fallbackTerms: operation.fallback?.terms,
    counts: operation.counts,
    claims: [],
    description: operation.description,
    progress: undefined,
  })
  return {
    kind: 'reserved',
    model: model.funding,
    fallback: fallback?.kind === 'funded' ? fallback.funding : fallback,
    held,
    userRate: account.userRate,
    windows: readWindows(after, at),
  }
}

const larger = (left: MicroCredits, right: MicroCredits | undefined): MicroCredits =>
  right !== undefined && right > left ? right : left

function holdCredits(
  draft: Draft,
  account: AccountRow,
  hold: { readonly held: MicroCredits; readonly monthHeld: MicroCredits; readonly exchanged: MicroCredits },
): void {
  if (hold.held === 0n && hold.monthHeld === 0n && hold.exchanged === 0n) return
  draft.putAccount(
    withFunds(account, {
      credits: microCredits(account.credits + hold.exchanged),
      balance: microCredits(account.balance - hold.exchanged),
      held: microCredits(account.held + hold.held),
      monthHeld: microCredits(account.monthHeld + hold.monthHeld),
      monthStart: account.monthStart,
      monthSpent: account.monthSpent,
    }),
  )
}

/** The same answer as the first time, as far as the open call remembers it; nothing is taken again. */
function repeatReserved(draft: Draft, operation: ReserveOperation, open: OpenCall): ReserveOutcome {
  const key = draft.key(open.keyId)
  const account = draft.account(open.accountId)
  const known = key !== undefined && account !== undefined
  return {
    kind: 'reserved',
    model: open.funding.model,
    fallback: open.funding.fallback,
    held: open.held,
    userRate: open.userRate,
    windows: known ? readWindows(limitedSubjects(draft, operation, { key, account }), operation.at) : [],
  }
}
