import { expect, test } from 'vitest'
import { loadSqlite } from './library.ts'
import { rollBack } from './roll-back.ts'
import { Statements } from './statements.ts'

// A full disk makes SQLite undo the transaction by itself; the failure to roll back again would hide the full disk.
test('a transaction that SQLite has undone already is no failure of its own', () => {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(':memory:', { timeout: 0 })
  const statements = new Statements(database)
  database.exec('create table t (x)')
  statements.prepare('begin').run()
  statements.prepare('insert into t values (1)').run()
  rollBack(statements)
  rollBack(statements)
  expect(statements.prepare('select x from t').all()).toEqual([])
  database.close()
})
