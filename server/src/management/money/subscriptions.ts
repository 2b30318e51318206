/**
 * Buying, changing, renewing and ending plans. The arithmetic is in `core/subscriptions`; here it is applied to the
 * stored money.
 */
import { DAY_MS } from '../../core/durations.ts'
import type { Subscription, Transfer } from '../../core/ledger/hot-rows.ts'
import { balancePool, creditsPool, SUBSCRIPTION_REVENUE } from '../../core/ledger/ledger.ts'
import type { Catalogue, Plan } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { type MicroCredits, microCredits, ZERO } from '../../core/money.ts'
import { knownRateOf } from '../../core/pricing/currency.ts'
import { decideOrder, type OrderDecision } from '../../core/subscriptions/decide-order.ts'
import { decideRenewal } from '../../core/subscriptions/decide-renewal.ts'
import {
  type PlanOffer,
  type Pool,
  type PoolAmount,
  renewalDueAt,
  type Subscriber,
  type SubscriptionTerms,
  termsOf,
} from '../../core/subscriptions/terms.ts'
import type { Act, ActDecision, ActOutcome, ActState } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { activeSubscription } from '../accounts/accounts.ts'
import { type Asking, idempotencyOf } from '../acts.ts'
import { creditsOfText, creditsOfYuan, creditsText, yuanText } from './amounts.ts'
import { type QuotaView, readLimitStates, viewQuota } from '../keys/limits-view.ts'
import { timeOrderedId } from '../new-id.ts'
import { noteReceipt, type Receipts } from './receipts.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** A plan at today's rate of its currency. */
export function offerOf(plan: Plan, { settings }: Pick<Catalogue, 'settings'>): PlanOffer {
  return {
    code: plan.code,
    level: plan.level,
    price: creditsOfYuan(plan.price, knownRateOf(settings, plan.currency)),
    periodMs: plan.periodDays * DAY_MS,
    quota: plan.quota.map(({ credits, seconds }) => ({ credits: creditsOfText(credits), seconds })),
  }
}

export interface SubscribeRequest extends Asking {
  readonly accountId: AccountId
  readonly plan: string
  readonly pool: Pool
  readonly renews: boolean
  readonly receipts: Receipts
}

export type SubscribeRefusal =
  | Extract<OrderDecision, { kind: 'refused' }>
  | { readonly kind: 'refused'; readonly reason: 'no-plan' }

export async function subscribe(
  storage: Pick<Storage, 'audit'>,
  catalogue: Catalogue,
  request: SubscribeRequest,
): Promise<ActOutcome<SubscribeRefusal>> {
  const { accountId, pool, renews, at } = request
  const transactionId = timeOrderedId(at)
  const plan = catalogue.plans.get(request.plan)
  return performPaid<SubscribeRefusal>(storage, catalogue, request.receipts, {
    accountId,
    operation: 'subscribe',
    idempotency: idempotencyOf(request, [request.plan, pool, renews]),
    at,
    decide: (state) => {
      if (plan === undefined) return { kind: 'refused', refusal: { kind: 'refused', reason: 'no-plan' } }
      const decision = decideOrder(subscriberOf(state), {
        plan: offerOf(plan, catalogue),
        pool,
        renews,
        at,
      })
      if (decision.kind === 'refused') return { kind: 'refused', refusal: decision }
      const { subscription, terms } = decision
      return {
        kind: 'done',
        transfers: moneyOf(decision, { accountId, transactionId, at }),
        subscription,
        terms,
        answer: { id: transactionId, ...costView(decision, catalogue), ...termsView(subscription, terms) },
      }
    },
  })
}

/** An act that may have paid for a plan: its receipt is recorded with it. */
async function performPaid<Refusal>(
  storage: Pick<Storage, 'audit'>,
  catalogue: Catalogue,
  receipts: Receipts,
  act: Act<Refusal>,
): Promise<ActOutcome<Refusal>> {
  return storage.audit.act<ActOutcome<Refusal>>(async (stores) => {
    const outcome = await stores.customers.acts.perform<Refusal>(act)
    if (receipts === 'mailed' && outcome.kind === 'done' && !outcome.repeated) {
      const facts = receiptFacts(outcome.answer, catalogue)
      if (facts !== undefined) {
        const { accountId, at } = act
        await noteReceipt(stores, { accountId, at, facts: { ...facts, paid_at: isoOf(at) } })
      }
    }
    // An act of the account itself, visible in its statement; not an admin's act.
    return { value: outcome, act: undefined }
  })
}

