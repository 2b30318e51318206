/**
 * What the store loads under lock for a batch of hot operations, and what `decideBatch` wants written. Both engines
 * load, decide with the same pure code, and write; the arithmetic exists once (docs/decisions/0004-storage-engines.md).
 */
import type { CallDescription } from './call-description.ts'
import type {
  AccountId,
  CallId,
  ChainId,
  CredentialId,
  InstanceId,
  KeyId,
  MemberId,
  ModelId,
  VendorCode,
} from '../ids.ts'
import type { Policy } from '../limits/policy.ts'
import type { Counts, Made } from '../metering/quantities.ts'
import type { MicroCredits } from '../money.ts'
import type { CallLogRow } from './log-row.ts'
import type { Funding, VideoEnd } from './operations.ts'
import type { UsageSource } from './recipe.ts'

export type Subject =
  | `key:${string}`
  | `member:${string}`
  | `account:${string}`
  | `credential:${string}`
  | `quota:${string}`

/** Every row the batch touches, as read in the locked transaction or as its only writer has them in memory. */
export interface HotRows {
  readonly keys: Rows<KeyId, KeyRow>
  /** The members whose keys call; locked with their organisation's account. */
  readonly members: Rows<MemberId, MemberRow>
  readonly accounts: Rows<AccountId, AccountRow>
  readonly limitStates: Rows<Subject, LimitState>
  readonly openCalls: Rows<CallId, OpenCall>
}

export type Rows<Id, Row> = Pick<ReadonlyMap<Id, Row>, 'get' | 'has'>

export interface KeyRow {
  readonly id: KeyId
  readonly accountId: AccountId
  /** The member whose key this is; undefined: it is the account's own. */
  readonly memberId: MemberId | undefined
  readonly status: 'enabled' | 'disabled' | 'deleted'
  readonly expiresAt: number | undefined
  /** undefined: the platform's default policy. */
  readonly policy: Policy | undefined
}

/** One person in one organisation, whose account pays. */
export interface MemberRow {
  readonly id: MemberId
  readonly organisationId: AccountId
  /** Calls of a removed member may still be running. */
  readonly status: 'active' | 'suspended' | 'removed'
  /** Of the person's own account. */
  readonly personStatus: 'active' | 'suspended'
  /** µCr a month of the organisation's Credits; 0: unlimited. */
  readonly monthlyCap: MicroCredits
  /** Month the next two count for, epoch ms of its start; never after the organisation's. */
  readonly monthStart: number
  readonly monthSpent: MicroCredits
  readonly monthHeld: MicroCredits
  readonly policy: Policy
}

export interface AccountRow {
  readonly id: AccountId
  readonly status: 'active' | 'suspended'
  /** 0 none, 1 personal, 2 enterprise: the one source of truth (docs/reference/contract.md#5-49). */
  readonly verification: number
  readonly userRate: string
  /** Spendable plus held. May be negative by one call's overrun. */
  readonly credits: MicroCredits
  readonly held: MicroCredits
  readonly balance: MicroCredits
  /** What calls cost beyond the monthly cap and has not been charged yet. */
  readonly owed: MicroCredits
  readonly apiDeduction: boolean
  /** µCr a month outside the subscription; 0: unlimited. */
  readonly monthlyCap: MicroCredits
  /** Month the next two count for, epoch ms of its start. */
  readonly monthStart: number
  readonly monthSpent: MicroCredits
  readonly monthHeld: MicroCredits
  readonly autoExchange: {
    readonly enabled: boolean
    readonly belowCredits: MicroCredits
    readonly step: MicroCredits
  }
  readonly subscription: Subscription | undefined
  readonly policy: Policy
  /** Vendors the account has an own, switched-on credential for. */
  readonly byokVendors: readonly VendorCode[]
}

export interface Subscription {
  readonly plan: string
  readonly level: number
  readonly expiresAt: number
  /** Tiers of the plan: Credits per window, as `amount` windows anchored at first use. */
  readonly quota: readonly { readonly credits: MicroCredits; readonly seconds: number }[]
}

/** Windows and slots of one subject; one row, so that six tiers cost one write. */
export interface LimitState {
  readonly subject: Subject
  readonly slots: number
  readonly windows: readonly WindowState[]
}

export interface WindowState {
  /** `dimension:seconds`, e.g. `requests:60`. */
  readonly tier: string
  /** Epoch ms of first use. */
  readonly anchor: number
  /** Count, or µCr for `amount`. */
  readonly used: bigint
  /** Held on top of `used` by running calls (video seconds, quota). */
  readonly held: bigint
  /** For a quota: use beyond it is carried over into the next window. undefined: nothing is carried over. */
  readonly carry?: WindowCarry | undefined
}

export interface WindowCarry {
  /** What the window grants, as the plan had it when a call last began in it; above 0. */
  readonly grant: bigint
  /** The part of `used` that exceeded the grants of earlier windows. */
  readonly carried: bigint
  /** Anchor of the first window of which something is carried; its own when nothing is. */
  readonly since: number
}

