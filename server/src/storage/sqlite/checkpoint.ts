/**
 * Checkpoints the write-ahead log from the reading thread, so that the slowest disk work is not part of a commit. A
 * passive checkpoint blocks no other connection, but under steady load it never resets the log; beyond a limit the rest, which is
 * small by then, is copied while writers wait.
 */
import { numberOf } from '../sql/table.ts'
import type { Statements } from './statements.ts'

/**
 * For a new database. A small call touches some thirty pages, changing a few bytes in each, and every touched page is
 * written to the log whole: half the usual 4 KiB halves what is written, at a negligible cost for large batches.
 */
export const PAGE_BYTES = 2_048
const RESTART_PAGES = (128 * 1_024 * 1_024) / PAGE_BYTES
/** A restart would block writers while it waits for readers of old pages, so it is retried a second later instead. */
const RESTART_WAIT_MS = 20

export function checkpoint(statements: Statements, busyTimeoutMs: number): void {
  if (copyPassively(statements) < RESTART_PAGES) return
  // Once more, so that almost nothing is left to copy while writers wait.
  copyPassively(statements)
  statements.prepare(`pragma busy_timeout = ${RESTART_WAIT_MS}`).get()
  try {
    statements.prepare('pragma wal_checkpoint(restart)').get()
  } finally {
    statements.prepare(`pragma busy_timeout = ${busyTimeoutMs}`).get()
  }
}

/** Returns the number of pages in the log. */
function copyPassively(statements: Statements): number {
  const row = statements.prepare('pragma wal_checkpoint(passive)').get()
  return row === undefined ? 0 : numberOf(row, 'log')
}
