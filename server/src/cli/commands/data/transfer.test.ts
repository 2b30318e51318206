/** backup, restore and migrate --to, as an operator runs them. */
import { copyFile, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'
import { TEST_TIME } from '../../../../test/management/open-store.ts'
import { createFreshDatabase, createMigratedDatabase } from '../../../../test/postgres/fresh-database.ts'
import {
  postgresContents,
  sqliteContents,
  USED_BLOB,
  useDatabase,
} from '../../../../test/storage/used-database.ts'
import { instanceId } from '../../../core/ids.ts'
import { openDiskBlobs } from '../../../storage/disk/disk-blobs.ts'
import type { Storage } from '../../../storage/storage.ts'

let cleanings: (() => Promise<unknown>)[] = []
let line: CommandLine
beforeEach(async () => {
  line = await newLine()
})
afterEach(async () => {
  for (const clean of cleanings.toReversed()) await clean()
  cleanings = []
})

async function newLine(environment: Record<string, string> = {}): Promise<CommandLine> {
  const made = await openCommandLine(environment)
  cleanings.push(() => made.remove())
  return made
}

/** `empty`: it was never opened; otherwise all its tables exist, as after a first start. */
async function newDatabase(state: 'empty' | 'migrated'): Promise<string> {
  const database = await (state === 'empty' ? createFreshDatabase() : createMigratedDatabase())
  cleanings.push(() => database.drop())
  return database.url
}

async function using(
  at: CommandLine,
  work: (storage: Storage) => Promise<void>,
  url?: string,
): Promise<void> {
  const storage = await at.openStore({ databaseUrl: url })
  try {
    await work(storage)
  } finally {
    await storage.close()
  }
}

async function* oneChunk(chunk: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(chunk)
}

/** The key that opens what is sealed in the other one's backup. */
async function giveKey(from: CommandLine, to: CommandLine): Promise<void> {
  await mkdir(join(to.directory, 'data'), { recursive: true })
  await copyFile(join(from.directory, 'data', 'secret.key'), join(to.directory, 'data', 'secret.key'))
}

const databaseOf = ({ directory }: CommandLine) => join(directory, 'data', 'sluice.db')

describe.each(['SQLite', 'PostgreSQL'])('backup and restore on %s', (engine) => {
  let other: CommandLine
  let url: string | undefined
  let contents: () => Promise<unknown>
  let restored: () => Promise<unknown>
  beforeEach(async () => {
    url = undefined
    if (engine === 'SQLite') {
      other = await newLine()
      contents = () => Promise.resolve(sqliteContents(databaseOf(line)))
      restored = () => Promise.resolve(sqliteContents(databaseOf(other)))
      await using(line, useDatabase)
    } else {
      const own = await newDatabase('migrated')
      url = own
      const otherUrl = await newDatabase('empty')
      line = await newLine({ SLUICE_DATABASE_URL: own })
      other = await newLine({ SLUICE_DATABASE_URL: otherUrl })
      contents = () => postgresContents(own)
      restored = () => postgresContents(otherUrl)
      await using(line, useDatabase, url)
    }
    await giveKey(line, other)
  })

  test('a backup is one private file, and restoring it gives the same database', async () => {
    const file = join(other.directory, 'copy.gz')
    const made = await line.sluice(['backup', '-o', file])
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('the secret key is not in it') })
    expect(made.out).toMatch(/\ncall_logs +2\n/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await other.sluice(['restore', 'copy.gz', '--check'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('the backup is whole'),
    })
    const filled = await other.sluice(['restore', 'copy.gz', '--json'])
    expect(filled).toMatchObject({ code: 0, err: expect.stringContaining('verified: every balance') })
    expect(JSON.parse(filled.out)).toMatchObject({ result: 'restored', differences: [], audit: 'whole' })
    expect(await restored()).toEqual(await contents())
    expect(await line.sluice(['backup', '-o', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('EEXIST'),
    })
  })

  test('it works with pipes, and with --replace it deletes the existing contents', async () => {
    const { bytes, code, out } = await line.sluice(['backup', '-o', '-'])
    expect({ code, out }).toEqual({ code: 0, out: '' })
    await line.sluice(['grant', 'owner@example.com', '5'])
    expect(await line.sluice(['restore', '-'], { input: bytes })).toMatchObject({
      code: 3,
      err: expect.stringContaining('add --replace'),
    })
    expect(await line.sluice(['restore', '-', '--replace'], { input: bytes })).toMatchObject({ code: 0 })
    await other.sluice(['restore', '-'], { input: bytes })
    expect(await restored()).toEqual(await contents())
  })

  test('is refused while a gateway serves', async () => {
    const { bytes } = await line.sluice(['backup', '-o', '-'])
    await using(
      line,
      async (storage) => {
        await storage.calls.heartbeat(instanceId('serving'), TEST_TIME)
        expect(await line.sluice(['restore', '-', '--replace'], { input: bytes })).toMatchObject({
          code: 1,
          err: expect.stringContaining('stop every gateway'),
        })
        expect(await line.sluice(['backup', '-o', 'while.gz'])).toMatchObject({ code: 0 })
      },
      url,
    )
  })

  test('a damaged or truncated file, or one that is no backup, is refused with a reason, and nothing is changed', async () => {
    const { bytes } = await line.sluice(['backup', '-o', '-'])
    const plain = gunzipSync(bytes).toString('utf8')
    const wrong = [
      bytes.subarray(0, bytes.length / 2),
      gzipSync(plain.replace('owner@example.com', 'thief@example.com')),
      Buffer.from('hello'),
      gzipSync('hello\n'),
    ]
    for (const input of wrong) {
      for (const flags of [['--check'], []]) {
        const refused = await other.sluice(['restore', '-', ...flags], { input })
        expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('nothing was changed') })
      }
    }
    expect(JSON.parse((await other.sluice(['migrate', '--json'])).out)).toBeDefined()
    expect((await other.sluice(['accounts', 'list', '--json'])).out).toBe('[]\n')
  })
})

