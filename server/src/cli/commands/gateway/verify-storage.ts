/** The checks of `verify`, also for commands that verify their own result. */
import type { LedgerDifference } from '../../../storage/stores/records.ts'
import type { Storage } from '../../../storage/storage.ts'

export interface Verdict {
  readonly differences: readonly LedgerDifference[]
  /** Where the chain of the audit log is broken; undefined: it is intact. */
  readonly audit: string | undefined
}

export async function verifyStorage(storage: Pick<Storage, 'ledger' | 'audit'>): Promise<Verdict> {
  const differences = await storage.ledger.verify()
  const verdict = await storage.audit.verify()
  const audit = verdict.kind === 'whole' ? undefined : `entry ${verdict.sequence}: ${verdict.why}`
  return { differences, audit }
}
