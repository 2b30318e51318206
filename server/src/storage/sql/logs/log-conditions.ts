/** Which of a filter's conditions use an index, and which are checked on the rows found there. */
import type { SelectQueryBuilder } from 'kysely'
import { indexableText } from '../free-text.ts'
import type { Schema } from '../schema.ts'
import type { LogFilter } from '../../stores/logs.ts'

export type Logs = SelectQueryBuilder<Schema, 'call_logs', object>

export interface LogConditions {
  /** Looked up in one index; none: by time only. */
  readonly chosen: readonly LogCondition[]
  readonly rest: readonly LogCondition[]
  /** Keys whose rows are requested: each looked up in the index of keys, or checked on the rows. */
  readonly keys:
    | {
        readonly by: 'index' | 'rows'
        readonly ids: readonly string[]
      }
    | undefined
  /** µCr deducted; in no index, so checked on the rows too. */
  readonly deducted: Bounds
  /** Impossible reported usage; in no index. */
  readonly suspect: boolean
  /** Only failed calls, or only successful ones; undefined: both. Checked on the rows. */
  readonly failed: boolean | undefined
}

export interface Bounds {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

/** The index alone decides: every row it finds is wanted. */
export function isIndexAlone({ rest, keys, deducted, suspect, failed }: LogConditions): boolean {
  const bounded = deducted.least !== undefined || deducted.most !== undefined
  return rest.length === 0 && keys?.by !== 'rows' && !bounded && !suspect && failed === undefined
}

export type LogCondition =
  | { readonly column: TextColumn; readonly value: string }
  | { readonly column: 'http_status'; readonly value: bigint }

type TextColumn = 'request_id' | 'custom_id' | 'end_user' | 'key_id' | 'account_id' | 'app_id' | 'model'
type Column = LogCondition['column']

/**
 * The indexes, those that usually lead to the fewest rows first. Chosen here, because a planner without statistics may
 * scan ten million rows of a model to find one account's.
 */
const INDEXES: readonly (readonly Column[])[] = [
  ['request_id'],
  ['custom_id'],
  ['end_user'],
  ['account_id', 'http_status'],
  ['key_id'],
  ['account_id'],
  ['http_status'],
  ['app_id'],
  ['model'],
]
/** Lower ones are in no index: most calls succeed, and the index by time finds them as fast. */
export const FAILURE_STATUS_MIN = 400n

export function logConditions(filter: LogFilter): LogConditions {
  const conditions = conditionsOf(filter)
  const indexed = new Set(conditions.filter(isIndexed).map(({ column }) => column))
  const best = INDEXES.find((columns) => columns.every((column) => indexed.has(column))) ?? []
  const keys = keysOf(filter, best)
  // The rows are found by key, so no other condition selects an index.
  const chosen = keys?.by === 'index' ? [] : best
  return {
    keys,
    chosen: conditions.filter(({ column }) => chosen.includes(column)),
    rest: conditions.filter(({ column }) => !chosen.includes(column)),
    deducted: { least: filter.deductedMin, most: filter.deductedMax },
    suspect: filter.suspect === true,
    failed: filter.failed,
  }
}

/** Columns that lead to fewer rows than several keys do. */
const FEWER: ReadonlySet<Column> = new Set<Column>(['request_id', 'custom_id', 'end_user', 'key_id'])
/** Each key is a separate look-up; the rows are merged. */
const KEYS_LOOKED_UP_MAX = 20

function keysOf({ keyIds }: LogFilter, best: readonly Column[]): LogConditions['keys'] {
  if (keyIds === undefined) return undefined
  const ids = [...new Set<string>(keyIds)]
  const few = ids.length <= KEYS_LOOKED_UP_MAX && !best.some((column) => FEWER.has(column))
  return { by: few ? 'index' : 'rows', ids }
}

function conditionsOf(filter: LogFilter): readonly LogCondition[] {
  const text = (column: TextColumn, value: string | undefined): LogCondition[] =>
    value === undefined ? [] : [{ column, value: indexableText(value) }]
  return [
    ...text('request_id', filter.requestId),
    ...text('custom_id', filter.customId),
    ...text('end_user', filter.user),
    ...text('key_id', filter.keyId),
    ...text('account_id', filter.accountId),
    ...text('app_id', filter.appId),
    ...text('model', filter.model),
    ...(filter.status === undefined
      ? []
      : [{ column: 'http_status' as const, value: BigInt(filter.status) }]),
  ]
}

function isIndexed(condition: LogCondition): boolean {
  return condition.column !== 'http_status' || condition.value >= FAILURE_STATUS_MIN
}
