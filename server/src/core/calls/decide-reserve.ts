import type { Month } from '../admission/cap.ts'
import { decideFunding, type Funded, type FundingDecision } from '../admission/funding.ts'
import { decideLevels } from '../admission/levels.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { decideLimits, type Exceeded, longer, readWindows, takeLimits } from '../limits/limit-state.ts'
import { holdQuota, quotaTiers } from '../limits/quota.ts'
import type { TieredPolicy } from '../limits/tiers.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import { boundCost } from '../pricing/bound-cost.ts'
import { chargeOwed } from '../admission/owed.ts'
import { withFunds } from './account-funds.ts'
import { monthOfCall } from './ends/call-end.ts'
import type { Draft } from '../ledger/draft.ts'
import type { AccountRow, KeyRow, LimitState, MemberRow, OpenCall, Taken } from '../ledger/hot-rows.ts'
import type {
  Demand,
  Granted,
  LimitOwner,
  Refusal,
  ReserveOperation,
  ReserveOutcome,
} from '../ledger/operations.ts'

/**
 * Order of checks (docs/reference/contract.md#D-admission): key → account → member → model admission → right to call →
 * limits and concurrency of key, member and account → hold. Nothing is written before everything has passed.
 */
export function decideReserve(draft: Draft, operation: ReserveOperation): ReserveOutcome {
  const open = draft.openCall(operation.callId)
  if (open !== undefined) return repeatReserved(draft, operation, open)
  if (draft.recoveredCall(operation.callId) !== undefined) return refuse(ENDED)
  if (operation.granted !== undefined) return takeGranted(draft, operation, operation.granted)
  const key = draft.key(operation.keyId)
  const stored = draft.account(operation.accountId)
  const keyCode = decideKey(key, operation)
  if (keyCode !== undefined) return refuse({ code: keyCode, message: undefined, retryAfterMs: undefined })
  if (key === undefined || stored === undefined) return refuse(UNKNOWN_KEY)
  if (stored.status === 'suspended') return refuse(SUSPENDED)
  // What is owed is charged first; this call is decided on what remains.
  const owed = chargeOwed(stored, monthOfCall(stored, operation))
  const { account } = owed
  const member = key.memberId === undefined ? undefined : draft.member(key.memberId)
  const refusal = decideMember(key, member)
  if (refusal !== undefined) return refuse(refusal)
  const model = decideDemand(draft, operation, { account, member, demand: operation.model })
  if (model.kind === 'refused' && !waitsForLimits(model.refusal)) return refuse(model.refusal)
  const subjects = limitedSubjects(draft, operation, { key, member, account })
  const exceeded = decideSubjects(subjects, operation)
  const windows = () => readWindows(subjects, operation.at)
  if (exceeded !== undefined) return refuse({ message: undefined, windows: windows(), ...exceeded })
  if (model.kind === 'refused') return refuse({ ...model.refusal, windows: windows() })
  const fallback =
    operation.fallback && decideDemand(draft, operation, { account, member, demand: operation.fallback })
  return take(draft, operation, { account, owedCharged: owed.charged, member, subjects, model, fallback })
}

/** Repeats what was granted on rows that another process has changed since. Nothing is exchanged: the hold is enough. */
function takeGranted(draft: Draft, operation: ReserveOperation, granted: Granted): ReserveOutcome {
  const { model, fallback, ...holds } = granted
  const key = draft.key(operation.keyId)
  const stored = draft.account(operation.accountId)
  if (key === undefined || stored === undefined) return refuse(UNKNOWN_KEY)
  const { account, charged } = chargeOwed(stored, monthOfCall(stored, operation))
  const member = key.memberId === undefined ? undefined : draft.member(key.memberId)
  return take(draft, operation, {
    account,
    owedCharged: charged,
    member,
    subjects: limitedSubjects(draft, operation, { key, member, account }),
    model: { kind: 'funded', funding: model, exchanged: ZERO, ...holds },
    fallback: fallback && { kind: 'funded', funding: fallback, exchanged: ZERO, ...holds },
  })
}

const UNKNOWN_KEY: Refusal = { code: 40101, message: undefined, retryAfterMs: undefined }
const SUSPENDED: Refusal = { code: 40303, message: undefined, retryAfterMs: undefined }
/** The store gives the same answer for any call that has ended. */
const ENDED: Refusal = { code: 50000, message: undefined, retryAfterMs: undefined }
const UNREADABLE_PRICE: Refusal = { code: 50000, message: undefined, retryAfterMs: undefined }

const refuse = (refusal: Refusal): ReserveOutcome => ({ kind: 'refused', refusal })

