/** A transaction that says what it changed: told to the other instances when it commits, and here right after. */
import type { Transaction } from 'kysely'
import type { Announcement } from '../storage.ts'
import type { SqlEngine } from './engine.ts'
import type { Schema } from './schema.ts'

export interface Written<Value> {
  readonly value: Value
  readonly changes: readonly Announcement[]
}

export type AnnouncedWrite = <Value>(
  work: (transaction: Transaction<Schema>) => Promise<Written<Value>>,
) => Promise<Value>

export function createAnnouncedWrite(
  engine: SqlEngine,
  announceHere: (change: Announcement) => void,
): AnnouncedWrite {
  return async (work) => {
    const { value, changes } = await engine.writer.transaction().execute(async (transaction) => {
      const written = await work(transaction)
      if (written.changes.length > 0) await engine.announce(transaction, written.changes)
      return written
    })
    for (const change of changes) announceHere(change)
    return value
  }
}
