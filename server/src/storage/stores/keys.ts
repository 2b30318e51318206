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
  /** If the account is an organisation: the member whose key it is; undefined: the account's own. */
  readonly memberId: MemberId | undefined
  /** For a key that the console made for itself: the sign-in session it ends with; undefined: an ordinary key. */
  readonly sessionId: string | undefined
  readonly name: string
  /** Lower-case hex SHA-256 of the whole key. */
  readonly hash: string
  /** The service's prefix plus six characters: all that lists show. */
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
  /** A part of its name or hint, case-insensitive, or its whole id; or a name of its account. */
  readonly search?: string | undefined
  readonly account?: AccountId | undefined
  readonly group?: string | undefined
  /** State as of `at`; `expired` means enabled and past its expiry. */
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
  /** Owners and names of these keys, including deleted ones and those of sessions. */
  readNames(ids: readonly KeyId[]): Promise<ReadonlyMap<KeyId, NamedKey>>
  /** For keys with a valid former secret: until when the last one works; one query. */
  formerUntil(ids: readonly KeyId[], at: number): Promise<ReadonlyMap<KeyId, number>>
  /** Rejects with `StorageConflict` if a key that is not deleted has this hash. */
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
   * Gives a key another secret; its present one works until `formerUntil`. Without that, it and all former ones end at
   * once. Rejects with `StorageConflict` if a key that is not deleted has this hash.
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
