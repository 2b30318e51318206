/** Tables of incoming money (migration 10). */
import type { Integer } from './columns.ts'

export interface TopUpSchema {
  redemption_batches: RedemptionBatchesTable
  redemption_codes: RedemptionCodesTable
  top_up_packages: TopUpPackagesTable
  top_ups: TopUpsTable
  payments: PaymentsTable
}

export interface RedemptionBatchesTable {
  id: string
  pool: string
  amount: Integer
  /** How many were made; how many of them are redeemed and void. */
  codes: Integer
  redeemed: Integer
  voided: Integer
  expires_at: Integer | null
  note: string | null
  created_at: Integer
  created_by: string
  voided_at: Integer | null
}

export interface RedemptionCodesTable {
  hash: string
  id: string
  batch_id: string
  hint: string
  status: string
  redeemed_by: string | null
  redeemed_at: Integer | null
}

export interface TopUpPackagesTable {
  code: string
  name: string
  price: string
  pool: string
  amount: Integer
  status: string
}

export interface TopUpsTable {
  id: string
  account_id: string
  driver: string
  status: string
  currency: string
  price_minor: Integer
  pool: string
  amount: Integer
  package: string | null
  idempotency_key: string | null
  fingerprint: string
  /** The provider's id of the checkout; null: none was opened yet. */
  checkout: string | null
  checkout_url: string | null
  ends_at: Integer | null
  created_at: Integer
  paid_at: Integer | null
  /** µCr credited for it now, and by how many ledger transactions. */
  booked: Integer
  bookings: Integer
}

/** What a provider reported about one payment, whether or not its top-up is known yet. */
interface PaymentsTable {
  driver: string
  reference: string
  top_up_id: string | null
  facts: string
  changed_at: Integer
}
