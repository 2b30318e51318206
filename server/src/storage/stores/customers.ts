/**
 * What the management API stores besides accounts, keys and the catalogue: acts that move money exactly once,
 * subscriptions as they are sold, profiles, verification requests, statements and usage.
 */
import type { LimitState, Subject, Subscription, Transfer } from '../../core/ledger/hot-rows.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId, ChainId, KeyId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { SubscriptionTerms } from '../../core/subscriptions/terms.ts'
import type { RecipeLine } from '../../core/ledger/recipe.ts'
import type { Account } from './accounts.ts'

export interface CustomerStore {
  readonly acts: ActStore
  readonly subscriptions: SubscriptionStore
  readonly profiles: ProfileStore
  readonly verifications: VerificationStore
  readonly statements: StatementStore
  readonly usage: UsageStore
  readonly limits: LimitReader
  readonly alerts: AlertStore
}

/** Acts that change an account's money or plan: decided under its lock, written atomically, once per idempotency key. */
export interface ActStore {
  /**
   * Locks the account, calls `decide` with its present state and writes the result in the same transaction. `decide` is
   * pure and may be called more than once. Rejects with `Overdraft` if a pool would fall below zero, and with
   * `AmountTooLarge` and `RateChanged` as `book` does.
   */
  perform<Refusal>(act: Act<Refusal>): Promise<ActOutcome<Refusal>>
}

export interface Act<Refusal> {
  readonly accountId: AccountId
  /** Each operation has its own namespace of keys: `exchange`, `subscribe`. */
  readonly operation: string
  readonly idempotency: Idempotency | undefined
  readonly at: number
  /** The rate at which money was converted; absent: none was converted. */
  readonly creditsPerUnit?: DecimalText
  readonly decide: (state: ActState) => ActDecision<Refusal>
}

export interface Idempotency {
  readonly key: string
  /** Lower-case hex SHA-256 of the request. */
  readonly fingerprint: string
}

export interface ActState {
  readonly account: Account
  readonly terms: SubscriptionTerms | undefined
}

