/**
 * The rows of running calls in the memory of the process that alone decides on them, and what of them the database does
 * not have yet.
 */
import type { AccountId, CallId, KeyId, MemberId } from '../../../core/ids.ts'
import type {
  AccountRow,
  HotRows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Transfer,
} from '../../../core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { decodeAccountRow } from '../../sql/accounts/account-row.ts'
import { decodeKeyRow } from '../../sql/accounts/key-row.ts'
import { decideHotBatch, type HotResult, type HotWrites } from '../../sql/calls/hot-batch.ts'
import { decodeLimitState } from '../../sql/calls/limit-state-row.ts'
import { decodeOpenCall } from '../../sql/calls/open-call-row.ts'
import { decodeMemberRow } from '../../sql/organisations/member-row.ts'
import { UsageSummer } from '../../sql/usage/usage-summer.ts'
import type { LoadedIds, LoadedRows } from '../hot/hot-transaction.ts'
import { type WrittenRows, writtenRows } from '../hot/written-rows.ts'
import { MemoryRows } from './memory-rows.ts'

export type Decision =
  | { readonly kind: 'decided'; readonly results: readonly HotResult[] }
  /** These rows have to be loaded first. */
  | { readonly kind: 'missing'; readonly wanted: LoadedIds }
  | { readonly kind: 'failed'; readonly error: unknown }

