/** The hot verbs: every one becomes an operation of a shared transaction. */
import type { HotOperation, HotOutcome } from '../../../core/ledger/operations.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import type { HotQueue } from './group-commit.ts'
import type { HotResult } from './hot-batch.ts'
import { beatHeart, readInstances, renewCalls } from '../instances.ts'
import { forgetRecovered, type RecoveryOptions, recoverLeaked, takeOver } from './recover.ts'
import type { Announcement } from '../../announcement.ts'
import type { CallStore } from '../../stores/calls.ts'

export interface CallStoreOptions extends RecoveryOptions {
  /** Announces within this process what other instances receive through the database. */
  readonly announceHere: (change: Announcement) => void
}

export function createCallStore(options: CallStoreOptions): CallStore {
  const { engine, group, announceHere } = options
  const hot = new HotVerbs(group)
  return {
    reserve: (operation) => hot.run(operation, ['reserved', 'refused']),
    claim: (operation) => hot.run({ kind: 'claim', ...operation }, ['claimed', 'full']),
    unclaim: (operation) => hot.run({ kind: 'unclaim', ...operation }, ['done']),
    progress: (operation) => hot.run({ kind: 'progress', ...operation }, ['done']),
    async settle(operation) {
      const outcome = await hot.run(operation, ['settled'])
      if (operation.task !== undefined) announceHere({ kind: 'video', id: operation.task.id })
      return outcome
    },
    async abandon(operation) {
      // Last, because operations that waited for the store may have a kind of their own.
      const outcome = await hot.run({ ...operation, kind: 'abandon' }, ['done'])
      if (operation.task !== undefined) announceHere({ kind: 'video', id: operation.task.id })
      return outcome
    },
    log: (operation) => hot.run({ kind: 'log', ...operation }, ['done']),
    canWrite: () => hot.canWrite,
    tryWriting: async () => {
      await engine.tryWriting()
      hot.canWrite = true
    },
    heartbeat: async (instance, at, epoch = 1) => {
      const outcome = await beatHeart(engine, instance, { at, epoch })
      if (outcome.kind === 'beaten') await renewCalls(engine, instance, at)
      return outcome
    },
    readInstances: () => readInstances(engine),
    takeOver: (instances, at) => takeOver(options, instances, at),
    recoverLeaked: (leaked) => recoverLeaked(options, leaked),
    forgetRecovered: (before) => forgetRecovered(engine, before),
  }
}

function isOneOf<Kind extends HotOutcome['kind']>(
  outcome: HotOutcome,
  kinds: readonly Kind[],
): outcome is Extract<HotOutcome, { readonly kind: Kind }> {
  return kinds.some((kind) => kind === outcome.kind)
}

/** Runs operations, and knows whether the database accepts what calls write. */
class HotVerbs {
  canWrite = true
  readonly #group: HotQueue

  constructor(group: HotQueue) {
    this.#group = group
  }

  async run<Kind extends HotOutcome['kind']>(
    operation: HotOperation,
    kinds: readonly Kind[],
  ): Promise<Extract<HotOutcome, { readonly kind: Kind }>> {
    let result: HotResult
    try {
      result = await this.#group.submit(operation)
      this.canWrite = true
    } catch (error) {
      if (error instanceof StorageUnavailable) this.canWrite = false
      throw error
    }
    if (result.kind === 'impossible') throw new Error(result.message)
    const { outcome } = result
    if (!isOneOf(outcome, kinds)) {
      throw new Error(`a ${operation.kind} was answered with ${outcome.kind}`)
    }
    return outcome
  }
}
