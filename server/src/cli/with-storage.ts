import { statSync } from 'node:fs'
import { openDataDirectory } from '../config/data-directory.ts'
import { type Config, readConfig } from '../config/environment.ts'
import { instanceId } from '../core/ids.ts'
import { timeOrderedId } from '../management/new-id.ts'
import { openStorage, type OpenStorageOptions } from '../storage/open.ts'
import type { Storage } from '../storage/storage.ts'
import type { Console } from './console.ts'
import { CommandFailure } from './exit-codes.ts'

/** A change of the schema that opening the store made. */
export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

/**
 * Opens the configured store, with or without a running gateway, and closes it afterwards. A running gateway sees every
 * change within a second.
 * @param missing what to do if there is no SQLite file yet: a command that only reads must not create one
 */
export async function withStorage<Value>(
  io: Console,
  missing: 'create' | 'refuse',
  work: (storage: Storage, migrations: readonly AppliedMigration[]) => Promise<Value>,
): Promise<Value> {
  const config = readConfig(io.environment, io.workingDirectory)
  if (missing === 'refuse') refuseMissing(config)
  const migrations: AppliedMigration[] = []
  const options = await storageOptions(io, config)
  const log = { ...options.log, migrated: (one: AppliedMigration) => migrations.push(one) }
  const storage = await openStorage({ ...options, log })
  try {
    return await work(storage, migrations)
  } finally {
    await storage.close()
  }
}

/** Options of the configured database, for commands that open it in another way. */
export async function storageOptions(io: Console, config: Config): Promise<OpenStorageOptions> {
  const { secretKey, tightened } = await openDataDirectory(config)
  for (const sentence of tightened) io.err(`warning: ${sentence}\n`)
  return {
    databaseUrl: config.database.kind === 'postgres' ? config.database.url.unwrap() : undefined,
    dataDir: config.dataDirectory,
    secretKey,
    instanceId: instanceId(timeOrderedId(io.now())),
    now: io.now,
    log: { warn: (_fields, message) => io.err(`warning: ${message}\n`) },
  }
}

export function refuseMissing({ database }: Config): void {
  if (database.kind === 'postgres' || statSync(database.file, { throwIfNoEntry: false }) !== undefined) return
  throw new CommandFailure(
    'missing',
    `there is no database at ${database.file}: start Sluice once, or set SLUICE_DATA_DIR or SLUICE_DATABASE_URL to where it keeps its data`,
  )
}
