/** Incoming money: redeemed codes and payments. Each is booked once, in the transaction that records it. */
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { PaymentState, Pool, Reversal } from '../../core/top-up/payment.ts'
import type { Idempotency } from './customers.ts'
import type { Account } from './accounts.ts'
import type { BookingOptions } from './ledger.ts'

export interface TopUpStore {
  readonly codes: RedemptionStore
  readonly packages: PackageStore
  readonly payments: PaymentStore
}

/** Codes created together, each worth the same. */
export interface RedemptionBatch {
  readonly id: string
  readonly pool: Pool
  /** Amount of one code. */
  readonly amount: MicroCredits
  /** How many there are. */
  readonly codes: number
  /** Epoch ms, as all times here; undefined: never. */
  readonly expiresAt: number | undefined
  readonly note: string | undefined
  readonly createdAt: number
  /** The name shown to people, at that time. */
  readonly createdBy: string
}

export interface ShownBatch extends RedemptionBatch {
  readonly redeemed: number
  readonly voided: number
  /** When its remaining codes were voided. */
  readonly voidedAt: number | undefined
}

export interface NewRedemptionCode {
  readonly id: string
  /** Lower-case hex SHA-256 of the code in canonical form. */
  readonly hash: string
  readonly hint: string
}

export interface RedemptionCode {
  readonly id: string
  readonly batchId: string
  /** The only part of it that a list shows. */
  readonly hint: string
  readonly status: 'open' | 'redeemed' | 'void'
  readonly redeemedBy: AccountId | undefined
  readonly redeemedAt: number | undefined
}

export interface Redemption {
  readonly accountId: AccountId
  readonly hash: string
  /** The ledger transaction, if the code is valid. */
  readonly transactionId: string
  readonly idempotency: Idempotency | undefined
  readonly at: number
  /** The answer, repeated under the idempotency key. `account` is its state before. */
  readonly answer: (found: { readonly batch: RedemptionBatch; readonly account: Account }) => JsonObject
}

export type RedemptionOutcome =
  | { readonly kind: 'redeemed'; readonly answer: JsonObject; readonly repeated: boolean }
  /** No code has this hash. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'spent'; readonly by: AccountId; readonly at: number }
  | { readonly kind: 'void' }
  | { readonly kind: 'expired'; readonly at: number }
  | { readonly kind: 'other-request' }
  | { readonly kind: 'no-account' }

export interface TopUpPage {
  readonly limit: number
  /** Id of the last row of the previous page. */
  readonly after: string | undefined
}

export interface RedemptionStore {
  /** The batch with all its codes, or nothing. Rejects with `RateChanged` as the ledger does. */
  create(
    batch: RedemptionBatch,
    codes: readonly NewRedemptionCode[],
    options?: Pick<BookingOptions, 'creditsPerUnit'>,
  ): Promise<void>
  findBatch(id: string): Promise<ShownBatch | undefined>
  /** Newest first. */
  listBatches(page: TopUpPage): Promise<readonly ShownBatch[]>
  /** In order of creation. */
  listCodes(batch: string, page: TopUpPage): Promise<readonly RedemptionCode[]>
  findCode(key: { readonly id: string } | { readonly hash: string }): Promise<RedemptionCode | undefined>
  /** Voids its open codes. Returns how many; undefined: there is no such batch. */
  voidBatch(id: string, at: number): Promise<number | undefined>
  /** False: the code is not open, or there is none. */
  voidCode(id: string): Promise<boolean>
  /** Of parallel attempts one gets `redeemed`, and the money is booked in the same transaction. */
  redeem(redemption: Redemption): Promise<RedemptionOutcome>
}

/** A package at a fixed price, often with more Credits than its price would buy. */
export interface TopUpPackage {
  readonly code: string
  readonly name: string
  /** Decimal text, in the platform's currency. */
  readonly price: DecimalText
  readonly pool: Pool
  readonly amount: MicroCredits
  readonly status: 'enabled' | 'disabled'
}

