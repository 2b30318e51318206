/** Calls while they run. */
import type {
  ReserveOperation,
  ReserveOutcome,
  ClaimOperation,
  ClaimOutcome,
  UnclaimOperation,
  DoneOutcome,
  ProgressOperation,
  SettleOperation,
  SettleOutcome,
  AbandonOperation,
  LogOperation,
} from '../../core/ledger/operations.ts'
import type { InstanceId, CallId } from '../../core/ids.ts'
import type { SeenInstance } from '../../core/instances/watch.ts'

/** The hot verbs, group-committed: concurrent calls share a transaction. All or nothing per operation. */
export interface CallStore {
  reserve(operation: ReserveOperation): Promise<ReserveOutcome>
  claim(operation: Omit<ClaimOperation, 'kind'>): Promise<ClaimOutcome>
  unclaim(operation: Omit<UnclaimOperation, 'kind'>): Promise<DoneOutcome>
  progress(operation: Omit<ProgressOperation, 'kind'>): Promise<DoneOutcome>
  settle(operation: SettleOperation): Promise<SettleOutcome>
  abandon(operation: Omit<AbandonOperation, 'kind'>): Promise<DoneOutcome>
  log(operation: Omit<LogOperation, 'kind'>): Promise<DoneOutcome>
  /** False while the database does not accept what calls write. */
  canWrite(): boolean
  /** Checks whether it does; rejects if it does not. */
  tryWriting(): Promise<void>
  /**
   * Sends this process's heartbeat under its epoch (absent: the first), and renews the slots of its open calls. If the
   * answer is that it was taken over, nothing was written; beat again with the epoch in the answer.
   */
  heartbeat(instance: InstanceId, at: number, epoch?: number): Promise<BeatOutcome>
  /** Every instance; `core/instances/watch.ts` decides which ones to take over. */
  readInstances(): Promise<readonly SeenInstance[]>
  /**
   * Takes over from each instance that has not changed since it was seen, raises its epoch, and settles what it left
   * open. One that has beaten meanwhile is skipped. Returns how many calls were ended.
   */
  takeOver(instances: readonly SeenInstance[], at: number): Promise<number>
  /** Ends calls that this instance has had open since `startedBefore` but no longer runs. Returns what was ended. */
  recoverLeaked(leaked: {
    readonly instance: InstanceId
    readonly at: number
    readonly startedBefore: number
    readonly isRunning: (callId: CallId) => boolean
  }): Promise<readonly CallId[]>
  /**
   * Removes calls that recovery ended before this time, epoch ms: until then `settle` and `abandon` of their own
   * instance book the difference to what recovery charged, after it they change nothing.
   */
  forgetRecovered(before: number): Promise<void>
}

export type BeatOutcome =
  /** `first`: its row was not there. */
  | { readonly kind: 'beaten'; readonly first: boolean }
  | { readonly kind: 'taken-over'; readonly epoch: number }
