/** On a database of its own, in this thread: what memory decides, what the database has, and what another process does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { putMigratedDatabase } from '../../../../test/storage/migrated-database.ts'
import { exampleAbandon, exampleLog, exampleReserve, KEY } from '../../../core/calls/examples.ts'
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW, settleTwoCredits } from '../../conformance/suite.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import { openStorage } from '../../open.ts'
import type { HotResult } from '../../sql/calls/hot-batch.ts'
import { Turns } from '../connection.ts'
import { HotTransactions } from '../hot/hot-transaction.ts'
import { loadSqlite, type SqliteDatabase } from '../library.ts'
import { Statements } from '../statements.ts'
import { SingleWriter } from './single-writer.ts'

const CONCURRENCY = 3

const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function openWriter() {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-single-writer-'))
  opened.push(() => rmSync(dataDir, { recursive: true }))
  await putMigratedDatabase(dataDir)
  const storage = await openStorage({
    databaseUrl: undefined,
    dataDir,
    secretKey: new Uint8Array(32).fill(1),
    instanceId: INSTANCE,
    now: () => NOW,
    log: { warn: () => undefined },
  })
  await createAccount(storage)
  await storage.keys.create(exampleApiKey({ policy: { concurrency: CONCURRENCY, windows: [] } }))
  await storage.close()
  const own = openDatabase(dataDir)
  /** Another process. */
  const other = openDatabase(dataDir)
  const hot = new HotTransactions(new Statements(own), 'test')
  const done: string[] = []
  const lost: number[] = []
  const state = { now: 0, alone: true, fails: false, held: undefined as Promise<void> | undefined }
  const answer = async <Value>(what: string, work: () => Value): Promise<Value> => {
    await Promise.resolve()
    if (what !== 'load') await state.held
    done.push(what)
    if (state.fails) throw new StorageUnavailable('the disk is full')
    return work()
  }
  const turns = new Turns()
  const writer = new SingleWriter({
    store: {
      run: (operations) =>
        answer(`run ${operations.length}`, () => {
          hot.forgetRows()
          return hot.run(operations)
        }),
      commit: (rows, version) =>
        answer('commit', () => {
          hot.forgetRows()
          return hot.commit(structuredClone(rows), version)
        }),
      load: (wanted) => answer('load', () => hot.load(wanted)),
    },
    turns,
    isAlone: () => state.alone,
    onLost: ({ calls }) => lost.push(calls),
    clock: () => state.now,
  })
  opened.push(() => {
    state.fails = false
    return writer.close()
  })
  return { writer, own, other, done, lost, state }

  function openDatabase(folder: string): SqliteDatabase {
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(join(folder, 'sluice.db'), { timeout: 1_000 })
    opened.push(() => database.close())
    return database
  }
}

const reserve = (id: string): HotOperation => exampleReserve(id, { first: true })
const kindOf = (result: HotResult) => (result.kind === 'outcome' ? result.outcome.kind : result.kind)
const openCalls = (database: SqliteDatabase) =>
  database
    .prepare('select call_id from open_calls order by call_id')
    .all()
    .map((row) => row['call_id'])
const logged = (database: SqliteDatabase) =>
  database
    .prepare('select call_id from call_logs order by call_id')
    .all()
    .map((row) => row['call_id'])

async function reserveAll(writer: SingleWriter, ids: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(ids.map((id) => writer.submit(reserve(id))))).map(kindOf)
}

