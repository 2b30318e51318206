/** What the open calls hold. Their number is limited by the running calls, so the sums are kept in memory. */
import type { Kysely } from 'kysely'
import type { OpenCall, Subject } from '../../../core/ledger/hot-rows.ts'
import type { AccountId, MemberId } from '../../../core/ids.ts'
import { findTier } from '../../../core/limits/tiers.ts'
import { toUnits } from '../../../core/limits/units.ts'
import { decodeOpenCall } from '../calls/open-call-row.ts'
import type { Schema } from '../schema.ts'

export interface Holds {
  readonly accounts: ReadonlyMap<AccountId, AccountHolds>
  /** Holds on members' months. */
  readonly members: ReadonlyMap<MemberId, bigint>
  readonly subjects: ReadonlyMap<Subject, SubjectHolds>
}

export interface AccountHolds {
  held: bigint
  monthHeld: bigint
}

export interface SubjectHolds {
  slots: bigint
  /** Tier → what running calls hold in its window. */
  readonly tiers: Map<string, bigint>
}

const PAGE_ROWS = 1_000

export async function readHolds(snapshot: Kysely<Schema>): Promise<Holds> {
  const holds = {
    accounts: new Map<AccountId, AccountHolds>(),
    members: new Map<MemberId, bigint>(),
    subjects: new Map<Subject, SubjectHolds>(),
  }
  let after = ''
  for (;;) {
    const rows = await snapshot
      .selectFrom('open_calls')
      .selectAll()
      .where('call_id', '>', after)
      .where('recovered_at', 'is', null)
      .orderBy('call_id')
      .limit(PAGE_ROWS)
      .execute()
    for (const row of rows) addCall(holds, decodeOpenCall({ ...row }))
    const last = rows.at(-1)
    if (last === undefined) return holds
    after = last.call_id
  }
}

interface Sums {
  readonly accounts: Map<AccountId, AccountHolds>
  readonly members: Map<MemberId, bigint>
  readonly subjects: Map<Subject, SubjectHolds>
}

function addCall(sums: Sums, call: OpenCall): void {
  const account = sums.accounts.get(call.accountId) ?? { held: 0n, monthHeld: 0n }
  sums.accounts.set(call.accountId, account)
  account.held += call.held
  account.monthHeld += call.monthHeld
  if (call.memberId !== undefined) {
    sums.members.set(call.memberId, (sums.members.get(call.memberId) ?? 0n) + call.memberHeld)
  }
  for (const { subject, counts, tiers, slotFree } of call.taken) {
    const holds = holdsOf(sums, subject)
    if (slotFree !== true) holds.slots += 1n
    for (const tier of Object.keys(tiers)) {
      const rule = findTier(tier)?.rule
      if (rule?.admission === 'hold') addTier(holds, tier, toUnits(rule.asks(counts)))
    }
  }
  for (const tier of call.quotaTiers) addTier(holdsOf(sums, `quota:${call.accountId}`), tier, call.quotaHeld)
}

function holdsOf(sums: Sums, subject: Subject): SubjectHolds {
  const holds = sums.subjects.get(subject) ?? { slots: 0n, tiers: new Map<string, bigint>() }
  sums.subjects.set(subject, holds)
  return holds
}

function addTier(holds: SubjectHolds, tier: string, units: bigint): void {
  holds.tiers.set(tier, (holds.tiers.get(tier) ?? 0n) + units)
}
