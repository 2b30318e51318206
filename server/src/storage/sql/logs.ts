/** Pages of call logs, newest first. */
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { LogFilter, LogPage, LogStore } from '../storage.ts'
import { decodeCallLog } from './call-log-row.ts'
import { decodeCursor, encodeCursor, type Place } from './cursor.ts'
import { indexableText } from './free-text.ts'
import { pageLimit } from './page.ts'
import type { CallLogsTable, Schema } from './schema.ts'

export function createLogStore(reader: Kysely<Schema>): LogStore {
  return {
    async page(filter, { limit, cursor }) {
      const rows = pageLimit(limit)
      const after = cursor === undefined ? undefined : decodeCursor(cursor)
      const stored = await matching(reader, filter, after)
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('call_id', 'desc')
        .limit(rows)
        .execute()
      return pageOf(
        stored.map((row) => decodeCallLog({ ...row })),
        rows,
      )
    },
  }
}

function pageOf(rows: LogPage['rows'], limit: number): LogPage {
  const last = rows.at(-1)
  const next =
    last === undefined || rows.length < limit
      ? undefined
      : encodeCursor({ at: last.createdAt, id: last.callId })
  return { rows, next }
}

type Logs = SelectQueryBuilder<Schema, 'call_logs', object>

function matching(reader: Kysely<Schema>, filter: LogFilter, after: Place | undefined): Logs {
  let logs: Logs = reader.selectFrom('call_logs')
  for (const [column, value] of textFilters(filter)) {
    if (value !== undefined) logs = logs.where(column, '=', value)
  }
  if (filter.status !== undefined) {
    logs = logs.where('http_status', '=', BigInt(filter.status))
    // Said again, so that the index over failures alone can be used.
    if (filter.status >= 400) logs = logs.where('http_status', '>=', 400n)
  }
  if (filter.from !== undefined) logs = logs.where('created_at', '>=', BigInt(filter.from))
  if (filter.to !== undefined) logs = logs.where('created_at', '<=', BigInt(filter.to))
  if (after !== undefined) {
    const at = BigInt(after.at)
    logs = logs
      .where('created_at', '<=', at)
      .where((where) => where.or([where('created_at', '<', at), where('call_id', '<', after.id)]))
  }
  return logs
}

function textFilters(filter: LogFilter): readonly [keyof CallLogsTable, string | undefined][] {
  const text = (value: string | undefined) => indexableText(value) ?? undefined
  return [
    ['account_id', filter.accountId],
    ['key_id', filter.keyId],
    ['model', text(filter.model)],
    ['request_id', text(filter.requestId)],
    ['app_id', text(filter.appId)],
    ['custom_id', text(filter.customId)],
    ['end_user', text(filter.user)],
  ]
}