export type ActDecision<Refusal> =
  | {
      readonly kind: 'done'
      /** All belong to one ledger transaction; empty: no money moves. */
      readonly transfers: readonly Transfer[]
      /** Absent: unchanged. */
      readonly subscription?: Subscription | undefined
      /** Absent: unchanged. */
      readonly terms?: SubscriptionTerms | undefined
      /** Returned unchanged whenever the act is repeated under its key. */
      readonly answer: JsonObject
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export type ActOutcome<Refusal> =
  | { readonly kind: 'done'; readonly answer: JsonObject; readonly repeated: boolean }
  /** Nothing was written, and the idempotency key is still free. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The idempotency key was used for something else. */
  | { readonly kind: 'other-request' }
  | { readonly kind: 'no-account' }

export interface SubscriptionStore {
  find(account: AccountId): Promise<SubscriptionTerms | undefined>
  /** Accounts whose renewal is due, the most overdue first. */
  due(at: number, limit: number): Promise<readonly AccountId[]>
}

/** A person's own data and notification settings; no call depends on it. */
export interface Profile {
  readonly name: string | undefined
  /** BCP 47. */
  readonly language: string | undefined
  /** IANA name; undefined: the platform's. */
  readonly timezone: string | undefined
  readonly alerts: AlertSettings
}

export interface AlertSettings {
  readonly email: boolean
  /** µCr of spendable Credits below which the account is notified; undefined: never. */
  readonly lowCredits: MicroCredits | undefined
  /** Failed calls within an hour at which the account is notified; undefined: never. */
  readonly failuresPerHour: number | undefined
  /** Address for signed webhooks. */
  readonly webhookUrl: string | undefined
  /** Whether to send a mail for every payment. */
  readonly receipts: boolean
}

export interface ProfileStore {
  find(account: AccountId): Promise<Profile | undefined>
  put(account: AccountId, profile: Profile): Promise<void>
}

export interface VerificationRequest {
  readonly id: string
  readonly accountId: AccountId
  readonly kind: 'personal' | 'enterprise'
  readonly status: 'pending' | 'approved' | 'rejected' | 'withdrawn'
  readonly submittedAt: number
  readonly decidedAt: number | undefined
  /** Account id of the admin. */
  readonly decidedBy: string | undefined
  readonly reason: string | undefined
  /** The statement: names and numbers. Encrypted at rest. */
  readonly statement: Readonly<Record<string, string>>
  readonly documents: readonly VerificationDocument[]
}

export interface VerificationDocument {
  /** The file name given by the person. */
  readonly name: string
  readonly blobKey: string
  readonly mediaType: string
  readonly bytes: number
  readonly sha256: string
}

export interface VerificationDecision {
  readonly id: string
  readonly status: 'approved' | 'rejected' | 'withdrawn'
  readonly by: string
  readonly reason: string | undefined
  readonly at: number
  /** Verification level the account has from now on; undefined: unchanged. */
  readonly level: number | undefined
}

export interface VerificationStore {
  /** Rejects with `StorageConflict` if a request of the account is pending already. */
  submit(request: VerificationRequest): Promise<void>
  find(id: string): Promise<VerificationRequest | undefined>
  /** Newest first; `after`: id of the last row of the previous page. */
  list(filter: {
    readonly accountId?: AccountId
    readonly status?: VerificationRequest['status']
    readonly limit: number
    readonly after: string | undefined
  }): Promise<readonly VerificationRequest[]>
  /** Decides a pending one and changes the account's level; false: it is not pending any more. */
  decide(decision: VerificationDecision): Promise<boolean>
}

/** Credits (held ones included) and balance at one moment. */
export interface PoolSums {
  readonly credits: MicroCredits
  readonly balance: MicroCredits
}

export interface StatementEntry {
  readonly transactionId: string
  readonly sequence: number
  readonly at: number
  readonly kind: Transfer['kind']
  /** Changes of the account's Credits and balance. */
  readonly credits: MicroCredits
  readonly balance: MicroCredits
  readonly reference: string | undefined
}

export interface Period {
  readonly from: number
  /** The first moment after the period. */
  readonly until: number
}

export interface StatementStore {
  /** Both from the entries, in one snapshot of the ledger. */
  sums(
    account: AccountId,
    period: Period,
  ): Promise<{ readonly opening: PoolSums; readonly closing: PoolSums }>
  /**
   * Oldest first; excluding movements between an account's Credits and its holds. `after`: `entryCursor` of the last.
   */
  entries(
    account: AccountId,
    page: Period & { readonly limit: number; readonly after: string | undefined },
  ): Promise<{ readonly entries: readonly StatementEntry[]; readonly next: string | undefined }>
}

/** `receipt`: of a payment; `test`: a check whether alerts arrive. Both are momentary and never stay active. */
export const ALERT_KINDS = ['low-credits', 'failures', 'receipt', 'test'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** An account with notifications, and the values its alerts depend on. */
export interface WatchedAccount {
  readonly account: Account
  readonly alerts: AlertSettings
  /** Kinds that are active. */
  readonly standing: readonly AlertKind[]
}

/** The facts of the alert, by name: amounts as decimal text, counts as numbers. */
export type AlertFacts = Readonly<Record<string, string | number>>

export interface Alert {
  readonly id: string
  readonly accountId: AccountId
  readonly kind: AlertKind
  readonly raisedAt: number
  readonly facts: AlertFacts
}

export interface Delivery {
  readonly id: string
  readonly alert: Alert
  readonly channel: 'email' | 'webhook'
  readonly target: string
  /** Attempts so far, including the present one. */
  readonly attempts: number
}

export interface ShownAlert extends Alert {
  readonly clearedAt: number | undefined
  readonly deliveries: readonly {
    readonly channel: Delivery['channel']
    readonly attempts: number
    readonly outcome: 'waiting' | 'sent' | 'failed'
  }[]
}

export interface AlertStore {
  /** By account id. */
  watched(page: {
    readonly limit: number
    readonly after: string | undefined
  }): Promise<readonly WatchedAccount[]>
  /** Failed calls of the account since then, counted up to `most`. */
  countFailures(account: AccountId, since: number, most: number): Promise<number>
  /** False: one of this kind is active already. Its deliveries are due at once. */
  raise(
    alert: Alert,
    deliveries: readonly {
      readonly id: string
      readonly channel: Delivery['channel']
      readonly target: string
    }[],
  ): Promise<boolean>
  /** Its condition has ended: it may be raised again. */
  clear(account: AccountId, kind: AlertKind, at: number): Promise<boolean>
  /** Due deliveries; each goes to one process only, and again after `leaseMs` if that process does not report. */
  take(
    at: number,
    options: { readonly limit: number; readonly leaseMs: number },
  ): Promise<readonly Delivery[]>
  finish(
    id: string,
    end: { readonly outcome: 'sent' | 'failed' } | { readonly outcome: 'waiting'; readonly dueAt: number },
  ): Promise<void>
  /** Newest first. */
  list(account: AccountId, limit: number): Promise<readonly ShownAlert[]>
}

export const USAGE_GROUPS = ['model', 'key', 'app', 'account'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/**
 * Answered from sums by half-hours, which outlast the log. If a period begins or ends inside a half-hour, that part is
 * read from the log; once the log of that time is gone, a half-hour belongs to the period in which it begins.
 */
export interface UsageQuestion extends Period {
  /** undefined: all accounts. */
  readonly accountId: AccountId | undefined
  readonly keyId: KeyId | undefined
  /** Only calls of these keys; absent: all calls, also those without a key. */
  readonly keyIds?: readonly KeyId[] | undefined
  readonly groups: readonly UsageGroup[]
  /** Length of a bucket; buckets are counted from `from`. A half-hour that spans two buckets is in the first. */
  readonly bucketMs: number
  /** If there are more rows, the first ones are returned. */
  readonly rowsMax: number
}

/** Sums over the calls that began in one bucket. */
export interface UsageRow {
  /** First moment of the bucket. */
  readonly at: number
  /** undefined here and below: not grouped by it, or it has none. */
  readonly accountId: AccountId | undefined
  readonly model: string | undefined
  readonly keyId: string | undefined
  /** `(other)`: names beyond the first hundred of an account's half-hour. */
  readonly appId: string | undefined
  readonly calls: number
  readonly failed: number
  readonly input: number
  readonly cachedInput: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
  readonly output: number
  readonly reasoning: number
  readonly images: number
  readonly videoSeconds: number
  readonly characters: number
  readonly audioSeconds: number
  readonly amount: MicroCredits
  readonly deducted: MicroCredits
  /** The part of `deducted` that the subscription paid. */
  readonly covered: MicroCredits
}

export interface ChainQuestion extends Period {
  /** Only these accounts, with a row for each account and chain; absent: all accounts in one. */
  readonly only?: readonly AccountId[] | undefined
  /** Without these accounts. */
  readonly except?: readonly AccountId[] | undefined
}

export interface PayersQuestion extends Period {
  readonly limit: number
}

/** Who paid most for priced calls. */
export interface Payers {
  /** Largest deduction first, then most calls. */
  readonly accounts: readonly AccountId[]
  /** How many accounts had priced calls, listed or not. */
  readonly count: number
}

/** Totals of the priced calls of one chain. */
export interface ChainUsage {
  /** undefined: all accounts together. */
  readonly accountId: AccountId | undefined
  readonly chainId: ChainId
  readonly model: string | undefined
  readonly vendorCode: string | undefined
  readonly calls: number
  /** Calls over the customer's own credential. */
  readonly byok: number
  /** Of the others, calls without a deduction. */
  readonly free: number
  readonly deducted: MicroCredits
  /** Quantities that prices were multiplied by, without calls over own credentials. */
  readonly billed: Readonly<Record<RecipeLine['class'], number>>
}

export interface UsageStore {
  sums(question: UsageQuestion): Promise<readonly UsageRow[]>
  /** Totals by chain. */
  chains(question: ChainQuestion): Promise<readonly ChainUsage[]>
  payers(question: PayersQuestion): Promise<Payers>
  /** Recomputes the half-hours of a period for which the log is complete. Returns how many. */
  recount(period: Period): Promise<number>
}

export interface LimitReader {
  /** The present windows and slots; a subject without use is absent. */
  read(subjects: readonly Subject[]): Promise<ReadonlyMap<Subject, LimitState>>
}
