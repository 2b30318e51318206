/** The few statements of a hot transaction. Named, so that a connection parses and plans each once. */
import type pg from 'pg'
import type { MemberRow } from '../../core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { VideoEnd } from '../../core/ledger/operations.ts'
import { accountMoney, HOT_ACCOUNT_COLUMNS } from '../sql/accounts/account-row.ts'
import { callLogs } from '../sql/logs/call-log-row.ts'
import type { HotWrites } from '../sql/calls/hot-batch.ts'
import { HOT_KEY_COLUMNS } from '../sql/accounts/key-row.ts'
import { limitStates } from '../sql/calls/limit-state-row.ts'
import { memberMonths, selectHotMembers } from '../sql/organisations/member-row.ts'
import { openCallProgress, openCalls } from '../sql/calls/open-call-row.ts'
import type { Cell, Table } from '../sql/table.ts'
import { transfers } from '../sql/ledger/transfer-row.ts'
import { ADD_TO_USAGE, usageHalfHours } from '../sql/usage/usage-row.ts'
import { videoEndCells } from '../sql/videos/video-task-row.ts'
import { assignments, columnArrays, columnList, unnest } from './bulk.ts'

export interface Statement {
  readonly name: string
  readonly text: string
}

/** `no key`: rows that refer to these may be inserted meanwhile. */
const LOCK = 'for no key update'

export const LOCK_OPEN_CALLS: Statement = {
  name: 'lock-open-calls',
  text: `select ${columnList(openCalls)} from open_calls where call_id = any($1::text[]) order by call_id ${LOCK}`,
}

export const FIND_ENDED: Statement = {
  name: 'find-ended',
  text: 'select call_id from call_logs where call_id = any($1::text[])',
}

export const LOCK_ACCOUNTS: Statement = {
  name: 'lock-accounts',
  text: `select ${HOT_ACCOUNT_COLUMNS.join(', ')} from accounts where id = any($1::text[]) order by id ${LOCK}`,
}

/** Not locked: revocation that was committed before is seen, and nothing here writes keys. */
export const READ_KEYS: Statement = {
  name: 'read-keys',
  text: `select ${HOT_KEY_COLUMNS.join(', ')} from api_keys where id = any($1::text[])`,
}

/** Not locked either: whoever writes a member has the lock of the organisation's account. */
export const READ_MEMBERS: Statement = {
  name: 'read-members',
  text: `${selectHotMembers('members m')} where m.id = any($1::text[])`,
}

export const READ_LIMIT_STATES: Statement = {
  name: 'read-limit-states',
  text: `select ${columnList(limitStates)} from limit_states where subject = any($1::text[])`,
}

/** A row that is not there cannot be locked. */
export const MAKE_LIMIT_STATES: Statement = {
  name: 'make-limit-states',
  text: `insert into limit_states (subject, slots, windows)
    select subject, 0, '[]' from unnest($1::text[]) as given (subject) order by subject
    on conflict (subject) do nothing`,
}

export const LOCK_LIMIT_STATES: Statement = {
  name: 'lock-limit-states',
  text: `select ${columnList(limitStates)} from limit_states where subject = any($1::text[])
    order by subject ${LOCK}`,
}

/** All writes of a batch in one statement: one round trip, whatever the batch holds. */
export const WRITE: Statement = { name: 'write', text: writeText() }

export function writeParameters(writes: HotWrites): readonly Cell[][] {
  return [
    ...columnArrays(accountMoney, writes.accounts),
    ...columnArrays(limitStates, writes.limitStates),
    ...columnArrays(openCalls, writes.openCallsNew),
    ...columnArrays(openCallProgress, writes.openCallsChanged),
    ...columnArrays(transfers, writes.transfers),
    ...columnArrays(callLogs, writes.logs),
    [...writes.openCallsClosed],
  ]
}

/** Of its own and last: these rows are locked for the shortest time, and a batch that ends no call does not pay for them. */
export const ADD_USAGE: Statement = {
  name: 'add-usage',
  text: `insert into usage_half_hours (${columnList(usageHalfHours)})
    select ${columnList(usageHalfHours)} from ${unnest(usageHalfHours, 1)} ${ADD_TO_USAGE}`,
}

/** A statement of its own: few calls are a member's, and the others do not pay for it. */
export function writeMembers(members: readonly MemberRow[]): pg.QueryConfig {
  return { ...WRITE_MEMBERS, values: [...columnArrays(memberMonths, members)] }
}

const WRITE_MEMBERS: Statement = {
  name: 'write-members',
  text: update(memberMonths, 'id', unnest(memberMonths, 1)),
}

export const READ_LOGS: Statement = {
  name: 'read-logs',
  text: `select ${columnList(callLogs)} from call_logs where call_id = any($1::text[])`,
}

export function correctLogs(logs: readonly CallLogRow[]): pg.QueryConfig {
  return { ...CORRECT_LOGS, values: [...columnArrays(callLogs, logs)] }
}

const CORRECT_LOGS: Statement = {
  name: 'correct-logs',
  text: update(callLogs, 'call_id', unnest(callLogs, 1)),
}

function update(table: Table<never>, key: string, given: string): string {
  return `update ${table.name} set ${assignments(table, 'given')} from ${given} where ${table.name}.${key} = given.${key}`
}

/** A statement of its own for each task: few calls end one, and the others do not pay for it. */
export function endVideo({ id, patch }: VideoEnd): pg.QueryConfig {
  const cells = videoEndCells(patch)
  const assignments = cells.map(([column], index) => `${column} = $${index + 2}`).join(', ')
  return {
    text: `update video_tasks set ${assignments} where id = $1`,
    values: [id, ...cells.map(([, cell]) => cell)],
  }
}

function writeText(): string {
  let next = 1
  const given = (table: Table<never>): string => {
    const text = unnest(table, next)
    next += Object.keys(table.columns).length
    return text
  }
  const insert = (table: Table<never>) =>
    `insert into ${table.name} (${columnList(table)}) select ${columnList(table)} from ${given(table)}`
  const parts = [
    update(accountMoney, 'id', given(accountMoney)),
    `${insert(limitStates)} on conflict (subject) do update set ${assignments(limitStates, 'excluded')}`,
    insert(openCalls),
    update(openCallProgress, 'call_id', given(openCallProgress)),
    insert(transfers),
    insert(callLogs),
    `delete from open_calls where call_id = any($${next}::text[])`,
  ]
  return `with ${parts.map((part, index) => `part_${index} as (${part})`).join(', ')} select 1`
}
