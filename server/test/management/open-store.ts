/** A real store of one's own, on either engine, with a clock the test holds. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instanceId } from '../../src/core/ids.ts'
import type { Actor } from '../../src/management/admin/acts.ts'
import { timeOrderedId } from '../../src/management/new-id.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { putMigratedDatabase } from '../storage/migrated-database.ts'

export interface TestStore {
  readonly storage: Storage
  readonly directory: string
  close(): Promise<void>
}

export type Engine = 'SQLite' | 'PostgreSQL'

/** 2027-01-01T00:00:00Z */
export const TEST_TIME = 1_798_761_600_000

/** Who acts where it does not matter who does. */
export const TEST_ACTOR: Actor = {
  at: TEST_TIME,
  accountId: undefined,
  name: 'operator',
  sessionId: undefined,
  address: '192.0.2.1',
  requestId: undefined,
}

export async function openTestStore(engine: Engine = 'SQLite'): Promise<TestStore> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-management-'))
  const database = engine === 'SQLite' ? undefined : await createMigratedDatabase()
  if (engine === 'SQLite') await putMigratedDatabase(directory)
  const storage = await openStorage({
    databaseUrl: database?.url,
    dataDir: directory,
    secretKey: new Uint8Array(32).fill(7),
    instanceId: instanceId(timeOrderedId(TEST_TIME)),
    now: () => TEST_TIME,
    log: { warn: () => undefined },
  })
  return {
    storage,
    directory,
    close: async () => {
      await storage.close()
      await database?.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
