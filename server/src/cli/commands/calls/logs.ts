import { decimal, instant, integer } from '../../../config/gateway-file/values.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { Catalogue } from '../../../core/catalogue.ts'
import { creditsOfText, creditsText } from '../../../management/money/amounts.ts'
import { viewOperatorLogRow } from '../../../management/logs/log-view.ts'
import { InvalidCursor } from '../../../storage/failures/invalid-cursor.ts'
import type { Storage } from '../../../storage/storage.ts'
import { type Cell, type Console, printable, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { requireAccount, requireKey } from '../../find-rows.ts'
import { followLogs } from './follow-logs.ts'
import { optionValue } from '../../option-value.ts'
import { whyOfCall } from './why-of-call.ts'
import { withStorage } from '../../with-storage.ts'
import type { LogFilter, LogPage } from '../../../storage/stores/logs.ts'

export interface LogFlags {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  readonly from?: string
  readonly to?: string
  readonly status?: string
  readonly request?: string
  readonly app?: string
  readonly custom?: string
  readonly user?: string
  readonly costFrom?: string
  readonly costTo?: string
  readonly suspect?: boolean
  readonly limit?: string
  readonly cursor?: string
  readonly follow?: boolean
  readonly json?: boolean
}

const ROWS_DEFAULT = 20
const ROWS_MAX = 1000

const HEAD = ['TIME', 'STATUS', 'CODE', 'MODEL', 'VENDOR', 'TOKENS IN/OUT', 'CREDITS', 'MS', 'REQUEST', 'WHY']

/** Newest first; followed, oldest first. As JSON, one row per line, so that a long log can be piped. */
export async function logs(io: Console, flags: LogFlags): Promise<void> {
  const limit = optionValue('--limit', flags.limit, integer({ least: 1, most: ROWS_MAX })) ?? ROWS_DEFAULT
  if (flags.follow === true) {
    await follow(io, flags, limit)
    return
  }
  const next = await withStorage(io, 'refuse', async (storage) => {
    const filter = await filterOf(io, storage, flags)
    const page = await readPage(storage, filter, { limit, cursor: flags.cursor })
    if (flags.json === true) for (const row of page.rows) io.out(jsonLine(row))
    else io.out(tableText(HEAD, await table(storage, page.rows)))
    return page.next
  })
  if (next !== undefined) io.err(`older calls: --cursor ${next}\n`)
}

function jsonLine(row: CallLogRow): string {
  return `${JSON.stringify(viewOperatorLogRow(row))}\n`
}

/** The catalogue is read once, and only for rows that need it. */
function table(
  { catalogue }: Pick<Storage, 'catalogue'>,
  rows: readonly CallLogRow[],
): Promise<readonly (readonly Cell[])[]> {
  let read: Promise<Catalogue> | undefined
  return Promise.all(rows.map((row) => cells(row, () => (read ??= catalogue.read()))))
}

/** Wide enough for most values; later rows cannot widen columns that are already printed. */
const WIDTHS = [24, 6, 5, 24, 12, 13, 10, 7, 36, 0]

async function follow(io: Console, flags: LogFlags, limit: number): Promise<void> {
  if (flags.cursor !== undefined || flags.to !== undefined)
    throw new CommandFailure('mistakes', '--follow goes on with what comes: leave --cursor and --to out')
  const { patience } = io
  if (patience === undefined) throw new CommandFailure('failed', 'nothing can be followed here')
  const signal = patience.interruption()
  await withStorage(io, 'refuse', async (storage) => {
    const show = async (row: CallLogRow): Promise<void> =>
      io.out(flags.json === true ? jsonLine(row) : lineText(await cells(row, () => storage.catalogue.read())))
    const filter = await filterOf(io, storage, flags)
    const since = io.now()
    const { rows } = await readPage(storage, filter, { limit, cursor: undefined })
    if (flags.json !== true) io.out(lineText(HEAD))
    for (const row of rows.toReversed()) await show(row)
    await followLogs(storage, {
      filter,
      since,
      shown: rows,
      now: io.now,
      show,
      signal,
      pause: patience.pause,
    })
  })
}

function lineText(texts: readonly Cell[]): string {
  const padded = texts.map((text, column) =>
    printable(text === undefined ? '-' : String(text)).padEnd(WIDTHS[column] ?? 0),
  )
  return `${padded.join('  ').trimEnd()}\n`
}

async function readPage(
  storage: Storage,
  filter: LogFilter,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<LogPage> {
  try {
    return await storage.logs.page(filter, page)
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error
    throw new CommandFailure('mistakes', '--cursor must be one that sluice logs printed', { cause: error })
  }
}

async function filterOf(io: Console, storage: Storage, flags: LogFlags): Promise<LogFilter> {
  const account = flags.account === undefined ? undefined : await requireAccount(io, storage, flags.account)
  const key = flags.key === undefined ? undefined : await requireKey(storage, flags.key)
  const from = optionValue('--from', flags.from, instant)
  const to = optionValue('--to', flags.to, instant)
  const least = optionValue('--cost-from', flags.costFrom, decimal({ decimalsMax: 6 }))
  const most = optionValue('--cost-to', flags.costTo, decimal({ decimalsMax: 6 }))
  const status = optionValue('--status', flags.status, integer({ least: 100, most: 599 }))
  return {
    ...(account === undefined ? {} : { accountId: account.id }),
    ...(key === undefined ? {} : { keyId: key.id }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(status === undefined ? {} : { status }),
    ...(flags.suspect === true ? { suspect: true as const } : {}),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.request === undefined ? {} : { requestId: flags.request }),
    ...(flags.app === undefined ? {} : { appId: flags.app }),
    ...(flags.custom === undefined ? {} : { customId: flags.custom }),
    ...(flags.user === undefined ? {} : { user: flags.user }),
    ...(least === undefined ? {} : { deductedMin: creditsOfText(least) }),
    ...(most === undefined ? {} : { deductedMax: creditsOfText(most) }),
  }
}

async function cells(row: CallLogRow, readCatalogue: () => Promise<Catalogue>): Promise<readonly Cell[]> {
  const { usage } = row
  const input =
    (usage.input ?? 0) + (usage.cachedInput ?? 0) + (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  return [
    new Date(row.createdAt).toISOString(),
    row.httpStatus,
    row.code,
    row.model ?? row.modelRequested,
    row.vendorCode ?? row.attempts.at(-1)?.vendorCode,
    `${input}/${usage.output ?? 0}`,
    creditsText(row.deducted),
    row.durationMs,
    row.requestId,
    await whyOfCall(row, readCatalogue),
  ]
}
