/** A database of its own for some worlds, one after the other, and its verdict in the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { instanceId } from '../../src/core/ids.ts'
import { openPostgres } from '../../src/storage/postgres/engine.ts'
import { createSecretBox } from '../../src/storage/secret-box.ts'
import type { SqlEngine } from '../../src/storage/sql/engine.ts'
import { createSqlStorage } from '../../src/storage/sql/sql-storage.ts'
import { openSqlite } from '../../src/storage/sqlite/engine.ts'
import { createFreshDatabase } from '../postgres/fresh-database.ts'
import { EngineStore } from './engine-store.ts'
import { recordHot, type Ran } from './record-hot.ts'
import { openPostgresReader, openSqliteReader, type RowReader } from './row-reader.ts'
import { expectSame } from './same.ts'

/** `alone`: SQLite, with one process that runs calls and decides in its memory. */
export type EngineName = 'sqlite' | 'alone' | 'postgres'

interface Place {
  /** `alone`: as the only process that runs calls. */
  open(as?: EngineName): Promise<SqlEngine>
  read(): Promise<RowReader>
  remove(): Promise<void>
}

export interface EngineDatabase {
  /** Rows of earlier worlds stay where they are. */
  newWorld(): EngineStore
  /** Recomputes everything from the entries; anything it finds is a failure. */
  verify(): Promise<void>
  close(): Promise<void>
}

const now = () => 0
const log = { warn: () => undefined }

export async function openEngineDatabase(name: EngineName): Promise<EngineDatabase> {
  const place = name === 'postgres' ? await postgresPlace() : sqlitePlace()
  const recovered: Ran[] = []
  const customers = createSqlStorage({
    engine: recordHot(await place.open(), (ran) => recovered.push(ran)),
    secrets: createSecretBox(new Uint8Array(32).fill(1)),
    instanceId: instanceId('customers'),
    now,
    log,
  })
  const first = await place.open(name)
  const engines: [SqlEngine, SqlEngine] = [first, name === 'alone' ? first : await place.open(name)]
  const hot = {
    engines,
    reopen: async (opening: 0 | 1) => {
      await hot.engines[opening]?.close()
      const again = await place.open(name)
      if (name === 'alone') hot.engines.fill(again)
      else hot.engines[opening] = again
    },
    written: async () => {
      // Whoever reads through the engine sees what it has decided.
      if (name === 'alone') await sql`select 1`.execute(hot.engines[0].reader)
    },
  }
  const reader = await place.read()
  return {
    newWorld: () => new EngineStore({ hot, customers, reader, takeRecovered: () => recovered.splice(0) }),
    verify: async () => expectSame('what verify finds', await customers.ledger.verify(), []),
    async close() {
      await reader.close()
      for (const engine of new Set(hot.engines)) await engine.close()
      await customers.close()
      await place.remove()
    },
  }
}

function sqlitePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-simulation-'))
  const path = join(folder, 'sluice.db')
  return {
    // Others write between any two batches, so memory is trusted for no time at all.
    open: (as) => openSqlite({ path, now, log, ...(as === 'alone' && { runsCalls: as, trustMs: 0 }) }),
    read: async () => openSqliteReader(path),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

async function postgresPlace(): Promise<Place> {
  const { url, drop } = await createFreshDatabase()
  return {
    open: () => openPostgres({ databaseUrl: url, now, log }),
    read: () => openPostgresReader(url),
    remove: drop,
  }
}
