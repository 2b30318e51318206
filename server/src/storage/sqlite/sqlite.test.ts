import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { putMigratedDatabase } from '../../../test/storage/migrated-database.ts'
import { type DatabaseState, type DatabaseUnderTest, INSTANCE, NOW } from '../conformance/suite.ts'
import { openStorage, type RunsCalls } from '../open.ts'
import type { Storage } from '../storage.ts'
import { describeStorage, STORAGE_PARTS } from '../storage.conformance.ts'
import { loadSqlite } from './library.ts'

describeStorage('SQLite, run together', (state) => createDatabase(state, 'together'))
// A process that runs alone keeps in memory what decides on calls: all but these rows.
const NOT_KEPT = new Set<string>(['catalogue', 'keys', 'identity', 'turns'])
describeStorage(
  'SQLite, run alone',
  (state) => createDatabase(state, 'alone'),
  STORAGE_PARTS.filter((part) => !NOT_KEPT.has(part)),
)
// Without knowing whether a call is new: otherwise as when it is run together.
describeStorage('SQLite', (state) => createDatabase(state, undefined), [
  'opening',
  'calls',
  'idempotency',
  'recovery',
])

async function createDatabase(
  state: DatabaseState,
  runsCalls: RunsCalls | undefined,
): Promise<DatabaseUnderTest> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  if (state === 'migrated') await putMigratedDatabase(dataDir)
  /** As the request pipeline says of each call. */
  const reserved = new Set<string>()
  return {
    open: async ({ instanceId = INSTANCE, secretKeyByte = 1, now = NOW } = {}) => {
      const storage = await openStorage({
        databaseUrl: undefined,
        dataDir,
        secretKey: new Uint8Array(32).fill(secretKeyByte),
        instanceId,
        now: () => now,
        log: { warn: () => {} },
        runsCalls,
      })
      if (runsCalls === undefined) return storage
      const reserve: Storage['calls']['reserve'] = (operation) => {
        const first = reserved.has(operation.callId) ? undefined : true
        reserved.add(operation.callId)
        return storage.calls.reserve({ ...operation, first })
      }
      return { ...storage, calls: { ...storage.calls, reserve } }
    },
    execute: async (sql) => {
      const { DatabaseSync } = loadSqlite()
      const database = new DatabaseSync(join(dataDir, 'sluice.db'), { timeout: 5_000 })
      try {
        database.exec(sql)
      } finally {
        database.close()
      }
    },
    dump: async () => dumpFiles(dataDir),
    remove: async () => rmSync(dataDir, { recursive: true }),
  }
}

/** The bytes of the files, write-ahead log included: what somebody who copies them has. */
function dumpFiles(folder: string): string {
  return readdirSync(folder)
    .filter((name) => !name.endsWith('-shm'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')
}
