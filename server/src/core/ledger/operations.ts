/**
 * The hot verbs: everything a call does to money, windows and slots (docs/decisions/0003-admission-under-the-lock.md).
 * They are plain data, are collected for about a millisecond and run as one transaction, in order. Each is idempotent
 * by call id.
 */
import type { CallDescription } from './call-description.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type {
  AccountId,
  CallId,
  ChainId,
  CredentialId,
  InstanceId,
  KeyId,
  ModelId,
  VendorCode,
} from '../ids.ts'
import type { ExceededLimit, Policy } from '../limits/policy.ts'
import type { Counts, Made, Pieces, Used } from '../metering/quantities.ts'
import type { MicroCredits } from '../money.ts'
import type { VideoTaskPatch } from '../video/task.ts'
import type { CallLogRow } from './log-row.ts'
import type { UsageSource, Recipe } from './recipe.ts'

export type HotOperation =
  | ReserveOperation
  | ClaimOperation
  | UnclaimOperation
  | ProgressOperation
  | SettleOperation
  | AbandonOperation
  | LogOperation

/** What a call demands of one model: the requested one, or the account's fallback. */
export interface Demand {
  readonly modelId: ModelId
  readonly requiredVerification: number
  readonly requiredPlan: number
  readonly subscriptionCovered: boolean
  /** Vendors of the model's usable chains: decides whether BYOK can pay for all, some or none of them. */
  readonly vendors: readonly VendorCode[]
  /** Those of them whose servers need no key: an own credential pays for nothing there. Absent: none. */
  readonly keylessVendors?: readonly VendorCode[] | undefined
  /** `PriceTerms` as JSON text, frozen into the open call; parsed by `core/pricing`. */
  readonly terms: string
  /** Sizes the hold. */
  readonly estimate: Estimate
}

export interface Estimate {
  readonly inputTokens: number
  /** Output the call may produce: the client's cap, else a bound of the model. */
  readonly outputTokens: number
  /** 1 for a call to a model billed by image. */
  readonly images: number
  readonly videoSeconds: number
  /** What the request itself declares; absent: one call, and nothing else. */
  readonly pieces?: Pieces
  /**
   * `strict`: the client named its cap, the hold must be funded in full. `affordable`: the bound may shrink to what the
   * account has. Accounts with a monthly cap are always held to the worst case (docs/reference/contract.md#D-money-25).
   */
  readonly bound: 'strict' | 'affordable'
  /** Upper bounds: no call can cost more than these. */
  readonly worstInputTokens: number
  readonly worstOutputTokens: number
  /**
   * `worst`: Credits are held for the upper bounds as far as they suffice, so that calls that run together cannot take
   * an account further below zero than one of them could alone. Absent: for the estimate.
   */
  readonly covers?: 'worst'
}

export interface ReserveOperation {
  readonly kind: 'reserve'
  readonly callId: CallId
  readonly instanceId: InstanceId
  /** Epoch ms. */
  readonly at: number
  readonly keyId: KeyId
  readonly accountId: AccountId
  readonly counts: Counts
  readonly model: Demand
  /** Admitted and funded together with the requested model, so that falling back needs no second reservation. */
  readonly fallback: Demand | undefined
  /** Policy of keys that have none of their own (platform setting). */
  readonly defaultPolicy: Policy
  /** First instant of the calendar month of `at` in the platform time zone, epoch ms. */
  readonly monthStart: number
  /** First instant of the next month; absent: `Retry-After` of the cap allows for the longest month. */
  readonly monthEnd?: number | undefined
  /** Same as in the log row, so that recovery can write one. */
  readonly description: CallDescription
  /** The call's id is new, so the store need not look for an earlier reservation of it. */
  readonly first?: true | undefined
  /** The call has been told so already: it is reserved whatever its account and limits allow now. */
  readonly granted?: Granted | undefined
}

/** What a reservation was answered with before it was stored. */
export interface Granted {
  readonly model: Funding
  readonly fallback: Funding | undefined
  readonly held: MicroCredits
  readonly monthHeld: MicroCredits
  readonly memberHeld: MicroCredits
  readonly quotaHeld: MicroCredits
}

export type HotOutcome = ReserveOutcome | ClaimOutcome | SettleOutcome | DoneOutcome

