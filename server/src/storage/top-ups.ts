/** Money that comes in: codes that are redeemed, and payments. Each is booked once, in the transaction that notes it. */
import type { AccountId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { MicroCredits } from '../core/money.ts'
import type { Idempotency } from './office.ts'
import type { Account } from './storage.ts'

export interface TopUpStore {
  readonly codes: RedemptionStore
}

/** Which of an account's pools money goes into. */
export type Pool = 'credits' | 'balance'

/** Codes that were made together, each worth the same. */
export interface RedemptionBatch {
  readonly id: string
  readonly pool: Pool
  /** Of one code. */
  readonly amount: MicroCredits
  /** How many there are. */
  readonly codes: number
  /** Epoch ms, as all times here; undefined: never. */
  readonly expiresAt: number | undefined
  readonly note: string | undefined
  readonly createdAt: number
  /** As people know them, at that time. */
  readonly createdBy: string
}

export interface ShownBatch extends RedemptionBatch {
  readonly redeemed: number
  readonly voided: number
  /** When all that was left of it was made void. */
  readonly voidedAt: number | undefined
}

export interface NewRedemptionCode {
  readonly id: string
  /** Lower-case hex SHA-256 of the code in its one form. */
  readonly hash: string
  readonly hint: string
}

export interface RedemptionCode {
  readonly id: string
  readonly batchId: string
  /** All a list ever shows of it. */
  readonly hint: string
  readonly status: 'open' | 'redeemed' | 'void'
  readonly redeemedBy: AccountId | undefined
  readonly redeemedAt: number | undefined
}

export interface Redemption {
  readonly accountId: AccountId
  readonly hash: string
  /** Of the ledger, for when the code is good. */
  readonly transactionId: string
  readonly idempotency: Idempotency | undefined
  readonly at: number
  /** What is answered, and answered again under the idempotency key. `account` is as it was before. */
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
  /** Id of the last row of the page before. */
  readonly after: string | undefined
}

export interface RedemptionStore {
  /** The batch with all its codes, or nothing. */
  create(batch: RedemptionBatch, codes: readonly NewRedemptionCode[]): Promise<void>
  findBatch(id: string): Promise<ShownBatch | undefined>
  /** Newest first. */
  listBatches(page: TopUpPage): Promise<readonly ShownBatch[]>
  /** In the order they were made. */
  listCodes(batch: string, page: TopUpPage): Promise<readonly RedemptionCode[]>
  findCode(key: { readonly id: string } | { readonly hash: string }): Promise<RedemptionCode | undefined>
  /** What is open of it becomes void. How many did; undefined: there is no such batch. */
  voidBatch(id: string, at: number): Promise<number | undefined>
  /** False: the code is not open, or there is none. */
  voidCode(id: string): Promise<boolean>
  /** Of parallel tries one is told `redeemed`, and the money is booked in the same transaction. */
  redeem(redemption: Redemption): Promise<RedemptionOutcome>
}
