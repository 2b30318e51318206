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
  reserve(operation: Omit<ReserveOperation, 'kind'>): Promise<ReserveOutcome>
  claim(operation: Omit<ClaimOperation, 'kind'>): Promise<ClaimOutcome>
  unclaim(operation: Omit<UnclaimOperation, 'kind'>): Promise<DoneOutcome>
  progress(operation: Omit<ProgressOperation, 'kind'>): Promise<DoneOutcome>
  settle(operation: Omit<SettleOperation, 'kind'>): Promise<SettleOutcome>
  abandon(operation: Omit<AbandonOperation, 'kind'>): Promise<DoneOutcome>
  log(operation: Omit<LogOperation, 'kind'>): Promise<DoneOutcome>
  /** False since the database could not take what a call writes, until it takes something again. */
  canWrite(): boolean
  /** Finds out whether it does; rejects when it does not. */
  tryWriting(): Promise<void>
  /**
   * Says that this process lives, under its epoch (absent: the first), and renews the slots of its open calls. Told that
   * it was taken over, it has said nothing yet, and beats again under the epoch it is told.
   */
  heartbeat(instance: InstanceId, at: number, epoch?: number): Promise<BeatOutcome>
  /** Every instance there is; who is to be taken over from is judged by `core/instances/watch.ts`. */
  readInstances(): Promise<readonly SeenInstance[]>
  /**
   * Takes over from each that stands as it was seen, raises its epoch, and settles what it left open. One that has beaten
   * meanwhile is left alone. Returns how many calls were ended.
   */
  takeOver(instances: readonly SeenInstance[], at: number): Promise<number>
  /** Ends what this instance has left open since `startedBefore` without knowing of it any more. Returns what was ended. */
  recoverLeaked(leaked: {
    readonly instance: InstanceId
    readonly at: number
    readonly startedBefore: number
    readonly isRunning: (callId: CallId) => boolean
  }): Promise<readonly CallId[]>
  /**
   * Forgets calls that recovery ended before this time, epoch ms: until then `settle` and `abandon` of their own instance
   * book the difference to what recovery charged, after it they change nothing.
   */
  forgetRecovered(before: number): Promise<void>
}

export type BeatOutcome =
  /** `first`: its row was not there. */
  | { readonly kind: 'beaten'; readonly first: boolean }
  | { readonly kind: 'taken-over'; readonly epoch: number }
