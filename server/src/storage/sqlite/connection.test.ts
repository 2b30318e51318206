import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { SILENT_LOOKS_MAX, SqliteConnection } from './connection.ts'

let folder: string
let connection: SqliteConnection
let look: () => void
let hung: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-connection-'))
  connection = new SqliteConnection(
    { path: join(folder, 'sluice.db'), role: 'writer', origin: 'test' },
    { notice: () => undefined },
  )
  hung = 0
  look = () => undefined
  connection.watch(
    (given) => {
      look = given
      return () => {
        look = () => undefined
      }
    },
    () => {
      hung += 1
    },
  )
})
afterEach(async () => {
  await connection.close()
  rmSync(folder, { recursive: true })
})

const ask = () => connection.run({ kind: 'query', sql: 'select 1 as one', parameters: [] })
const looks = (count: number): void => {
  for (let done = 0; done < count; done++) look()
}

/** What a promise comes to; told apart from others by its kind alone. */
async function outcome(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => 'answered',
    (error: unknown) => error,
  )
}

describe('a storage thread that answers nothing', () => {
  test('is given up after a minute of looks: what waits and what comes later is refused, and somebody is told', async () => {
    const waiting = [outcome(ask()), outcome(ask())]
    looks(SILENT_LOOKS_MAX - 1)
    expect(hung).toBe(0)
    looks(3)
    expect(hung).toBe(1)
    for (const asked of [...waiting, outcome(ask())]) expect(await asked).toBeInstanceOf(StorageUnavailable)
    expect(await outcome(ask())).toMatchObject({ untouched: true })
    // What was asked before may have been done all the same.
    expect(await waiting[0]).toMatchObject({ untouched: false })
  })

  test('does not keep a stop waiting', async () => {
    const waiting = outcome(ask())
    looks(SILENT_LOOKS_MAX)
    await connection.close()
    expect(await waiting).toBeInstanceOf(StorageUnavailable)
  })
})

describe('a storage thread is not taken for hung', () => {
  test('while nothing is asked of it', async () => {
    looks(100)
    expect(await outcome(ask())).toBe('answered')
    expect(hung).toBe(0)
  })

  test('when it answered something since the last look, however much still waits', async () => {
    for (let round = 0; round < 3; round++) {
      const asked = ask()
      looks(SILENT_LOOKS_MAX - 1)
      await asked
      const next = ask()
      look()
      await next
    }
    expect(await outcome(ask())).toBe('answered')
    expect(hung).toBe(0)
  })
})
