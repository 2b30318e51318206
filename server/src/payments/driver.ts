/** The module's face: a provider that takes payments. */
import type { Reversal } from '../core/top-up/payment.ts'

export interface PaymentDriver {
  /** As it stands in paths and rows: the folder's name. */
  readonly name: string
  /** Opens the provider's page to pay at. Asked again for the same top-up it gives the same page. */
  openCheckout(request: CheckoutRequest): Promise<CheckoutOutcome>
  /** Asks what became of a checkout, for when its notice did not come. */
  readCheckout(reference: string): Promise<CheckoutReading>
  /** What a notice of the provider's says, once it is shown to come from there. */
  readNotice(notice: Notice): NoticeReading
}

export interface CheckoutRequest {
  readonly topUpId: string
  /** What the payer reads. */
  readonly title: string
  /** In the smallest unit of the currency. */
  readonly priceMinor: number
  /** ISO 4217, in small letters. */
  readonly currency: string
  readonly email: string | undefined
  /** Where the payer comes back to. */
  readonly paidUrl: string
  readonly cancelledUrl: string
  /** Epoch ms: no payment can be begun afterwards. */
  readonly endsAt: number
}

export type CheckoutOutcome =
  | { readonly kind: 'open'; readonly reference: string; readonly url: string; readonly endsAt: number }
  /** The provider will not take this payment; `message` is for the payer. */
  | { readonly kind: 'refused'; readonly message: string }
  /** It could not be asked, or is out of order; asking again is safe. `why` is for the log. */
  | { readonly kind: 'unavailable'; readonly why: string }

export type CheckoutReading =
  | { readonly kind: 'event'; readonly event: PaymentEvent }
  | { readonly kind: 'unavailable'; readonly why: string }

export interface Notice {
  /** As it was sent: signatures are over these very bytes. */
  readonly payload: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Epoch ms. */
  readonly at: number
}

export type NoticeReading =
  | { readonly kind: 'event'; readonly id: string; readonly event: PaymentEvent }
  /** Not from the provider, or too old to be believed. */
  | { readonly kind: 'forged'; readonly why: string }

export type PaymentEvent =
  | ({ readonly kind: 'paid' } & PaidCheckout)
  /** The page was left, or the payment failed for good. */
  | {
      readonly kind: 'unpaid'
      readonly topUpId: string
      readonly checkout: string
      readonly why: 'expired' | 'failed'
    }
  | { readonly kind: 'reversal'; readonly payment: string; readonly reversal: Reversal }
  /** Of no concern: `type` as the provider calls it. */
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