export class HotMemory {
  readonly #rows = {
    accounts: new MemoryRows<AccountId, AccountRow>(),
    keys: new MemoryRows<KeyId, KeyRow>(),
    members: new MemoryRows<MemberId, MemberRow>(),
    limitStates: new MemoryRows<Subject, LimitState>(),
    openCalls: new MemoryRows<CallId, OpenCall>(),
  } satisfies HotRows
  /** Open calls that the database has no row of, and those whose row it has to remove. */
  #opened = new Set<CallId>()
  #transfers: Transfer[] = []
  #logs: CallLogRow[] = []
  readonly #usage = new UsageSummer()
  #version: bigint | undefined
  #epoch = 0

  /** Another number: everything was forgotten since, so what was decided before is not in these rows. */
  get epoch(): number {
    return this.#epoch
  }

  /** The database's version that the rows belong to; undefined: nothing was loaded yet. */
  get version(): bigint | undefined {
    return this.#version
  }

  /** Something was decided that is not on its way to the database. */
  get hasChanged(): boolean {
    const { accounts, members, limitStates, openCalls } = this.#rows
    return (
      openCalls.hasChanged ||
      accounts.hasChanged ||
      limitStates.hasChanged ||
      members.hasChanged ||
      this.#logs.length > 0
    )
  }

  /** The running call; null: there is none; undefined: not known. */
  openCall(id: CallId): OpenCall | null | undefined {
    return this.#rows.openCalls.peek(id)
  }

  /** Decides them all, or none of them when rows are missing. */
  decide(operations: readonly HotOperation[]): Decision {
    for (const operation of operations) {
      if (operation.kind === 'reserve' && operation.first === true) {
        if (this.#rows.openCalls.peek(operation.callId) === undefined)
          this.#rows.openCalls.learn(operation.callId, null)
      }
    }
    let decision: ReturnType<typeof decideHotBatch>
    try {
      decision = decideHotBatch(this.#rows, operations, NONE_ENDED)
    } catch (error) {
      // A row that is not there yet may be one that has to be there.
      const wanted = this.#takeMissing()
      return wanted === undefined ? { kind: 'failed', error } : { kind: 'missing', wanted }
    }
    const wanted = this.#takeMissing()
    if (wanted !== undefined) return { kind: 'missing', wanted }
    this.#apply(decision.writes)
    return { kind: 'decided', results: decision.results }
  }

  /** Rows as the database has them; false: another process has committed since, and everything was forgotten. */
  learn(wanted: LoadedIds, loaded: LoadedRows): boolean {
    if (this.#version !== undefined && this.#version !== loaded.version) {
      this.forget()
      return false
    }
    this.#version = loaded.version
    const { accounts, keys, members, limitStates, openCalls } = this.#rows
    learnAll(accounts, wanted.accounts, loaded.accounts.map(decodeAccountRow).map(byId))
    learnAll(keys, wanted.keys, loaded.keys.map(decodeKeyRow).map(byId))
    learnAll(members, wanted.members, loaded.members.map(decodeMemberRow).map(byId))
    learnAll(
      limitStates,
      wanted.limitStates,
      loaded.limitStates.map((row) => {
        const state = decodeLimitState(row)
        return [state.subject, state]
      }),
    )
    learnAll(
      openCalls,
      wanted.openCalls,
      loaded.openCalls.map((row) => {
        const call = decodeOpenCall(row)
        return [call.callId, call]
      }),
    )
    return true
  }

  /** Everything decided since the last time, as rows to commit. */
  takeWrites(): WrittenRows {
    const calls = this.#rows.openCalls.takeChanged()
    const openCallsNew: OpenCall[] = []
    const openCallsChanged: OpenCall[] = []
    const openCallsClosed: CallId[] = []
    for (const [id, call] of calls) {
      if (call === null) {
        // It was opened and closed since the last time, so it leaves no row.
        if (!this.#opened.has(id)) openCallsClosed.push(id)
      } else if (this.#opened.has(id)) openCallsNew.push(call)
      else openCallsChanged.push(call)
    }
    const rows = writtenRows({
      accounts: present(this.#rows.accounts.takeChanged()),
      members: present(this.#rows.members.takeChanged()),
      limitStates: present(this.#rows.limitStates.takeChanged()),
      openCallsNew,
      openCallsChanged,
      openCallsClosed,
      transfers: this.#transfers,
      logs: this.#logs,
      usage: this.#usage.sum(this.#logs),
    })
    this.#opened = new Set()
    this.#transfers = []
    this.#logs = []
    return rows
  }

  forget(): void {
    const { accounts, keys, members, limitStates, openCalls } = this.#rows
    for (const rows of [accounts, keys, members, limitStates, openCalls]) rows.forget()
    this.#opened = new Set()
    this.#transfers = []
    this.#logs = []
    this.#version = undefined
    this.#epoch += 1
  }

  #apply(writes: HotWrites): void {
    const { accounts, members, limitStates, openCalls } = this.#rows
    if (writes.logsCorrected.length > 0 || writes.videosEnded.length > 0)
      throw new Error('the database has to decide on calls of others and on videos')
    for (const row of writes.accounts) accounts.change(row.id, row)
    for (const row of writes.members) members.change(row.id, row)
    for (const row of writes.limitStates) limitStates.change(row.subject, row)
    for (const call of writes.openCallsNew) {
      this.#opened.add(call.callId)
      openCalls.change(call.callId, call)
    }
    for (const call of writes.openCallsChanged) openCalls.change(call.callId, call)
    for (const id of writes.openCallsClosed) openCalls.change(id, null)
    this.#transfers.push(...writes.transfers)
    this.#logs.push(...writes.logs)
  }

  #takeMissing(): LoadedIds | undefined {
    const { accounts, keys, members, limitStates, openCalls } = this.#rows
    const wanted = {
      accounts: accounts.takeMissing(),
      keys: keys.takeMissing(),
      members: members.takeMissing(),
      limitStates: limitStates.takeMissing(),
      openCalls: openCalls.takeMissing(),
    }
    return Object.values(wanted).some((ids) => ids.length > 0) ? wanted : undefined
  }
}

const NONE_ENDED: ReadonlySet<CallId> = new Set()

const byId = <Row extends { readonly id: string }>(row: Row): readonly [Row['id'], Row] => [row.id, row]

/** Those that were not found are known not to exist. */
function learnAll<Id extends string, Row>(
  rows: MemoryRows<Id, Row>,
  wanted: readonly Id[],
  found: readonly (readonly [Id, Row])[],
): void {
  for (const [id, row] of found) rows.learn(id, row)
  if (found.length === wanted.length) return
  const there = new Set<string>(found.map(([id]) => id))
  for (const id of wanted) if (!there.has(id)) rows.learn(id, null)
}

function present<Row>(rows: ReadonlyMap<string, Row | null>): readonly Row[] {
  return [...rows.values()].filter((row) => row !== null)
}
