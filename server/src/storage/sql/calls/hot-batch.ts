/**
 * One transaction of the hot verbs, without the database: which rows to load, and what is decided. The engines load,
 * call `decideHotBatch` and write; all decisions are here and in `core/calls`.
 * Order of locks, the same in every transaction of every instance: open calls, accounts, credentials' limit states,
 * each in ascending order of id. A key belongs to one account, so the account's lock covers its key and its windows;
 * likewise an organisation's lock covers its members and their windows.
 */
import { decideBatch } from '../../../core/calls/decide.ts'
import { createTermsReader } from '../../../core/pricing/read-terms.ts'
import type { HotChanges, HotRows, KeyRow, OpenCall, Subject } from '../../../core/ledger/hot-rows.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { HotOperation, HotOutcome } from '../../../core/ledger/operations.ts'
import type { AccountId, CallId, KeyId, MemberId } from '../../../core/ids.ts'

export type HotResult =
  | { readonly kind: 'outcome'; readonly outcome: HotOutcome }
  /** Only this operation cannot be done; the others of its batch are done. */
  | { readonly kind: 'impossible'; readonly message: string }

/** First load: these open calls under lock, and which of `endable` have ended already. */
export interface WantedCalls {
  readonly callIds: readonly CallId[]
  /** Calls that must not be held for, logged or summed again if they have ended. */
  readonly endable: readonly CallId[]
}

/**
 * `open-calls`: an open call has not ended, so only calls that need not be open are looked up. `nothing`: all are looked
 * up, because a log row was found although its call was open: it was logged during its reservation.
 */
export type Trust = 'open-calls' | 'nothing'

export function wantedCalls(operations: readonly HotOperation[], trust: Trust): WantedCalls {
  const callIds = new Set<CallId>()
  const endable = new Set<CallId>()
  for (const operation of operations) {
    if (operation.kind === 'log') {
      endable.add(operation.log.callId)
      continue
    }
    callIds.add(operation.callId)
    if (operation.kind === 'reserve' || trust === 'nothing') endable.add(operation.callId)
  }
  return { callIds: [...callIds].sort(), endable: [...endable].sort() }
}

/** Second load: accounts under lock, then keys and limit states, the credentials' under lock. */
export interface WantedRows {
  readonly accountIds: readonly AccountId[]
  readonly keyIds: readonly KeyId[]
  /** Subjects covered by the accounts' locks. */
  readonly subjects: readonly Subject[]
  /** Upstream credentials: shared between accounts, so locked themselves. */
  readonly credentialSubjects: readonly Subject[]
}

export function wantedRows(
  operations: readonly HotOperation[],
  openCalls: ReadonlyMap<CallId, OpenCall>,
): WantedRows {
  const accountIds = new Set<AccountId>()
  const keyIds = new Set<KeyId>()
  const subjects = new Set<Subject>()
  const wantCall = (call: OpenCall) => {
    accountIds.add(call.accountId)
    keyIds.add(call.keyId)
    for (const claim of call.claims) subjects.add(`credential:${claim}`)
    for (const { subject } of call.taken) subjects.add(subject)
  }
  for (const operation of operations) {
    if (operation.kind === 'log') continue
    const call = openCalls.get(operation.callId)
    if (operation.kind === 'progress') {
      if (operation.left === true && call !== undefined) wantCall(call)
      continue
    }
    if (call !== undefined) wantCall(call)
    // A call that is not open gets no slot, so its credential is not read.
    if (operation.kind === 'claim' && call !== undefined) {
      subjects.add(`credential:${operation.credentialId}`)
    }
    if (operation.kind !== 'claim' && operation.kind !== 'unclaim') {
      accountIds.add(operation.accountId)
      keyIds.add(operation.keyId)
    }
  }
  for (const id of accountIds) subjects.add(`account:${id}`).add(`quota:${id}`)
  for (const id of keyIds) subjects.add(`key:${id}`)
  const sorted = [...subjects].sort()
  return {
    accountIds: [...accountIds].sort(),
    keyIds: [...keyIds].sort(),
    subjects: sorted.filter((subject) => !subject.startsWith('credential:')),
    credentialSubjects: sorted.filter((subject) => subject.startsWith('credential:')),
  }
}

/** What remains to be loaded after `known`. */
export function withoutKnown(wanted: WantedRows, known: WantedRows): WantedRows {
  const less = <Id>(ids: readonly Id[], others: readonly Id[]): readonly Id[] => {
    const loaded = new Set(others)
    return ids.filter((id) => !loaded.has(id))
  }
  return {
    accountIds: less(wanted.accountIds, known.accountIds),
    keyIds: less(wanted.keyIds, known.keyIds),
    subjects: less(wanted.subjects, known.subjects),
    credentialSubjects: less(wanted.credentialSubjects, known.credentialSubjects),
  }
}

