/** The audit log over SQL. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import { accountId } from '../../../core/ids.ts'
import type {
  AuditedChange,
  AuditedStores,
  AuditedWork,
  AuditEntry,
  AuditFilter,
  AuditPage,
  AuditStore,
} from '../../stores/audit.ts'
import { InvalidCursor } from '../../failures/invalid-cursor.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { AuditEntriesTable, Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'
import { appendEntry, lockEntries, verifyChain } from './audit-chain.ts'
import type { Announcement } from '../../announcement.ts'

export interface AuditStoreOptions {
  readonly engine: SqlEngine
  readonly write: AnnouncedWrite
  /** The same stores within an open transaction. */
  readonly storesIn: (transaction: Transaction<Schema>, write: AnnouncedWrite) => AuditedStores
}

export function createAuditStore({ engine, write, storesIn }: AuditStoreOptions): AuditStore {
  const { reader } = engine
  return {
    act: <Value>(
      work: (stores: AuditedStores) => Promise<AuditedWork<Value>>,
      { alone }: { readonly alone: boolean } = { alone: false },
    ) =>
      write(async (transaction) => {
        if (alone) await lockEntries(engine, transaction)
        const changes: Announcement[] = []
        const within: AnnouncedWrite = async (inner) => {
          const written = await inner(transaction)
          changes.push(...written.changes)
          return written.value
        }
        const { value, act, further = [], announce = [] } = await work(storesIn(transaction, within))
        for (const done of act === undefined ? [] : [act, ...further])
          await appendEntry(engine, transaction, done)
        return { value, changes: [...changes, ...announce] }
      }),

    record: (act) =>
      write(async (transaction) => {
        await appendEntry(engine, transaction, act)
        return { value: undefined, changes: [] }
      }),

    page: (filter, wanted) => readPage(reader, filter, wanted),

    async following(sequence, limit) {
      const rows = await following(reader, sequence, pageLimit(limit))
      return rows.map(decodeEntry)
    },

    verify: () => engine.withSnapshot(verifyChain),
  }
}

async function readPage(
  reader: Kysely<Schema>,
  filter: AuditFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<AuditPage> {
  const rowsMax = pageLimit(limit)
  let query = reader.selectFrom('audit_entries').selectAll()
  if (cursor !== undefined) query = query.where('sequence', '<', sequenceOf(cursor))
  if (filter.actor !== undefined) query = query.where('actor_id', '=', filter.actor)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.subject !== undefined) query = query.where('subject', '=', filter.subject)
  if (filter.from !== undefined) query = query.where('at', '>=', BigInt(filter.from))
  if (filter.to !== undefined) query = query.where('at', '<', BigInt(filter.to))
  const rows = await query
    .orderBy('sequence', 'desc')
    .limit(rowsMax + 1)
    .execute()
  const shown = rows.slice(0, rowsMax)
  const last = shown.at(-1)
  return {
    entries: shown.map(decodeEntry),
    next: rows.length > rowsMax && last !== undefined ? last.sequence.toString() : undefined,
  }
}

function following(
  reader: Kysely<Schema>,
  sequence: number,
  limit: number,
): Promise<readonly Selectable<AuditEntriesTable>[]> {
  return reader
    .selectFrom('audit_entries')
    .selectAll()
    .where('sequence', '>', BigInt(sequence))
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

function sequenceOf(cursor: string): bigint {
  if (!/^\d{1,15}$/.test(cursor)) throw new InvalidCursor()
  return BigInt(cursor)
}

function decodeEntry(row: Selectable<AuditEntriesTable>): AuditEntry {
  return {
    sequence: Number(row.sequence),
    at: Number(row.at),
    actor: {
      accountId: row.actor_id === null ? undefined : accountId(row.actor_id),
      name: row.actor_name,
      sessionId: row.session_id ?? undefined,
      address: row.address,
      requestId: row.request_id ?? undefined,
    },
    action: row.action,
    subject: row.subject,
    changes: parseStored<readonly AuditedChange[]>(row.changes),
    previousHash: row.previous_hash,
    hash: row.hash,
  }
}
