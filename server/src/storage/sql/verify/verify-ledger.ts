/**
 * Recomputes what is stored from what was booked. Everything is read from one snapshot, in pages, so that a running
 * gateway is not disturbed and the memory it takes does not grow with the ledger.
 */
import type { Kysely } from 'kysely'
import type { LedgerDifference } from '../../stores/records.ts'
import type { Schema } from '../schema.ts'
import { Differences } from './differences.ts'
import { readHolds } from './holds.ts'
import { verifyAudit } from '../operations/verify-audit.ts'
import { verifyAccounts } from './verify-accounts.ts'
import { verifyCharges } from './verify-charges.ts'
import { verifyLimits } from './verify-limits.ts'
import { verifyMembers } from './verify-members.ts'
import { verifyTopUps } from './verify-top-ups.ts'
import { openLoggedUsage } from './verify-usage.ts'
import { verifyVideos } from './verify-videos.ts'

export async function verifyLedger(snapshot: Kysely<Schema>): Promise<readonly LedgerDifference[]> {
  const differences = new Differences()
  const holds = await readHolds(snapshot)
  await verifyAccounts(snapshot, holds, differences)
  await verifyMembers(snapshot, holds, differences)
  await verifyLimits(snapshot, holds, differences)
  const usage = await openLoggedUsage(snapshot)
  await verifyCharges(snapshot, differences, (log) => usage.add(log))
  await usage.compare(snapshot, differences)
  await verifyTopUps(snapshot, differences)
  await verifyVideos(snapshot, differences)
  await verifyAudit(snapshot, differences)
  return differences.found
}
