/** A transaction that announces its changes: to other instances when it commits, and locally right after. */
import type { Transaction } from 'kysely'
import type { SqlEngine } from './engine.ts'
import type { Schema } from './schema.ts'
import { TransactionConflict } from './transaction-conflict.ts'
import type { Announcement } from '../announcement.ts'

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
    const { value, changes } = await retryConflicts(() =>
      engine.writer.transaction().execute(async (transaction) => {
        const written = await work(transaction)
        if (written.changes.length > 0) await engine.announce(transaction, written.changes)
        return written
      }),
    )
    for (const change of changes) announceHere(change)
    return value
  }
}

const TRIES = 4

async function retryConflicts<Value>(run: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof TransactionConflict) || tries === TRIES) throw error
    }
  }
}
