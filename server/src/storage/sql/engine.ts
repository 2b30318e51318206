/** What the shared queries need of an engine. */
import type { Kysely, Transaction } from 'kysely'
import type { HotOperation } from '../../core/ledger/operations.ts'
import type { HotQueue } from './calls/group-commit.ts'
import type { HotResult } from './calls/hot-batch.ts'
import type { EngineName } from './migrations.ts'
import type { Schema } from './schema.ts'
import type { Announcement } from '../announcement.ts'
import type { LogUpkeep } from '../stores/logs.ts'

export interface SqlEngine {
  readonly name: EngineName
  /** Transactions and single writes. */
  readonly writer: Kysely<Schema>
  /** Everything that only reads; sees all that was committed. */
  readonly reader: Kysely<Schema>
  /** The same for reads that may take long, such as sums and exports: those of `reader` do not wait for them. */
  readonly bulkReader: Kysely<Schema>
  /** If all processes using this database are on this machine: which one this is, and which have ended. */
  readonly processes?: { readonly own: string | undefined; isGone(place: string): boolean }
  /** One batch, one transaction: all of it or an error. */
  runHot(operations: readonly HotOperation[]): Promise<readonly HotResult[]>
  /** The queue that makes batches of them. Opened once. */
  openHotQueue(): HotQueue
  /** Writes as much as many calls would, and rolls it back: a database may accept a heartbeat but nothing larger. */
  tryWriting(): Promise<void>
  /** Part of a transaction: when it commits, the other instances are notified. */
  announce(transaction: Transaction<Schema>, changes: readonly Announcement[]): Promise<void>
  /** Called with announcements of other instances. */
  onAnnouncement(listener: (change: Announcement) => void): void
  /** Runs `read` on one snapshot of the database, separately from other reads. */
  withSnapshot<Value>(read: (snapshot: Kysely<Schema>) => Promise<Value>): Promise<Value>
  /** If the log is partitioned: creates the next partitions, drops expired ones. Returns the number of removed rows. */
  keepLog?(upkeep: LogUpkeep): Promise<number>
  close(): Promise<void>
}

/** The narrow part of a logger that storage uses. */
export interface StorageLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  /** Called at open for each migration that this process applied. */
  migrated?(migration: { readonly version: number; readonly name: string }): void
}
