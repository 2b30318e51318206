/** A database as the first start leaves it, without running every migration again for each test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instanceId } from '../../src/core/ids.ts'
import { openEngine } from '../../src/storage/open.ts'
import { keepIdleThreads } from '../../src/storage/sqlite/threads.ts'

/** Two for each store that is open at once; whoever opens one here opens others after it. */
keepIdleThreads(8)

let made: Promise<Buffer> | undefined

/** Puts a SQLite database with all tables and no rows into a directory that has none. */
export async function putMigratedDatabase(directory: string): Promise<void> {
  made ??= makeSqlite()
  writeFileSync(join(directory, 'sluice.db'), await made, { mode: 0o600, flag: 'wx' })
}

async function makeSqlite(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-migrated-'))
  try {
    await migrateDatabase({ databaseUrl: undefined, dataDir: directory })
    return readFileSync(join(directory, 'sluice.db'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Only the tables: no secret key is tied to it yet. */
export async function migrateDatabase(place: {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
}): Promise<void> {
  const engine = await openEngine({
    ...place,
    secretKey: new Uint8Array(32),
    instanceId: instanceId('migrates'),
    now: () => 0,
    log: { warn: () => undefined },
  })
  await engine.close()
}
