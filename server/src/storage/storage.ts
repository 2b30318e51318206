/**
 * Every question the gateway asks of memory, on one page. Two engines answer it (SQLite with a disk, PostgreSQL with
 * S3) and one conformance suite holds both to the same answers. A method that cannot reach its database rejects with
 * `StorageUnavailable`; the edge answers 50301.
 */
import type { CallLogRow } from '../core/calls/log-row.ts'
import type { AccountRow, Transfer } from '../core/calls/hot-rows.ts'
import type {
  AbandonOperation,
  ClaimOperation,
  ClaimOutcome,
  DoneOutcome,
  LogOperation,
  ProgressOperation,
  ReserveOperation,
  ReserveOutcome,
  SettleOperation,
  SettleOutcome,
  UnclaimOperation,
} from '../core/calls/operations.ts'
import type { Catalogue, CredentialSecret, DecimalText } from '../core/catalogue.ts'
import type {
  AccountId,
  CallId,
  ChainId,
  InstanceId,
  KeyId,
  MemberId,
  ModelId,
  VendorCode,
} from '../core/ids.ts'
import type { ChainObservation } from '../core/metering/chain-observation.ts'
import type { SeenInstance } from '../core/instances/watch.ts'
import type { Policy } from '../core/limits/policy.ts'
import type { MicroCredits } from '../core/money.ts'
import type { RateHold } from './failures/amount-refused.ts'
import type { AuditStore } from './stores/audit.ts'
import type { IdentityStore } from './stores/identity.ts'
import type { NoticeStore } from './stores/notices.ts'
import type { CustomerStore } from './stores/customers.ts'
import type { OrganisationStore } from './stores/organisations.ts'
import type { PriceStore } from './stores/prices.ts'
import type { CatalogueChange, LedgerDifference } from './stores/records.ts'
import type { TopUpStore } from './stores/top-ups.ts'
import type { TurnStore } from './stores/turns.ts'
import type { VideoStore } from './stores/videos.ts'

export interface Storage {
  readonly calls: CallStore
  readonly catalogue: CatalogueStore
  readonly accounts: AccountStore
  readonly keys: KeyStore
  readonly logs: LogStore
  readonly ledger: LedgerStore
  readonly customers: CustomerStore
  readonly organisations: OrganisationStore
  readonly identity: IdentityStore
  readonly videos: VideoStore
  readonly audit: AuditStore
  readonly notices: NoticeStore
  readonly prices: PriceStore
  readonly topUps: TopUpStore
  readonly turns: TurnStore
  /** Answers when a trivial read works; rejects otherwise. Used by readiness. */
  ping(): Promise<void>
  /** Told of every change any instance makes, this one included, within a second. Returns how to stop. */
  subscribe(listener: (change: Announcement) => void): () => void
  /** Finishes what was accepted, then closes. */
  close(): Promise<void>
}

/** What changed, so that a cache can forget it. */
export type Announcement =
  | { readonly kind: 'catalogue' }
  | { readonly kind: 'key'; readonly hash: string }
  | { readonly kind: 'account'; readonly accountId: AccountId }
  /** A video task moved on: a POST that waits for it looks again. */
  | { readonly kind: 'video'; readonly id: string }
  /** An operator says that this chain is well again. */
  | { readonly kind: 'chain'; readonly chainId: ChainId }
  /** The link to the other instances was lost and is back: forget everything. */
  | { readonly kind: 'everything' }

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

export interface CatalogueStore {
  read(): Promise<Catalogue>
  /**
   * One transaction; announces `catalogue`. Rows are matched by natural key. Another rate of the platform's own currency takes
   * what is set in it along (caps, steps, packages); that and another currency reject with `RateFixed` once money was booked
   * or promised.
   */
  apply(changes: readonly CatalogueChange[]): Promise<void>
  /** What keeps the platform's own currency, or its rate, as it is; undefined: nothing does. */
  findRateHold(what: 'rate' | 'currency'): Promise<RateHold | undefined>
  /** What was seen of chains, by whichever instance. */
  readObservations(): Promise<readonly ObservedChain[]>
  /** The latest rate of a chain counts, and the latest time it broke a cap. */
  writeObservations(observed: readonly ObservedChain[], at: number): Promise<void>
}

