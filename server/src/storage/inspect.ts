/** Facts about a database, read without changing it, for health checks. */
import { sql } from 'kysely'
import { openEngine, type OpenStorageOptions } from './open.ts'
import { createSecretBox } from './secret-box.ts'
import { checkSecretKey } from './sql/check-secret-key.ts'
import type { SqlEngine } from './sql/engine.ts'
import { newestSchema, readVersion } from './sql/migrate.ts'
import { countLive } from './transfer/live-instances.ts'

export interface DatabaseReport {
  readonly engine: 'sqlite' | 'postgres'
  /** PostgreSQL's as a number, 140002 for 14.2; undefined: SQLite. */
  readonly serverVersion: number | undefined
  /** Schema version of the database, and of this build. */
  readonly schema: number
  readonly newestSchema: number
  /** The shortest of a few trivial queries. */
  readonly roundTripMs: number
  /** How far its clock is ahead of this process's; with a local database, compared with the newest time written. */
  readonly clockAheadMs: number
  /** Gateways that are serving from it. */
  readonly live: number
}

const QUESTIONS = 3

/** Rejects if it cannot be reached, is newer than this build, or belongs to another secret key. */
export async function inspectDatabase(options: OpenStorageOptions): Promise<DatabaseReport> {
  const engine = await openEngine(options, 0)
  try {
    const schema = await readVersion(engine.reader)
    if (schema > 0) await checkSecretKey(engine.writer, createSecretBox(options.secretKey))
    return {
      engine: engine.name,
      serverVersion: engine.name === 'postgres' ? await serverVersion(engine) : undefined,
      schema,
      newestSchema: newestSchema(),
      roundTripMs: await roundTrip(engine),
      clockAheadMs: await clockAhead(engine, schema, options.now),
      live: schema > 0 ? await countLive(engine, options.now()) : 0,
    }
  } finally {
    await engine.close()
  }
}

async function serverVersion({ reader }: SqlEngine): Promise<number> {
  const { rows } = await sql<{ version: string }>`
    select current_setting('server_version_num') as version`.execute(reader)
  return Number(rows[0]?.version ?? 0)
}

async function roundTrip({ reader }: SqlEngine): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let question = 0; question < QUESTIONS; question++) {
    const askedAt = performance.now()
    await sql`select 1 as one`.execute(reader)
    shortest = Math.min(shortest, performance.now() - askedAt)
  }
  return shortest
}

async function clockAhead({ name, reader }: SqlEngine, schema: number, now: () => number): Promise<number> {
  if (name === 'postgres') {
    const askedAt = now()
    const { rows } = await sql<{ at: bigint }>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as at`.execute(reader)
    return Number(rows[0]?.at ?? 0n) - (askedAt + now()) / 2
  }
  if (schema === 0) return 0
  const { rows } = await sql<{ at: bigint | null }>`
    select max(heartbeat_at) as at from instances`.execute(reader)
  return Math.max(0, Number(rows[0]?.at ?? 0n) - now())
}