export type ReserveOutcome =
  | {
      readonly kind: 'reserved'
      readonly model: Funding
      readonly fallback: Funding | { readonly kind: 'refused'; readonly refusal: Refusal } | undefined
      readonly held: MicroCredits
      /** Percent, as decimal text; frozen into the call. */
      readonly userRate: string
      /** For `RateLimit` headers: the tightest window per dimension after this call. */
      readonly windows: readonly WindowReading[]
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Who pays, by the order of payment (docs/reference/contract.md#D-money-01). */
export interface Funding {
  readonly kind: 'funded'
  /** Chains of these vendors run on the account's own credentials and cost nothing. */
  readonly byokVendors: readonly VendorCode[]
  /** Who pays for chains of other vendors; `none`: those chains may not be used. */
  readonly otherwise: 'subscription' | 'credits' | 'none'
}

/** A refusal is an answer, not an error; the request pipeline throws it once as a GatewayError. */
export interface Refusal {
  readonly code: ErrorCode
  /** Client sentence where it is not the catalogue's own. */
  readonly message: string | undefined
  readonly retryAfterMs: number | undefined
  /** The limit that refuses; absent: the refusal is not about a limit. */
  readonly limit?: RefusingLimit
  /** For `RateLimit` headers: the tightest window per dimension; absent: limits were not checked. */
  readonly windows?: readonly WindowReading[]
}

export interface RefusingLimit extends ExceededLimit {
  readonly of: LimitOwner
}

/** Whose limit it is. */
export type LimitOwner = 'key' | 'member' | 'account'

export interface WindowReading {
  readonly dimension: string
  readonly limit: number
  readonly remaining: number
  readonly seconds: number
  readonly resetMs: number
}

/** Takes a place on an upstream credential with limits; a full one changes the routing, but refuses no call. */
export interface ClaimOperation {
  readonly kind: 'claim'
  readonly callId: CallId
  readonly at: number
  readonly credentialId: CredentialId
  readonly policy: Policy
  readonly counts: Counts
}

export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'full'; readonly retryAfterMs: number }

/**
 * Gives the place on a credential back before the call ends, when it was tried without success: a video made by another
 * chain would keep it for minutes. Nothing happens without such a place.
 */
export interface UnclaimOperation {
  readonly kind: 'unclaim'
  readonly callId: CallId
  readonly credentialId: CredentialId
}

/** The usage of a running call; at most once a second per call, so that a crash loses at most that. */
export interface ProgressOperation extends Made {
  readonly kind: 'progress'
  readonly callId: CallId
  readonly at: number
  readonly chainId: ChainId
  /** Credential the answer comes over; absent: the last one claimed. */
  readonly credentialId?: CredentialId | undefined
  readonly modelId: ModelId
  readonly byok: boolean
  readonly usageSource: UsageSource
  /** The client has disconnected: its concurrency slots are freed; everything else stays taken until the call ends. */
  readonly left?: true | undefined
}

/** One of the two ends of a call: the upstream generated something, or the call succeeded. */
export interface SettleOperation {
  readonly kind: 'settle'
  readonly callId: CallId
  readonly keyId: KeyId
  readonly accountId: AccountId
  readonly at: number
  readonly monthStart: number
  /** Model used, decides which funding applies. */
  readonly modelId: ModelId
  /** Credential used for the answer: its windows are charged; absent: the last one claimed. */
  readonly credentialId?: CredentialId | undefined
  readonly byok: boolean
  readonly recipe: Recipe
  readonly amount: MicroCredits
  /** For the windows. */
  readonly used: Used
  /** `deducted`, `owed`, `subscriptionCovered`, `capped` and `recovered` are filled in under the lock. */
  readonly log: CallLogRow
  readonly task?: VideoEnd | undefined
  readonly recovery?: Recovery | undefined
}

/**
 * The call is not ended by its own instance, which may come back: the difference between its late report and what is
 * charged and counted now is then booked. A call that recovery has ended already is not changed.
 */
type Recovery = true

/**
 * The video task that ends with its call: its record is written with the charge and the log row, or with none of them.
 * A missing task is no error; the patch's phase and next request are ignored.
 */
export interface VideoEnd {
  readonly id: string
  readonly patch: VideoTaskPatch
}

export interface SettleOutcome {
  readonly kind: 'settled'
  /** False when this call was already settled or abandoned, or was recovered more than 30 days ago: nothing changed. */
  readonly first: boolean
  /** Recovery had ended the call: the difference to what it had charged was booked. */
  readonly late: boolean
  /** µCr the call takes of Credits or quota, owed ones included; 0 unless `first`. */
  readonly deducted: MicroCredits
}

/** One of the two ends of a call: nothing is charged. Releases counts, slot and hold. */
export interface AbandonOperation {
  readonly kind: 'abandon'
  readonly callId: CallId
  readonly keyId: KeyId
  readonly accountId: AccountId
  readonly at: number
  /** Month in which what the account owes is charged now; absent: the one the account stands in. */
  readonly monthStart?: number | undefined
  /** A request of this call left for a vendor: it stays counted in request windows, whatever became of it. */
  readonly sent: boolean
  readonly log: CallLogRow
  readonly task?: VideoEnd | undefined
  readonly recovery?: Recovery | undefined
}

/** A refused call was never reserved, but it is logged. */
export interface LogOperation {
  readonly kind: 'log'
  readonly log: CallLogRow
}

export interface DoneOutcome {
  readonly kind: 'done'
}
