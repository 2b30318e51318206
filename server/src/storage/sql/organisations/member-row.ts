/** Members between their table, `Member` and the `MemberRow` of a hot batch. */
import { accountId, memberId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { type Member, MEMBER_ROLES, type MemberRole } from '../../organisations.ts'
import { decodePolicy } from '../account-row.ts'
import { integerOf, numberOf, type StoredRow, textOf } from '../table.ts'

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
