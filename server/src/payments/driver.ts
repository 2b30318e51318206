/** The module's interface: a payment provider. */
import { type Sentence } from '../core/sentences/say.ts'
import type { Reversal } from '../core/top-up/payment.ts'

export interface PaymentDriver {
  /** Used in paths and rows: the folder's name. */
  readonly name: string
  /** Opens the provider's checkout page. Called again for the same top-up, it returns the same page. */
  openCheckout(request: CheckoutRequest): Promise<CheckoutOutcome>
  /** Reads the state of a checkout, if its webhook did not arrive. */
  readCheckout(reference: string): Promise<CheckoutReading>
  /** The content of a provider's webhook, after its signature was verified. */
  readNotice(notice: Notice): NoticeReading
}

export interface CheckoutRequest {
  readonly topUpId: string
  /** The title shown to the payer. */
  readonly title: string
  /** In the smallest unit of the currency. */
  readonly priceMinor: number
  /** ISO 4217, in small letters. */
  readonly currency: string
  readonly email: string | undefined
  /** Where the payer returns to. */
  readonly paidUrl: string
  readonly cancelledUrl: string
  /** Epoch ms: no payment can be started afterwards. */
  readonly endsAt: number
}

export type CheckoutOutcome =
  | { readonly kind: 'open'; readonly reference: string; readonly url: string; readonly endsAt: number }
  /** The provider refuses this payment; `message` is for the payer. */
  | { readonly kind: 'refused'; readonly message: Sentence }
  /** It could not be reached, or is out of order; retrying is safe. `why` is for the log. */
  | { readonly kind: 'unavailable'; readonly why: string }

export type CheckoutReading =
  | { readonly kind: 'event'; readonly event: PaymentEvent }
  | { readonly kind: 'unavailable'; readonly why: string }

export interface Notice {
  /** As received: signatures are computed over exactly these bytes. */
  readonly payload: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Epoch ms. */
  readonly at: number
}

export type NoticeReading =
  | { readonly kind: 'event'; readonly id: string; readonly event: PaymentEvent }
  /** Not from the provider, or too old. */
  | { readonly kind: 'forged'; readonly why: string }

export type PaymentEvent =
  | ({ readonly kind: 'paid' } & PaidCheckout)
  /** The page was abandoned, or the payment finally failed. */
  | {
      readonly kind: 'unpaid'
      readonly topUpId: string
      readonly checkout: string
      readonly why: 'expired' | 'failed'
    }
  | { readonly kind: 'reversal'; readonly payment: string; readonly reversal: Reversal }
  /** Not relevant: `type` is the provider's name for it. */
  | { readonly kind: 'ignored'; readonly type: string }

export interface PaidCheckout {
  readonly topUpId: string
  /** The provider's id of the checkout. */
  readonly checkout: string
  /** The provider's id of the payment, which refunds and disputes name. */
  readonly payment: string
  readonly amountMinor: number
  readonly currency: string
}
