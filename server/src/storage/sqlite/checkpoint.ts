/**
 * Copies the write-ahead log back into the database from the reading thread, so that the disk's slowest work is not done
 * by a commit. Passive copying disturbs nobody, but under steady load it never ends the log; past a bound the rest is
 * copied while writers wait, which by then is little.
 */
import { numberOf } from '../sql/table.ts'
import type { Statements } from './statements.ts'

/** 64 MiB of log, in pages of 4 KiB. */
const RESTART_PAGES = 16_384
/** Writers stand still while a restart waits for readers of old pages: it is tried again a second later instead. */
const RESTART_WAIT_MS = 20

export function checkpoint(statements: Statements, busyTimeoutMs: number): void {
  const row = statements.prepare('pragma wal_checkpoint(passive)').get()
  if (row === undefined || numberOf(row, 'log') < RESTART_PAGES) return
  statements.prepare(`pragma busy_timeout = ${RESTART_WAIT_MS}`).get()
  try {
    statements.prepare('pragma wal_checkpoint(restart)').get()
  } finally {
    statements.prepare(`pragma busy_timeout = ${busyTimeoutMs}`).get()
  }
}
