import type { TopUpStore } from '../../stores/top-ups.ts'
import { createPackageStore } from './packages.ts'
import { createPaymentStore } from './payments.ts'
import { createRedemptionStore, type RedemptionStoreOptions } from './redemption-codes.ts'

export function createTopUpStore(options: RedemptionStoreOptions): TopUpStore {
  return {
    codes: createRedemptionStore(options),
    packages: createPackageStore(options),
    payments: createPaymentStore(options),
  }
}
