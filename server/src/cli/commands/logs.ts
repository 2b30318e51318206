import type { Read } from '../../config/gateway-file/map-reader.ts'
import { readValue } from '../../config/gateway-file/read-value.ts'
import { instant, integer } from '../../config/gateway-file/values.ts'
import type { CallLogRow } from '../../core/calls/log-row.ts'
import { creditsText } from '../../management/amounts.ts'
import { viewLogRow } from '../../management/log-view.ts'
import { InvalidCursor } from '../../storage/invalid-cursor.ts'
import type { LogFilter, LogPage, Storage } from '../../storage/storage.ts'
import { type Console, tableText } from '../console.ts'
import { CommandFailure } from '../exit-codes.ts'
import { requireAccount, requireKey } from '../find-rows.ts'
import { withStorage } from '../with-storage.ts'

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
  readonly limit?: string
  readonly cursor?: string
  readonly json?: boolean
}

const ROWS_DEFAULT = 20
const ROWS_MAX = 1000

/** Newest first. As JSON one row a line, so that a long log can be piped. */
export async function logs(io: Console, flags: LogFlags): Promise<void> {
  const limit = optional('--limit', flags.limit, integer({ least: 1, most: ROWS_MAX })) ?? ROWS_DEFAULT
  const page = await withStorage(io, 'refuse', async (storage) =>
    readPage(storage, await filterOf(storage, flags), { limit, cursor: flags.cursor }),
  )
  if (flags.json === true) for (const row of page.rows) io.out(`${JSON.stringify(viewLogRow(row))}\n`)
  else
    io.out(
      tableText(
        ['TIME', 'STATUS', 'CODE', 'MODEL', 'VENDOR', 'TOKENS IN/OUT', 'CREDITS', 'MS', 'REQUEST'],
        page.rows.map(cells),
      ),
    )
  if (page.next !== undefined) io.err(`older calls: --cursor ${page.next}\n`)
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

async function filterOf(storage: Storage, flags: LogFlags): Promise<LogFilter> {
  const account = flags.account === undefined ? undefined : await requireAccount(storage, flags.account)
  const key = flags.key === undefined ? undefined : await requireKey(storage, flags.key)
  const from = optional('--from', flags.from, instant)
  const to = optional('--to', flags.to, instant)
  const status = optional('--status', flags.status, integer({ least: 100, most: 599 }))
  return {
    ...(account === undefined ? {} : { accountId: account.id }),
    ...(key === undefined ? {} : { keyId: key.id }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(status === undefined ? {} : { status }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.request === undefined ? {} : { requestId: flags.request }),
    ...(flags.app === undefined ? {} : { appId: flags.app }),
    ...(flags.custom === undefined ? {} : { customId: flags.custom }),
    ...(flags.user === undefined ? {} : { user: flags.user }),
  }
}

function optional<Value>(option: string, text: string | undefined, read: Read<Value>): Value | undefined {
  if (text === undefined) return undefined
  const result = readValue(text, read)
  if (result.kind === 'value') return result.value
  throw new CommandFailure(
    'mistakes',
    `${option} ${result.mistakes.map((mistake) => mistake.message).join(', ')}`,
  )
}

function cells(row: CallLogRow): readonly (string | number | undefined)[] {
  const { usage } = row
  const input =
    (usage.input ?? 0) + (usage.cachedInput ?? 0) + (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  return [
    new Date(row.createdAt).toISOString(),
    row.httpStatus,
    row.code,
    row.model ?? row.modelRequested,
    row.vendorCode,
    `${input}/${usage.output ?? 0}`,
    creditsText(row.deducted),
    row.durationMs,
    row.requestId,
  ]
}
