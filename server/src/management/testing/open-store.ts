/** A real SQLite store in a directory of its own, with a clock the test holds. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instanceId } from '../../core/ids.ts'
import { openStorage } from '../../storage/open.ts'
import type { Storage } from '../../storage/storage.ts'
import { timeOrderedId } from '../new-id.ts'

export interface TestStore {
  readonly storage: Storage
  readonly directory: string
  close(): Promise<void>
}

/** 2027-01-01T00:00:00Z */
export const TEST_TIME = 1_798_761_600_000

export async function openTestStore(): Promise<TestStore> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-management-'))
  const storage = await openStorage({
    databaseUrl: undefined,
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
      await rm(directory, { recursive: true, force: true })
    },
  }
}
