import type { USAGE_SUMS } from '../migrations/usage-half-hours.ts'
import type { Integer } from './columns.ts'

export interface UsageSchema {
  usage_half_hours: UsageHalfHoursTable
}

interface UsageHalfHoursTable extends Readonly<Record<(typeof USAGE_SUMS)[number], Integer>> {
  at: Integer
  /** Empty: none, here and below. */
  account_id: string
  key_id: string
  model: string
  app_id: string
  /** 0: none. */
  chain_id: Integer
  credits_per_yuan: string
  lane: Integer
  vendor_code: string | null
}