describe('a process alone on its database', () => {
  test('answers a reservation before it is stored, and an ending once it is', async () => {
    const { writer, other, done } = await openWriter()
    expect(kindOf(await writer.submit(reserve('a')))).toBe('reserved')
    expect(done.filter((what) => what !== 'load')).toEqual([])
    expect(openCalls(other)).toEqual([])
    expect(kindOf(await writer.submit(settleTwoCredits('a')))).toBe('settled')
    expect(done.filter((what) => what !== 'load')).toEqual(['commit'])
    expect(logged(other)).toEqual(['a'])
    expect(openCalls(other)).toEqual([])
  })

  test('stores a reservation of a call that goes on', async () => {
    const { writer, other } = await openWriter()
    await writer.submit(reserve('a'))
    await writer.written()
    expect(openCalls(other)).toEqual(['a'])
    await writer.submit(exampleAbandon('a'))
    expect(openCalls(other)).toEqual([])
  })

  test('keeps a limit for calls that arrive together, one after the other, and while they are being stored', async () => {
    const { writer, state } = await openWriter()
    let go = (): void => undefined
    state.held = new Promise((resolve) => {
      go = resolve
    })
    expect((await reserveAll(writer, ['a', 'b'])).filter((kind) => kind === 'reserved')).toHaveLength(2)
    const written = writer.written()
    expect(await reserveAll(writer, ['c', 'd'])).toEqual(['reserved', 'refused'])
    go()
    await written
    expect(await reserveAll(writer, ['e'])).toEqual(['refused'])
    await writer.submit(exampleAbandon('a'))
    expect(await reserveAll(writer, ['f', 'g'])).toEqual(['reserved', 'refused'])
  })

  test('keeps a limit while other work has the connection, and after it', async () => {
    const { writer, state } = await openWriter()
    expect(await reserveAll(writer, ['a'])).toEqual(['reserved'])
    const end = await writer.takeConnection()
    const meanwhile = reserveAll(writer, ['b', 'c', 'd'])
    end()
    const after = reserveAll(writer, ['e'])
    state.now += 1_000
    expect([...(await meanwhile), ...(await after)].filter((kind) => kind === 'reserved')).toHaveLength(2)
    expect(await reserveAll(writer, ['f'])).toEqual(['refused'])
  })

  test('writes what was decided before other work begins, and sees what that work changed', async () => {
    const { writer, own, other } = await openWriter()
    await writer.submit(reserve('a'))
    const end = await writer.takeConnection()
    expect(openCalls(other)).toEqual(['a'])
    own.exec("update api_keys set status = 'disabled'")
    end()
    expect(await writer.submit(reserve('b'))).toMatchObject({ outcome: { refusal: { code: 40102 } } })
  })

  test('what another process changed between an answer and its storing does not take the answer back', async () => {
    const { writer, other, done } = await openWriter()
    await writer.submit(reserve('a'))
    other.exec("update api_keys set status = 'disabled'")
    await writer.written()
    expect(done.slice(-2)).toEqual(['commit', 'run 1'])
    expect(openCalls(other)).toEqual(['a'])
    expect(await writer.submit(reserve('b'))).toMatchObject({ outcome: { refusal: { code: 40102 } } })
    expect(kindOf(await writer.submit(settleTwoCredits('a')))).toBe('settled')
    const [account] = other.prepare('select held, month_held from accounts').all()
    expect(account).toEqual({ held: 0, month_held: 0 })
  })

  test('a process without work sees what another one changed before it decides again', async () => {
    const { writer, other, state } = await openWriter()
    await writer.submit(reserve('a'))
    await writer.submit(settleTwoCredits('a'))
    other.exec("update accounts set status = 'suspended'")
    state.now += 1_000
    expect(await writer.submit(reserve('b'))).toMatchObject({ outcome: { refusal: { code: 40303 } } })
    other.exec("update accounts set status = 'active'")
    state.now += 1_000
    expect(kindOf(await writer.submit(reserve('c')))).toBe('reserved')
  })

  test('a database that refuses writes refuses calls until one is stored; nothing that was answered is lost', async () => {
    const { writer, other, state } = await openWriter()
    expect(kindOf(await writer.submit(reserve('a')))).toBe('reserved')
    state.fails = true
    await expect(writer.submit(settleTwoCredits('a'))).rejects.toThrow(StorageUnavailable)
    await expect(writer.submit(reserve('b'))).rejects.toThrow(StorageUnavailable)
    state.fails = false
    expect(await writer.submit(settleTwoCredits('a'))).toMatchObject({
      outcome: { kind: 'settled', first: true },
    })
    expect(logged(other)).toEqual(['a'])
    expect(kindOf(await writer.submit(reserve('c')))).toBe('reserved')
    await writer.written()
    expect(openCalls(other)).toEqual(['c'])
  })

  test('a reservation whose storing failed is stored with the next operation', async () => {
    const { writer, other, state } = await openWriter()
    expect(kindOf(await writer.submit(reserve('a')))).toBe('reserved')
    state.fails = true
    await writer.written()
    state.fails = false
    await writer.submit({ kind: 'log', log: exampleLog('refused') })
    expect(openCalls(other)).toEqual(['a'])
    expect(logged(other)).toEqual(['refused'])
  })

  test('closing stores what was answered, even after a failure', async () => {
    const { writer, other, state, lost } = await openWriter()
    await writer.submit(reserve('a'))
    state.fails = true
    await writer.written()
    state.fails = false
    const late = writer.submit(reserve('b'))
    await writer.close()
    expect(kindOf(await late)).toBe('reserved')
    expect(openCalls(other)).toEqual(['a', 'b'])
    expect(lost).toEqual([])
    await expect(writer.submit(reserve('c'))).rejects.toThrow(StorageUnavailable)
  })

  test('a repeated end, a repeated reservation and a row that is there already change nothing', async () => {
    const { writer, other } = await openWriter()
    await writer.submit(reserve('a'))
    await writer.submit(settleTwoCredits('a'))
    expect(await writer.submit(settleTwoCredits('a'))).toMatchObject({ outcome: { first: false } })
    expect(await writer.submit(exampleReserve('a'))).toMatchObject({ kind: 'impossible' })
    const [again, log] = await Promise.all([
      writer.submit({ kind: 'log', log: exampleLog('a') }),
      writer.submit({ kind: 'log', log: exampleLog('new') }),
    ])
    expect([again, log].map(kindOf)).toEqual(['done', 'done'])
    expect(logged(other)).toEqual(['a', 'new'])
    const [usage] = other.prepare('select sum(calls) as calls from usage_half_hours').all()
    expect(usage).toEqual({ calls: 2 })
  })

  test('an unknown key is refused, and known once it is there', async () => {
    const { writer, other, state } = await openWriter()
    other.exec(`update api_keys set id = 'key_2' where id = '${KEY}'`)
    expect(await writer.submit(reserve('a'))).toMatchObject({ outcome: { refusal: { code: 40101 } } })
    other.exec(`update api_keys set id = '${KEY}'`)
    state.now += 1_000
    expect(kindOf(await writer.submit(reserve('b')))).toBe('reserved')
  })

  test('amounts beyond 2^53 are stored exactly', async () => {
    const { writer, own, other } = await openWriter()
    own.exec('update accounts set credits = 9007199254740993')
    await writer.submit(reserve('a'))
    await writer.submit(settleTwoCredits('a'))
    const statement = other.prepare('select credits, typeof(credits) as kind from accounts')
    statement.setReadBigInts(true)
    expect(statement.get()).toEqual({ credits: 9_007_199_252_740_993n, kind: 'integer' })
  })
})

test('together with others, the database decides everything', async () => {
  const { writer, done, other, state } = await openWriter()
  state.alone = false
  expect(await reserveAll(writer, ['a', 'b'])).toEqual(['reserved', 'reserved'])
  expect(done).toEqual(['run 2'])
  expect(openCalls(other)).toEqual(['a', 'b'])
})

test('one that is joined by others writes what it has decided, and decides alone again afterwards', async () => {
  const { writer, done, other, state } = await openWriter()
  await writer.submit(reserve('a'))
  const end = await writer.takeConnection()
  state.alone = false
  end()
  expect(openCalls(other)).toEqual(['a'])
  await writer.submit(reserve('b'))
  expect(done.at(-1)).toBe('run 1')
  state.alone = true
  expect(await reserveAll(writer, ['c', 'd'])).toEqual(['reserved', 'refused'])
  expect(done.at(-1)).toBe('load')
})
