/** Members between their table, `Member` and the `MemberRow` of a hot batch. */
import type { MemberRow } from '../../../core/ledger/hot-rows.ts'
import { accountId, memberId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { type Member, MEMBER_ROLES, type MemberRole } from '../../stores/organisations.ts'
import { decodePolicy } from '../accounts/account-row.ts'
import { integerOf, numberOf, type StoredRow, type Table, textOf } from '../table.ts'

/** What a hot batch reads of members and, with them, of their own accounts. */
const HOT_COLUMNS = [
  'm.id',
  'm.organisation_id',
  'm.status',
  'm.monthly_cap',
  'm.month_start',
  'm.month_spent',
  'm.month_held',
  'm.policy',
  'p.status as person_status',
]

/** `from` names the table `m` and what leads to its rows. */
export const selectHotMembers = (from: string): string =>
  `select ${HOT_COLUMNS.join(', ')} from ${from} join accounts p on p.id = m.account_id`

export function decodeMemberRow(row: StoredRow): MemberRow {
  return {
    id: memberId(textOf(row, 'id')),
    organisationId: accountId(textOf(row, 'organisation_id')),
    status: decodeStatus(textOf(row, 'status')),
    personStatus: textOf(row, 'person_status') === 'active' ? 'active' : 'suspended',
    monthlyCap: microCredits(integerOf(row, 'monthly_cap')),
    monthStart: numberOf(row, 'month_start'),
    monthSpent: microCredits(integerOf(row, 'month_spent')),
    monthHeld: microCredits(integerOf(row, 'month_held')),
    policy: decodePolicy(textOf(row, 'policy')),
  }
}

function decodeStatus(text: string): MemberRow['status'] {
  if (text === 'active' || text === 'suspended' || text === 'removed') return text
  throw new Error(`a member is stored with the status ${text}`)
}

/** What a hot batch writes of a member: their month only. */
export const memberMonths: Table<MemberRow> = {
  name: 'members',
  columns: { id: 'text', month_start: 'integer', month_spent: 'integer', month_held: 'integer' },
  encode: ({ id, monthStart, monthSpent, monthHeld }) => [id, monthStart, monthSpent, monthHeld],
}

export function decodeMember(row: StoredRow): Member {
  return {
    id: memberId(textOf(row, 'id')),
    organisationId: accountId(textOf(row, 'organisation_id')),
    accountId: accountId(textOf(row, 'account_id')),
    role: decodeRole(textOf(row, 'role')),
    status: textOf(row, 'status') === 'active' ? 'active' : 'suspended',
    monthlyCap: microCredits(integerOf(row, 'monthly_cap')),
    policy: decodePolicy(textOf(row, 'policy')),
    monthStart: numberOf(row, 'month_start'),
    monthSpent: microCredits(integerOf(row, 'month_spent')),
    monthHeld: microCredits(integerOf(row, 'month_held')),
    joinedAt: numberOf(row, 'joined_at'),
  }
}

export function decodeRole(text: string): MemberRole {
  const role = MEMBER_ROLES.find((one) => one === text)
  if (role === undefined) throw new Error(`a member is stored with the role ${text}`)
  return role
}