/** undefined: nothing was paid. */
function receiptFacts(answer: JsonObject, { settings }: Pick<Catalogue, 'settings'>) {
  const { id, plan, paid_from: pool, due_yuan: yuan, due_credits: credits, expires_at: until } = answer
  if (typeof id !== 'string' || typeof plan !== 'string' || typeof until !== 'string') return undefined
  const due = pool === 'balance' ? yuan : credits
  if (typeof due !== 'string' || Number(due) <= 0) return undefined
  const paid = `${due} ${pool === 'balance' ? settings.currency : 'Credits'}`
  return { reference: id, item: plan, paid, until }
}

export interface Quote extends JsonObject {
  readonly change: 'new' | 'upgrade'
}

/** What a plan would cost now; it may change with time and with the account's balances. */
export async function quoteSubscription(
  storage: Pick<Storage, 'customers' | 'accounts'>,
  catalogue: Catalogue,
  asked: Omit<SubscribeRequest, 'idempotencyKey' | 'renews' | 'receipts'>,
): Promise<{ readonly kind: 'quote'; readonly quote: Quote } | SubscribeRefusal> {
  const plan = catalogue.plans.get(asked.plan)
  const account = await storage.accounts.find(asked.accountId)
  if (plan === undefined || account === undefined) return { kind: 'refused', reason: 'no-plan' }
  const terms = await storage.customers.subscriptions.find(asked.accountId)
  const subscriber = subscriberOf({ account, terms })
  // Computed as if there were enough money: the quote has the amount due, and whether it is available.
  const rich = microCredits(subscriber.funds.balance + subscriber.funds.credits + PLENTY)
  const decision = decideOrder(
    { ...subscriber, funds: { balance: rich, credits: rich } },
    { plan: offerOf(plan, catalogue), pool: asked.pool, renews: false, at: asked.at },
  )
  if (decision.kind === 'refused') return decision
  const affordable = subscriber.funds[asked.pool] >= dueOf(decision)
  return {
    kind: 'quote',
    quote: {
      change: decision.change,
      currency: catalogue.settings.currency,
      ...costView(decision, catalogue),
      affordable,
      expires_at: isoOf(decision.subscription.expiresAt),
    },
  }
}

const PLENTY = 10n ** 24n

export interface RenewalChange {
  readonly accountId: AccountId
  readonly at: number
  /** undefined: unchanged. */
  readonly renews: boolean | undefined
  readonly plan: string | undefined
  readonly pool: Pool | undefined
}

export type RenewalRefusal = 'no-subscription' | 'no-plan'

/** How a running subscription continues: not at all, or with which plan and from which pool. */
export async function changeRenewal(
  storage: Pick<Storage, 'customers'>,
  catalogue: Catalogue,
  change: RenewalChange,
): Promise<ActOutcome<RenewalRefusal>> {
  const { accountId, at } = change
  return storage.customers.acts.perform<RenewalRefusal>({
    accountId,
    operation: 'change-renewal',
    idempotency: undefined,
    at,
    decide: (state) => {
      const subscription = activeSubscription(state.account, at)
      if (subscription === undefined) return { kind: 'refused', refusal: 'no-subscription' }
      const before = termsOf({ ...state, subscription })
      const plan = change.plan ?? before?.renewal?.plan ?? subscription.plan
      const renews = change.renews ?? (before?.renewal !== undefined || change.plan !== undefined)
      if (renews && !catalogue.plans.has(plan)) return { kind: 'refused', refusal: 'no-plan' }
      const pool = change.pool ?? before?.renewal?.pool ?? 'balance'
      const terms: SubscriptionTerms = {
        plan: subscription.plan,
        expiresAt: subscription.expiresAt,
        periods: before?.periods ?? [],
        renewal: renews
          ? { plan, pool, dueAt: renewalDueAt(subscription.plan, plan, subscription.expiresAt) }
          : undefined,
      }
      return { kind: 'done', transfers: [], terms, answer: termsView(subscription, terms) }
    },
  })
}

