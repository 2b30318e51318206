/** One table of the call log per month (UTC): created ahead of time, dropped as a whole when its retention has passed. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../sql/schema.ts'
import type { LogUpkeep } from '../stores/logs.ts'

/** Key of the advisory lock around creating and dropping: one instance does it, and the others find it done. */
const PARTITION_LOCK = 7_318_202_413

interface Month {
  readonly table: string
  /** Epoch ms. */
  readonly from: number
  readonly until: number
}

/**
 * Creates the tables of this month and the next, drops those entirely before `keepSince`. Returns how many rows were
 * removed.
 */
export async function keepLogPartitions(
  writer: Kysely<Schema>,
  { at, keepSince }: LogUpkeep,
): Promise<number> {
  const thisMonth = monthOf(at)
  const nextMonth = monthOf(thisMonth.until)
  return writer.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(PARTITION_LOCK)})`.execute(transaction)
    const tables = await listTables(transaction)
    for (const month of [thisMonth, nextMonth]) {
      if (!tables.includes(month.table)) await makeTable(transaction, month)
    }
    let dropped = 0
    for (const table of tables) {
      const month = monthOfTable(table)
      if (month === undefined || keepSince === undefined || month.until > keepSince) continue
      dropped += await dropTable(transaction, table)
    }
    return dropped
  })
}

function monthOf(at: number): Month {
  const date = new Date(at)
  return monthFrom(date.getUTCFullYear(), date.getUTCMonth())
}

function monthFrom(year: number, month: number): Month {
  const from = Date.UTC(year, month)
  const table = `call_logs_${new Date(from).toISOString().slice(0, 7).replace('-', '_')}`
  return { table, from, until: Date.UTC(year, month + 1) }
}

function monthOfTable(table: string): Month | undefined {
  const found = /^call_logs_(\d{4})_(\d{2})$/.exec(table)
  return found === null ? undefined : monthFrom(Number(found[1]), Number(found[2]) - 1)
}

async function listTables(transaction: Transaction<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
      where inhparent = 'call_logs'::regclass order by 1`.execute(transaction)
  return rows.map((row) => row.name)
}

/**
 * Attached only after earlier rows have been moved into it: the parent refuses two partitions for one row. Nothing is
 * written meanwhile, by other processes either: a row that comes in after the move would make the attachment fail.
 */
async function makeTable(transaction: Transaction<Schema>, { table, from, until }: Month): Promise<void> {
  const name = sql.id(table)
  await sql`lock table call_logs_rest in share row exclusive mode`.execute(transaction)
  await sql`create table ${name} (like call_logs including defaults including constraints)`.execute(
    transaction,
  )
  await sql`
    with moved as (
      delete from call_logs_rest where created_at >= ${sql.lit(from)} and created_at < ${sql.lit(until)} returning *)
    insert into ${name} select * from moved`.execute(transaction)
  await sql`
    alter table call_logs attach partition ${name}
      for values from (${sql.lit(from)}) to (${sql.lit(until)})`.execute(transaction)
}

async function dropTable(transaction: Transaction<Schema>, table: string): Promise<number> {
  const { rows } = await sql<{ rows: bigint }>`select count(*) as rows from ${sql.id(table)}`.execute(
    transaction,
  )
  await sql`drop table ${sql.id(table)}`.execute(transaction)
  return Number(rows[0]?.rows ?? 0n)
}
