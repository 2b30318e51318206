/**
 * Rows of the last hot transactions as they were committed, so that a busy account is not read and parsed anew for each
 * batch. They count only while nobody else has written: `PRAGMA data_version`, read under the write lock, tells of other
 * connections, and whoever writes over this connection says `forget`.
 */
import type {
  AccountRow,
  HotRows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
} from '../../core/calls/hot-rows.ts'
import type { AccountId, CallId, KeyId, MemberId } from '../../core/ids.ts'
import type { HotWrites } from '../sql/hot-batch.ts'

/** Rows kept of each kind; a full map starts afresh. About 20 MB when all are full. */
const ROWS_MAX = 8_192

export class HotRowsCache {
  readonly accounts = new Map<AccountId, AccountRow>()
  readonly keys = new Map<KeyId, KeyRow>()
  readonly members = new Map<MemberId, MemberRow>()
  readonly limitStates = new Map<Subject, LimitState>()
  readonly openCalls = new Map<CallId, OpenCall>()
  #version: bigint | undefined

  /** At the start of a transaction. */
  check(version: bigint): void {
    if (version !== this.#version) this.forget()
    this.#version = version
  }

  forget(): void {
    this.accounts.clear()
    this.keys.clear()
    this.members.clear()
    this.limitStates.clear()
    this.openCalls.clear()
  }

  /** After the commit: what was read and what was written. */
  keep(read: HotRows, written: HotWrites): void {
    for (const [id, row] of read.keys) keepRow(this.keys, id, row)
    for (const [id, row] of read.members) keepRow(this.members, id, row)
    for (const [id, row] of read.accounts) keepRow(this.accounts, id, row)
    for (const [subject, row] of read.limitStates) keepRow(this.limitStates, subject, row)
    for (const row of written.accounts) keepRow(this.accounts, row.id, row)
    for (const row of written.members) keepRow(this.members, row.id, row)
    for (const row of written.limitStates) keepRow(this.limitStates, row.subject, row)
    for (const row of written.openCallsNew) keepRow(this.openCalls, row.callId, row)
    for (const row of written.openCallsChanged) keepRow(this.openCalls, row.callId, row)
    for (const id of written.openCallsClosed) this.openCalls.delete(id)
  }
}

function keepRow<Id, Row>(rows: Map<Id, Row>, id: Id, row: Row): void {
  if (rows.size >= ROWS_MAX && !rows.has(id)) rows.clear()
  rows.set(id, row)
}