export interface RenewalRound {
  readonly renewed: number
  readonly failed: number
}

/** Accounts processed in one round; the next round handles the others. */
const ROUND_MAX = 200

/**
 * Renews due subscriptions. Several instances may do this concurrently: each renewal happens once, under its account's
 * lock.
 */
export async function renewDue(
  storage: Pick<Storage, 'customers' | 'audit'>,
  catalogue: Catalogue,
  at: number,
  receipts: Receipts = 'none',
): Promise<RenewalRound> {
  let renewed = 0
  let failed = 0
  for (const accountId of await storage.customers.subscriptions.due(at, ROUND_MAX)) {
    const outcome = await renewOne(storage, catalogue, { accountId, at, receipts })
    if (outcome === 'renewed') renewed += 1
    if (outcome === 'not-renewed') failed += 1
  }
  return { renewed, failed }
}

interface Renewing {
  readonly accountId: AccountId
  readonly at: number
  readonly receipts: Receipts
}

async function renewOne(
  storage: Pick<Storage, 'audit'>,
  catalogue: Catalogue,
  { accountId, at, receipts }: Renewing,
): Promise<'renewed' | 'not-renewed' | 'not-due'> {
  const booking = { accountId, transactionId: timeOrderedId(at), at }
  const outcome = await performPaid<never>(storage, catalogue, receipts, {
    accountId,
    operation: 'renew',
    idempotency: undefined,
    at,
    decide: (state) => decideRenewalAct(state, catalogue, booking),
  })
  if (outcome.kind !== 'done') return 'not-due'
  const said = outcome.answer['outcome']
  return said === 'renewed' || said === 'not-renewed' ? said : 'not-due'
}

function decideRenewalAct(state: ActState, catalogue: Catalogue, booking: Booking): ActDecision<never> {
  const subscriber = subscriberOf(state)
  // An operator has replaced the subscription that these terms were for.
  if (state.terms !== undefined && termsOf(subscriber) === undefined)
    return { kind: 'done', transfers: [], terms: undefined, answer: { outcome: 'not-due' } }
  const findPlan = (code: string) => {
    const plan = catalogue.plans.get(code)
    return plan === undefined ? undefined : offerOf(plan, catalogue)
  }
  const funds = state.account.status === 'suspended' ? NOTHING : subscriber.funds
  const decision = decideRenewal({ ...subscriber, funds }, { at: booking.at, findPlan })
  switch (decision.kind) {
    case 'not-due':
      return { kind: 'done', transfers: [], answer: { outcome: 'not-due' } }
    case 'not-renewed':
      return { kind: 'done', transfers: [], terms: decision.terms, answer: { outcome: 'not-renewed' } }
    case 'renewed': {
      const { subscription, terms } = decision
      const costs = { charge: decision.charge, refunds: [] }
      return {
        kind: 'done',
        transfers: moneyOf({ ...costs, subscription }, booking),
        subscription,
        terms,
        answer: {
          outcome: 'renewed',
          id: booking.transactionId,
          ...costView(costs, catalogue),
          ...termsView(subscription, terms),
        },
      }
    }
  }
}

const NOTHING: Subscriber['funds'] = { balance: ZERO, credits: ZERO }

export interface SubscriptionView {
  readonly plan: string | null
  readonly level: number
  readonly started_at: string | null
  readonly expires_at: string | null
  readonly auto_renew: boolean
  readonly next_plan: string | null
  readonly pay_from: Pool | null
  readonly renews_at: string | null
  readonly quota: readonly QuotaView[]
}

export async function readSubscription(
  storage: Pick<Storage, 'customers'>,
  account: Account,
  at: number,
): Promise<SubscriptionView> {
  const subscription = activeSubscription(account, at)
  if (subscription === undefined) return { ...NO_SUBSCRIPTION, quota: [] }
  const stored = await storage.customers.subscriptions.find(account.id)
  const terms = termsOf({ subscription, terms: stored })
  const stateOf = await readLimitStates(storage, [`quota:${account.id}`])
  return {
    ...termsView(subscription, terms),
    quota: viewQuota(stateOf(`quota:${account.id}`), subscription.quota, at),
  }
}

