import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import '../../../test/storage/migrated-database.ts'
import { SqliteConnection } from './connection.ts'
import { loadSqlite } from './library.ts'
import { keepThread, takeThread } from './threads.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-threads-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function connect(name: string): SqliteConnection {
  return new SqliteConnection(
    { path: join(folder, name), role: 'writer', origin: 'test' },
    { notice: () => undefined },
  )
}

const change = (connection: SqliteConnection, sql: string) =>
  connection.run({ kind: 'change', sql, parameters: [] })
const query = (connection: SqliteConnection, sql: string) =>
  connection.run({ kind: 'query', sql, parameters: [] })

test('of a database that has closed, nothing is left in the thread that serves another', async () => {
  const first = connect('first.db')
  await change(first, 'create table notes (text text)')
  await change(first, "insert into notes values ('of the first')")
  await first.close()
  const second = connect('second.db')
  await change(second, 'create table notes (text text)')
  expect(await query(second, 'select text from notes')).toMatchObject({ rows: [] })
  await second.close()
  const again = connect('first.db')
  expect(await query(again, 'select text from notes')).toMatchObject({ rows: [{ text: 'of the first' }] })
  await again.close()
})

test('of a database that has closed, nothing is held: another program takes it for itself', async () => {
  const connection = connect('first.db')
  await change(connection, 'create table notes (text text)')
  await change(connection, "insert into notes values ('kept')")
  await query(connection, 'select text from notes')
  await connection.close()
  const { DatabaseSync } = loadSqlite()
  const other = new DatabaseSync(join(folder, 'first.db'), { timeout: 0 })
  other.exec('pragma locking_mode = exclusive; begin exclusive; commit')
  other.close()
})

test('a thread that waits opens the next connection; one that does not ends', async () => {
  const thread = takeThread({ path: join(folder, 'first.db'), role: 'writer', origin: 'test' })
  thread.postMessage({ kind: 'close', id: 1, afterwards: 'wait' })
  await answerTo(thread, 1)
  keepThread(thread)
  expect(takeThread({ path: join(folder, 'second.db'), role: 'reader', origin: 'test' })).toBe(thread)
  thread.postMessage({ kind: 'close', id: 2, afterwards: 'end' })
  await once(thread, 'exit')
})

async function answerTo(thread: Worker, id: number): Promise<void> {
  thread.ref()
  for await (const [reply] of on(thread, 'message')) if (reply.id === id) return
}
