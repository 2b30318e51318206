/** The chain of audit entries: how one is added, how its hash is made, how all are checked. */
import { createHash } from 'node:crypto'
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { AuditedAct, AuditVerdict } from '../../stores/audit.ts'
import type { SqlEngine } from '../engine.ts'
import type { AuditEntriesTable, Schema } from '../schema.ts'

/** What the first entry has before it. */
const GENESIS = '0'.repeat(64)
/** Key of the advisory lock under which PostgreSQL adds entries: any number that is not used otherwise. */
const AUDIT_LOCK = 7_318_202_412
const PAGE_ROWS = 500

type Unhashed = Omit<Selectable<AuditEntriesTable>, 'hash'>

/** Until this transaction ends, no other can add an entry. */
export async function lockEntries(engine: SqlEngine, transaction: Transaction<Schema>): Promise<void> {
  // SQLite has one writer at a time as it is.
  if (engine.name !== 'postgres') return
  await sql`select pg_advisory_xact_lock(${sql.lit(AUDIT_LOCK)})`.execute(transaction)
}

/** Within the caller's transaction, as its last statement: the lock is held until the commit. */
export async function appendEntry(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  act: AuditedAct,
): Promise<void> {
  await lockEntries(engine, transaction)
  const last = await transaction
    .selectFrom('audit_entries')
    .select(['sequence', 'hash'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const row: Unhashed = {
    sequence: (last?.sequence ?? 0n) + 1n,
    at: BigInt(act.at),
    actor_id: act.actor.accountId ?? null,
    actor_name: act.actor.name,
    session_id: act.actor.sessionId ?? null,
    address: act.actor.address,
    request_id: act.actor.requestId ?? null,
    action: act.action,
    subject: act.subject,
    changes: JSON.stringify(act.changes.map(({ field, from, to }) => ({ field, from, to }))),
    previous_hash: last?.hash ?? GENESIS,
  }
  await transaction
    .insertInto('audit_entries')
    .values({ ...row, hash: hashOf(row) })
    .execute()
}

/** Reads every entry once, in pages; stops at the first that does not match its hash. */
export async function verifyChain(snapshot: Kysely<Schema>): Promise<AuditVerdict> {
  let previous: { readonly sequence: bigint; readonly hash: string } | undefined
  for (;;) {
    const rows = await snapshot
      .selectFrom('audit_entries')
      .selectAll()
      .where('sequence', '>', previous?.sequence ?? 0n)
      .orderBy('sequence')
      .limit(PAGE_ROWS)
      .execute()
    for (const row of rows) {
      const why = faultOf(row, previous)
      if (why !== undefined) return { kind: 'broken', sequence: Number(row.sequence), why }
      previous = { sequence: row.sequence, hash: row.hash }
    }
    if (rows.length < PAGE_ROWS) break
  }
  const entries = Number(previous?.sequence ?? 0n)
  const head = previous === undefined ? undefined : { sequence: entries, hash: previous.hash }
  return { kind: 'whole', entries, head }
}

function faultOf(
  row: Selectable<AuditEntriesTable>,
  previous: { readonly sequence: bigint; readonly hash: string } | undefined,
): string | undefined {
  if (row.sequence !== (previous?.sequence ?? 0n) + 1n) return 'an entry before it is missing'
  if (row.previous_hash !== (previous?.hash ?? GENESIS)) return 'it does not follow the entry before it'
  return hashOf(row) === row.hash ? undefined : 'it was changed after it was written'
}

/** Over every column in a fixed order; JSON separates them unambiguously. */
function hashOf(row: Unhashed): string {
  const text = JSON.stringify([
    row.previous_hash,
    row.sequence.toString(),
    row.at.toString(),
    row.actor_id,
    row.actor_name,
    row.session_id,
    row.address,
    row.request_id,
    row.action,
    row.subject,
    row.changes,
  ])
  return createHash('sha256').update(text).digest('hex')
}
