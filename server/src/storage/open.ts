/** Chooses the engine: the only place that knows both; it loads the one that is configured. */
import { closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { InstanceId } from '../core/ids.ts'
import { createSecretBox } from './secret-box.ts'
import { checkSecretKey } from './sql/check-secret-key.ts'
import type { SqlEngine, StorageLog } from './sql/engine.ts'
import { createSqlStorage } from './sql/sql-storage.ts'
import type { Storage } from './storage.ts'
import { codeOf } from '../core/errors/error-code.ts'

export interface OpenStorageOptions {
  /** `postgres://…` or `postgresql://…`; absent: SQLite in `<dataDir>/sluice.db`. */
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  /** 32 bytes. */
  readonly secretKey: Uint8Array
  readonly instanceId: InstanceId
  /** Epoch ms. */
  readonly now: () => number
  readonly log: StorageLog
  /** Absent: this process runs no calls. */
  readonly runsCalls?: RunsCalls | undefined
  /** Called once, when the storage has stopped answering and this process cannot repair it; absent: not watched. */
  readonly onHung?: () => void
}

/** `alone`: as the only process if no other one runs calls on this database, else with them. `together`: with others. */
export type RunsCalls = 'alone' | 'together'

export async function openStorage(options: OpenStorageOptions): Promise<Storage> {
  const secrets = createSecretBox(options.secretKey)
  const engine = await openEngine(options)
  try {
    await checkSecretKey(engine.writer, secrets)
  } catch (error) {
    await engine.close()
    throw error
  }
  return createSqlStorage({ ...options, engine, secrets })
}

/** `schemaMost`: the newest migration to apply; a database with more is opened unchanged. undefined: all. */
export async function openEngine(
  { databaseUrl, dataDir, now, log, onHung, runsCalls }: OpenStorageOptions,
  schemaMost?: number,
): Promise<SqlEngine> {
  if (databaseUrl === undefined) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const { openSqlite, ownerFileOf } = await import('./sqlite/engine.ts')
    const path = join(dataDir, 'sluice.db')
    makePrivate(path)
    if (runsCalls !== undefined) makePrivate(ownerFileOf(path))
    return openSqlite({ path, now, log, schemaMost, onHung, runsCalls })
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new Error('SLUICE_DATABASE_URL must begin with postgres:// or postgresql://')
  const { openPostgres } = await import('./postgres/engine.ts')
  return openPostgres({ databaseUrl, now, log, schemaMost })
}

/** SQLite creates its database readable for all users, minus the umask, and gives its other files the same mode. */
function makePrivate(path: string): void {
  let file: number
  try {
    file = openSync(path, 'ax', 0o600)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    throw error
  }
  try {
    fchmodSync(file, 0o600)
  } finally {
    closeSync(file)
  }
}
