/** Accounts as they are stored. */
import type { AccountRow } from '../../core/ledger/hot-rows.ts'
import type { ModelId, AccountId, VendorCode } from '../../core/ids.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { Policy } from '../../core/limits/policy.ts'
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { ByokEntry } from './keys.ts'

/** An account as the request pipeline and the management API know it. */
export interface Account extends AccountRow {
  /** Organisations cannot sign in: their members act for them. */
  readonly kind: 'person' | 'organisation'
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly passwordHash: string | undefined
  readonly role: 'admin' | 'user'
  readonly fallbackModel: ModelId | undefined
  readonly createdAt: number
}

/** What may be changed about an account outside the ledger. Absent: unchanged. */
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
  /**
   * A part of the name, the e-mail address or the phone number, case-insensitive; or a whole id, the account’s or one
   * of its keys’.
   */
  readonly search?: string
  readonly kind?: Account['kind']
  readonly role?: Account['role']
  readonly status?: Account['status']
}

export interface AccountStore {
  /** Rejects with `StorageConflict` if the id, the address or the phone number is taken; so does `patch`. */
  create(account: { readonly id: AccountId; readonly createdAt: number } & AccountPatch): Promise<void>
  /**
   * A changed monthly cap charges what is owed in the same transaction, as far as it allows. A changed or removed
   * password ends every session of the account. Rejects with `LastAdmin` if no active admin would remain.
   */
  patch(id: AccountId, patch: AccountPatch): Promise<boolean>
  /**
   * Charges what accounts owe as far as the current month's cap allows, also for accounts that make no calls. Returns how
   * many were charged.
   *
   * @param month `at` epoch ms; `monthStart` the first instant of its month in the platform's time zone
   */
  chargeOwed(month: { readonly at: number; readonly monthStart: number }): Promise<number>
  find(id: AccountId): Promise<Account | undefined>
  findByLogin(login: { readonly email: string } | { readonly phone: string }): Promise<Account | undefined>
  list(
    page: { readonly limit: number; readonly after: string | undefined } & AccountFilter,
  ): Promise<readonly Account[]>
  /** The names of people and organisations. Absent: without a name, or closed. */
  readNames(ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, string>>
  /** Own credentials per vendor that are switched on, decrypted. */
  readByok(id: AccountId): Promise<ReadonlyMap<VendorCode, CredentialSecret>>
  putByok(
    id: AccountId,
    vendor: VendorCode,
    secret: CredentialSecret,
    options: { readonly enabled: boolean },
  ): Promise<void>
  removeByok(id: AccountId, vendor: VendorCode): Promise<boolean>
  /** False: none exists for this vendor. */
  switchByok(id: AccountId, vendor: VendorCode, enabled: boolean): Promise<boolean>
  /** Which vendors the account has own credentials for, switched on or not; never the secrets. */
  listByok(id: AccountId): Promise<readonly ByokEntry[]>
}