test('an unknown path, or a missing secret key, is refused with what to do', async () => {
  await using(line, useDatabase)
  const { bytes } = await line.sluice(['backup', '-o', '-'])
  const other = await newLine()
  expect(await other.sluice(['restore', '-'], { input: bytes })).toMatchObject({
    code: 4,
    err: expect.stringContaining('there is no secret key'),
  })
  expect(
    await other.sluice(['restore', '-'], {
      input: bytes,
      environment: { SLUICE_SECRET_KEY: 'another key of text' },
    }),
  ).toMatchObject({
    code: 1,
    err: expect.stringContaining('the secret key is not the one'),
  })
  expect(await line.sluice(['restore', 'none.gz', '--check'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('none.gz cannot be read (ENOENT)'),
  })
  expect(await (await newLine()).sluice(['backup', '-o', 'x.gz'])).toMatchObject({ code: 4 })
})

test('--files takes stored files along', async () => {
  await using(line, useDatabase)
  const blobsOf = ({ directory }: CommandLine) =>
    openDiskBlobs({ directory: join(directory, 'data', 'blobs'), now: () => TEST_TIME })
  await (await blobsOf(line)).put(USED_BLOB, oneChunk('a video'), { mediaType: 'video/mp4', maxBytes: 100 })
  const { bytes, err } = await line.sluice(['backup', '-o', '-', '--files'])
  expect(err).toContain(', 1 file,')
  const other = await newLine()
  await giveKey(line, other)
  expect(await other.sluice(['restore', '-'], { input: bytes })).toMatchObject({ code: 0 })
  const video = await (await blobsOf(other)).open(USED_BLOB)
  expect(video).toMatchObject({ mediaType: 'video/mp4' })
  expect(video === undefined ? '' : await text(video.body)).toBe('a video')
})

describe('migrate --to', () => {
  test('moves a used SQLite instance to PostgreSQL, verified on both sides', async () => {
    await using(line, useDatabase)
    const url = await newDatabase('empty')
    const moved = await line.sluice(['migrate', '--to', url, '--json'])
    expect(moved).toMatchObject({ code: 0, err: expect.stringContaining('SLUICE_DATABASE_URL') })
    expect(JSON.parse(moved.out)).toMatchObject({
      result: 'moved',
      before: { differences: [], audit: 'whole' },
      after: { differences: [], audit: 'whole' },
    })
    expect(await postgresContents(url)).toEqual(sqliteContents(databaseOf(line)))
    const there = { environment: { SLUICE_DATABASE_URL: url } }
    const listed = await line.sluice(['accounts', 'list', '--json'], there)
    expect(listed.out).toBe((await line.sluice(['accounts', 'list', '--json'])).out)
    expect(await line.sluice(['migrate', '--to', url])).toMatchObject({ code: 3 })
    expect(await line.sluice(['migrate', '--to', url, '--replace'])).toMatchObject({ code: 0 })
    expect(await line.sluice(['migrate', '--to', url], there)).toMatchObject({ code: 3 })
  })

  test('is refused while a gateway serves, and without an address of PostgreSQL', async () => {
    await using(line, useDatabase)
    const url = await newDatabase('migrated')
    await using(line, async (storage) => {
      await storage.calls.heartbeat(instanceId('serving'), TEST_TIME)
      expect(await line.sluice(['migrate', '--to', url])).toMatchObject({
        code: 1,
        err: expect.stringContaining('stop every gateway'),
      })
    })
    expect(await line.sluice(['migrate', '--to', 'mysql://x'])).toMatchObject({ code: 3 })
    expect(await line.sluice(['migrate', '--to', 'postgres://127.0.0.1:1/none'])).toMatchObject({ code: 1 })
    expect(await line.sluice(['migrate', '--replace'])).toMatchObject({ code: 3 })
  })

  test('a difference that existed before is reported, and exists afterwards', async () => {
    await using(line, useDatabase)
    const { loadSqlite } = await import('../../../storage/sqlite/library.ts')
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(databaseOf(line), { timeout: 5_000 })
    database.exec('update accounts set credits = credits + 1')
    database.close()
    const moved = await line.sluice(['migrate', '--to', await newDatabase('migrated')])
    expect(moved).toMatchObject({ code: 5, err: expect.stringContaining('the ledger disagrees') })
  })
})
