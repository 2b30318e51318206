import type { TopUpStore } from '../../top-ups.ts'
import { createRedemptionStore, type RedemptionStoreOptions } from './redemption-codes.ts'

export function createTopUpStore(options: RedemptionStoreOptions): TopUpStore {
  return { codes: createRedemptionStore(options) }
}
