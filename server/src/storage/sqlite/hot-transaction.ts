/** One batch of hot verbs as one SQLite transaction, start to end without yielding. */
import type { HotRows, OpenCall } from '../../core/calls/hot-rows.ts'
import type { HotOperation } from '../../core/calls/operations.ts'
import { callId, type CallId } from '../../core/ids.ts'
import { accountMoney, decodeAccountRow, HOT_ACCOUNT_COLUMNS } from '../sql/account-row.ts'
import { callLogs } from '../sql/call-log-row.ts'
import {
  decideHotBatch,
  type HotResult,
  type HotWrites,
  wantedCalls,
  wantedRows,
  type WantedRows,
} from '../sql/hot-batch.ts'
import { decodeKeyRow, HOT_KEY_COLUMNS } from '../sql/key-row.ts'
import { decodeLimitState, limitStates } from '../sql/limit-state-row.ts'
import { decodeOpenCall, openCallProgress, openCalls } from '../sql/open-call-row.ts'
import { textOf } from '../sql/table.ts'
import { transfers } from '../sql/transfer-row.ts'
import { insertRows, replaceOnConflict, updateRows } from './bulk.ts'
import type { SqliteRow } from './library.ts'
import type { Statements } from './statements.ts'

export function runHotTransaction(
  statements: Statements,
  operations: readonly HotOperation[],
): readonly HotResult[] {
  // The write lock from the start: nothing that is read here can change before the commit.
  statements.prepare('begin immediate').run()
  try {
    const wanted = wantedCalls(operations)
    const calls = new Map<CallId, OpenCall>()
    for (const row of load(statements, SELECT_OPEN_CALLS, wanted.callIds)) {
      const call = decodeOpenCall(row)
      calls.set(call.callId, call)
    }
    const ended = new Set(
      load(statements, SELECT_ENDED, wanted.reserved).map((row) => callId(textOf(row, 'call_id'))),
    )
    const rows = loadRows(statements, wantedRows(operations, calls), calls)
    const { results, writes } = decideHotBatch(rows, operations, ended)
    write(statements, writes)
    statements.prepare('commit').run()
    return results
  } catch (error) {
    statements.prepare('rollback').run()
    throw error
  }
}

const SELECT_OPEN_CALLS = selectByIds('open_calls', 'call_id', Object.keys(openCalls.columns))
const SELECT_ENDED = selectByIds('call_logs', 'call_id', ['call_id'])
const SELECT_ACCOUNTS = selectByIds('accounts', 'id', HOT_ACCOUNT_COLUMNS)
const SELECT_KEYS = selectByIds('api_keys', 'id', HOT_KEY_COLUMNS)
const SELECT_LIMIT_STATES = selectByIds('limit_states', 'subject', Object.keys(limitStates.columns))
const DELETE_OPEN_CALLS = 'delete from open_calls where call_id in (select value from json_each(?)) '

/** `cross join` keeps the ids outside: one primary-key lookup for each. */
function selectByIds(table: string, key: string, columns: readonly string[]): string {
  const list = columns.map((column) => `t.${column}`).join(', ')
  return `select ${list} from json_each(?) wanted cross join ${table} t on t.${key} = wanted.value`
}

function load(statements: Statements, sql: string, ids: readonly string[]): readonly SqliteRow[] {
  return ids.length === 0 ? [] : statements.prepare(sql).all(JSON.stringify(ids))
}

function loadRows(
  statements: Statements,
  wanted: WantedRows,
  openCallsById: ReadonlyMap<CallId, OpenCall>,
): HotRows {
  const accounts = load(statements, SELECT_ACCOUNTS, wanted.accountIds).map(decodeAccountRow)
  const keys = load(statements, SELECT_KEYS, wanted.keyIds).map(decodeKeyRow)
  const states = load(statements, SELECT_LIMIT_STATES, [
    ...wanted.subjects,
    ...wanted.credentialSubjects,
  ]).map(decodeLimitState)
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    keys: new Map(keys.map((key) => [key.id, key])),
    limitStates: new Map(states.map((state) => [state.subject, state])),
    openCalls: openCallsById,
  }
}

const REPLACE_LIMIT_STATE = replaceOnConflict(limitStates, 'subject')

function write(statements: Statements, writes: HotWrites): void {
  updateRows(statements, accountMoney, writes.accounts)
  insertRows(statements, limitStates, writes.limitStates, REPLACE_LIMIT_STATE)
  insertRows(statements, openCalls, writes.openCallsNew, '')
  updateRows(statements, openCallProgress, writes.openCallsChanged)
  if (writes.openCallsClosed.length > 0) {
    statements.prepare(DELETE_OPEN_CALLS).run(JSON.stringify(writes.openCallsClosed))
  }
  insertRows(statements, transfers, writes.transfers, '')
  insertRows(statements, callLogs, writes.logs, 'on conflict (call_id) do nothing')
}
