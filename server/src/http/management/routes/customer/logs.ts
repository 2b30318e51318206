import * as z from 'zod'
import {
  eachLogRow,
  EXPORT_FORMATS,
  exportRows,
  LOG_COLUMNS,
} from '../../../../management/logs/export-rows.ts'
import { NO_TOTALS, readLogTotals } from '../../../../management/logs/log-totals.ts'
import { viewLogRow } from '../../../../management/logs/log-view.ts'
import type { Storage } from '../../../../storage/storage.ts'
import type { Caller } from '../../access/caller.ts'
import { definePage, defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { clientGone } from '../../answers/client-gone.ts'
import { logFilterOf, logFilters } from '../../requests/log-filters.ts'
import { ownKeyIds } from '../../own-keys.ts'
import { exportAnswer } from '../../answers/send-export.ts'
import { logRowShape, logTotalsShape } from '../../answers/shapes.ts'
import { pageQuery } from '../../answers/wire-values.ts'
import type { LogFilter } from '../../../../storage/stores/logs.ts'
import type { ApiContext, Api } from '../../api-context.ts'

const TAG = 'Logs'

const logQuery = z.strictObject({ ...pageQuery({ rowsDefault: 50, rowsMax: 200 }), ...logFilters })
const filterQuery = z.strictObject(logFilters)
const exportQuery = z.strictObject({ ...logFilters, format: z.enum(EXPORT_FORMATS).default('csv') })

/** The account's calls (docs/reference/contract.md#D-accounts-56). */
export type LogsContext = RouteContext & Pick<ApiContext, 'exports'>

export function logRoutes(app: Api, context: LogsContext): void {
  const { storage, now } = context

  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs',
    access: 'account',
    for: 'member',
    tag: TAG,
    summary: 'List calls, newest first',
    description:
      'With a session: the calls of the account; for a member of an organisation, those of their keys. With an API key: the calls of this key. A filter that few calls match may give a short page with a cursor to go on from.',
    query: logQuery,
    row: logRowShape,
    handle: async ({ caller, query }) => {
      const filter = await ownCalls(storage, caller, query)
      if (filter === undefined) return { rows: [], next: undefined }
      const page = await storage.logs.page(filter, { limit: query.limit, cursor: query.cursor })
      return { rows: page.rows.map(viewLogRow), next: page.next }
    },
  })

  summing(app, context)
  defineRawRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs/export',
    access: 'account',
    for: 'member',
    tag: TAG,
    summary: 'Export calls as CSV or NDJSON',
    description:
      'Streamed, newest first. If the export fails midway, the connection is aborted, so that it is not taken for complete.',
    query: exportQuery,
    errors: [42901],
    answer: exportAnswer('csv'),
    handle: async ({ caller, query, request, reply }) => {
      const filter = await ownCalls(storage, caller, { ...query, to: query.to ?? now() })
      const rows = filter === undefined ? noRows() : eachLogRow(storage, filter)
      const lines = exportRows(rows, query.format, LOG_COLUMNS)
      const { method } = request
      return context.exports.send(lines, {
        name: 'calls',
        format: query.format,
        method,
        accountId: caller.account.id,
        reply,
      })
    },
  })
}

function summing(app: Api, context: RouteContext): void {
  const { storage, now } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs/totals',
    access: 'account',
    for: 'member',
    tag: TAG,
    summary: 'Sum the calls that match the filters',
    description:
      'The calls that the list would show, all pages together. Exact with any of from, to, key_id, model and app_id, at most 366 days back; with others the newest are added up, and complete says whether those are all.',
    query: filterQuery,
    data: logTotalsShape,
    handle: async ({ caller, query, reply }) => {
      const signal = clientGone(reply)
      const filter = await ownCalls(storage, caller, query)
      return filter === undefined ? NO_TOTALS : readLogTotals(storage, filter, { now: now(), signal })
    },
  })
}

async function* noRows(): AsyncGenerator<never> {}

/** undefined: a key asks for another key's calls, or a member for another member's, so nothing can match. */
async function ownCalls(
  storage: Pick<Storage, 'keys'>,
  caller: Caller,
  query: z.output<typeof filterQuery>,
): Promise<LogFilter | undefined> {
  const filter = logFilterOf(query)
  if (caller.kind === 'key') {
    const other = query.key_id !== undefined && query.key_id !== caller.key.id
    return other ? undefined : { ...filter, keyId: caller.key.id }
  }
  const own = await ownKeyIds(storage, caller)
  const accountId = caller.account.id
  if (own === undefined) return { ...filter, accountId }
  if (filter.keyId !== undefined) return own.includes(filter.keyId) ? { ...filter, accountId } : undefined
  return own.length === 0 ? undefined : { ...filter, accountId, keyIds: own }
}
