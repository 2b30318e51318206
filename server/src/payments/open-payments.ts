import { type AllowList } from '../upstream/connect/guard.ts'
import { createSmallFetch } from '../upstream/remote/small-fetch.ts'
import type { PaymentDriver } from './driver.ts'
import { openStripe, STRIPE_ORIGIN, type StripeSettings } from './stripe/stripe-driver.ts'

export interface PaymentSettings {
  /** undefined: not configured. */
  readonly stripe: StripeSettings | undefined
  readonly allow: AllowList
}

/** The configured provider, if there is one. */
export async function openPayments({ stripe, allow }: PaymentSettings): Promise<PaymentDriver | undefined> {
  if (stripe === undefined) return undefined
  const trusted = [new URL(stripe.url ?? STRIPE_ORIGIN).origin]
  return openStripe(stripe, createSmallFetch({ trusted, allow }))
}
