/** Open calls: what never changes is written once; claims and progress are in a separate column. */
import { decodeDescription, encodeDescription } from '../../../core/ledger/call-description.ts'
import type { Counted, OpenCall, RecoveredCall } from '../../../core/ledger/hot-rows.ts'
import { accountId, callId, instanceId, keyId, type MemberId } from '../../../core/ids.ts'
import { microCredits, ZERO } from '../../../core/money.ts'
import { parseStored } from '../stored-json.ts'
import { integerOf, numberOf, optionalTextOf, type StoredRow, type Table, textOf } from '../table.ts'

/** What may change while the call is open, apart from its own columns. */
interface State extends Pick<OpenCall, 'claims' | 'taken' | 'progress'> {
  readonly recovered?: StoredRecovered
}

/** Amounts and units as decimal text. */
type StoredRecovered = Pick<RecoveredCall, 'at' | 'monthStart'> &
  Readonly<Record<'charged' | 'owed' | 'quotaCharged', string>> & {
    readonly counted: readonly StoredCounted[]
    readonly quotaCounted: StoredCounted
  }

type StoredCounted = Readonly<Record<string, readonly { readonly anchor: number; readonly units: string }[]>>

/**
 * What never changes and has no column. The member and the hold on their month are present if a member's key called.
 */
type Body = Omit<
  OpenCall,
  | keyof State
  | 'memberId'
  | 'memberHeld'
  | 'holdIsBooked'
  | 'recovered'
  | 'callId'
  | 'instanceId'
  | 'keyId'
  | 'accountId'
  | 'startedAt'
  | 'touchedAt'
  | 'held'
  | 'quotaHeld'
  | 'monthHeld'
  | 'terms'
  | 'fallbackTerms'
  | 'description'
> & {
  readonly member?: { readonly id: MemberId; readonly held: string }
  /** The call's hold is not a ledger entry; absent: an older release wrote the row and booked the hold. */
  readonly holdIsUnbooked?: true
}

export const openCalls: Table<OpenCall> = {
  name: 'open_calls',
  columns: {
    call_id: 'text',
    instance_id: 'text',
    key_id: 'text',
    account_id: 'text',
    started_at: 'integer',
    touched_at: 'integer',
    held: 'integer',
    quota_held: 'integer',
    month_held: 'integer',
    body: 'text',
    terms: 'text',
    fallback_terms: 'text',
    description: 'text',
    state: 'text',
  },
  encode: (call) => [
    call.callId,
    call.instanceId,
    call.keyId,
    call.accountId,
    call.startedAt,
    call.touchedAt,
    call.held,
    call.quotaHeld,
    call.monthHeld,
    encodeBody(call),
    call.terms,
    call.fallbackTerms ?? null,
    encodeDescription(call.description),
    encodeState(call),
  ],
}

/** What a later operation may change of an open call. */
export const openCallProgress: Table<OpenCall> = {
  name: 'open_calls',
  columns: {
    call_id: 'text',
    touched_at: 'integer',
    held: 'integer',
    quota_held: 'integer',
    month_held: 'integer',
    state: 'text',
    recovered_at: 'integer',
  },
  encode: (call) => [
    call.callId,
    call.touchedAt,
    call.held,
    call.quotaHeld,
    call.monthHeld,
    encodeState(call),
    call.recovered?.at ?? null,
  ],
}

export function decodeOpenCall(row: StoredRow): OpenCall {
  const { member, holdIsUnbooked, ...body } = parseStored<Body>(textOf(row, 'body'))
  const state = parseStored<State>(textOf(row, 'state'))
  const known = { callId: callId(textOf(row, 'call_id')), startedAt: numberOf(row, 'started_at') }
  return {
    ...body,
    ...known,
    instanceId: instanceId(textOf(row, 'instance_id')),
    keyId: keyId(textOf(row, 'key_id')),
    accountId: accountId(textOf(row, 'account_id')),
    touchedAt: numberOf(row, 'touched_at'),
    held: microCredits(integerOf(row, 'held')),
    quotaHeld: microCredits(integerOf(row, 'quota_held')),
    monthHeld: microCredits(integerOf(row, 'month_held')),
    ...(holdIsUnbooked !== true && { holdIsBooked: true as const }),
    memberId: member?.id,
    memberHeld:
      member === undefined || state.recovered !== undefined ? ZERO : microCredits(BigInt(member.held)),
    terms: textOf(row, 'terms'),
    fallbackTerms: optionalTextOf(row, 'fallback_terms'),
    description: decodeDescription(textOf(row, 'description'), known),
    claims: state.claims,
    taken: state.taken,
    progress: state.progress,
    recovered: state.recovered && decodeRecovered(state.recovered),
  }
}

function encodeBody(call: OpenCall): string {
  const { funding, userRate, modelId, fallbackModelId, counts, quotaTiers, memberId, memberHeld } = call
  const body: Body = {
    funding,
    userRate,
    modelId,
    fallbackModelId,
    counts,
    quotaTiers,
    ...(call.holdIsBooked !== true && { holdIsUnbooked: true }),
    ...(memberId !== undefined && { member: { id: memberId, held: memberHeld.toString() } }),
  }
  return JSON.stringify(body)
}

function encodeState({ claims, taken, progress, recovered }: OpenCall): string {
  const state: State = {
    claims,
    taken,
    progress,
    ...(recovered !== undefined && { recovered: encodeRecovered(recovered) }),
  }
  return JSON.stringify(state)
}

function encodeRecovered(recovered: RecoveredCall): StoredRecovered {
  const { charged, owed, quotaCharged, counted, quotaCounted } = recovered
  return {
    ...recovered,
    charged: charged.toString(),
    owed: owed.toString(),
    quotaCharged: quotaCharged.toString(),
    counted: counted.map(encodeCounted),
    quotaCounted: encodeCounted(quotaCounted),
  }
}

function decodeRecovered(stored: StoredRecovered): RecoveredCall {
  const { charged, owed, quotaCharged, counted, quotaCounted } = stored
  return {
    ...stored,
    charged: microCredits(BigInt(charged)),
    owed: microCredits(BigInt(owed)),
    quotaCharged: microCredits(BigInt(quotaCharged)),
    counted: counted.map(decodeCounted),
    quotaCounted: decodeCounted(quotaCounted),
  }
}

function encodeCounted(counted: Counted): StoredCounted {
  return Object.fromEntries(
    Object.entries(counted).map(([tier, parts]) => [
      tier,
      parts.map(({ anchor, units }) => ({ anchor, units: units.toString() })),
    ]),
  )
}

function decodeCounted(stored: StoredCounted): Counted {
  return Object.fromEntries(
    Object.entries(stored).map(([tier, parts]) => [
      tier,
      parts.map(({ anchor, units }) => ({ anchor, units: BigInt(units) })),
    ]),
  )
}
