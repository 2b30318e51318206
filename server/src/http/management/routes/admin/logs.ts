/** The call log of all accounts: read, exported, summed; free calls and their reasons. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { CallLogRow } from '../../../../core/ledger/log-row.ts'
import { accountId } from '../../../../core/ids.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { microCredits } from '../../../../core/money.ts'
import { FREE_REASONS, whyFree } from '../../../../management/admin/free-calls.ts'
import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  exportRows,
  LOG_COLUMNS,
} from '../../../../management/logs/export-rows.ts'
import { readLogTotals } from '../../../../management/logs/log-totals.ts'
import { viewLogRow, viewOperatorLogRow } from '../../../../management/logs/log-view.ts'
import type { Storage } from '../../../../storage/storage.ts'
import { definePage, defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { clientGone } from '../../answers/client-gone.ts'
import { logFilterOf, logFilters } from '../../requests/log-filters.ts'
import { attemptShape, logRowShape, logTotalsShape } from '../../answers/shapes.ts'
import { decimalText, instantText, isoTime, pageQuery } from '../../answers/wire-values.ts'
import type { LogFilter } from '../../../../storage/stores/logs.ts'
import { exportAnswer } from '../../answers/send-export.ts'
import type { Api } from '../../api-context.ts'
import { readAccountNames } from './account-names.ts'

const TAG = 'Admin: logs and statistics'
const EXPORT_PAGE_ROWS = 500

const filters = {
  account_id: z.string().max(128).optional(),
  usage_suspect: z
    .enum(['true'])
    .optional()
    .meta({ description: 'Only calls whose upstream reported impossible usage.' }),
  ...logFilters,
}
const filterQuery = z.strictObject(filters)

/** The owner's view with the account, and the vendors' messages. */
const adminLogShape = logRowShape.extend({
  account_id: z.string().nullable(),
  account_name: z
    .string()
    .nullable()
    .meta({ description: 'The account’s name, else its address or number.' }),
  attempts: z.array(
    attemptShape.extend({
      said: z.string().nullable().meta({
        description:
          'The error of the vendor or of the connection: at most 300 characters, without the credential.',
      }),
    }),
  ),
})

export function adminLogRoutes(app: Api, context: RouteContext): void {
  listRoute(app, context)
  totalsRoute(app, context)
  exportRoute(app, context)
  freeCallsRoute(app, context)
}

function listRoute(app: Api, context: RouteContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/admin/logs',
    access: 'admin',
    tag: TAG,
    summary: 'List calls of all accounts, newest first',
    query: z.strictObject({ ...filters, ...pageQuery({ rowsDefault: 50, rowsMax: 200 }) }),
    row: adminLogShape,
    handle: async ({ query }) => {
      const page = await storage.logs.page(filterOf(query), { limit: query.limit, cursor: query.cursor })
      return { rows: await viewRows(storage, page.rows), next: page.next }
    },
  })
}

function totalsRoute(app: Api, context: RouteContext): void {
  const { storage, now } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/logs/totals',
    access: 'admin',
    tag: TAG,
    summary: 'Sum the calls that match the filters, of all accounts',
    description:
      'Exact with any of from, to, account_id, key_id, model and app_id, at most 366 days back; with others the newest are added up, and complete says whether those are all.',
    query: filterQuery,
    data: logTotalsShape,
    handle: ({ query, reply }) =>
      readLogTotals(storage, filterOf(query), { now: now(), signal: clientGone(reply) }),
  })
}

function exportRoute(app: Api, context: RouteContext): void {
  const { storage } = context
  defineRawRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/logs/export',
    access: 'admin',
    tag: TAG,
    summary: 'Export calls of all accounts',
    description: 'Streamed, newest first, with the filters of the list; CSV or one JSON object a line.',
    query: z.strictObject({ ...filters, format: z.enum(EXPORT_FORMATS).default('ndjson') }),
    answer: exportAnswer('ndjson'),
    handle: ({ query, reply }) => {
      const { format } = query
      const filter = { ...filterOf(query), to: query.to ?? context.now() + 1 }
      reply.type(EXPORT_TYPES[format])
      reply.header('content-disposition', `attachment; filename="calls.${format}"`)
      return Readable.from(exportRows(eachRow(storage, filter), format, ['account_id', ...LOG_COLUMNS]))
    },
  })
}

function freeCallsRoute(app: Api, context: RouteContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/admin/free-calls',
    access: 'admin',
    tag: TAG,
    summary: 'List answered calls that cost nothing, and why',
    description: 'A page may be short, even empty, and still have a `next_cursor`.',
    query: z.strictObject({
      ...pageQuery({ rowsDefault: 100, rowsMax: 500 }),
      from: instantText.optional(),
      to: instantText.optional(),
    }),
    row: z.strictObject({
      request_id: z.string(),
      created_at: isoTime,
      account_id: z.string().nullable(),
      model: z.string().nullable(),
      chain_id: z.number().int().nullable(),
      amount: decimalText,
      why: z.enum(FREE_REASONS),
    }),
    handle: async ({ query }) => {
      const filter = { ...filterOf(query), deductedMax: microCredits(0n) }
      const page = await storage.logs.page(filter, { limit: query.limit, cursor: query.cursor })
      const rows = page.rows.flatMap((row) => {
        const why = whyFree(row)
        if (why === undefined) return []
        const { request_id, created_at, model, chain_id, amount } = viewLogRow(row)
        return [{ request_id, created_at, account_id: row.accountId ?? null, model, chain_id, amount, why }]
      })
      return { rows, next: page.next }
    },
  })
}

function filterOf(query: z.output<typeof filterQuery>): LogFilter {
  const { account_id: account, usage_suspect: suspect } = query
  return {
    ...logFilterOf(query),
    ...(account === undefined ? {} : { accountId: accountId(account) }),
    ...(suspect === undefined ? {} : { suspect: true }),
  }
}

async function viewRows(storage: Pick<Storage, 'accounts'>, rows: readonly CallLogRow[]) {
  const names = await readAccountNames(storage, rows)
  return rows.map((row) => ({
    ...viewOperatorLogRow(row),
    account_id: row.accountId ?? null,
    account_name: (row.accountId === undefined ? undefined : names.get(row.accountId)) ?? null,
  }))
}

async function* eachRow(
  storage: Pick<Storage, 'logs' | 'accounts'>,
  filter: LogFilter,
): AsyncGenerator<JsonObject> {
  let cursor: string | undefined
  do {
    const page = await storage.logs.page(filter, { limit: EXPORT_PAGE_ROWS, cursor, bulk: true })
    yield* await viewRows(storage, page.rows)
    cursor = page.next
  } while (cursor !== undefined)
}
