/** A database that is moved, or backed up and restored, is the same database: row by row, and to the next call. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createFreshDatabase, createMigratedDatabase } from '../../test/postgres/fresh-database.ts'
import { putMigratedDatabase } from '../../test/storage/migrated-database.ts'
import {
  type Contents,
  fillEmptyTables,
  postgresContents,
  sqliteContents,
  USED_BLOB,
  useDatabase,
} from '../../test/storage/used-database.ts'
import { ACCOUNT, credits, exampleReserve, KEY } from '../core/calls/examples.ts'
import { instanceId } from '../core/ids.ts'
import { exampleGrant, NOW, settleTwoCredits, recover } from './conformance/suite.ts'
import { settleTask } from './conformance/videos.ts'
import { openEngine, openStorage, type OpenStorageOptions } from './open.ts'
import { loadSqlite } from './sqlite/library.ts'
import type { BlobStore } from './stores/blobs.ts'
import type { Storage } from './storage.ts'
import {
  ArchiveDamaged,
  backUp,
  checkArchive,
  InUse,
  move,
  NotEmpty,
  NothingThere,
  restore,
  SchemaMismatch,
} from './transfer.ts'

const MADE_BY = '1.2.3'
type Cleanings = (() => Promise<unknown>)[]
const cleanings: Cleanings = []
/** Of what several tests only read. */
const lastCleanings: Cleanings = []
afterEach(() => cleanAll(cleanings))
afterAll(() => cleanAll(lastCleanings))

async function cleanAll(all: Cleanings): Promise<void> {
  for (const clean of all.splice(0).toReversed()) await clean()
}

interface Place {
  readonly options: OpenStorageOptions
  contents(): Promise<Contents>
}

function optionsOf(database: Pick<OpenStorageOptions, 'databaseUrl' | 'dataDir'>): OpenStorageOptions {
  return {
    ...database,
    secretKey: new Uint8Array(32).fill(7),
    instanceId: instanceId('a command'),
    now: () => NOW,
    log: { warn: () => undefined },
  }
}

/** `empty`: nobody has opened it; else all its tables are there, as after a first start. */
type State = 'empty' | 'migrated'

async function newSqlite(state: State, until: Cleanings = cleanings): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-transfer-'))
  until.push(() => rm(dataDir, { recursive: true, force: true }))
  if (state === 'migrated') await putMigratedDatabase(dataDir)
  const contents = () => Promise.resolve(sqliteContents(join(dataDir, 'sluice.db')))
  return { options: optionsOf({ databaseUrl: undefined, dataDir }), contents }
}

async function newPostgres(state: State, until: Cleanings = cleanings): Promise<Place> {
  const database = await (state === 'empty' ? createFreshDatabase() : createMigratedDatabase())
  until.push(() => database.drop())
  return {
    options: optionsOf({ databaseUrl: database.url, dataDir: '/nonexistent' }),
    contents: () => postgresContents(database.url),
  }
}

const PLACES = { SQLite: newSqlite, PostgreSQL: newPostgres }
const ENGINES = ['SQLite', 'PostgreSQL'] as const

