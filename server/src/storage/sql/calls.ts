/** The hot verbs: every one becomes an operation of a shared transaction. */
import type { HotOperation, HotOutcome } from '../../core/calls/operations.ts'
import type { Announcement, CallStore } from '../storage.ts'
import { beatHeart, renewCalls } from './instances.ts'
import { type RecoveryOptions, recoverCalls } from './recover.ts'

export interface CallStoreOptions extends RecoveryOptions {
  /** Tells this process what its other instances hear from the database. */
  readonly announceHere: (change: Announcement) => void
}

export function createCallStore(options: CallStoreOptions): CallStore {
  const { engine, group, announceHere } = options
  const run = async <Kind extends HotOutcome['kind']>(
    operation: HotOperation,
    kinds: readonly Kind[],
  ): Promise<Extract<HotOutcome, { readonly kind: Kind }>> => {
    const result = await group.submit(operation)
    if (result.kind === 'impossible') throw new Error(result.message)
    const { outcome } = result
    if (!isOneOf(outcome, kinds)) {
      throw new Error(`a ${operation.kind} was answered with ${outcome.kind}`)
    }
    return outcome
  }
  return {
    reserve: (operation) => run({ ...operation, kind: 'reserve' }, ['reserved', 'refused']),
    claim: (operation) => run({ ...operation, kind: 'claim' }, ['claimed', 'full']),
    unclaim: (operation) => run({ ...operation, kind: 'unclaim' }, ['done']),
    progress: (operation) => run({ ...operation, kind: 'progress' }, ['done']),
    async settle(operation) {
      const outcome = await run({ ...operation, kind: 'settle' }, ['settled'])
      if (operation.task !== undefined) announceHere({ kind: 'video', id: operation.task.id })
      return outcome
    },
    async abandon(operation) {
      const outcome = await run({ ...operation, kind: 'abandon' }, ['done'])
      if (operation.task !== undefined) announceHere({ kind: 'video', id: operation.task.id })
      return outcome
    },
    log: (operation) => run({ ...operation, kind: 'log' }, ['done']),
    heartbeat: async (instance, at) => {
      await beatHeart(engine, instance, at)
      await renewCalls(engine, instance, at)
    },
    recover: (bounds) => recoverCalls(options, bounds),
  }
}

function isOneOf<Kind extends HotOutcome['kind']>(
  outcome: HotOutcome,
  kinds: readonly Kind[],
): outcome is Extract<HotOutcome, { readonly kind: Kind }> {
  return kinds.some((kind) => kind === outcome.kind)
}
