/** Exports and imports a whole database, and moves one from engine to engine. */
import { PassThrough, type Writable } from 'node:stream'
import { asError } from '../core/errors/as-error.ts'
import type { BlobStore } from './stores/blobs.ts'
import { openEngine, type OpenStorageOptions } from './open.ts'
import { createSecretBox } from './secret-box.ts'
import type { SqlEngine } from './sql/engine.ts'
import { checkSecretKey } from './sql/check-secret-key.ts'
import { newestSchema, readVersion } from './sql/migrate.ts'
import { ArchiveDamaged, type ArchiveSummary } from './transfer/archive.ts'
import { liftTimeLimits } from './transfer/lift-time-limits.ts'
import { countLive } from './transfer/live-instances.ts'
import { loadArchive, type LoadOptions, NotEmpty } from './transfer/load-archive.ts'
import { readArchive } from './transfer/read-archive.ts'
import { writeArchive } from './transfer/write-archive.ts'

export { ArchiveDamaged, NotEmpty }
export type { ArchiveSummary }

/** A gateway is serving from this database. */
export class InUse extends Error {
  readonly instances: number

  constructor(instances: number) {
    super(`${instances} running gateways use the database`)
    this.name = 'InUse'
    this.instances = instances
  }
}

/** The schemas of database and archive are not compatible. */
export class SchemaMismatch extends Error {
  readonly archive: number
  readonly database: number

  constructor(archive: number, database: number) {
    super(`the backup has schema ${archive}, the database ${database}`)
    this.name = 'SchemaMismatch'
    this.archive = archive
    this.database = database
  }
}

/** The database was never used: it has no tables. */
export class NothingThere extends Error {
  constructor() {
    super('the database is new and empty')
    this.name = 'NothingThere'
  }
}

/** A backup copies the present state: a newer build must not migrate the database of a running gateway. */
const AS_IT_IS = 0

export interface BackupOptions {
  readonly madeBy: string
  /** Stored files are included; undefined: they are not. */
  readonly blobs: Pick<BlobStore, 'open'> | undefined
}

/** Writes a snapshot of the database, while gateways serve from it; `output` is not ended. */
export async function backUp(
  database: OpenStorageOptions,
  output: Writable,
  options: BackupOptions,
): Promise<ArchiveSummary> {
  return withEngine(database, AS_IT_IS, async (engine) => {
    await refuseNothing(engine)
    await checkSecretKey(engine.writer, createSecretBox(database.secretKey))
    return engine.withSnapshot(async (snapshot) => {
      await liftTimeLimits(snapshot, engine.name)
      return writeArchive({ database: snapshot, engine: engine.name, at: database.now(), ...options }, output)
    })
  })
}

/** Reads an archive through and says what is in it. */
export async function checkArchive(source: AsyncIterable<Uint8Array>): Promise<ArchiveSummary> {
  for await (const part of readArchive(source)) {
    if (part.record === 'end') return part.summary
    if (part.record === 'blob') for await (const _chunk of part.body);
  }
  throw new ArchiveDamaged('the backup ends in the middle')
}

export type RestoreOptions = Pick<LoadOptions, 'present' | 'blobs'>

/**
 * Migrates a database to the archive's schema, fills it and verifies that every row arrived, in one transaction. Opening
 * it afterwards migrates it to this build's schema.
 */
export async function restore(
  source: AsyncIterable<Uint8Array>,
  database: OpenStorageOptions,
  options: RestoreOptions,
): Promise<ArchiveSummary> {
  const parts = readArchive(source)
  const first = await parts.next()
  if (first.done === true || first.value.record !== 'begin') throw new ArchiveDamaged('the backup is empty')
  const { schema } = first.value
  return withEngine(database, schema, async (engine) => {
    await refuseOtherSchema(engine, schema)
    await refuseInUse(engine, database.now())
    return loadArchive(engine, parts, {
      ...options,
      secrets: createSecretBox(database.secretKey),
      // Checked again, for a gateway that was started since.
      guard: (locked) => refuseInUse({ reader: locked, ...processesOf(engine) }, database.now()),
    })
  })
}

/**
 * Moves a SQLite database that no gateway is using. Its write lock is held until the other database has everything, so
 * that no change is lost. The source stays unchanged.
 */
export async function move(
  from: OpenStorageOptions,
  to: OpenStorageOptions,
  options: Pick<RestoreOptions, 'present'> & Pick<BackupOptions, 'madeBy'>,
): Promise<ArchiveSummary> {
  return withEngine(from, AS_IT_IS, async (engine) => {
    if (engine.name !== 'sqlite') throw new Error('only a SQLite database is moved')
    await refuseNothing(engine)
    await checkSecretKey(engine.writer, createSecretBox(from.secretKey))
    return engine.writer.transaction().execute(async (locked) => {
      await refuseInUse({ reader: locked, ...processesOf(engine) }, from.now())
      const { madeBy, present } = options
      const archive = { database: locked, engine: engine.name, at: from.now(), madeBy, blobs: undefined }
      const pipe = new PassThrough()
      const writing = writeArchive(archive, pipe).then(
        () => pipe.end(),
        (error: unknown) => pipe.destroy(asError(error)),
      )
      try {
        return await restore(pipe, to, { present, blobs: undefined })
      } catch (error) {
        pipe.destroy(asError(error))
        throw error
      } finally {
        await writing
      }
    })
  })
}

async function withEngine<Value>(
  database: OpenStorageOptions,
  schemaMost: number | undefined,
  work: (engine: SqlEngine) => Promise<Value>,
): Promise<Value> {
  const engine = await openEngine(database, schemaMost)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

async function refuseOtherSchema({ reader }: SqlEngine, archive: number): Promise<void> {
  if (archive > newestSchema()) throw new SchemaMismatch(archive, newestSchema())
  const found = await readVersion(reader)
  if (found !== archive) throw new SchemaMismatch(archive, found)
}

async function refuseNothing({ reader }: SqlEngine): Promise<void> {
  if ((await readVersion(reader)) === 0) throw new NothingThere()
}

async function refuseInUse(engine: Pick<SqlEngine, 'reader' | 'processes'>, at: number): Promise<void> {
  const live = await countLive(engine, at)
  if (live > 0) throw new InUse(live)
}

function processesOf({ processes }: SqlEngine): Pick<SqlEngine, 'processes'> {
  return processes === undefined ? {} : { processes }
}