/** A call between reserve and settle: enough to settle it without its process. */
export interface OpenCall {
  readonly callId: CallId
  readonly instanceId: InstanceId
  readonly keyId: KeyId
  readonly accountId: AccountId
  /** The member whose key called; undefined: it was no member's key. */
  readonly memberId: MemberId | undefined
  readonly startedAt: number
  readonly touchedAt: number
  readonly held: MicroCredits
  /** An older release booked the hold in the ledger, so its release is booked too; absent: the account's row alone knows it. */
  readonly holdIsBooked?: true | undefined
  readonly quotaHeld: MicroCredits
  /**
   * Held against the monthly cap: the worst case, so it may be more than `held`
   * (docs/reference/contract.md#D-money-25).
   */
  readonly monthHeld: MicroCredits
  /** Held against the member's monthly cap. */
  readonly memberHeld: MicroCredits
  /** Tiers `quotaHeld` is held in, so that a changed subscription leaves no hold behind. */
  readonly quotaTiers: readonly string[]
  /** What the call took of its key's, its member's, its account's and its credentials' limits; one slot each. */
  readonly taken: readonly Taken[]
  readonly funding: { readonly model: Funding; readonly fallback: Funding | undefined }
  readonly userRate: string
  readonly modelId: ModelId
  readonly fallbackModelId: ModelId | undefined
  /** JSON text of the requested model's and the fallback's PriceTerms. */
  readonly terms: string
  readonly fallbackTerms: string | undefined
  readonly counts: Counts
  readonly claims: readonly CredentialId[]
  /** What recovery needs for the log row. */
  readonly description: CallDescription
  readonly progress: CallProgress | undefined
  /**
   * Set: the call was ended by recovery. It holds nothing, takes no slot and does not count as running; the row stays for
   * 30 days, so that its own instance, if it comes back, can still report the true usage.
   */
  readonly recovered: RecoveredCall | undefined
}

/** What recovery charged and counted for a call: a late settlement books the difference. */
export interface RecoveredCall {
  /** Epoch ms. */
  readonly at: number
  /** µCr charged to Credits, what is owed of it included. */
  readonly charged: MicroCredits
  /** µCr of it that were owed. */
  readonly owed: MicroCredits
  /** µCr charged to the subscription's quota. */
  readonly quotaCharged: MicroCredits
  /** Month of the account it counts in, epoch ms of its start. */
  readonly monthStart: number
  /** Of each subject in `taken`, in its order. */
  readonly counted: readonly Counted[]
  readonly quotaCounted: Counted
}

/** Tier → what a call counts in its windows: the amount and the anchor of the window it is counted in. */
export type Counted = Readonly<Record<string, readonly CountedPart[]>>

export interface CountedPart {
  readonly anchor: number
  readonly units: bigint
}

/**
 * What one call took of one subject. Kept with the call, so that giving back and settling stay exact if the window has
 * rolled over or the policy was changed meanwhile. Plain JSON.
 */
export interface Taken {
  readonly subject: Subject
  readonly counts: Counts
  /** Tier → anchor of the window it is counted in; 0: nothing of the call is counted there yet. */
  readonly tiers: Readonly<Record<string, number>>
  /** The slot was given back before the call ended. */
  readonly slotFree?: true
}

/** A row of an older release may lack some of the counts. */
export interface CallProgress extends Made {
  readonly chainId: ChainId
  /** Credential used for the answer; absent: the last one claimed. */
  readonly credentialId?: CredentialId | undefined
  readonly modelId: ModelId
  readonly byok: boolean
  readonly usageSource: UsageSource
}

/**
 * The two-sided movement of money that makes up the ledger: always balanced, never updated, never deleted. Money goes
 * from the account named in `debit` to the one named in `credit`.
 */
export interface Transfer {
  /** Call id, grant id, exchange id…: with `sequence` the idempotency key. */
  readonly transactionId: string
  readonly sequence: number
  readonly at: number
  /** Ledger account, `<owner>/<pool>`: `acc_…/credits`, `acc_…/held`, `acc_…/balance`, `platform/revenue`, `platform/grants`, … */
  readonly debit: string
  readonly credit: string
  readonly amount: MicroCredits
  readonly kind:
    | 'charge'
    /** Of older releases, which booked what running calls hold. */
    | 'hold'
    | 'release'
    | 'grant'
    | 'exchange'
    | 'quota-grant'
    | 'quota-charge'
    | 'refund'
    | 'adjustment'
    | 'top-up'
    | 'subscription'
    | 'transfer'
    /** Revenue of a call that its account owes: a debt in a pool of its own. */
    | 'owed'
    /** The debt is paid from Credits. */
    | 'owed-charge'
    /** What recovery charged beyond the true amount of a call is given back: to Credits, of the debt, to the quota. */
    | 'charge-correction'
    | 'owed-correction'
    | 'quota-correction'
  readonly reference: string | undefined
}

/** Rows to write, each given whole. */
export interface HotChanges {
  readonly accounts: readonly AccountRow[]
  readonly members: readonly MemberRow[]
  readonly limitStates: readonly LimitState[]
  readonly openCallsPut: readonly OpenCall[]
  readonly openCallsClosed: readonly CallId[]
  readonly transfers: readonly Transfer[]
  readonly logs: readonly CallLogRow[]
  /** Corrected rows of recovered calls: they replace the first ones, in the log and in all sums. */
  readonly logsCorrected: readonly CallLogRow[]
  /** Video tasks of the calls that ended, each once. */
  readonly videosEnded: readonly EndedVideo[]
}

export interface EndedVideo extends VideoEnd {
  /** Epoch ms. */
  readonly at: number
}