export interface PackageStore {
  /** By code. */
  list(): Promise<readonly TopUpPackage[]>
  find(code: string): Promise<TopUpPackage | undefined>
  put(offered: TopUpPackage): Promise<void>
  remove(code: string): Promise<boolean>
}

/**
 * `open`: not paid yet. `review`: the payment differs from the request, so nothing was booked. The others are the
 * provider's last report (core/top-up/payment.ts).
 */
export type TopUpStatus = 'open' | 'expired' | 'failed' | 'review' | PaymentState

export const TOP_UP_STATUSES = [
  'open',
  'expired',
  'failed',
  'review',
  'paid',
  'partly-refunded',
  'refunded',
  'disputed',
  'charged-back',
] as const satisfies readonly TopUpStatus[]

/** A top-up of an account, and its state. */
export interface TopUp extends NewTopUp {
  readonly status: TopUpStatus
  readonly checkout: Checkout | undefined
  readonly paidAt: number | undefined
  /** µCr credited for it now: less than `amount` after a refund. */
  readonly booked: MicroCredits
}

export interface NewTopUp {
  readonly id: string
  readonly accountId: AccountId
  /** The payment provider. */
  readonly driver: string
  /** ISO 4217, in small letters. */
  readonly currency: string
  readonly priceMinor: number
  readonly pool: Pool
  /** The amount credited for it. */
  readonly amount: MicroCredits
  /** Code of the package that was bought. */
  readonly package: string | undefined
  readonly createdAt: number
}

/** The provider's page to pay at. */
export interface Checkout {
  readonly reference: string
  readonly url: string
  readonly endsAt: number
}

/** A provider's report that a checkout was paid. */
export interface Payment {
  readonly driver: string
  readonly topUpId: string
  readonly checkout: string
  /** The provider's id of the payment. */
  readonly payment: string
  readonly amountMinor: number
  readonly currency: string
  readonly at: number
}

export type PaymentOutcome =
  /** `moved`: µCr that the account gained; 0: it was already recorded. */
  | { readonly kind: 'noted'; readonly topUp: TopUp; readonly moved: MicroCredits }
  /** The amount, currency or checkout differs from the request. */
  | { readonly kind: 'mismatch'; readonly topUp: TopUp }
  /** Not a known top-up, or not yet: reports about a payment are kept until its top-up is known. */
  | { readonly kind: 'unknown' }

export interface PaymentStore {
  /**
   * Once per account and idempotency key: a repeated request returns the first one. Rejects with `RateChanged` as the
   * ledger does.
   */
  begin(
    topUp: NewTopUp,
    idempotency: Idempotency | undefined,
    options?: Pick<BookingOptions, 'creditsPerUnit'>,
  ): Promise<{ readonly kind: 'begun'; readonly topUp: TopUp } | { readonly kind: 'other-request' }>
  /** Keeps the first checkout that was opened for it. */
  opened(id: string, checkout: Checkout): Promise<TopUp>
  find(id: string): Promise<TopUp | undefined>
  /** Newest first. */
  list(
    filter: { readonly accountId?: AccountId; readonly status?: TopUpStatus },
    page: TopUpPage,
  ): Promise<readonly TopUp[]>
  /** Books a top-up once, however often and late its payment is reported. */
  pay(payment: Payment): Promise<PaymentOutcome>
  /** Records a refund and books the difference; a debt if the account has less. */
  reverse(reversal: {
    readonly driver: string
    readonly payment: string
    readonly reversal: Reversal
    readonly at: number
  }): Promise<PaymentOutcome>
  /** It can no longer be paid. False: it is not open, or belongs to another checkout. */
  close(closed: {
    readonly driver: string
    readonly topUpId: string
    readonly checkout: string
    readonly why: 'expired' | 'failed'
  }): Promise<boolean>
}
