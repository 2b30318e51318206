/**
 * The contract of every engine: each engine's test file runs it with one database per test, independent of how the engine
 * works.
 */
import { afterEach, describe } from 'vitest'
import { describeAccounts } from './conformance/accounts.ts'
import { describeOperations } from './conformance/operations.ts'
import { describeAnnouncements } from './conformance/announcements.ts'
import { describeCalls } from './conformance/calls.ts'
import { describeCatalogue } from './conformance/catalogue.ts'
import { describeIdempotency } from './conformance/idempotency.ts'
import { describeIdentity } from './conformance/identity/identity.ts'
import { describeKeys } from './conformance/keys.ts'
import { describeLedger } from './conformance/money/ledger.ts'
import { describeLogs } from './conformance/logs.ts'
import { describeCustomers } from './conformance/customers.ts'
import { describeOpening } from './conformance/opening.ts'
import { describeRedemptionCodes } from './conformance/money/redemption-codes.ts'
import { describeMemberCalls } from './conformance/member-calls.ts'
import { describeOwed } from './conformance/money/owed.ts'
import { describeOrganisations } from './conformance/organisations.ts'
import { describePayments } from './conformance/money/payments.ts'
import { describeRecovery } from './conformance/recovery.ts'
import type { DatabaseState, DatabaseUnderTest, StorageSuite } from './conformance/suite.ts'
import { describeTurns } from './conformance/turns.ts'
import { describeUsageSums } from './conformance/usage.ts'
import { describeVideos } from './conformance/videos.ts'
import { describeOwnRate } from './conformance/money/own-rate.ts'
import type { Storage } from './storage.ts'

/** The parts of the contract, by their names. */
const PARTS = {
  opening: describeOpening,
  calls: describeCalls,
  idempotency: describeIdempotency,
  recovery: describeRecovery,
  ledger: describeLedger,
  owed: describeOwed,
  logs: describeLogs,
  customers: describeCustomers,
  usage: describeUsageSums,
  organisations: describeOrganisations,
  'members’ calls': describeMemberCalls,
  'the own currency and its rate': describeOwnRate,
  'redemption codes': describeRedemptionCodes,
  payments: describePayments,
  catalogue: describeCatalogue,
  accounts: describeAccounts,
  keys: describeKeys,
  identity: describeIdentity,
  turns: describeTurns,
  videos: describeVideos,
  operations: describeOperations,
  announcements: describeAnnouncements,
} satisfies Readonly<Record<string, (suite: StorageSuite) => void>>

type StoragePart = keyof typeof PARTS

export const STORAGE_PARTS = Object.keys(PARTS) as readonly StoragePart[]

/** @param parts those that are run */
export function describeStorage(
  name: string,
  createDatabase: (state: DatabaseState) => Promise<DatabaseUnderTest>,
  parts = STORAGE_PARTS,
): void {
  describe(`storage on ${name}`, () => {
    const opened: Storage[] = []
    const databases: DatabaseUnderTest[] = []
    const suite: StorageSuite = {
      async createDatabase(state = 'migrated') {
        const database = await createDatabase(state)
        databases.push(database)
        return {
          ...database,
          async open(options = {}) {
            const storage = await database.open(options)
            opened.push(storage)
            return storage
          },
        }
      },
    }
    afterEach(async () => {
      for (const storage of opened.splice(0)) await storage.close()
      for (const database of databases.splice(0)) await database.remove()
    })
    for (const part of parts) describe(part, () => PARTS[part](suite))
  })
}
