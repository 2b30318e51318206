/** The hot verbs: every one becomes an operation of a shared transaction. */
import type { HotOperation, HotOutcome, SettleOperation } from '../../../core/ledger/operations.ts'
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
  const announced = <Outcome>({ task }: SettleOrder, ended: Promise<Outcome>): Promise<Outcome> => {
    if (task === undefined) return ended
    return ended.then((outcome) => {
      announceHere({ kind: 'video', id: task.id })
      return outcome
    })
  }
  return {
    reserve: (operation) => hot.run(operation, ['reserved', 'refused']),
    claim: (operation) => hot.run({ kind: 'claim', ...operation }, ['claimed', 'full']),
    unclaim: (operation) => hot.run({ kind: 'unclaim', ...operation }, ['done']),
    progress: (operation) => hot.run({ kind: 'progress', ...operation }, ['done']),
    settle: (operation) => announced(operation, hot.run(operation, ['settled'])),
    // The kind last, because operations that waited for the store may have one of their own.
    abandon: (operation) => announced(operation, hot.run({ ...operation, kind: 'abandon' }, ['done'])),
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

type SettleOrder = Pick<SettleOperation, 'task'>

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

  run<Kind extends HotOutcome['kind']>(
    operation: HotOperation,
    kinds: readonly Kind[],
  ): Promise<Extract<HotOutcome, { readonly kind: Kind }>> {
    return this.#group.submit(operation).then(
      (result) => {
        this.canWrite = true
        return outcomeOf(result, operation, kinds)
      },
      (error: unknown) => {
        if (error instanceof StorageUnavailable) this.canWrite = false
        throw error
      },
    )
  }
}

function outcomeOf<Kind extends HotOutcome['kind']>(
  result: HotResult,
  { kind }: HotOperation,
  kinds: readonly Kind[],
): Extract<HotOutcome, { readonly kind: Kind }> {
  if (result.kind === 'impossible') throw new Error(result.message)
  const { outcome } = result
  if (!isOneOf(outcome, kinds)) throw new Error(`a ${kind} was answered with ${outcome.kind}`)
  return outcome
}
