import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { putMigratedDatabase } from '../../../test/storage/migrated-database.ts'
import { INSTANCE, NOW } from '../conformance/suite.ts'
import { openStorage } from '../open.ts'
import { describeStorage } from '../storage.conformance.ts'
import { loadSqlite } from './library.ts'

describeStorage('SQLite', async (state) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-storage-'))
  if (state === 'migrated') await putMigratedDatabase(dataDir)
  return {
    open: ({ instanceId = INSTANCE, secretKeyByte = 1, now = NOW } = {}) =>
      openStorage({
        databaseUrl: undefined,
        dataDir,
        secretKey: new Uint8Array(32).fill(secretKeyByte),
        instanceId,
        now: () => now,
        log: { warn: () => {} },
      }),
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
})

/** The bytes of the files, write-ahead log included: what somebody who copies them has. */
function dumpFiles(folder: string): string {
  return readdirSync(folder)
    .filter((name) => !name.endsWith('-shm'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')
}