function decideKey(key: KeyRow | undefined, operation: ReserveOperation): ErrorCode | undefined {
  if (key === undefined || key.status === 'deleted' || key.accountId !== operation.accountId) return 40101
  if (key.status === 'disabled') return 40102
  return key.expiresAt !== undefined && operation.at >= key.expiresAt ? 40103 : undefined
}

/**
 * For the organisation's keys, a removed member counts as unknown, a suspended member as a disabled key, and a person
 * whose own account is suspended may not call at all.
 */
function decideMember(key: KeyRow, member: MemberRow | undefined): Refusal | undefined {
  if (key.memberId === undefined) return undefined
  if (member === undefined || member.organisationId !== key.accountId) return UNKNOWN_KEY
  if (member.status === 'removed') return UNKNOWN_KEY
  if (member.personStatus === 'suspended') return PERSON_SUSPENDED
  return member.status === 'suspended' ? MEMBER_SUSPENDED : undefined
}

const PERSON_SUSPENDED: Refusal = {
  code: 40303,
  message: 'the account of the member this API key belongs to is suspended',
  retryAfterMs: undefined,
}
const MEMBER_SUSPENDED: Refusal = {
  code: 40102,
  message: 'the member this API key belongs to is suspended in the organisation',
  retryAfterMs: undefined,
}

/**
 * Refusals for a used-up quota or cap, and for Credits held by running calls, belong to the hold, which comes after the
 * limits.
 */
const waitsForLimits = ({ code }: Refusal): boolean => OF_THE_HOLD.includes(code)
const OF_THE_HOLD: readonly ErrorCode[] = [42901, 42905, 42906]

