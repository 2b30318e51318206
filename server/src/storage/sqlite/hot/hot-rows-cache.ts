/**
 * Rows of the last hot transactions as committed, so that a busy account is not read and parsed again for each batch.
 * They are valid only while no other connection has written: `PRAGMA data_version`, read under the write lock, shows
 * commits of other connections, and other writers on this connection call `forget`.
 */
import type {
  AccountRow,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
} from '../../../core/ledger/hot-rows.ts'
import type { AccountId, CallId, KeyId, MemberId } from '../../../core/ids.ts'
import type { HotWrites } from '../../sql/calls/hot-batch.ts'
import { Recent } from './recent.ts'

/** Rows of each kind that are certainly kept; at most twice as many. About 20 MB when all are full. */
const ROWS_MAX = 4_096

export class HotRowsCache {
  readonly accounts = new Recent<AccountId, AccountRow>(ROWS_MAX)
  readonly keys = new Recent<KeyId, KeyRow>(ROWS_MAX)
  readonly members = new Recent<MemberId, MemberRow>(ROWS_MAX)
  readonly limitStates = new Recent<Subject, LimitState>(ROWS_MAX)
  readonly openCalls = new Recent<CallId, OpenCall>(ROWS_MAX)
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

  /** After the commit; rows that were read are in the cache already. */
  keep(written: HotWrites): void {
    for (const row of written.accounts) this.accounts.set(row.id, row)
    for (const row of written.members) this.members.set(row.id, row)
    for (const row of written.limitStates) this.limitStates.set(row.subject, row)
    for (const row of written.openCallsNew) this.openCalls.set(row.callId, row)
    for (const row of written.openCallsChanged) this.openCalls.set(row.callId, row)
    for (const id of written.openCallsClosed) this.openCalls.drop(id)
  }
}