export interface ObservedChain {
  readonly chainId: ChainId
  readonly observation: ChainObservation
}

/** An account as the request pipeline and the management API know it. */
export interface Account extends AccountRow {
  /** Nobody signs in as an organisation: its members act for it. */
  readonly kind: 'person' | 'organisation'
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly passwordHash: string | undefined
  readonly role: 'admin' | 'user'
  readonly fallbackModel: ModelId | undefined
  readonly createdAt: number
}

/** What may be changed of an account outside the ledger. Absent: as it was. */
export interface AccountPatch {
  readonly email?: string | undefined
  readonly phone?: string | undefined
  readonly passwordHash?: string | undefined
  readonly role?: 'admin' | 'user'
  readonly status?: 'active' | 'suspended'
  readonly verification?: number
  readonly userRate?: string
  readonly apiDeduction?: boolean
  readonly monthlyCap?: MicroCredits
  readonly autoExchange?: AccountRow['autoExchange']
  readonly subscription?: AccountRow['subscription']
  readonly fallbackModel?: ModelId | undefined
  readonly policy?: Policy
}

export interface AccountFilter {
  /** Part of the e-mail address or phone number, in any case; or the whole id. */
  readonly search?: string
  readonly kind?: Account['kind']
  readonly role?: Account['role']
  readonly status?: Account['status']
}

export interface AccountStore {
  /** Rejects with `StorageConflict` when the id, the address or the phone number is taken; so does `patch`. */
  create(account: { readonly id: AccountId; readonly createdAt: number } & AccountPatch): Promise<void>
  /**
   * Another monthly cap charges what is owed in the same transaction, as far as it has room. Another password, or none,
   * ends every session of the account. Rejects with `LastAdmin` when no active admin would be
   * left of those there are.
   */
  patch(id: AccountId, patch: AccountPatch): Promise<boolean>
  /**
   * Charges what accounts owe where the month that runs has room for it: also of those that make no call. Returns how many
   * were charged.
   *
   * @param month `at` epoch ms; `monthStart` the first instant of its month in the platform's time zone
   */
  chargeOwed(month: { readonly at: number; readonly monthStart: number }): Promise<number>
  find(id: AccountId): Promise<Account | undefined>
  findByLogin(login: { readonly email: string } | { readonly phone: string }): Promise<Account | undefined>
  list(
    page: { readonly limit: number; readonly after: string | undefined } & AccountFilter,
  ): Promise<readonly Account[]>
  /** Own credentials per vendor that are switched on, decrypted. */
  readByok(id: AccountId): Promise<ReadonlyMap<VendorCode, CredentialSecret>>
  putByok(
    id: AccountId,
    vendor: VendorCode,
    secret: CredentialSecret,
    options: { readonly enabled: boolean },
  ): Promise<void>
  removeByok(id: AccountId, vendor: VendorCode): Promise<boolean>
  /** False: there is none for this vendor. */
  switchByok(id: AccountId, vendor: VendorCode, enabled: boolean): Promise<boolean>
  /** Which vendors the account has own credentials for, switched on or not; never the secrets. */
  listByok(id: AccountId): Promise<readonly ByokEntry[]>
}

export interface ByokEntry {
  readonly vendor: VendorCode
  readonly enabled: boolean
}

/** An API key. Only its SHA-256 is stored (contract §2.6). */
export interface Key {
  readonly id: KeyId
  readonly accountId: AccountId
  /** Of the organisation that is the account: whose calls these are; undefined: the account's own. */
  readonly memberId: MemberId | undefined
  readonly name: string
  /** Lower-case hex SHA-256 of the whole key. */
  readonly hash: string
  /** The service's prefix plus six characters: all a list ever shows. */
  readonly hint: string
  readonly status: 'enabled' | 'disabled' | 'deleted'
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly group: string | undefined
  /** Allow list; empty: every model. */
  readonly models: readonly ModelId[]
  /** CIDR allow list; empty: every address. */
  readonly ipAllow: readonly string[]
  /** undefined: the platform's default policy. */
  readonly policy: Policy | undefined
}

