/**
 * One batch of hot verbs as one PostgreSQL transaction in two round trips: one that begins, locks and reads, one that
 * writes and commits.
 */
import type {
  AccountRow,
  EndedVideo,
  HotRows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
} from '../../core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { HotOperation } from '../../core/ledger/operations.ts'
import { type CallId, callId, type MemberId } from '../../core/ids.ts'
import { decodeAccountRow } from '../sql/accounts/account-row.ts'
import { decodeCallLog } from '../sql/logs/call-log-row.ts'
import {
  decideHotBatch,
  type HotResult,
  type Trust,
  type WantedRows,
  wantedCalls,
  wantedMembers,
  wantedRows,
  withMembers,
  withoutKnown,
} from '../sql/calls/hot-batch.ts'
import { decodeKeyRow } from '../sql/accounts/key-row.ts'
import { decodeLimitState } from '../sql/calls/limit-state-row.ts'
import { decodeMemberRow } from '../sql/organisations/member-row.ts'
import { decodeOpenCall } from '../sql/calls/open-call-row.ts'
import { textOf } from '../sql/table.ts'
import { pairLogs, type ReplacedLog, type UsageSummer } from '../sql/usage/usage-summer.ts'
import {
  addVideoEnd,
  addWrites,
  BEGIN,
  COMMIT,
  FIND_ENDED,
  LOCK_ACCOUNTS,
  LOCK_LIMIT_STATES,
  LOCK_OPEN_CALLS,
  MAKE_LIMIT_STATES,
  READ_KEYS,
  READ_LIMIT_STATES,
  READ_LOGS,
  READ_MEMBERS,
} from './hot-statements.ts'
import { encodeNotice } from './listener.ts'
import { RoundTrip, type RoundTripper } from './round-trip.ts'

export interface HotTransaction {
  readonly operations: readonly HotOperation[]
  /** Origin of the announcements. */
  readonly origin: string
  readonly usage: UsageSummer
  readonly trust: Trust
}

export async function runHotTransaction(
  connection: RoundTripper,
  { operations, origin, usage, trust }: HotTransaction,
): Promise<readonly HotResult[]> {
  const wanted = wantedCalls(operations, trust)
  // Rows that the operations name are read at once; those that only their open calls name are read next.
  const named = wantedRows(operations, new Map())
  const first = new RoundTrip()
  first.add(BEGIN)
  const calls = first.read(LOCK_OPEN_CALLS, wanted.callIds)
  const ended = first.read(FIND_ENDED, wanted.endable)
  const loadNamed = addLoad(first, named)
  await connection.make(first)
  const openCalls = new Map<CallId, OpenCall>(
    calls.map(decodeOpenCall).map((call) => [call.callId, call] as const),
  )
  const loaded = loadNamed()
  const rest = await loadRest(connection, wantedRows(operations, openCalls), {
    named,
    members: wantedMembers(loaded.keys, openCalls.values()),
  })
  const { results, writes } = decideHotBatch(
    hotRows(openCalls, [loaded, rest], rest.members),
    operations,
    new Set(ended.map((row) => callId(textOf(row, 'call_id')))),
  )
  const replaced = await readReplaced(connection, writes.logsCorrected)
  // If a write fails, the server skips the commit after it.
  const last = new RoundTrip()
  addWrites(last, writes, usage.sum(writes.logs, replaced))
  for (const video of writes.videosEnded) addVideoEnd(last, video, noticeOf(video, origin))
  last.add(COMMIT)
  await connection.make(last)
  return results
}

/** Only previously recovered calls need this round trip, and they are rare. */
async function readReplaced(
  connection: RoundTripper,
  corrected: readonly CallLogRow[],
): Promise<readonly ReplacedLog[]> {
  if (corrected.length === 0) return []
  const trip = new RoundTrip()
  const rows = trip.read(
    READ_LOGS,
    corrected.map((log) => log.callId),
  )
  await connection.make(trip)
  return pairLogs(rows.map(decodeCallLog), corrected)
}

function noticeOf({ id }: EndedVideo, origin: string): string {
  return encodeNotice(origin, { kind: 'video', id })
}

interface LoadedRows {
  readonly accounts: readonly AccountRow[]
  readonly keys: readonly KeyRow[]
  readonly limitStates: readonly LimitState[]
}

/**
 * Accounts first: their locks cover the keys and limit states that are read after them. Returns a function that reads
 * the answers.
 */
function addLoad(trip: RoundTrip, wanted: WantedRows): () => LoadedRows {
  const accounts = trip.read(LOCK_ACCOUNTS, wanted.accountIds)
  const keys = trip.read(READ_KEYS, wanted.keyIds)
  const covered = trip.read(READ_LIMIT_STATES, wanted.subjects)
  trip.read(MAKE_LIMIT_STATES, wanted.credentialSubjects)
  const credentials = trip.read(LOCK_LIMIT_STATES, wanted.credentialSubjects)
  return () => ({
    accounts: accounts.map(decodeAccountRow),
    keys: keys.map(decodeKeyRow),
    limitStates: [...covered, ...credentials].map(decodeLimitState),
  })
}

interface KnownRows {
  readonly named: WantedRows
  readonly members: readonly MemberId[]
}

/** Rows that only open calls and keys name. Most batches need none, and save the round trip. */
async function loadRest(
  connection: RoundTripper,
  wanted: WantedRows,
  { named, members }: KnownRows,
): Promise<LoadedRows & { readonly members: readonly MemberRow[] }> {
  const trip = new RoundTrip()
  const load = addLoad(trip, withMembers(withoutKnown(wanted, named), members))
  // Members after their organisations' accounts, whose locks cover them.
  const rows = trip.read(READ_MEMBERS, members)
  if (trip.statements.length > 0) await connection.make(trip)
  return { ...load(), members: rows.map(decodeMemberRow) }
}

function hotRows(
  openCalls: ReadonlyMap<CallId, OpenCall>,
  loaded: readonly LoadedRows[],
  members: readonly MemberRow[],
): HotRows {
  const accounts = loaded.flatMap((rows) => rows.accounts)
  const keys = loaded.flatMap((rows) => rows.keys)
  const limitStates = loaded.flatMap((rows) => rows.limitStates)
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    keys: new Map(keys.map((key) => [key.id, key])),
    members: new Map(members.map((member) => [member.id, member])),
    limitStates: new Map(limitStates.map((state) => [state.subject, state])),
    openCalls,
  }
}
