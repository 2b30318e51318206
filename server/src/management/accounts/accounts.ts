/** Accounts in the management API: made, found, shown. */
import { DAY_MS } from '../../core/durations.ts'
import type { Subscription } from '../../core/ledger/hot-rows.ts'
import type { Currency, DecimalText, Plan } from '../../core/catalogue.ts'
import { type AccountId, accountId } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { microCredits, ZERO } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsOfText, creditsText, yuanText } from '../money/amounts.ts'
import { newAccountId } from '../new-id.ts'
import type { Account, AccountPatch } from '../../storage/stores/accounts.ts'

/** Percent of the list price an account pays unless told otherwise. */
const USER_RATE_DEFAULT = '100'
const VERIFICATIONS = ['none', 'personal', 'enterprise'] as const
/** How verified an account is, by name; its place is its level (docs/reference/contract.md#5-38). */
export type Verification = (typeof VERIFICATIONS)[number]

/** What every account begins with; `AccountStore.create` is given all of it. */
export const ACCOUNT_DEFAULTS = {
  role: 'user',
  status: 'active',
  verification: 0,
  userRate: USER_RATE_DEFAULT,
  apiDeduction: true,
  monthlyCap: ZERO,
  autoExchange: { enabled: false, belowCredits: ZERO, step: ZERO },
  policy: UNLIMITED,
} as const satisfies AccountPatch

/** Makes an account; rejects with `StorageConflict` when its e-mail address or phone number has one. */
export async function createAccount(
  storage: Pick<Storage, 'accounts'>,
  fields: AccountPatch,
  at: number,
): Promise<AccountId> {
  const id = newAccountId(at)
  await storage.accounts.create({ ...ACCOUNT_DEFAULTS, ...fields, id, createdAt: at })
  return id
}

/** By id, e-mail address or phone number, however it is written: so people name an account. */
export async function findAccount(
  storage: Pick<Storage, 'accounts'>,
  reference: string,
  { phoneRegion }: { readonly phoneRegion?: string | undefined } = {},
): Promise<Account | undefined> {
  const text = reference.trim()
  if (text.includes('@')) return storage.accounts.findByLogin({ email: text })
  const named = await storage.accounts.find(accountId(text))
  if (named !== undefined) return named
  // Every country's numbers are a table that most never need.
  const { normalPhone } = await import('../../config/phone-number.ts')
  return storage.accounts.findByLogin({ phone: normalPhone(text, phoneRegion) ?? text })
}

/** Every account, page by page, so that no list holds them all. */
export async function* eachAccount(
  storage: Pick<Storage, 'accounts'>,
  pageLimit = 500,
): AsyncGenerator<Account> {
  let after: string | undefined
  for (;;) {
    const page = await storage.accounts.list({ limit: pageLimit, after })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageLimit) return
    after = last.id
  }
}

/** What `GET …/account` shows; amounts are decimal text (docs/reference/contract.md#D-accounts-36). */
export interface AccountView {
  readonly id: string
  /** Nobody signs in as an organisation. */
  readonly kind: 'person' | 'organisation'
  readonly email: string | null
  readonly phone: string | null
  readonly role: string
  readonly status: string
  /** Spendable: what is held is shown beside it. */
  readonly credits: string
  readonly held_credits: string
  readonly owed: string
  /** Of the balance, the cap, and every amount whose name ends in `_yuan`; ISO 4217. */
  readonly currency: string
  readonly balance: string
  readonly api_deduction: boolean
  readonly verification: Verification
  readonly plan: string | null
  readonly plan_expires_at: string | null
  readonly user_rate: string
  readonly fallback_model: string | null
  readonly monthly_cap_yuan: string
  readonly month_spent_yuan: string
}

export interface AccountViewOptions {
  /** The platform's own. */
  readonly currency: Currency
  readonly creditsPerUnit: DecimalText
  /** Epoch ms. */
  readonly at: number
  /** First instant of the calendar month of `at` in the platform's time zone, epoch ms. */
  readonly monthStart: number
}

export function viewAccount(account: Account, options: AccountViewOptions): AccountView {
  const subscription = activeSubscription(account, options.at)
  const spent = account.monthStart === options.monthStart ? account.monthSpent : ZERO
  return {
    id: account.id,
    kind: account.kind,
    email: account.email ?? null,
    phone: account.phone ?? null,
    role: account.role,
    status: account.status,
    credits: creditsText(microCredits(account.credits - account.held)),
    held_credits: creditsText(account.held),
    owed: creditsText(account.owed),
    currency: options.currency,
    balance: yuanText(account.balance, options.creditsPerUnit),
    api_deduction: account.apiDeduction,
    verification: verificationName(account.verification),
    plan: subscription?.plan ?? null,
    plan_expires_at: subscription === undefined ? null : new Date(subscription.expiresAt).toISOString(),
    user_rate: account.userRate,
    fallback_model: account.fallbackModel ?? null,
    monthly_cap_yuan: yuanText(account.monthlyCap, options.creditsPerUnit),
    month_spent_yuan: yuanText(spent, options.creditsPerUnit),
  }
}

/** undefined: none, or it has run out. */
export function activeSubscription(
  account: Pick<Account, 'subscription'>,
  at: number,
): Subscription | undefined {
  const { subscription } = account
  return subscription !== undefined && subscription.expiresAt > at ? subscription : undefined
}

/** A subscription keeps the plan's terms of the day it began; a later change of the plan meets the next one. */
export function startSubscription(plan: Plan, days: number, at: number): Subscription {
  return {
    plan: plan.code,
    level: plan.level,
    expiresAt: at + days * DAY_MS,
    quota: plan.quota.map((tier) => ({ credits: creditsOfText(tier.credits), seconds: tier.seconds })),
  }
}

export function verificationLevel(name: Verification): number {
  return VERIFICATIONS.indexOf(name)
}

export function verificationName(level: number): Verification {
  return VERIFICATIONS[level] ?? 'none'
}
