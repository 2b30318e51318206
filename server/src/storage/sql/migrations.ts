/**
 * The schema's history, applied in order at open. A released migration is never edited: a new one follows it. Written as
 * SQL for both engines; `Dialect` has the few differences.
 */
import { auditNoticesPrices } from './migrations/audit-notices-prices.ts'
import { chainConduct } from './migrations/chain-conduct.ts'
import { currencies } from './migrations/currencies.ts'
import type { Migration } from './migrations/dialect.ts'
import { firstSchema } from './migrations/first-schema.ts'
import { identity } from './migrations/identity.ts'
import { instanceEpochs } from './migrations/instance-epochs.ts'
import { instancePlace } from './migrations/instance-place.ts'
import { customers } from './migrations/customers.ts'
import { keysByTime } from './migrations/keys-by-time.ts'
import { modelCreation } from './migrations/model-creation.ts'
import { logPartitions } from './migrations/log-partitions.ts'
import { organisations } from './migrations/organisations.ts'
import { taskKind } from './migrations/task-kind.ts'
import { requestIndex } from './migrations/request-index.ts'
import { sessionKeys } from './migrations/session-keys.ts'
import { sessionOpener } from './migrations/session-opener.ts'
import { severalCodes } from './migrations/several-codes.ts'
import { owedAmounts } from './migrations/owed-amounts.ts'
import { topUps } from './migrations/top-ups.ts'
import { turns } from './migrations/turns.ts'
import { usageHalfHours } from './migrations/usage-half-hours.ts'
import { usageOfSound } from './migrations/usage-of-sound.ts'
import { videos } from './migrations/videos.ts'

export type { EngineName, Migration } from './migrations/dialect.ts'

export const MIGRATIONS: readonly Migration[] = [
  firstSchema,
  videos,
  identity,
  customers,
  auditNoticesPrices,
  turns,
  instancePlace,
  logPartitions,
  topUps,
  organisations,
  usageHalfHours,
  instanceEpochs,
  taskKind,
  chainConduct,
  severalCodes,
  owedAmounts,
  currencies,
  modelCreation,
  sessionOpener,
  sessionKeys,
  usageOfSound,
  requestIndex,
  keysByTime,
]