/** Members of the keys and of the open calls, which are known only when those are: most batches have none. */
export function wantedMembers(keys: Iterable<KeyRow>, openCalls: Iterable<OpenCall>): readonly MemberId[] {
  const wanted = new Set<MemberId>()
  for (const { memberId } of keys) if (memberId !== undefined) wanted.add(memberId)
  for (const { memberId } of openCalls) if (memberId !== undefined) wanted.add(memberId)
  return wanted.size === 0 ? NOBODY : [...wanted].sort()
}

const NOBODY: readonly MemberId[] = []

/** Adds the members' limit states; their organisations' locks cover them. */
export function withMembers(wanted: WantedRows, members: readonly MemberId[]): WantedRows {
  if (members.length === 0) return wanted
  const subjects = new Set(wanted.subjects)
  for (const id of members) subjects.add(`member:${id}`)
  return { ...wanted, subjects: [...subjects] }
}

export interface HotDecision {
  readonly results: readonly HotResult[]
  readonly writes: HotWrites
}

/** What to write, with the open calls separated by kind of write. */
export interface HotWrites extends Omit<HotChanges, 'openCallsPut'> {
  /** Inserted without `on conflict`: an existing row means a concurrent repetition, and the batch is retried. */
  readonly openCallsNew: readonly OpenCall[]
  readonly openCallsChanged: readonly OpenCall[]
  /** Inserted without `on conflict` too: they must not be added to the sums twice. */
  readonly logs: readonly CallLogRow[]
}

/** Parses each price text once per thread; the result depends on the text only, so it is never out of date. */
const reader = createTermsReader()

/** Runs the pure decision, leaving out reservations of calls that have ended. */
export function decideHotBatch(
  rows: HotRows,
  operations: readonly HotOperation[],
  ended: ReadonlySet<CallId>,
): HotDecision {
  const impossible = operations.map((operation) => repeatsEnded(operation, rows, ended))
  const { outcomes, changes } = decideBatch(
    rows,
    operations.filter((_, index) => impossible[index] === undefined),
    reader,
  )
  const decided = outcomes.values()
  const results = impossible.map((message): HotResult => {
    if (message !== undefined) return { kind: 'impossible', message }
    const { value: outcome } = decided.next()
    if (outcome === undefined) throw new Error('decideBatch returned fewer outcomes than operations')
    return { kind: 'outcome', outcome }
  })
  return { results, writes: writesOf({ ...changes, ...logsOf(changes, ended) }, rows) }
}

/** A row that a batch both logs and corrects is logged in its corrected form. */
function logsOf(
  { logs, logsCorrected }: Pick<HotChanges, 'logs' | 'logsCorrected'>,
  ended: ReadonlySet<CallId>,
): Pick<HotChanges, 'logs' | 'logsCorrected'> {
  const fresh = newLogs(logs, ended)
  if (logsCorrected.length === 0) return { logs: fresh, logsCorrected }
  const corrections = new Map(logsCorrected.map((log) => [log.callId, log]))
  const corrected = fresh.map((log) => corrections.get(log.callId) ?? log)
  for (const { callId } of fresh) corrections.delete(callId)
  return { logs: corrected, logsCorrected: [...corrections.values()] }
}

/**
 * Without calls that have a row already, and without duplicates, because every row written is also added to the sums.
 */
function newLogs(logs: readonly CallLogRow[], ended: ReadonlySet<CallId>): readonly CallLogRow[] {
  const seen = new Set<CallId>()
  return logs.filter(({ callId }) => {
    if (ended.has(callId) || seen.has(callId)) return false
    seen.add(callId)
    return true
  })
}

/** Why the operation cannot be done, if so. */
function repeatsEnded(
  operation: HotOperation,
  rows: HotRows,
  ended: ReadonlySet<CallId>,
): string | undefined {
  if (operation.kind !== 'reserve') return undefined
  const { callId } = operation
  const open = rows.openCalls.get(callId)
  const runs = open !== undefined && open.recovered === undefined
  if (!ended.has(callId) || runs) return undefined
  return `call ${callId} was reserved before and has ended`
}

function writesOf({ openCallsPut, ...changes }: HotChanges, rows: HotRows): HotWrites {
  // A call opened and closed in one batch leaves no row; a removed row is never written again.
  const closed = new Set(changes.openCallsClosed)
  const left = openCallsPut.filter((call) => !closed.has(call.callId))
  return {
    openCallsNew: left.filter((call) => !rows.openCalls.has(call.callId)),
    openCallsChanged: left.filter((call) => rows.openCalls.has(call.callId)),
    ...changes,
    openCallsClosed: changes.openCallsClosed.filter((id) => rows.openCalls.has(id)),
  }
}