async function using<Value>({ options }: Place, work: (storage: Storage) => Promise<Value>): Promise<Value> {
  const storage = await openStorage(options)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

async function plainSqlite(until: Cleanings = cleanings): Promise<Place> {
  const place = await newSqlite('migrated', until)
  await using(place, useDatabase)
  return place
}

/** Every table has a row, those of tomorrow too; what was put in blindly adds up to nothing, so it is only compared. */
async function usedSqlite(until: Cleanings = cleanings): Promise<Place> {
  const place = await plainSqlite(until)
  fillEmptyTables(join(place.options.dataDir, 'sluice.db'))
  return place
}

async function archiveOf({ options }: Place): Promise<Buffer> {
  const output = new PassThrough()
  const whole = buffer(output)
  await backUp(options, output, { madeBy: MADE_BY, blobs: undefined })
  output.end()
  return whole
}

async function* chunksOf(archive: Uint8Array): AsyncGenerator<Uint8Array> {
  // Lines break wherever a network or a disk breaks them.
  for (let from = 0; from < archive.length; from += 777) yield archive.subarray(from, from + 777)
}

/** The window, the slots, the hold, the task and the row ids of before go on. */
async function expectToGoOn(place: Place): Promise<void> {
  await using(place, async (storage) => {
    expect(await storage.ledger.verify()).toEqual([])
    expect(await storage.audit.verify()).toMatchObject({ kind: 'whole', entries: 2 })
    expect(await storage.keys.findByHash('1'.repeat(64))).toMatchObject({ id: KEY })
    expect(await storage.calls.reserve(exampleReserve('fourth'))).toMatchObject({ kind: 'reserved' })
    const fifth = await storage.calls.reserve(exampleReserve('fifth'))
    expect(fifth).toMatchObject({ kind: 'refused' })
    const before = (await storage.accounts.find(ACCOUNT))?.credits ?? 0n
    await storage.calls.settle(settleTwoCredits('running'))
    await storage.calls.settle(settleTask('video_1'))
    await storage.calls.settle(settleTwoCredits('fourth'))
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: before - credits(6), held: 0n })
    expect(await storage.turns.find(KEY, 'resp_1', NOW)).toMatchObject({
      content: { body: expect.stringContaining('secret plan') },
    })
    expect(await storage.identity.sessions.findByHash('a'.repeat(64), NOW)).toMatchObject({ id: 'ses_1' })
    expect(await storage.ledger.verify()).toEqual([])
  })
}

describe('moving a used SQLite database to PostgreSQL', () => {
  test('keeps every row of every table as it is', async () => {
    const from = await usedSqlite()
    const to = await newPostgres('empty')
    const before = await from.contents()
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([])
    const summary = await move(from.options, to.options, { present: 'refuse', madeBy: MADE_BY })
    expect(await to.contents()).toEqual(before)
    expect(await from.contents()).toEqual(before)
    expect(summary.rows).toBe(Object.values(before).flat().length)
  })

  test('lets calls go on under the same windows, with the same holds, task, conversation and sessions', async () => {
    const from = await plainSqlite()
    const to = await newPostgres('migrated')
    await move(from.options, to.options, { present: 'refuse', madeBy: MADE_BY })
    expect(await to.contents()).toEqual(await from.contents())
    await expectToGoOn(to)
  })

  test('row ids that logs name are not given to anything else', async () => {
    const from = await plainSqlite()
    const to = await newPostgres('migrated')
    await move(from.options, to.options, { present: 'refuse', madeBy: MADE_BY })
    const added = await using(to, async (storage) => {
      const catalogue = await storage.catalogue.read()
      const [model] = catalogue.models.values()
      const [chain] = model?.chains ?? []
      if (chain === undefined) throw new Error('there is a chain')
      await storage.catalogue.apply([
        { kind: 'put-chain', chain: { ...chain, protocol: 'messages' }, credentialName: 'main' },
      ])
      return [...(await storage.catalogue.read()).models.values()].flatMap(({ chains }) => chains)
    })
    expect(added.map(({ id }) => id)).toEqual([1, 2])
  })

  test('is refused while a gateway serves from it, and where the other one holds something', async () => {
    const from = await plainSqlite()
    const to = await newPostgres('migrated')
    await using(from, async (storage) => {
      await storage.calls.heartbeat(instanceId('serving'), NOW)
      await expect(move(from.options, to.options, { present: 'refuse', madeBy: MADE_BY })).rejects.toThrow(
        InUse,
      )
    })
    await using(from, (storage) => recover(storage, { at: NOW, deadBefore: NOW, leakedBefore: 0 }))
    await using(to, (storage) => storage.accounts.create({ id: ACCOUNT, createdAt: NOW }))
    const later = { ...from.options, now: () => NOW + 60_000 }
    await expect(move(later, to.options, { present: 'refuse', madeBy: MADE_BY })).rejects.toThrow(NotEmpty)
    await move(later, to.options, { present: 'replace', madeBy: MADE_BY })
    expect(await to.contents()).toEqual(await from.contents())
  })

  test('what was written before it began arrives', async () => {
    const from = await plainSqlite()
    const to = await newPostgres('migrated')
    const before = (await from.contents())['transfers']?.length ?? 0
    await using(from, (storage) => storage.ledger.book([LATE]))
    await move(from.options, to.options, { present: 'refuse', madeBy: MADE_BY })
    expect((await to.contents())['transfers']).toHaveLength(before + 1)
  })

  test('no write into the old one succeeds meanwhile: a waiting writer continues when the move has ended', async () => {
    const from = await plainSqlite()
    const to = await newPostgres('migrated')
    const before = (await from.contents())['transfers']?.length ?? 0
    const other = await openStorage(from.options)
    cleanings.push(() => other.close())
    const meanwhile: { impatient?: string; patient?: Promise<void> } = {}
    await move(
      from.options,
      {
        ...to.options,
        now: () => {
          // Asked for when the new database is opened: the old one is locked by then.
          meanwhile.impatient ??= writeAtOnce(from)
          meanwhile.patient ??= bookWhenFree(other)
          return NOW
        },
      },
      { present: 'refuse', madeBy: MADE_BY },
    )
    expect(meanwhile.impatient).toContain('database is locked')
    expect((await to.contents())['transfers']).toHaveLength(before)
    await meanwhile.patient
    expect((await from.contents())['transfers']).toHaveLength(before + 1)
  })
})

