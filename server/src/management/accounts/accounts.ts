/** Accounts in the management API: created, found, shown. */
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

/** Default percentage of the list price that an account pays. */
const USER_RATE_DEFAULT = '100'
const VERIFICATIONS = ['none', 'personal', 'enterprise'] as const
/** Verification levels by name; the index is the level (docs/reference/contract.md#5-38). */
export type Verification = (typeof VERIFICATIONS)[number]

/** Initial values of every account, all passed to `AccountStore.create`. */
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

/** Creates an account; rejects with `StorageConflict` if its e-mail address or phone number belongs to another. */
export async function createAccount(
  storage: Pick<Storage, 'accounts'>,
  fields: AccountPatch,
  at: number,
): Promise<AccountId> {
  const id = newAccountId(at)
  await storage.accounts.create({ ...ACCOUNT_DEFAULTS, ...fields, id, createdAt: at })
  return id
}

/** By id, e-mail address or phone number in any notation, as people name an account. */
export async function findAccount(
  storage: Pick<Storage, 'accounts'>,
  reference: string,
  { phoneRegion }: { readonly phoneRegion?: string | undefined } = {},
): Promise<Account | undefined> {
  const text = reference.trim()
  if (text.includes('@')) return storage.accounts.findByLogin({ email: text })
  const named = await storage.accounts.find(accountId(text))
  if (named !== undefined) return named
  // Loaded on demand: the table of all countries' numbers is large and rarely needed.
  const { normalPhone } = await import('../../config/phone-number.ts')
  return storage.accounts.findByLogin({ phone: normalPhone(text, phoneRegion) ?? text })
}

/** Every account, page by page, so that they are never all in memory. */
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
  /** Organisations cannot sign in. */
  readonly kind: 'person' | 'organisation'
  readonly email: string | null
  readonly phone: string | null
  readonly role: string
  readonly status: string
  /** Spendable Credits; held ones are a separate field. */
  readonly credits: string
  readonly held_credits: string
  readonly owed: string
  /** Currency of the balance, the cap, and every amount whose name ends in `_yuan`; ISO 4217. */
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
  /** The platform's own currency. */
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

/** undefined: none, or it has expired. */
export function activeSubscription(
  account: Pick<Account, 'subscription'>,
  at: number,
): Subscription | undefined {
  const { subscription } = account
  return subscription !== undefined && subscription.expiresAt > at ? subscription : undefined
}

/** A subscription keeps the plan's terms of its beginning; a later change of the plan only affects the next one. */
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
