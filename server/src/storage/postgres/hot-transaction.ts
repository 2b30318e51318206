/**
 * One batch of hot verbs as one PostgreSQL transaction in two round trips: statements are sent without waiting for the
 * answers of those before (the connection is pipelined), and the server runs them in order.
 */
import type pg from 'pg'
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
import { type CallId, callId } from '../../core/ids.ts'
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
import { type StoredRow, textOf } from '../sql/table.ts'
import { usageHalfHours } from '../sql/usage/usage-row.ts'
import { pairLogs, type ReplacedLog, type UsageSummer } from '../sql/usage/usage-summer.ts'
import { columnArrays } from './bulk.ts'
import { translateError } from './connect.ts'
import {
  ADD_USAGE,
  correctLogs,
  endVideo,
  FIND_ENDED,
  LOCK_ACCOUNTS,
  LOCK_LIMIT_STATES,
  LOCK_OPEN_CALLS,
  MAKE_LIMIT_STATES,
  READ_KEYS,
  READ_LIMIT_STATES,
  READ_LOGS,
  READ_MEMBERS,
  type Statement,
  WRITE,
  writeMembers,
  writeParameters,
} from './hot-statements.ts'
import { CHANNEL, encodeNotice } from './listener.ts'

export interface HotTransaction {
  readonly operations: readonly HotOperation[]
  /** Whose announcements these are. */
  readonly origin: string
  readonly usage: UsageSummer
  readonly trust: Trust
}

export async function runHotTransaction(
  client: pg.ClientBase,
  { operations, origin, usage, trust }: HotTransaction,
): Promise<readonly HotResult[]> {
  const wanted = wantedCalls(operations, trust)
  // What the operations name themselves is asked for at once; what only their open calls know follows.
  const named = wantedRows(operations, new Map())
  const [, calls, ended, first] = await allOf([
    send(client, { text: 'begin' }),
    read(client, LOCK_OPEN_CALLS, wanted.callIds),
    read(client, FIND_ENDED, wanted.endable),
    loadRows(client, named),
  ] as const)
  const openCalls = new Map<CallId, OpenCall>(
    calls.map(decodeOpenCall).map((call) => [call.callId, call] as const),
  )
  const members = wantedMembers(first.keys, openCalls.values())
  const others = withoutKnown(wantedRows(operations, openCalls), named)
  // Members after their organisations' accounts, whose locks cover them.
  const [second, memberRows] = await allOf([
    loadRows(client, withMembers(others, members)),
    read(client, READ_MEMBERS, members),
  ] as const)
  const { results, writes } = decideHotBatch(
    hotRows(openCalls, [first, second], memberRows.map(decodeMemberRow)),
    operations,
    new Set(ended.map((row) => callId(textOf(row, 'call_id')))),
  )
  const replaced = await readReplaced(client, writes.logsCorrected)
  const used = usage.sum(writes.logs, replaced)
  // A write that fails turns the commit behind it into a rollback.
  await allOf([
    send(client, { ...WRITE, values: [...writeParameters(writes)] }),
    ...(writes.members.length > 0 ? [send(client, writeMembers(writes.members))] : []),
    ...(writes.logsCorrected.length > 0 ? [send(client, correctLogs(writes.logsCorrected))] : []),
    ...(used.length === 0
      ? []
      : [send(client, { ...ADD_USAGE, values: [...columnArrays(usageHalfHours, used)] })]),
    ...writes.videosEnded.flatMap((video) => [
      send(client, endVideo(video)),
      send(client, { text: 'select pg_notify($1, $2)', values: [CHANNEL, noticeOf(video, origin)] }),
    ]),
    send(client, { text: 'commit' }),
  ])
  return results
}

/** Calls that were recovered first are rare: only they cost this round trip. */
async function readReplaced(
  client: pg.ClientBase,
  corrected: readonly CallLogRow[],
): Promise<readonly ReplacedLog[]> {
  const rows = await read(
    client,
    READ_LOGS,
    corrected.map((log) => log.callId),
  )
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

/** Accounts first: their locks cover the keys and limit states read after. */
async function loadRows(client: pg.ClientBase, wanted: WantedRows): Promise<LoadedRows> {
  const [accounts, keys, covered, , credentials] = await allOf([
    read(client, LOCK_ACCOUNTS, wanted.accountIds),
    read(client, READ_KEYS, wanted.keyIds),
    read(client, READ_LIMIT_STATES, wanted.subjects),
    read(client, MAKE_LIMIT_STATES, wanted.credentialSubjects),
    read(client, LOCK_LIMIT_STATES, wanted.credentialSubjects),
  ] as const)
  return {
    accounts: accounts.map(decodeAccountRow),
    keys: keys.map(decodeKeyRow),
    limitStates: [...covered, ...credentials].map(decodeLimitState),
  }
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

async function read(
  client: pg.ClientBase,
  statement: Statement,
  ids: readonly string[],
): Promise<readonly StoredRow[]> {
  if (ids.length === 0) return []
  return send(client, { ...statement, values: [ids] })
}

/** Errors of the database are translated here; what the core throws stays as it is. */
async function send(client: pg.ClientBase, query: pg.QueryConfig): Promise<readonly StoredRow[]> {
  try {
    const { rows } = await client.query<StoredRow & pg.QueryResultRow>(query)
    return rows
  } catch (error) {
    throw translateError(error)
  }
}

/**
 * Waits for every answer, also when one fails: after the first failure the others say only that the transaction is
 * aborted, and the connection is free when all have been heard. The first failure is thrown.
 */
async function allOf<Values extends readonly Promise<unknown>[]>(
  promises: Values,
): Promise<{ -readonly [Index in keyof Values]: Awaited<Values[Index]> }> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
