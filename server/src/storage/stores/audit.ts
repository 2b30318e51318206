/**
 * The record of what admins did. Entries are only added, and each carries the hash of the one before, so that recomputing
 * the chain reveals a changed, removed or inserted entry.
 */
import type { AccountId } from '../../core/ids.ts'
import type { CatalogueStore } from './catalogue.ts'
import type { AccountStore } from './accounts.ts'
import type { KeyStore } from './keys.ts'
import type { LedgerStore } from './ledger.ts'
import type { CustomerStore } from './customers.ts'
import type { OrganisationStore } from './organisations.ts'
import type { IdentityStore } from './identity.ts'
import type { NoticeStore } from './notices.ts'
import type { PriceStore } from './prices.ts'
import type { TopUpStore } from './top-ups.ts'
import type { JsonValue } from '../../core/json.ts'
import type { Announcement } from '../announcement.ts'

export interface AuditStore {
  /**
   * One transaction: everything `work` writes through the given stores, and the entry it returns. `work` may be run
   * again after a conflict, and must not wait for anything but the stores. `alone`: such acts are serialised over all
   * instances, so each sees what the one before has written.
   */
  act<Value>(
    work: (stores: AuditedStores) => Promise<AuditedWork<Value>>,
    options?: { readonly alone: boolean },
  ): Promise<Value>
  /** An entry alone, for acts that do not write to these stores: written before the act. */
  record(act: AuditedAct): Promise<void>
  /** Newest first; `cursor` from an earlier page, else `InvalidCursor`. */
  page(
    filter: AuditFilter,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<AuditPage>
  /** Oldest first, from the entry after this sequence. */
  following(sequence: number, limit: number): Promise<readonly AuditEntry[]>
  /** Recomputes the whole chain. */
  verify(): Promise<AuditVerdict>
}

/** Stores whose writes share the act's transaction. */
export interface AuditedStores {
  readonly catalogue: CatalogueStore
  readonly accounts: AccountStore
  readonly keys: KeyStore
  readonly ledger: LedgerStore
  readonly customers: CustomerStore
  readonly organisations: OrganisationStore
  readonly identity: IdentityStore
  readonly notices: NoticeStore
  readonly prices: PriceStore
  readonly topUps: TopUpStore
}

export interface AuditedWork<Value> {
  readonly value: Value
  /** undefined: nothing was done, so there is no entry. */
  readonly act: AuditedAct | undefined
  /** If several acts were done at once: those after the first. */
  readonly further?: readonly AuditedAct[]
  /** Announced to every instance afterwards, in addition to the stores' own announcements. */
  readonly announce?: readonly Announcement[]
}

export interface AuditActor {
  /** The admin's account; undefined: an operator on the machine (the command line). */
  readonly accountId: AccountId | undefined
  /** The name shown to people, at that time. */
  readonly name: string
  readonly sessionId: string | undefined
  readonly address: string
  readonly requestId: string | undefined
}

export interface AuditedAct {
  readonly at: number
  readonly actor: AuditActor
  /** `account.change`, `chain.disable`: the kind of thing, then what was done. */
  readonly action: string
  /** The id of what it was done to. */
  readonly subject: string
  /** Never contains a secret, only the fact that one was set. */
  readonly changes: readonly AuditedChange[]
}

export interface AuditedChange {
  /** `account owner@example.com: user_rate` – the row if several are affected, then the field. */
  readonly field: string
  readonly from: JsonValue
  readonly to: JsonValue
}

export interface AuditEntry extends AuditedAct {
  /** From 1, without a gap. */
  readonly sequence: number
  readonly previousHash: string
  /** Lower-case hex SHA-256 over the entry and `previousHash`. */
  readonly hash: string
}

export interface AuditFilter {
  readonly actor?: AccountId
  readonly action?: string
  readonly subject?: string
  readonly from?: number
  readonly to?: number
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  readonly next: string | undefined
}

/** `head`: the newest entry; stored elsewhere, it later shows whether the end was removed. */
export type AuditVerdict =
  | { readonly kind: 'whole'; readonly entries: number; readonly head: AuditHead | undefined }
  | { readonly kind: 'broken'; readonly sequence: number; readonly why: string }

export interface AuditHead {
  readonly sequence: number
  readonly hash: string
}
