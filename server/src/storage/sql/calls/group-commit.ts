/** The hot operations of a process: those that run at the same time share a transaction. */
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { type Awaited, BatchQueue, type Entry } from './batch-queue.ts'
import type { HotResult } from './hot-batch.ts'

export interface HotQueue {
  submit(operation: HotOperation): Promise<HotResult>
  /** Accepts nothing more and resolves when everything accepted is done. */
  close(): Promise<void>
}

export interface GroupCommitOptions {
  readonly run: (operations: readonly HotOperation[]) => Promise<readonly HotResult[]>
  /** Batches that may run at once. */
  readonly concurrency: number
  readonly batchMax?: number
  readonly queueMax?: number
}

export class GroupCommit implements HotQueue {
  readonly #queue: BatchQueue<Entry>

  constructor({ run, ...options }: GroupCommitOptions) {
    this.#queue = new BatchQueue({
      ...options,
      run: (batch) => run(batch.map(({ operation }) => operation)),
      isAwaited: ({ operation }) => isAwaited(operation),
    })
  }

  submit(operation: HotOperation): Promise<HotResult> {
    return new Promise((resolve, reject) => this.#queue.add({ operation, resolve, reject }))
  }

  close(): Promise<void> {
    return this.#queue.close()
  }
}

/**
 * A client waits for a claimed place before its call continues, and for the end of its answer until the charge is
 * stored. No client waits for the other operations.
 */
export function isAwaited({ kind }: HotOperation): Awaited {
  switch (kind) {
    case 'reserve':
    case 'claim':
      return 'yes'
    case 'settle':
      return 'unless-full'
    case 'unclaim':
    case 'progress':
    case 'abandon':
    case 'log':
      return 'no'
  }
}