const LATE = exampleGrant(ACCOUNT, { transactionId: 'late' })

/** Without waiting for anybody; how it was refused. */
function writeAtOnce({ options }: Place): string {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(options.dataDir, 'sluice.db'), { timeout: 0 })
  try {
    database.exec('begin immediate')
    return 'not refused'
  } catch (error) {
    return String(error)
  } finally {
    database.close()
  }
}

/** The move may outlast the patience of one try. */
async function bookWhenFree(storage: Storage): Promise<void> {
  for (;;) {
    try {
      await storage.ledger.book([LATE])
      return
    } catch (error) {
      if (!String(error).includes('database is locked')) throw error
    }
  }
}

describe.each(ENGINES)('a backup of %s', (engine) => {
  let place: Place
  let archive: Buffer
  beforeAll(async () => {
    place = await placed(await usedSqlite(lastCleanings), lastCleanings)
    archive = await archiveOf(place)
  })

  async function placed(made: Place, until: Cleanings = cleanings): Promise<Place> {
    if (engine === 'SQLite') return made
    const moved = await newPostgres('migrated', until)
    await move(made.options, moved.options, { present: 'refuse', madeBy: MADE_BY })
    return moved
  }

  test.each(ENGINES)('restored into %s is the same database', async (other) => {
    const to = await PLACES[other]('empty')
    const summary = await restore(chunksOf(archive), to.options, { present: 'refuse', blobs: undefined })
    expect(summary).toEqual(await checkArchive(chunksOf(archive)))
    expect(await to.contents()).toEqual(await place.contents())
  })

  test('restored into the other engine lets calls go on as before', async () => {
    const moment = await archiveOf(await placed(await plainSqlite()))
    const to = await PLACES[engine === 'SQLite' ? 'PostgreSQL' : 'SQLite']('migrated')
    await restore(chunksOf(moment), to.options, { present: 'refuse', blobs: undefined })
    await expectToGoOn(to)
  })

  test('is one moment of a database that goes on', async () => {
    const busy = await placed(await plainSqlite())
    const storage = await openStorage(busy.options)
    cleanings.push(() => storage.close())
    let stop = false
    const writing = (async () => {
      for (let call = 0; !stop; call++) {
        await storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: `while-${call}` })])
      }
    })()
    const moment = await archiveOf(busy)
    stop = true
    await writing
    const to = await PLACES[engine]('migrated')
    await restore(chunksOf(moment), to.options, { present: 'refuse', blobs: undefined })
    await using(to, async (restored) => expect(await restored.ledger.verify()).toEqual([]))
  })

  test('replaces existing contents only with --replace, and completely', async () => {
    const own = await placed(await plainSqlite())
    const before = await own.contents()
    const copy = await archiveOf(own)
    const options = { ...own.options, now: () => NOW + 60_000 }
    await expect(restore(chunksOf(copy), options, { present: 'refuse', blobs: undefined })).rejects.toThrow(
      NotEmpty,
    )
    await using(own, (storage) => storage.calls.settle(settleTwoCredits('running')))
    await restore(chunksOf(copy), options, { present: 'replace', blobs: undefined })
    expect(await own.contents()).toEqual(before)
    await using(own, (storage) =>
      expect(storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'large_0' })])).resolves.toBe(false),
    )
  })

  test('that was changed, cut or made with another secret key leaves the database as it was', async () => {
    const to = await PLACES[engine]('migrated')
    await using(to, (storage) => storage.ping())
    const before = await to.contents()
    const changed = Buffer.from(archive.toString('utf8').replace('owner@example.com', 'thief@example.com'))
    const cut = archive.subarray(0, archive.length - 200)
    for (const wrong of [changed, cut, Buffer.from('hello\n'), Buffer.alloc(0)]) {
      const restoring = restore(chunksOf(wrong), to.options, { present: 'refuse', blobs: undefined })
      await expect(restoring).rejects.toThrow(ArchiveDamaged)
    }
    const otherKey = { ...to.options, secretKey: new Uint8Array(32).fill(8) }
    await expect(
      restore(chunksOf(archive), otherKey, { present: 'refuse', blobs: undefined }),
    ).rejects.toThrow('secret key')
    expect(await to.contents()).toEqual(before)
  })

  test('of a newer schema is refused, and one of an older is by a database that is further', async () => {
    const to = await PLACES[engine]('migrated')
    await using(to, (storage) => storage.ping())
    for (const schema of [1, 999]) {
      const other = Buffer.from(archive.toString('utf8').replace(/"schema":\d+/, `"schema":${schema}`))
      const restoring = restore(chunksOf(other), to.options, { present: 'replace', blobs: undefined })
      await expect(restoring).rejects.toThrow(SchemaMismatch)
    }
  })

  test('holds no secret that the database holds sealed', () => {
    const text = archive.toString('utf8')
    expect(text).not.toContain('upstream-secret')
    expect(text).not.toContain('secret plan')
    expect(text).toContain('"10000000998')
  })
})

