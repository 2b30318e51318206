/** Batches of hot verbs as SQLite transactions, each start to end without yielding. */
import type { EndedVideo, HotRows, OpenCall, Subject } from '../../../core/ledger/hot-rows.ts'
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { type AccountId, callId, type CallId, type KeyId, type MemberId } from '../../../core/ids.ts'
import { decodeAccountRow, HOT_ACCOUNT_COLUMNS } from '../../sql/accounts/account-row.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { callLogs, decodeCallLog } from '../../sql/logs/call-log-row.ts'
import {
  decideHotBatch,
  type HotResult,
  type HotWrites,
  wantedCalls,
  wantedMembers,
  wantedRows,
  withMembers,
  type WantedRows,
} from '../../sql/calls/hot-batch.ts'
import { encodeAnnouncement } from '../../sql/announcement.ts'
import { decodeKeyRow, HOT_KEY_COLUMNS } from '../../sql/accounts/key-row.ts'
import { decodeLimitState, limitStates } from '../../sql/calls/limit-state-row.ts'
import { decodeMemberRow, selectHotMembers } from '../../sql/organisations/member-row.ts'
import { decodeOpenCall, openCalls } from '../../sql/calls/open-call-row.ts'
import { integerOf, textOf } from '../../sql/table.ts'
import { pairLogs, type ReplacedLog, UsageSummer } from '../../sql/usage/usage-summer.ts'
import { videoEndCells } from '../../sql/videos/video-task-row.ts'
import { cellsOf, updateRows } from '../bulk.ts'
import { HotRowsCache } from './hot-rows-cache.ts'
import type { SqliteRow } from '../library.ts'
import type { Recent } from './recent.ts'
import { rollBack } from '../roll-back.ts'
import type { Statements } from '../statements.ts'
import { type WrittenRows, writeRows, writtenRows } from './written-rows.ts'

export class HotTransactions {
  readonly #statements: Statements
  readonly #cache = new HotRowsCache()
  readonly #usage = new UsageSummer()
  /** Origin of the announcements. */
  readonly #origin: string

  constructor(statements: Statements, origin: string) {
    this.#statements = statements
    this.#origin = origin
  }

  run(operations: readonly HotOperation[]): readonly HotResult[] {
    // The write lock from the start: nothing that is read here can change before the commit.
    this.#statements.prepare('begin immediate').run()
    try {
      this.#cache.check(this.#dataVersion())
      const { rows, ended } = this.#loadRows(operations)
      const { results, writes } = decideHotBatch(rows, operations, ended)
      this.#write(writes)
      this.#statements.prepare('commit').run()
      this.#cache.keep(writes)
      return results
    } catch (error) {
      this.#cache.forget()
      rollBack(this.#statements)
      throw error
    }
  }

  /**
   * Commits rows that were decided in the process's memory, unless another connection has committed since `version`.
   * Returns whether it did.
   */
  commit(rows: WrittenRows, version: bigint): boolean {
    this.#statements.prepare('begin immediate').run()
    try {
      const isCurrent = this.#dataVersion() === version
      if (isCurrent) writeRows(this.#statements, rows)
      this.#statements.prepare(isCurrent ? 'commit' : 'rollback').run()
      return isCurrent
    } catch (error) {
      rollBack(this.#statements)
      throw error
    }
  }

  /** Rows as they are now. The version is read first: what is committed in between makes it an old one. */
  load(wanted: LoadedIds): LoadedRows {
    const version = this.#dataVersion()
    return {
      version,
      openCalls: this.#select(SELECT_OPEN_CALLS, wanted.openCalls),
      keys: this.#select(SELECT_KEYS, wanted.keys),
      members: this.#select(SELECT_MEMBERS, wanted.members),
      accounts: this.#select(SELECT_ACCOUNTS, wanted.accounts),
      limitStates: this.#select(SELECT_LIMIT_STATES, wanted.limitStates),
    }
  }

  /** Call when something else writes on this connection. */
  forgetRows(): void {
    this.#cache.forget()
  }

  /** A changed number: another connection has committed since. */
  #dataVersion(): bigint {
    const row = this.#statements.prepare('pragma data_version').get()
    if (row === undefined) throw new Error('SQLite tells no data_version')
    return integerOf(row, 'data_version')
  }

  #loadRows(operations: readonly HotOperation[]): {
    readonly rows: HotRows
    readonly ended: ReadonlySet<CallId>
  } {
    const { callIds, endable } = wantedCalls(operations, 'nothing')
    const calls = collect(callIds, this.#cache.openCalls, (missing) =>
      this.#select(SELECT_OPEN_CALLS, missing).map((row) => {
        const call = decodeOpenCall(row)
        return [call.callId, call]
      }),
    )
    const ended = this.#select(SELECT_ENDED, endable).map((row) => callId(textOf(row, 'call_id')))
    return { rows: this.#loadTouched(wantedRows(operations, calls), calls), ended: new Set(ended) }
  }

