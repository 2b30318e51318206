import type { CustomerStore } from '../../stores/customers.ts'
import type { SecretBox } from '../../secret-box.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { createActStore } from './acts.ts'
import { createAlertStore } from './alerts.ts'
import { createLimitReader } from './limits.ts'
import { createProfileStore } from './profiles.ts'
import { createStatementStore } from './statements.ts'
import { createSubscriptionStore } from './subscriptions.ts'
import { createUsageStore } from './usage.ts'
import { createVerificationStore } from './verifications.ts'

export interface CustomerStoreOptions {
  readonly engine: SqlEngine
  readonly write: AnnouncedWrite
  readonly secrets: SecretBox
  readonly now: () => number
}

export function createCustomerStore({ engine, write, secrets, now }: CustomerStoreOptions): CustomerStore {
  const { reader } = engine
  return {
    acts: createActStore(engine, write),
    subscriptions: createSubscriptionStore(reader),
    profiles: createProfileStore(reader, write),
    verifications: createVerificationStore({ reader, write, secrets }),
    statements: createStatementStore(engine),
    usage: createUsageStore({ engine, now }),
    limits: createLimitReader(reader),
    alerts: createAlertStore(engine, write),
  }
}