const NO_SUBSCRIPTION = {
  plan: null,
  level: 0,
  started_at: null,
  expires_at: null,
  auto_renew: false,
  next_plan: null,
  pay_from: null,
  renews_at: null,
} as const

function termsView(subscription: Subscription, terms: SubscriptionTerms | undefined) {
  const started = terms?.periods[0]?.from
  const renewal = terms?.renewal
  return {
    plan: subscription.plan,
    level: subscription.level,
    started_at: started === undefined ? null : isoOf(started),
    expires_at: isoOf(subscription.expiresAt),
    auto_renew: renewal !== undefined,
    next_plan: renewal?.plan ?? null,
    pay_from: renewal?.pool ?? null,
    renews_at: renewal === undefined ? null : isoOf(renewal.dueAt),
  }
}

export interface PlanView {
  readonly code: string
  readonly level: number
  /** Currency of the price, ISO 4217. */
  readonly currency: string
  readonly price_yuan: string
  readonly price_credits: string
  readonly period_days: number
  readonly quota: readonly { readonly credits: string; readonly seconds: number }[]
}

export function listPlans(catalogue: Catalogue): readonly PlanView[] {
  return [...catalogue.plans.values()]
    .map((plan) => {
      const offer = offerOf(plan, catalogue)
      return {
        code: plan.code,
        level: plan.level,
        currency: catalogue.settings.currency,
        price_yuan: yuanText(offer.price, catalogue.settings.creditsPerUnit),
        price_credits: creditsText(offer.price),
        period_days: plan.periodDays,
        quota: offer.quota.map(({ credits, seconds }) => ({ credits: creditsText(credits), seconds })),
      }
    })
    .sort((left, right) => left.level - right.level)
}

interface Costs {
  readonly charge: PoolAmount
  readonly refunds: readonly PoolAmount[]
}

function costView({ charge, refunds }: Costs, { settings }: Pick<Catalogue, 'settings'>) {
  const back = microCredits(refunds.reduce((sum, refund) => sum + refund.amount, 0n))
  const due = dueOf({ charge, refunds })
  const yuan = (amount: MicroCredits) => yuanText(amount, settings.creditsPerUnit)
  return {
    paid_from: charge.pool,
    price_yuan: yuan(charge.amount),
    price_credits: creditsText(charge.amount),
    refunded_yuan: yuan(back),
    refunded_credits: creditsText(back),
    due_yuan: yuan(due),
    due_credits: creditsText(due),
  }
}

/** Net amount from the paying pool; below 0 if more is refunded than charged. */
function dueOf({ charge, refunds }: Costs): MicroCredits {
  const back = refunds.find((refund) => refund.pool === charge.pool)?.amount ?? ZERO
  return microCredits(charge.amount - back)
}

interface Booking {
  readonly accountId: AccountId
  readonly transactionId: string
  readonly at: number
}

/** The refund is booked first, then the new price: the statement shows both. */
function moneyOf(
  { charge, refunds, subscription }: Costs & { readonly subscription: Subscription },
  { accountId, transactionId, at }: Booking,
): readonly Transfer[] {
  const poolOf = (pool: Pool) => (pool === 'balance' ? balancePool(accountId) : creditsPool(accountId))
  const moves = [
    ...refunds.map(({ pool, amount }) => ({
      debit: SUBSCRIPTION_REVENUE,
      credit: poolOf(pool),
      amount,
      kind: 'refund' as const,
    })),
    {
      debit: poolOf(charge.pool),
      credit: SUBSCRIPTION_REVENUE,
      amount: charge.amount,
      kind: 'subscription' as const,
    },
  ]
  return moves
    .filter(({ amount }) => amount > 0n)
    .map((move, sequence) => ({ transactionId, sequence, at, reference: subscription.plan, ...move }))
}

/** Credits held by calls cannot be used to pay. */
function subscriberOf({ account, terms }: ActState): Subscriber {
  return {
    subscription: account.subscription,
    terms,
    funds: { balance: account.balance, credits: microCredits(account.credits - account.held) },
  }
}

const isoOf = (at: number): string => new Date(at).toISOString()
