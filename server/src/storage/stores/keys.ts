/** Keys as they are stored. */
import type { AccountId, KeyId, MemberId, ModelId, VendorCode } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'

export interface ByokEntry {
  readonly vendor: VendorCode
  readonly enabled: boolean
}

/** An API key. Only its SHA-256 is stored (docs/reference/contract.md#5-12). */
export interface Key {
  readonly id: KeyId
  readonly accountId: AccountId
  /** Of the organisation that is the account: whose calls these are; undefined: the account's own. */
  readonly memberId: MemberId | undefined
  /** The sign-in session it ends with, of a key that the console made for itself; undefined: a key of the person's own. */
  readonly sessionId: string | undefined
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

export interface KeyFilter {
  /** Part of its name or hint in any case, or its whole id; or what its account is called. */
  readonly search?: string | undefined
  readonly account?: AccountId | undefined
  readonly group?: string | undefined
  /** Which of them, as of `at`; expired is what is enabled and past its end. */
  readonly state?: KeyState | undefined
  readonly at: number
}

export const KEY_STATES = ['enabled', 'disabled', 'expired'] as const
export type KeyState = (typeof KEY_STATES)[number]

export interface KeyStore {
  /** Deleted keys are not found. Found by a former secret, a key expires when that one's overlap ends. */
  findByHash(hash: string): Promise<Key | undefined>
  find(id: KeyId): Promise<Key | undefined>
  /**
   * Without keys of sessions. `member`: only that member's. `ever`: including deleted ones and those of sessions, to show
   * their calls.
   */
  list(
    account: AccountId,
    options?: { readonly member?: MemberId | undefined; readonly ever?: 'included' | undefined },
  ): Promise<readonly Key[]>
  /** Keys of any account that are bound to this group, newest first, at most `limit`; neither deleted ones nor those of sessions. */
  boundTo(group: string, limit: number): Promise<readonly Key[]>
  /** Keys of every account, newest first; neither deleted ones nor those of sessions. */
  page(
    filter: KeyFilter,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<{ readonly rows: readonly Key[]; readonly next: string | undefined }>
  /** Whose keys these are and what they are called, deleted ones and those of sessions too. */
  readNames(ids: readonly KeyId[]): Promise<ReadonlyMap<KeyId, NamedKey>>
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
  /**
   * The one key that a person's sessions have for an account, as a member or not: created, or given this secret, session
   * and expiry instead of its former ones. undefined: the session has ended. Ending the session deletes the key; a key
   * that expires first stays.
   */
  putForSession(key: SessionKey, at: number): Promise<KeyId | undefined>
}

export type NamedKey = Pick<Key, 'accountId' | 'name' | 'hint'>

export type SessionKey = Key & {
  readonly sessionId: string
  readonly expiresAt: number
  readonly status: 'enabled'
}
