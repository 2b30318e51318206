/** Card payments: packages, started top-ups, and the provider's reports. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { HOUR_MS } from '../../core/durations.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { MicroCredits } from '../../core/money.ts'
import { minorDigits, toMinorUnits } from '../../core/top-up/minor-units.ts'
import type { Pool } from '../../core/top-up/payment.ts'
import { printDecimal } from '../../core/pricing/decimal.ts'
import type { Notice, PaymentDriver, PaymentEvent } from '../../payments/driver.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Payment, PaymentOutcome, TopUp } from '../../storage/stores/top-ups.ts'
import type { Log } from '../../telemetry/log.ts'
import type { SecurityLog } from '../../telemetry/security-log.ts'
import { type Asking, idempotencyOf } from '../acts.ts'
import { creditsOfYuan, creditsText } from '../money/amounts.ts'
import { timeOrderedId } from '../new-id.ts'
import { noteReceipt, type Receipts } from '../money/receipts.ts'
import { timeText, worthOf } from './redemption-codes.ts'

export interface Cashier {
  readonly storage: Pick<Storage, 'topUps' | 'identity' | 'audit'>
  /** undefined: card payments are not configured. */
  readonly driver: PaymentDriver | undefined
  readonly receipts: Receipts
  readonly log: Log
  readonly security: SecurityLog
  /** Epoch ms. */
  readonly now: () => number
}

/** The platform's own currency, from the settings. */
export interface Tariff {
  /** ISO 4217. */
  readonly currency: string
  readonly creditsPerUnit: DecimalText
}

/** Limits of a freely chosen amount: the cards' minimum, and a maximum against typing errors. */
export const AMOUNT_MIN = 5
export const AMOUNT_MAX = 50_000

export type Wanted =
  | { readonly kind: 'amount'; readonly amount: DecimalText }
  | { readonly kind: 'package'; readonly code: string }

export interface TopUpRequest extends Asking {
  readonly accountId: AccountId
  readonly email: string | undefined
  readonly wanted: Wanted
  readonly tariff: Tariff
  /** The address the payer returns to; on this site. */
  readonly returnUrl: string
}

export type TopUpOutcome =
  | { readonly kind: 'open'; readonly topUp: TopUp }
  | { readonly kind: 'not-offered' }
  | { readonly kind: 'no-such-package' }
  /** `message` continues after the amount's name. */
  | { readonly kind: 'bad-amount'; readonly message: Sentence }
  | { readonly kind: 'other-request' }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }
  /** The provider is unavailable; retrying under the same idempotency key is safe. */
  | { readonly kind: 'unavailable' }

/**
 * Records the top-up before the provider is called, with an id that is also the provider's idempotency key, so that a
 * retry after a crash between the two creates nothing twice.
 */
export async function beginTopUp(cashier: Cashier, request: TopUpRequest): Promise<TopUpOutcome> {
  const { driver, storage } = cashier
  if (driver === undefined) return { kind: 'not-offered' }
  const { accountId, wanted, tariff, at } = request
  const priced = await priceOf(storage, wanted, tariff)
  if (priced.kind !== 'priced') return priced
  const waitMs = await storage.identity.attempts.take([beginBucket(accountId)], at)
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  const { price, title } = priced
  const begun = await storage.topUps.payments.begin(
    { id: `top_${timeOrderedId(at)}`, accountId, driver: driver.name, createdAt: at, ...price },
    idempotencyOf(request, [wanted.kind, wanted.kind === 'amount' ? wanted.amount : wanted.code]),
    { creditsPerUnit: tariff.creditsPerUnit },
  )
  if (begun.kind === 'other-request') return begun
  const { topUp } = begun
  if (topUp.checkout !== undefined) return { kind: 'open', topUp }
  if (topUp.status !== 'open') return { kind: 'bad-amount', message: say('refused-by-payment-service') }
  const checkout = await driver.openCheckout({
    topUpId: topUp.id,
    title,
    priceMinor: topUp.priceMinor,
    currency: topUp.currency,
    email: request.email,
    paidUrl: returnUrlOf(request.returnUrl, topUp.id, 'paid'),
    cancelledUrl: returnUrlOf(request.returnUrl, topUp.id, 'cancelled'),
    endsAt: topUp.createdAt + CHECKOUT_LIFE_MS,
  })
  switch (checkout.kind) {
    case 'open':
      return { kind: 'open', topUp: await storage.topUps.payments.opened(topUp.id, checkout) }
    case 'refused':
      await storage.topUps.payments.close({
        driver: driver.name,
        topUpId: topUp.id,
        checkout: '',
        why: 'failed',
      })
      return { kind: 'bad-amount', message: checkout.message }
    case 'unavailable':
      cashier.log.error({ topUpId: topUp.id, why: checkout.why }, 'the payment provider opened no checkout')
      return { kind: 'unavailable' }
  }
}

