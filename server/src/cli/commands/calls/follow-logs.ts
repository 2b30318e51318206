/**
 * Shows calls as they end: the log is read every second, because a call's row appears at its end, with the time of its
 * beginning.
 */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { LogFilter } from '../../../storage/stores/logs.ts'

const LOOK_EVERY_MS = 1_000
/** A call that began longer ago is shown by `logs`, but not with `--follow`. */
const LONGEST_CALL_MS = 3_600_000
const PAGE_ROWS = 1_000
/** Most reads cover one page; every so often the whole hour, to find calls that took some minutes. */
const WHOLE_LOOK_EVERY = 15
const PAGES_MAX = 20

export interface Following {
  readonly filter: LogFilter
  /** Calls that ended before this are not shown, epoch ms. */
  readonly since: number
  /** Calls that are shown already. */
  readonly shown: readonly CallLogRow[]
  readonly now: () => number
  readonly show: (row: CallLogRow) => Promise<void>
  readonly signal: AbortSignal
  /** Resolves after this time, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Runs until the signal aborts. */
export async function followLogs(storage: Pick<Storage, 'logs'>, following: Following): Promise<void> {
  const { filter, now, since, show, signal, pause } = following
  const seen = new Map<string, number>(following.shown.map((row) => [row.callId, row.createdAt]))
  for (let look = 1; !signal.aborted; look++) {
    await pause(LOOK_EVERY_MS, signal)
    const from = Math.max(now() - LONGEST_CALL_MS, filter.from ?? 0)
    const pages = look % WHOLE_LOOK_EVERY === 0 ? PAGES_MAX : 1
    const rows = await readSince(storage, { ...filter, from }, pages)
    const fresh = rows.filter((row) => !seen.has(row.callId))
    for (const row of fresh) seen.set(row.callId, row.createdAt)
    for (const [id, createdAt] of seen) if (createdAt < from) seen.delete(id)
    const shown = fresh.filter((row) => row.endedAt >= since)
    for (const row of shown.toSorted((one, other) => one.endedAt - other.endedAt)) await show(row)
  }
}

async function readSince(
  { logs }: Pick<Storage, 'logs'>,
  filter: LogFilter,
  pages: number,
): Promise<readonly CallLogRow[]> {
  const rows: CallLogRow[] = []
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const found = await logs.page(filter, { limit: PAGE_ROWS, cursor })
    rows.push(...found.rows)
    cursor = found.next
    if (cursor === undefined) break
  }
  return rows
}
