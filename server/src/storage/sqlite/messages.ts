/** The messages between the process and its SQLite worker threads, by structured clone. */
import type { LoadedIds, LoadedRows } from './hot/hot-transaction.ts'
import type { WrittenRows } from './hot/written-rows.ts'
import type { SqliteParameter, SqliteRow } from './library.ts'

export interface WorkerOptions {
  readonly path: string
  /** `writer` commits and watches for changes of other processes; `reader` reads and copies the log back. */
  readonly role: 'writer' | 'reader'
  /** Distinguishes this opening's own announcements from others'. */
  readonly origin: string
}

/** First a connection is opened, then it gets requests; when it has closed, another one may be opened. */
export type WorkerMessage = { readonly kind: 'open'; readonly options: WorkerOptions } | WorkerRequest

export type WorkerRequest = WorkerTask & { readonly id: number }

export type WorkerTask =
  /** A statement that returns rows. */
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly SqliteParameter[] }
  /** A statement that returns the number of changed rows. */
  | { readonly kind: 'change'; readonly sql: string; readonly parameters: readonly SqliteParameter[] }
  | { readonly kind: 'transaction'; readonly verb: 'begin' | 'begin immediate' | 'commit' | 'rollback' }
  /** `operations` as `hot-codec.ts` writes them. */
  | { readonly kind: 'hot'; readonly operations: string }
  /** Commits rows that the process has decided; `stale` if another connection has committed. */
  | { readonly kind: 'commit'; readonly version: bigint; readonly rows: WrittenRows }
  | { readonly kind: 'load'; readonly wanted: LoadedIds }
  /** From now on, report rows in `changes` that other connections commit. */
  | { readonly kind: 'watch' }
  /** From now on, make periodic checkpoints. */
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'close'; readonly afterwards: 'wait' | 'end' }

export type WorkerAnswer =
  | { readonly kind: 'rows'; readonly id: number; readonly rows: readonly SqliteRow[] }
  | { readonly kind: 'count'; readonly id: number; readonly count: bigint }
  | { readonly kind: 'hot'; readonly id: number; readonly results: string }
  | { readonly kind: 'stale'; readonly id: number }
  | { readonly kind: 'loaded'; readonly id: number; readonly loaded: LoadedRows }
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly error: WorkerFailure }

export type WorkerReply =
  | WorkerAnswer
  | { readonly kind: 'open' }
  /** Rows of `changes`, in order; `gap`: earlier ones were removed before they were seen. */
  | { readonly kind: 'changes'; readonly rows: readonly ChangeRow[]; readonly gap: boolean }
  | { readonly kind: 'timer-failed'; readonly error: WorkerFailure }

export interface ChangeRow {
  readonly origin: string
  readonly body: string
}

export interface WorkerFailure {
  readonly message: string
  /** SQLite's extended result code, where SQLite failed. */
  readonly code: number | undefined
  readonly stack: string | undefined
}

/** SQLITE_BUSY: another connection holds the lock. */
export const BUSY_CODE = 5