/** Limit, because each one calls the provider. */
const BEGUN_PER_HOUR = 30
/** Checkout pages expire after this time. */
const CHECKOUT_LIFE_MS = 12 * HOUR_MS

function beginBucket(account: AccountId) {
  return { subject: `top-up/account/${account}`, limit: BEGUN_PER_HOUR, windowMs: HOUR_MS }
}

function returnUrlOf(returnUrl: string, topUpId: string, outcome: 'paid' | 'cancelled'): string {
  const url = new URL(returnUrl)
  url.searchParams.set('top_up', topUpId)
  url.searchParams.set('outcome', outcome)
  return url.href
}

interface Priced {
  readonly kind: 'priced'
  readonly title: string
  readonly price: Pick<TopUp, 'currency' | 'priceMinor' | 'pool' | 'amount' | 'package'>
}

async function priceOf(
  { topUps }: Pick<Storage, 'topUps'>,
  wanted: Wanted,
  tariff: Tariff,
): Promise<Priced | Extract<TopUpOutcome, { kind: 'no-such-package' | 'bad-amount' }>> {
  const currency = tariff.currency.toLowerCase()
  if (wanted.kind === 'amount') {
    if (Number(wanted.amount) < AMOUNT_MIN || Number(wanted.amount) > AMOUNT_MAX)
      return { kind: 'bad-amount', message: say('must-be-from-to', { least: AMOUNT_MIN, most: AMOUNT_MAX }) }
    const priceMinor = toMinorUnits(wanted.amount, currency)
    if (priceMinor === undefined)
      return { kind: 'bad-amount', message: say('at-most-decimals', { most: minorDigits(currency) }) }
    const amount = creditsOfYuan(wanted.amount, tariff.creditsPerUnit)
    const price = { currency, priceMinor, pool: 'balance', amount, package: undefined } as const
    return { kind: 'priced', title: `Balance ${wanted.amount} ${tariff.currency}`, price }
  }
  const offered = await topUps.packages.find(wanted.code)
  const priceMinor = offered === undefined ? undefined : toMinorUnits(offered.price, currency)
  if (offered === undefined || offered.status === 'disabled' || priceMinor === undefined)
    return { kind: 'no-such-package' }
  const { name, pool, amount, code } = offered
  return { kind: 'priced', title: name, price: { currency, priceMinor, pool, amount, package: code } }
}

export type NoticeOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'not-offered' }
  | { readonly kind: 'forged'; readonly why: string }

/** Handles a provider's webhook. Repeated reports change nothing. */
export async function takeNotice(
  cashier: Cashier,
  name: string,
  notice: Omit<Notice, 'at'> & { readonly address: string },
): Promise<NoticeOutcome> {
  const { driver, log } = cashier
  if (driver?.name !== name) return { kind: 'not-offered' }
  const at = cashier.now()
  const reading = driver.readNotice({ ...notice, at })
  if (reading.kind === 'forged') {
    cashier.security.note('webhook.forged', { provider: name, why: reading.why, address: notice.address })
    return reading
  }
  const { id: eventId, event } = reading
  const outcome = await note(cashier, driver.name, { event, at })
  const about = { provider: name, eventId, event: event.kind, ...outcome }
  if (outcome.outcome === 'mismatch')
    log.error(about, 'something else was paid than was asked: nothing was booked')
  else log.info(about, 'a payment provider sent a notice')
  return { kind: 'taken' }
}

/** Webhooks usually arrive within a minute; after this time one counts as overdue. */
const NOTICE_LATE_MS = 600_000
/** Long after all checkout pages have expired. */
const FORGOTTEN_MS = 48 * HOUR_MS
const ROUND_ROWS = 100
const ROUND_PAGES_MAX = 20

/**
 * Asks the provider for top-ups whose notices are overdue: a lost webhook must not cost the payer their money. A later
 * webhook then changes nothing. Returns how many were settled.
 */
export async function checkLateTopUps(cashier: Cashier): Promise<number> {
  const { driver, storage } = cashier
  if (driver === undefined) return 0
  const at = cashier.now()
  let settled = 0
  let after: string | undefined
  for (let pages = 0; pages < ROUND_PAGES_MAX; pages += 1) {
    const open = await storage.topUps.payments.list({ status: 'open' }, { limit: ROUND_ROWS, after })
    const late = open.filter(
      (topUp) => topUp.driver === driver.name && at - topUp.createdAt >= NOTICE_LATE_MS,
    )
    for (const topUp of late) settled += (await checkTopUp(cashier, driver, topUp)) ? 1 : 0
    after = open.at(-1)?.id
    if (open.length < ROUND_ROWS) break
  }
  return settled
}

