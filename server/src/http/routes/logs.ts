import { z } from 'zod'
import { keyId } from '../../core/ids.ts'
import { creditsOfText } from '../../management/amounts.ts'
import {
  eachLogRow,
  EXPORT_FORMATS,
  EXPORT_TYPES,
  exportRows,
  LOG_COLUMNS,
} from '../../management/export-rows.ts'
import { viewLogRow } from '../../management/log-view.ts'
import type { LogFilter, Storage } from '../../storage/storage.ts'
import { amountInput } from '../amount-input.ts'
import type { Api, ApiContext } from '../api.ts'
import type { Caller } from '../caller.ts'
import { definePage, defineRawRoute } from '../define-route.ts'
import { ownKeyIds } from '../own-keys.ts'
import { sendExport } from '../send-export.ts'
import { logRowShape } from '../shapes.ts'
import { instantText, pageQuery } from '../wire-values.ts'

const TAG = 'Logs'

const filters = {
  from: instantText.optional(),
  to: instantText.optional(),
  model: z.string().max(512).optional(),
  key_id: z.string().max(128).optional(),
  request_id: z.string().max(128).optional(),
  app_id: z.string().max(256).optional(),
  custom_id: z.string().max(256).optional(),
  user: z.string().max(512).optional(),
  status: z.coerce.number().int().optional(),
  cost_from: amountInput.optional().meta({ description: 'Credits deducted, at least.' }),
  cost_to: amountInput.optional().meta({ description: 'Credits deducted, at most.' }),
} as const
const logQuery = z.object({ ...pageQuery({ rowsDefault: 50, rowsMax: 200 }), ...filters })
const filterQuery = z.object(filters)
const exportQuery = z.strictObject({ ...filters, format: z.enum(EXPORT_FORMATS).default('csv') })

/** The account's calls (decisions, Accounts). */
export function logRoutes(app: Api, context: ApiContext): void {
  const { storage, now } = context.gateway

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

  defineRawRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs/export',
    access: 'account',
    for: 'member',
    tag: TAG,
    summary: 'Export calls as CSV or NDJSON',
    description:
      'Streamed, newest first. An answer that breaks off is cut, so that nobody takes it for whole.',
    query: exportQuery,
    errors: [42901],
    answer: { contentType: EXPORT_TYPES.csv, schema: z.string() },
    handle: async ({ caller, query, request, reply }) => {
      const filter = await ownCalls(storage, caller, { ...query, to: query.to ?? now() })
      const rows = filter === undefined ? noRows() : eachLogRow(storage, filter)
      const lines = exportRows(rows, query.format, LOG_COLUMNS)
      const { method } = request
      return sendExport(lines, {
        name: 'calls',
        format: query.format,
        method,
        accountId: caller.account.id,
        reply,
      })
    },
  })
}

async function* noRows(): AsyncGenerator<never> {}

/** undefined: a key asks for another key's calls, or a member for another member's, and nothing can match. */
async function ownCalls(
  storage: Pick<Storage, 'keys'>,
  caller: Caller,
  query: z.output<typeof filterQuery>,
): Promise<LogFilter | undefined> {
  const filter = logFilter(query)
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

function logFilter(query: z.output<typeof filterQuery>): LogFilter {
  return {
    ...(query.from === undefined ? {} : { from: query.from }),
    ...(query.to === undefined ? {} : { to: query.to }),
    ...(query.model === undefined ? {} : { model: query.model }),
    ...(query.key_id === undefined ? {} : { keyId: keyId(query.key_id) }),
    ...(query.request_id === undefined ? {} : { requestId: query.request_id }),
    ...(query.app_id === undefined ? {} : { appId: query.app_id }),
    ...(query.custom_id === undefined ? {} : { customId: query.custom_id }),
    ...(query.user === undefined ? {} : { user: query.user }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.cost_from === undefined ? {} : { deductedMin: creditsOfText(query.cost_from) }),
    ...(query.cost_to === undefined ? {} : { deductedMax: creditsOfText(query.cost_to) }),
  }
}
