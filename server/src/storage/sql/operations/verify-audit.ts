import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Differences } from '../verify/differences.ts'
import { verifyChain } from './audit-chain.ts'

/** The audit log is part of what `sluice verify` checks. */
export async function verifyAudit(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
  const verdict = await verifyChain(snapshot)
  if (verdict.kind === 'whole') return
  differences.add({
    subject: `audit:${verdict.sequence}`,
    what: 'chain of hashes',
    expected: 'an entry as it was written, after the one before it',
    found: verdict.why,
  })
}