export interface KeyStore {
  /** Deleted keys are not found. Found by a former secret, a key expires when that one's overlap ends. */
  findByHash(hash: string): Promise<Key | undefined>
  find(id: KeyId): Promise<Key | undefined>
  /** `member`: only theirs. `deleted`: those too, for whoever shows what was called with them. */
  list(
    account: AccountId,
    options?: { readonly member?: MemberId | undefined; readonly deleted?: 'included' | undefined },
  ): Promise<readonly Key[]>
  /** Until when the last of their former secrets works, of those keys where one still does; one query. */
  formerUntil(ids: readonly KeyId[], at: number): Promise<ReadonlyMap<KeyId, number>>
  /** Rejects with `StorageConflict` when a living key has this hash. */
  create(key: Key): Promise<void>
  patch(
    id: KeyId,
    patch: Partial<
      Pick<
        Key,
        | 'memberId'
        | 'name'
        | 'status'
        | 'expiresAt'
        | 'group'
        | 'models'
        | 'ipAllow'
        | 'policy'
        | 'hash'
        | 'hint'
      >
    >,
  ): Promise<boolean>
  /**
   * Gives a key another secret; its present one works until `formerUntil`. Without that, it and every former one end at
   * once. Rejects with `StorageConflict` when a living key has this hash.
   */
  rotate(
    id: KeyId,
    secret: Pick<Key, 'hash' | 'hint'>,
    options: { readonly formerUntil: number | undefined; readonly at: number },
  ): Promise<boolean>
}

export interface LogFilter {
  readonly accountId?: AccountId
  readonly keyId?: KeyId
  /** Any of these; none: nothing. */
  readonly keyIds?: readonly KeyId[]
  readonly from?: number
  readonly to?: number
  readonly model?: string
  readonly requestId?: string
  readonly appId?: string
  readonly customId?: string
  readonly user?: string
  /** An HTTP status. */
  readonly status?: number
  /** µCr deducted, at least and at most. */
  readonly deductedMin?: MicroCredits
  readonly deductedMax?: MicroCredits
  /** Calls whose reported usage could not be. */
  readonly suspect?: true
}

export interface LogStore {
  /** Newest first; `cursor` as a former page gave it, else `InvalidCursor`. */
  page(
    filter: LogFilter,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<LogPage>
  /** When the last call that is still in the log was made with each of these keys, epoch ms; unused ones are not there. */
  lastUses(keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, number>>
  /** Removes rows past their retention, and makes room for those to come. Returns how many went; money stays in the ledger. */
  keep(upkeep: LogUpkeep): Promise<number>
}

/** What is done to the log from time to time. */
export interface LogUpkeep {
  /** Epoch ms. */
  readonly at: number
  /** Rows created before this are not kept; undefined: all are. */
  readonly keepSince: number | undefined
}

export interface LogPage {
  readonly rows: readonly CallLogRow[]
  readonly next: string | undefined
}

export interface BookingOptions {
  /** Absent: `refuse`. */
  readonly overdraw?: 'refuse' | 'allow'
  /** The rate at which money was counted for it; absent: none was. */
  readonly creditsPerUnit?: DecimalText
}

export interface LedgerStore {
  /**
   * Movements outside of calls (grants, exchanges…). One transaction; false: this transaction id was booked before.
   * Rejects with `Overdraft`, and books nothing, when a customer's pool that is taken from would fall below zero, unless
   * a debt is meant to be booked (a payment that the bank took back); with `AmountTooLarge` when a transfer or a pool would
   * be more than `AMOUNT_MAX` and `POOL_MAX`; with `RateChanged` when `creditsPerUnit` is the rate no more.
   */
  book(transfers: readonly Transfer[], options?: BookingOptions): Promise<boolean>
  /** What was booked under this id, in order; empty: nothing was. */
  transaction(id: string): Promise<readonly Transfer[]>
  /** Newest first. `after`: `transferCursor` of the last transfer of the page before. */
  transfers(filter: {
    readonly accountId?: AccountId
    readonly limit: number
    readonly after: string | undefined
  }): Promise<readonly Transfer[]>
  /** Recomputes every balance, hold, slot and charge from the entries; empty when all agree. */
  verify(): Promise<readonly LedgerDifference[]>
}
