import type { HotOperation } from '../../src/core/ledger/operations.ts'
import type { SqlEngine } from '../../src/storage/sql/engine.ts'
import { GroupCommit } from '../../src/storage/sql/calls/group-commit.ts'
import type { HotResult } from '../../src/storage/sql/calls/hot-batch.ts'

export interface Ran {
  readonly operation: HotOperation
  readonly result: HotResult
}

/** The engine, telling of every hot operation it ran, in order: one batch at a time. */
export function recordHot(engine: SqlEngine, ran: (one: Ran) => void): SqlEngine {
  const { name, writer, reader, bulkReader, processes } = engine
  const runHot: SqlEngine['runHot'] = async (operations) => {
    const results = await engine.runHot(operations)
    for (const [index, operation] of operations.entries()) {
      const result = results[index]
      if (result !== undefined) ran({ operation, result })
    }
    return results
  }
  return {
    name,
    writer,
    reader,
    bulkReader,
    ...(processes !== undefined && { processes }),
    runHot,
    openHotQueue: () => new GroupCommit({ run: runHot, concurrency: 1 }),
    tryWriting: () => engine.tryWriting(),
    announce: (transaction, changes) => engine.announce(transaction, changes),
    onAnnouncement: (listener) => engine.onAnnouncement(listener),
    withSnapshot: (read) => engine.withSnapshot(read),
    close: () => engine.close(),
  }
}