test('stored files go along where they are asked for, and come back as they were', async () => {
  const place = await plainSqlite()
  const video = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251)
  const output = new PassThrough()
  const whole = buffer(output)
  const open = (key: string) =>
    Promise.resolve(
      key === USED_BLOB ? { bytes: video.length, mediaType: 'video/mp4', body: chunksOf(video) } : undefined,
    )
  expect(await backUp(place.options, output, { madeBy: MADE_BY, blobs: { open } })).toMatchObject({
    blobs: 1,
  })
  output.end()
  const archive = await whole
  const stored = new Map<string, { readonly mediaType: string; readonly body: Buffer }>()
  const blobs: Pick<BlobStore, 'put'> = {
    async put(key, source, { mediaType, maxBytes }) {
      const body = await buffer(source)
      expect(maxBytes).toBe(body.length)
      stored.set(key, { mediaType, body })
      return { bytes: body.length, sha256: '' }
    },
  }
  await restore(chunksOf(archive), (await newSqlite('migrated')).options, { present: 'refuse', blobs })
  expect(stored).toEqual(new Map([[USED_BLOB, { mediaType: 'video/mp4', body: Buffer.from(video) }]]))
  await restore(chunksOf(archive), (await newSqlite('migrated')).options, {
    present: 'refuse',
    blobs: undefined,
  })
})

test('a database that was never used is no backup', async () => {
  for (const place of [await newSqlite('empty'), await newPostgres('empty')]) {
    await expect(archiveOf(place)).rejects.toThrow(NothingThere)
  }
})

test.each(ENGINES)(
  'a backup made before an upgrade goes into a new %s, which is then brought on',
  async (engine) => {
    const old = await newSqlite('empty')
    const older = await openEngine(old.options, 1)
    await older.writer
      .insertInto('call_logs')
      .values({
        call_id: 'call_1',
        request_id: 'req_1',
        created_at: NOW,
        ended_at: NOW,
        account_id: null,
        key_id: null,
        model: null,
        http_status: 401,
        app_id: null,
        custom_id: null,
        end_user: null,
        amount: 0,
        deducted: 0,
        detail: JSON.stringify({}),
      })
      .execute()
    await older.close()
    const archive = await archiveOf(old)
    const to = await PLACES[engine]('empty')
    expect(
      await restore(chunksOf(archive), to.options, { present: 'refuse', blobs: undefined }),
    ).toMatchObject({
      begin: { schema: 1 },
    })
    await using(to, async (storage) => expect(await storage.ledger.verify()).toEqual([]))
    const contents = await to.contents()
    expect(contents['call_logs']).toHaveLength(1)
    expect(contents['turns']).toEqual([])
  },
)
