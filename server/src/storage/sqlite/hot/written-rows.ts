/**
 * The rows a batch writes, as cells: what the storage thread binds, and what it is sent when the batch was decided on
 * another thread.
 */
import type { CallId } from '../../../core/ids.ts'
import type { AccountRow, LimitState, MemberRow, OpenCall, Transfer } from '../../../core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { accountMoney } from '../../sql/accounts/account-row.ts'
import { limitStates } from '../../sql/calls/limit-state-row.ts'
import { openCallProgress, openCalls } from '../../sql/calls/open-call-row.ts'
import { transfers } from '../../sql/ledger/transfer-row.ts'
import { callLogs } from '../../sql/logs/call-log-row.ts'
import { memberMonths } from '../../sql/organisations/member-row.ts'
import type { Cell } from '../../sql/table.ts'
import { ADD_TO_USAGE, type UsageRow, usageHalfHours } from '../../sql/usage/usage-row.ts'
import { cellsOf, insertRows, replaceOnConflict, updateRows } from '../bulk.ts'
import type { Statements } from '../statements.ts'

export interface RowsToWrite {
  readonly accounts: Iterable<AccountRow>
  readonly members: Iterable<MemberRow>
  readonly limitStates: Iterable<LimitState>
  readonly openCallsNew: Iterable<OpenCall>
  readonly openCallsChanged: Iterable<OpenCall>
  readonly openCallsClosed: Iterable<CallId>
  readonly transfers: readonly Transfer[]
  readonly logs: readonly CallLogRow[]
  readonly usage: readonly UsageRow[]
}

/**
 * Cells of each table, one row after the other. Structured clone of such arrays costs less than JSON, which would write
 * the JSON text of a log row as text once more.
 */
export interface WrittenRows {
  readonly accounts: readonly Cell[]
  readonly members: readonly Cell[]
  readonly limitStates: readonly Cell[]
  readonly openCallsNew: readonly Cell[]
  readonly openCallsChanged: readonly Cell[]
  readonly openCallsClosed: readonly CallId[]
  readonly transfers: readonly Cell[]
  readonly logs: readonly Cell[]
  readonly usage: readonly Cell[]
}

export function writtenRows(rows: RowsToWrite): WrittenRows {
  return {
    accounts: cellsOf(accountMoney, rows.accounts),
    members: cellsOf(memberMonths, rows.members),
    limitStates: cellsOf(limitStates, rows.limitStates),
    openCallsNew: cellsOf(openCalls, rows.openCallsNew),
    openCallsChanged: cellsOf(openCallProgress, rows.openCallsChanged),
    openCallsClosed: [...rows.openCallsClosed],
    transfers: cellsOf(transfers, rows.transfers),
    logs: cellsOf(callLogs, rows.logs),
    usage: cellsOf(usageHalfHours, rows.usage),
  }
}

/** In a transaction. */
export function writeRows(statements: Statements, rows: WrittenRows): void {
  updateRows(statements, accountMoney, rows.accounts)
  updateRows(statements, memberMonths, rows.members)
  insertRows(statements, limitStates, rows.limitStates, REPLACE_LIMIT_STATE)
  insertRows(statements, openCalls, rows.openCallsNew, '')
  updateRows(statements, openCallProgress, rows.openCallsChanged)
  if (rows.openCallsClosed.length > 0) {
    statements.prepare(DELETE_OPEN_CALLS).run(JSON.stringify(rows.openCallsClosed))
  }
  insertRows(statements, transfers, rows.transfers, '')
  insertRows(statements, callLogs, rows.logs, '')
  insertRows(statements, usageHalfHours, rows.usage, ADD_TO_USAGE)
}

const DELETE_OPEN_CALLS = 'delete from open_calls where call_id in (select value from json_each(?))'
const REPLACE_LIMIT_STATE = replaceOnConflict(limitStates, 'subject')