/** True: it is no longer open. */
async function checkTopUp(cashier: Cashier, driver: PaymentDriver, topUp: TopUp): Promise<boolean> {
  const { storage, log } = cashier
  const at = cashier.now()
  if (topUp.checkout === undefined) {
    // The payer never got a page.
    if (at - topUp.createdAt < FORGOTTEN_MS) return false
    const closed = { driver: driver.name, topUpId: topUp.id, checkout: '', why: 'expired' } as const
    return storage.topUps.payments.close(closed)
  }
  const reading = await driver.readCheckout(topUp.checkout.reference)
  if (reading.kind === 'unavailable') {
    log.warn(
      { topUpId: topUp.id, why: reading.why },
      'the payment provider could not be asked about a top-up',
    )
    return false
  }
  if (reading.event.kind === 'ignored') return false
  const outcome = await note(cashier, driver.name, { event: reading.event, at })
  log.warn(
    { ...outcome, topUpId: topUp.id },
    'a top-up was settled without its notice: look at the webhook endpoint',
  )
  return true
}

interface Noted {
  readonly outcome: PaymentOutcome['kind'] | 'closed' | 'ignored'
  readonly topUpId?: string
  readonly moved?: DecimalText
  /** The provider's id of the payment, and its report. */
  readonly payment?: string
  readonly amountMinor?: number
  readonly currency?: string
}

async function note(
  cashier: Cashier,
  driver: string,
  { event, at }: { readonly event: PaymentEvent; readonly at: number },
): Promise<Noted> {
  const { payments } = cashier.storage.topUps
  switch (event.kind) {
    case 'paid': {
      const { kind: _, ...paid } = event
      const { payment, amountMinor, currency } = paid
      const outcome = await payWithReceipt(cashier, { driver, at, ...paid })
      return { ...notedOf(outcome), payment, amountMinor, currency }
    }
    case 'reversal': {
      const { payment, reversal } = event
      const { amountMinor, currency } = reversal
      const noted = notedOf(await payments.reverse({ driver, payment, reversal, at }))
      return { ...noted, payment, amountMinor, currency }
    }
    case 'unpaid': {
      const { topUpId, checkout, why } = event
      const closed = await payments.close({ driver, topUpId, checkout, why })
      return { outcome: closed ? 'closed' : 'ignored', topUpId }
    }
    case 'ignored':
      return { outcome: 'ignored' }
  }
}

/** The receipt is recorded with the booking, so only the report that moved the money creates one. */
function payWithReceipt({ storage, receipts }: Cashier, payment: Payment): Promise<PaymentOutcome> {
  return storage.audit.act<PaymentOutcome>(async (stores) => {
    const outcome = await stores.topUps.payments.pay(payment)
    if (receipts === 'mailed' && outcome.kind === 'noted' && outcome.moved > 0n) {
      const { topUp } = outcome
      const { creditsPerUnit } = (await stores.catalogue.read()).settings
      const offered =
        topUp.package === undefined ? undefined : await stores.topUps.packages.find(topUp.package)
      const { credits, yuan } = worthOf(topUp, creditsPerUnit)
      const currency = topUp.currency.toUpperCase()
      const given = credits === null ? `${yuan ?? ''} ${currency}` : `${credits} Credits`
      await noteReceipt(stores, {
        accountId: topUp.accountId,
        at: payment.at,
        facts: {
          reference: topUp.id,
          item: offered?.name ?? topUp.package ?? 'Balance',
          paid: `${priceText(topUp)} ${currency}`,
          given,
          paid_at: new Date(payment.at).toISOString(),
        },
      })
    }
    // Reported by a provider; not an admin's act.
    return { value: outcome, act: undefined }
  })
}

function notedOf(outcome: PaymentOutcome): Noted {
  switch (outcome.kind) {
    case 'noted':
      return { outcome: 'noted', topUpId: outcome.topUp.id, moved: creditsText(outcome.moved) }
    case 'mismatch':
      return { outcome: 'mismatch', topUpId: outcome.topUp.id }
    case 'unknown':
      return { outcome: 'unknown' }
  }
}

/** @param at an open checkout past its end is shown as expired before its webhook arrives */
export function viewTopUp(topUp: TopUp, { creditsPerUnit }: Pick<Tariff, 'creditsPerUnit'>, at: number) {
  const { checkout } = topUp
  const isOver = topUp.status === 'open' && checkout !== undefined && checkout.endsAt <= at
  const status = isOver ? 'expired' : topUp.status
  const worth = (amount: MicroCredits, pool: Pool) => worthOf({ amount, pool }, creditsPerUnit)
  return {
    id: topUp.id,
    status,
    price: priceText(topUp),
    currency: topUp.currency.toUpperCase(),
    package: topUp.package ?? null,
    ...worth(topUp.amount, topUp.pool),
    booked: worth(topUp.booked, topUp.pool),
    checkout_url: status === 'open' ? (checkout?.url ?? null) : null,
    expires_at: timeText(checkout?.endsAt),
    created_at: new Date(topUp.createdAt).toISOString(),
    paid_at: timeText(topUp.paidAt),
  } as const
}

function priceText({ priceMinor, currency }: Pick<TopUp, 'priceMinor' | 'currency'>): DecimalText {
  return printDecimal({ units: BigInt(priceMinor), scale: minorDigits(currency) })
}