  #loadTouched(wanted: WantedRows, openCalls: ReadonlyMap<CallId, OpenCall>): HotRows {
    const keys = collect(wanted.keyIds, this.#cache.keys, (missing) =>
      this.#select(SELECT_KEYS, missing).map((row) => {
        const key = decodeKeyRow(row)
        return [key.id, key]
      }),
    )
    const members = wantedMembers(keys.values(), openCalls.values())
    const subjects = [...withMembers(wanted, members).subjects, ...wanted.credentialSubjects]
    return {
      openCalls,
      keys,
      members: collect(members, this.#cache.members, (missing) =>
        this.#select(SELECT_MEMBERS, missing).map((row) => {
          const member = decodeMemberRow(row)
          return [member.id, member]
        }),
      ),
      accounts: collect(wanted.accountIds, this.#cache.accounts, (missing) =>
        this.#select(SELECT_ACCOUNTS, missing).map((row) => {
          const account = decodeAccountRow(row)
          return [account.id, account]
        }),
      ),
      limitStates: collect(subjects, this.#cache.limitStates, (missing) =>
        this.#select(SELECT_LIMIT_STATES, missing).map((row) => {
          const state = decodeLimitState(row)
          return [state.subject, state]
        }),
      ),
    }
  }

  #select(sql: string, ids: readonly string[]): readonly SqliteRow[] {
    return ids.length === 0 ? [] : this.#statements.prepare(sql).all(JSON.stringify(ids))
  }

  #write(writes: HotWrites): void {
    const replaced = this.#correctLogs(writes.logsCorrected)
    writeRows(this.#statements, writtenRows({ ...writes, usage: this.#usage.sum(writes.logs, replaced) }))
    for (const video of writes.videosEnded) this.#endVideo(video)
  }

  /** The rows of recovered calls, with their former values; an expired row stays removed. */
  #correctLogs(corrected: readonly CallLogRow[]): readonly ReplacedLog[] {
    if (corrected.length === 0) return []
    const before = this.#select(
      SELECT_LOGS,
      corrected.map((log) => log.callId),
    ).map(decodeCallLog)
    updateRows(this.#statements, callLogs, cellsOf(callLogs, corrected))
    return pairLogs(before, corrected)
  }

  #endVideo({ id, at, patch }: EndedVideo): void {
    const cells = videoEndCells(patch)
    const assignments = cells.map(([column]) => `${column} = ?`).join(', ')
    this.#statements
      .prepare(`update video_tasks set ${assignments} where id = ?`)
      .run(...cells.map(([, cell]) => cell), id)
    this.#statements
      .prepare('insert into changes (at, origin, body) values (?, ?, ?)')
      .run(at, this.#origin, encodeAnnouncement({ kind: 'video', id }))
  }
}

/** Which rows to load, by id. */
export interface LoadedIds {
  readonly openCalls: readonly CallId[]
  readonly keys: readonly KeyId[]
  readonly members: readonly MemberId[]
  readonly accounts: readonly AccountId[]
  readonly limitStates: readonly Subject[]
}

export type LoadedRows = Readonly<Record<keyof LoadedIds, readonly SqliteRow[]>> & {
  /** SQLite's `data_version`: another number, and another connection has committed since. */
  readonly version: bigint
}

const SELECT_OPEN_CALLS = selectByIds('open_calls', 'call_id', Object.keys(openCalls.columns))
const SELECT_LOGS = selectByIds('call_logs', 'call_id', Object.keys(callLogs.columns))
const SELECT_ENDED = selectByIds('call_logs', 'call_id', ['call_id'])
const SELECT_ACCOUNTS = selectByIds('accounts', 'id', HOT_ACCOUNT_COLUMNS)
const SELECT_KEYS = selectByIds('api_keys', 'id', HOT_KEY_COLUMNS)
const SELECT_MEMBERS = selectHotMembers('json_each(?) wanted cross join members m on m.id = wanted.value')
const SELECT_LIMIT_STATES = selectByIds('limit_states', 'subject', Object.keys(limitStates.columns))

/** `cross join` keeps the ids outside: one primary-key lookup for each. */
function selectByIds(table: string, key: string, columns: readonly string[]): string {
  const list = columns.map((column) => `t.${column}`).join(', ')
  return `select ${list} from json_each(?) wanted cross join ${table} t on t.${key} = wanted.value`
}

/** The rows of these ids: cached ones, and the others, which are read together and then cached. */
function collect<Id extends string, Row>(
  ids: readonly Id[],
  kept: Recent<Id, Row>,
  read: (missing: readonly Id[]) => readonly (readonly [Id, Row])[],
): ReadonlyMap<Id, Row> {
  const rows = new Map<Id, Row>()
  const missing: Id[] = []
  for (const id of ids) {
    const row = kept.get(id)
    if (row === undefined) missing.push(id)
    else rows.set(id, row)
  }
  for (const [id, row] of read(missing)) {
    rows.set(id, row)
    kept.set(id, row)
  }
  return rows
}
