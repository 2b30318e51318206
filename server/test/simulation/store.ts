/** What is simulated: the pure decisions over maps, or two instances over one database. */
import type {
  AccountRow,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Subscription,
  Transfer,
} from '../../src/core/ledger/hot-rows.ts'
import type { HotOperation, HotOutcome, ReserveOperation } from '../../src/core/ledger/operations.ts'
import type { AccountId, InstanceId } from '../../src/core/ids.ts'
import type { MicroCredits } from '../../src/core/money.ts'
import type { TaskKind } from '../../src/core/video/task.ts'

export interface SimulatedStore {
  /** What the management API changed; money only by bookings, each one transaction of the ledger. */
  change(rows: {
    readonly keys: readonly KeyRow[]
    readonly accounts: readonly AccountRow[]
    readonly members: readonly SimulatedMember[]
    readonly bookings: readonly (readonly Transfer[])[]
  }): Promise<void>
  /** One batch, one transaction, through one of the two openings. */
  run(batch: readonly HotOperation[], opening: 0 | 1): Promise<readonly Answer[]>
  /** The task of a call that was reserved; asked again it is there already. */
  order(reservation: ReserveOperation, kind: TaskKind): Promise<void>
  /** The instance goes on with what is free of the tasks that have not ended; how many those are. */
  lease(instance: InstanceId, times: { readonly at: number; readonly until: number }): Promise<number>
  /** What an account does with its money between calls; false: the balance is too small. */
  act(act: Act): Promise<boolean>
  /** The instance lives: its slots are renewed, and one that was taken over begins anew. */
  beat(instance: InstanceId, at: number): Promise<void>
  /** The survivors end what the dead left open; the operations in the order in which they were run. */
  recover(bounds: RecoveryBounds): Promise<readonly Recovered[]>
  /** Calls that recovery ended before then are not corrected any more. */
  forgetRecovered(before: number): Promise<void>
  /** Housekeeping charges what accounts owe. */
  chargeOwed(month: { readonly at: number; readonly monthStart: number }): Promise<void>
  /** An opening is closed and opened again. */
  restart(opening: 0 | 1): Promise<void>
  /** Everything, of which only what may have changed since the last time is read anew. */
  read(): Promise<StoreState>
  /** Everything, read anew. */
  readWhole(): Promise<StoreState>
}

export interface SimulatedMember extends MemberRow {
  /** What became of theirs, once removed. */
  readonly keys: 'delete' | 'keep'
}

/** `impossible`: a reservation of a call that has ended. */
export type Answer = HotOutcome | { readonly kind: 'impossible' }

export interface Act {
  /** Done once under this name, however often it is asked for. */
  readonly name: string
  readonly accountId: AccountId
  readonly at: number
  /** From the balance: into Credits, or for a plan. */
  readonly amount: MicroCredits
  /** undefined: the amount becomes Credits. */
  readonly plan: Subscription | undefined
}

export interface RecoveryBounds {
  readonly at: number
  readonly deadBefore: number
  readonly leakedBefore: number
}

export interface Recovered {
  readonly operation: HotOperation
  readonly answer: Answer
}

export interface StoredMoney {
  readonly amount: bigint
  readonly deducted: bigint
  readonly owed: bigint
}

export interface StoreState {
  readonly accounts: ReadonlyMap<AccountRow['id'], AccountRow>
  readonly members: ReadonlyMap<MemberRow['id'], MemberRow>
  readonly limitStates: ReadonlyMap<Subject, LimitState>
  /** Those that run. */
  readonly openCalls: ReadonlyMap<OpenCall['callId'], OpenCall>
  /** Those that recovery has ended, and their own instances have not. */
  readonly recoveredCalls: ReadonlyMap<OpenCall['callId'], OpenCall>
  /** Ledger account → what its entries sum up to, µCr. */
  readonly pools: ReadonlyMap<string, bigint>
  readonly logs: number
  /** What the rows of some calls say, at least of those that were touched since the last time. */
  readonly logRows: ReadonlyMap<string, StoredMoney>
  /** Tasks that ended → the progress their ends told. */
  readonly ended: ReadonlyMap<string, number>
}
