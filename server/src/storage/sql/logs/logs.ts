/** Pages of call logs, newest first. */
import { type Kysely, sql } from 'kysely'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { type KeyId, keyId } from '../../../core/ids.ts'
import { decodeCallLog } from './call-log-row.ts'
import { decodeCursor, encodeCursor, type Place } from '../cursor.ts'
import type { SqlEngine } from '../engine.ts'
import {
  FAILURE_STATUS_MIN,
  isIndexAlone,
  type LogConditions,
  type Logs,
  logConditions,
} from './log-conditions.ts'
import { keepLog } from './log-retention.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { LogStore } from '../../stores/logs.ts'

/**
 * Rows read for one page at most. A filter that few rows match gives a short page with a cursor to continue from,
 * instead of a query that reads ten million rows for the fiftieth match.
 */
const SCAN_ROWS_MAX = 10_000

export function createLogStore(engine: SqlEngine): LogStore {
  return {
    keep: (upkeep) => keepLog(engine, upkeep),

    lastUses: (keys) => readLastUses(engine.reader, keys),

    async page(filter, { limit, cursor, bulk }) {
      const reader = bulk === true ? engine.bulkReader : engine.reader
      const wanted = pageLimit(limit)
      const conditions = { ...logConditions(filter), from: filter.from, to: filter.to }
      const after = cursor === undefined ? undefined : decodeCursor(cursor)
      if (conditions.keys?.ids.length === 0) return { rows: [], next: undefined }
      const rows = await readRows(reader, { conditions, after, wanted })
      const last = rows.at(-1)
      if (rows.length === wanted && last !== undefined) {
        return { rows, next: encodeCursor({ at: last.createdAt, id: last.callId }) }
      }
      const place = isIndexAlone(conditions) ? undefined : await endOfScan(reader, conditions, after)
      return { rows, next: place === undefined ? undefined : encodeCursor(place) }
    },
  }
}

/** One look-up at the end of an index for each key, however many calls it made. */
async function readLastUses(
  reader: Kysely<Schema>,
  keys: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, number>> {
  if (keys.length === 0) return new Map()
  const rows = await reader
    .selectFrom('api_keys')
    .select((key) => [
      'id',
      key
        .selectFrom('call_logs')
        .select('created_at')
        .whereRef('call_logs.key_id', '=', 'api_keys.id')
        .orderBy('created_at', 'desc')
        .limit(1)
        .as('used_at'),
    ])
    .where('id', 'in', keys)
    .execute()
  return new Map(
    rows.flatMap(({ id, used_at }) => (used_at === null ? [] : [[keyId(id), Number(used_at)] as const])),
  )
}

interface Conditions extends LogConditions {
  readonly from: number | undefined
  readonly to: number | undefined
}

interface Page {
  readonly conditions: Conditions
  readonly after: Place | undefined
  readonly wanted: number
}

/** The rows of the chosen index, newest first, filtered by the remaining conditions. */
async function readRows(
  reader: Kysely<Schema>,
  { conditions, after, wanted }: Page,
): Promise<readonly CallLogRow[]> {
  const { rest, keys, deducted, suspect, failed } = conditions
  const scanned = scan(reader, conditions, after)
    .selectAll()
    .limit(isIndexAlone(conditions) ? wanted : SCAN_ROWS_MAX)
  if (isIndexAlone(conditions)) {
    const rows = await scanned.execute()
    return rows.map((row) => decodeCallLog({ ...row }))
  }
  let matching = reader.selectFrom(scanned.as('scanned')).selectAll()
  for (const { column, value } of rest) matching = matching.where(column, '=', value)
  if (keys?.by === 'rows') matching = matching.where('key_id', 'in', keys.ids)
  if (deducted.least !== undefined) matching = matching.where('deducted', '>=', deducted.least)
  if (deducted.most !== undefined) matching = matching.where('deducted', '<=', deducted.most)
  if (failed !== undefined) {
    matching = matching.where('http_status', failed ? '>=' : '<', FAILURE_STATUS_MIN)
  }
  if (suspect) matching = matching.where('detail', 'like', SUSPECT)
  const rows = await matching.orderBy('created_at', 'desc').orderBy('call_id', 'desc').limit(wanted).execute()
  return rows.map((row) => decodeCallLog({ ...row }))
}

/** The row's detail is JSON, in which a client's text cannot contain an unescaped quote. */
const SUSPECT = '%"usageSuspect":{%'

/** Where to continue after a page that read its maximum of rows; undefined: it read the last one. */
async function endOfScan(
  reader: Kysely<Schema>,
  conditions: Conditions,
  after: Place | undefined,
): Promise<Place | undefined> {
  const row = await scan(reader, conditions, after)
    .select(['created_at', 'call_id'])
    .limit(1)
    .offset(SCAN_ROWS_MAX - 1)
    .executeTakeFirst()
  return row === undefined ? undefined : { at: Number(row.created_at), id: row.call_id }
}

function scan(reader: Kysely<Schema>, conditions: Conditions, after: Place | undefined): Logs {
  const { keys, chosen } = conditions
  if (keys?.by !== 'index') return scanOne(reader, conditions, after)
  const [first, ...others] = keys.ids.map((value) => {
    const ofKey = scanOne(reader, { ...conditions, chosen: [...chosen, { column: 'key_id', value }] }, after)
    return reader.selectFrom(ofKey.selectAll().limit(SCAN_ROWS_MAX).as('of_key')).selectAll()
  })
  if (first === undefined) throw new Error('the log is looked through for no key')
  const merged = others.reduce((all, one) => all.unionAll(one), first)
  return reader.selectFrom(merged.as('call_logs')).orderBy('created_at', 'desc').orderBy('call_id', 'desc')
}

/** Most calls have their request's id as their own, and the index of requests contains only the others. */
function ofRequest(logs: Logs, id: string): Logs {
  return logs.where((where) =>
    where.or([
      where.and([where('call_id', '=', id), where('request_id', '=', id)]),
      where.and([where('request_id', '=', id), where('request_id', '<>', where.ref('call_id'))]),
    ]),
  )
}

function scanOne(reader: Kysely<Schema>, { chosen, from, to }: Conditions, after: Place | undefined): Logs {
  let logs: Logs = reader.selectFrom('call_logs')
  for (const { column, value } of chosen) {
    logs = column === 'request_id' ? ofRequest(logs, String(value)) : logs.where(column, '=', value)
    // Repeated in the index's own terms, so that it can be used.
    if (column === 'http_status') logs = logs.where('http_status', '>=', sql.lit(FAILURE_STATUS_MIN))
  }
  if (from !== undefined) logs = logs.where('created_at', '>=', BigInt(from))
  if (to !== undefined) logs = logs.where('created_at', '<=', BigInt(to))
  if (after !== undefined) {
    const at = BigInt(after.at)
    logs = logs
      .where('created_at', '<=', at)
      .where((where) => where.or([where('created_at', '<', at), where('call_id', '<', after.id)]))
  }
  return logs.orderBy('created_at', 'desc').orderBy('call_id', 'desc')
}
