/** The few statements of a hot transaction, prepared once for each connection. */
import type { VideoEnd } from '../../core/ledger/operations.ts'
import { accountMoney, HOT_ACCOUNT_COLUMNS } from '../sql/accounts/account-row.ts'
import { callLogs } from '../sql/logs/call-log-row.ts'
import type { HotWrites } from '../sql/calls/hot-batch.ts'
import { HOT_KEY_COLUMNS } from '../sql/accounts/key-row.ts'
import { limitStates } from '../sql/calls/limit-state-row.ts'
import { memberMonths, selectHotMembers } from '../sql/organisations/member-row.ts'
import { openCallProgress, openCalls } from '../sql/calls/open-call-row.ts'
import type { Table } from '../sql/table.ts'
import { transfers } from '../sql/ledger/transfer-row.ts'
import { ADD_TO_USAGE, usageHalfHours, type UsageRow } from '../sql/usage/usage-row.ts'
import { videoEndCells } from '../sql/videos/video-task-row.ts'
import { assignments, columnList, columnsOf, unnest } from './bulk.ts'
import { CHANNEL } from './listener.ts'
import type { RoundTrip, Statement } from './round-trip.ts'

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

/** Not locked: a revocation committed before is seen, and nothing here writes keys. */
export const READ_KEYS: Statement = {
  name: 'read-keys',
  text: `select ${HOT_KEY_COLUMNS.join(', ')} from api_keys where id = any($1::text[])`,
}

/** Not locked either: a writer of a member holds the lock of the organisation's account. */
export const READ_MEMBERS: Statement = {
  name: 'read-members',
  text: `${selectHotMembers('members m')} where m.id = any($1::text[])`,
}

export const READ_LIMIT_STATES: Statement = {
  name: 'read-limit-states',
  text: `select ${columnList(limitStates)} from limit_states where subject = any($1::text[])`,
}

/** A missing row cannot be locked. */
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

/** A table's changed rows, in any number, and the statement that writes them. */
interface BulkWrite<Value> {
  readonly statement: Statement
  readonly table: Table<Value>
}

const WRITE_ACCOUNTS = bulk(
  'write-accounts',
  accountMoney,
  update(accountMoney, 'id', unnest(accountMoney, 1)),
)
const WRITE_LIMIT_STATES = bulk(
  'write-limit-states',
  limitStates,
  `${insert(limitStates)} on conflict (subject) do update set ${assignments(limitStates, 'excluded')}`,
)
const OPEN_CALLS = bulk('open-calls', openCalls, insert(openCalls))
const CHANGE_OPEN_CALLS = bulk(
  'change-open-calls',
  openCallProgress,
  update(openCallProgress, 'call_id', unnest(openCallProgress, 1)),
)
const ADD_TRANSFERS = bulk('add-transfers', transfers, insert(transfers))
const ADD_LOGS = bulk('add-logs', callLogs, insert(callLogs))
const WRITE_MEMBERS = bulk('write-members', memberMonths, update(memberMonths, 'id', unnest(memberMonths, 1)))
const CORRECT_LOGS = bulk('correct-logs', callLogs, update(callLogs, 'call_id', unnest(callLogs, 1)))
const ADD_USAGE = bulk('add-usage', usageHalfHours, `${insert(usageHalfHours)} ${ADD_TO_USAGE}`)
const CLOSE_CALLS: Statement = {
  name: 'close-calls',
  text: 'delete from open_calls where call_id = any($1::text[])',
}
export const BEGIN: Statement = { name: 'begin', text: 'begin' }
export const COMMIT: Statement = { name: 'commit', text: 'commit' }

/** Adds a statement for each table that a batch changes; other tables get none. */
export function addWrites(trip: RoundTrip, writes: HotWrites, usage: readonly UsageRow[]): void {
  const add = <Value>({ statement, table }: BulkWrite<Value>, values: readonly Value[]) => {
    if (values.length > 0) trip.add(statement, columnsOf(table, values))
  }
  add(WRITE_ACCOUNTS, writes.accounts)
  add(WRITE_LIMIT_STATES, writes.limitStates)
  add(OPEN_CALLS, writes.openCallsNew)
  add(CHANGE_OPEN_CALLS, writes.openCallsChanged)
  add(ADD_TRANSFERS, writes.transfers)
  add(ADD_LOGS, writes.logs)
  trip.read(CLOSE_CALLS, writes.openCallsClosed)
  add(WRITE_MEMBERS, writes.members)
  add(CORRECT_LOGS, writes.logsCorrected)
  // Last: these rows are locked for the shortest time.
  add(ADD_USAGE, usage)
}

export const READ_LOGS: Statement = {
  name: 'read-logs',
  text: `select ${columnList(callLogs)} from call_logs where call_id = any($1::text[])`,
}

export const READS: readonly Statement[] = [
  LOCK_OPEN_CALLS,
  FIND_ENDED,
  LOCK_ACCOUNTS,
  READ_KEYS,
  READ_MEMBERS,
  READ_LIMIT_STATES,
  LOCK_LIMIT_STATES,
  READ_LOGS,
]
export const WRITES: readonly Statement[] = [
  BEGIN,
  COMMIT,
  MAKE_LIMIT_STATES,
  CLOSE_CALLS,
  ...[
    WRITE_ACCOUNTS,
    WRITE_LIMIT_STATES,
    OPEN_CALLS,
    CHANGE_OPEN_CALLS,
    ADD_TRANSFERS,
    ADD_LOGS,
    WRITE_MEMBERS,
    CORRECT_LOGS,
    ADD_USAGE,
  ].map(({ statement }) => statement),
]

function bulk<Value>(name: string, table: Table<Value>, text: string): BulkWrite<Value> {
  return { statement: { name, text }, table }
}

function insert(table: Table<never>): string {
  return `insert into ${table.name} (${columnList(table)}) select ${columnList(table)} from ${unnest(table, 1)}`
}

function update(table: Table<never>, key: string, given: string): string {
  return `update ${table.name} set ${assignments(table, 'given')} from ${given} where ${table.name}.${key} = given.${key}`
}

/** A statement for each task, and one that announces it: few calls end a task, so the others need no statement. */
export function addVideoEnd(trip: RoundTrip, { id, patch }: VideoEnd, notice: string): void {
  const cells = videoEndCells(patch)
  const assignments = cells.map(([column], index) => `${column} = $${index + 2}`).join(', ')
  trip.add({ name: '', text: `update video_tasks set ${assignments} where id = $1` }, [
    id,
    ...cells.map(([, cell]) => (cell === null ? null : String(cell))),
  ])
  trip.add({ name: '', text: 'select pg_notify($1, $2)' }, [CHANNEL, notice])
}
