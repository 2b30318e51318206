/**
 * The gateway's storage interface on one page. Two engines implement it (SQLite with a disk, PostgreSQL with S3), and one
 * conformance suite checks both for the same results. A method that cannot reach its database rejects with
 * `StorageUnavailable`; the edge answers 50301.
 */
import type { AuditStore } from './stores/audit.ts'
import type { IdentityStore } from './stores/identity.ts'
import type { NoticeStore } from './stores/notices.ts'
import type { CustomerStore } from './stores/customers.ts'
import type { OrganisationStore } from './stores/organisations.ts'
import type { PriceStore } from './stores/prices.ts'
import type { TopUpStore } from './stores/top-ups.ts'
import type { TurnStore } from './stores/turns.ts'
import type { VideoStore } from './stores/videos.ts'
import type { Announcement } from './announcement.ts'
import type { AccountStore } from './stores/accounts.ts'
import type { KeyStore } from './stores/keys.ts'
import type { LogStore } from './stores/logs.ts'
import type { LedgerStore } from './stores/ledger.ts'
import type { CallStore } from './stores/calls.ts'
import type { CatalogueStore } from './stores/catalogue.ts'

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
  /** Resolves if a trivial read works; rejects otherwise. Used by readiness. */
  ping(): Promise<void>
  /** Called for every change of any instance, this one included, within a second. Returns a function that stops it. */
  subscribe(listener: (change: Announcement) => void): () => void
  /** Finishes what was accepted, then closes. */
  close(): Promise<void>
}