function decideDemand(
  draft: Draft,
  operation: ReserveOperation,
  asked: { readonly account: AccountRow; readonly member: MemberRow | undefined; readonly demand: Demand },
): FundingDecision {
  const { account, member, demand } = asked
  const levels = decideLevels(account, demand, operation.at)
  if (levels !== undefined) return { kind: 'refused', refusal: levels }
  const terms = draft.reader.terms(demand.terms)
  const rate = draft.reader.rate(account.userRate)
  if (terms.kind === 'unreadable' || rate.kind === 'unreadable')
    return { kind: 'refused', refusal: UNREADABLE_PRICE }
  return decideFunding({
    account,
    member,
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
  readonly of: LimitOwner
  readonly state: LimitState
  readonly policy: TieredPolicy
}

/** The key first, then its member, then its account. */
function limitedSubjects(
  draft: Draft,
  operation: ReserveOperation,
  owner: { readonly key: KeyRow; readonly member: MemberRow | undefined; readonly account: AccountRow },
): readonly LimitedSubject[] {
  const { key, member, account } = owner
  const ofKey = {
    of: 'key',
    state: draft.limits(`key:${key.id}`),
    policy: draft.tiered(key.policy ?? operation.defaultPolicy),
  } as const
  const ofAccount = {
    of: 'account',
    state: draft.limits(`account:${account.id}`),
    policy: draft.tiered(account.policy),
  } as const
  if (member === undefined) return [ofKey, ofAccount]
  const ofMember = {
    of: 'member',
    state: draft.limits(`member:${member.id}`),
    policy: draft.tiered(member.policy),
  } as const
  return [ofKey, ofMember, ofAccount]
}

function decideSubjects(
  subjects: readonly LimitedSubject[],
  operation: ReserveOperation,
): (Pick<Refusal, 'limit'> & Pick<Exceeded, 'code' | 'retryAfterMs'>) | undefined {
  let longest:
    | { readonly exceeded: Exceeded; readonly of: LimitOwner; readonly retryAfterMs: number }
    | undefined
  for (const { of, state, policy } of subjects) {
    const exceeded = decideLimits(state, policy, operation)
    if (exceeded === undefined) continue
    longest = longer(longest, { exceeded, of, retryAfterMs: exceeded.retryAfterMs })
  }
  if (longest === undefined) return undefined
  const { exceeded, of } = longest
  return { ...exceeded, limit: { ...exceeded.limit, of } }
}

interface Decided {
  readonly account: AccountRow
  /** The part of earlier debts charged now; the account is as it is after that. */
  readonly owedCharged: MicroCredits
  readonly member: MemberRow | undefined
  readonly subjects: readonly LimitedSubject[]
  readonly model: Funded
  readonly fallback: FundingDecision | undefined
}

/** Everything has passed: takes windows, slots and holds. */
function take(draft: Draft, operation: ReserveOperation, decided: Decided): ReserveOutcome {
  const { account, model, fallback } = decided
  const { at } = operation
  const second = fallback?.kind === 'funded' ? fallback : undefined
  const holds = largerHolds(model, second)
  const after = decided.subjects.map(({ state, policy }) => {
    const { state: taking, taken } = takeLimits(state, policy, operation)
    return { state: taking, taken, policy }
  })
  for (const { state } of after) draft.putLimits(state)
  holdCredits(draft, operation, decided, holds)
  // Also for a call that needed no hold: the quota pays what it costs in the end.
  const covered = model.funding.otherwise === 'subscription' || second?.funding.otherwise === 'subscription'
  const quota = covered ? (account.subscription?.quota ?? []) : []
  if (holds.quotaHeld > 0n) {
    const state = draft.limits(`quota:${account.id}`)
    draft.putLimits(holdQuota(state, quota, { held: holds.quotaHeld, at }))
  }
  const taken = after.map((one) => one.taken)
  draft.putOpenCall(openedCall(operation, decided, { second, holds, tiers: quotaTiers(quota), taken }))
  return {
    kind: 'reserved',
    model: model.funding,
    fallback: second?.funding ?? (fallback?.kind === 'refused' ? fallback : undefined),
    held: holds.held,
    userRate: account.userRate,
    windows: readWindows(after, at),
  }
}

type Holds = Omit<Funded, 'kind' | 'funding'>

/**
 * One of the two models is billed in the end, so each pool holds the larger demand; both were decided on the same rows, so
 * the larger one is funded too.
 */
function largerHolds(model: Funded, second: Funded | undefined): Holds {
  return {
    held: larger(model.held, second?.held),
    monthHeld: larger(model.monthHeld, second?.monthHeld),
    memberHeld: larger(model.memberHeld, second?.memberHeld),
    quotaHeld: larger(model.quotaHeld, second?.quotaHeld),
    exchanged: larger(model.exchanged, second?.exchanged),
  }
}

const larger = (left: MicroCredits, right: MicroCredits | undefined): MicroCredits =>
  right !== undefined && right > left ? right : left

function holdCredits(
  draft: Draft,
  { callId, at }: ReserveOperation,
  { account, owedCharged, member }: Pick<Decided, 'account' | 'owedCharged' | 'member'>,
  holds: Holds,
): void {
  const { held, monthHeld, memberHeld, exchanged } = holds
  if (held > 0n || monthHeld > 0n || exchanged > 0n || owedCharged > 0n) {
    draft.putAccount(
      withFunds(account, {
        credits: microCredits(account.credits + exchanged),
        balance: microCredits(account.balance - exchanged),
        held: microCredits(account.held + held),
        owed: account.owed,
        monthHeld: microCredits(account.monthHeld + monthHeld),
        monthStart: account.monthStart,
        monthSpent: account.monthSpent,
      }),
    )
  }
  if (member !== undefined && memberHeld > 0n) {
    draft.putMember({ ...member, monthHeld: microCredits(member.monthHeld + memberHeld) })
  }
  draft.move({ step: 'chargeOwedAtReserve', callId, accountId: account.id, at, amount: owedCharged })
  draft.move({ step: 'exchangeAtReserve', callId, accountId: account.id, at, amount: exchanged })
}

function openedCall(
  operation: ReserveOperation,
  { account, member, model }: Decided,
  opened: {
    readonly second: Funded | undefined
    readonly holds: Holds
    readonly tiers: readonly string[]
    readonly taken: readonly Taken[]
  },
): OpenCall {
  const { second, holds } = opened
  return {
    callId: operation.callId,
    instanceId: operation.instanceId,
    keyId: operation.keyId,
    accountId: account.id,
    memberId: member?.id,
    startedAt: operation.at,
    touchedAt: operation.at,
    held: holds.held,
    quotaHeld: holds.quotaHeld,
    monthHeld: holds.monthHeld,
    memberHeld: holds.memberHeld,
    quotaTiers: opened.tiers,
    taken: opened.taken,
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
    recovered: undefined,
  }
}

/** Repeats the first answer, as far as the open call holds it; nothing is reserved again. */
function repeatReserved(draft: Draft, operation: ReserveOperation, open: OpenCall): ReserveOutcome {
  const key = draft.key(open.keyId)
  const account = draft.account(open.accountId)
  const member = open.memberId === undefined ? undefined : draft.member(open.memberId)
  const known = key !== undefined && account !== undefined
  return {
    kind: 'reserved',
    model: open.funding.model,
    fallback: open.funding.fallback,
    held: open.held,
    userRate: open.userRate,
    windows: known
      ? readWindows(limitedSubjects(draft, operation, { key, member, account }), operation.at)
      : [],
  }
}
