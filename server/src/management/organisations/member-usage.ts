/** Usage of an organisation's members, summed from the log by the owners of the keys. */
import type { AccountId, KeyId, MemberId } from '../../core/ids.ts'
import type { Period, UsageRow } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { sumUsage, type UsageRefusal, type UsageSums, viewSums } from '../money/usage.ts'

export interface MemberUsage {
  /** null: the organisation's own keys. */
  readonly member: string | null
  readonly sums: UsageSums
}

export type MemberUsageAnswer =
  | { readonly kind: 'usage'; readonly members: readonly MemberUsage[]; readonly totals: UsageSums }
  | UsageRefusal

/** `member`: only theirs. Includes deleted keys; keys of a removed member count for their present owner. */
export async function readMemberUsage(
  storage: Pick<Storage, 'customers' | 'keys'>,
  question: Period & {
    readonly organisation: AccountId
    readonly member: MemberId | undefined
    readonly timezone: string
  },
): Promise<MemberUsageAnswer> {
  const { organisation, member, from, until, timezone } = question
  const keys = await storage.keys.list(organisation, { member, ever: 'included' })
  const memberOf = new Map<string, MemberId | undefined>(keys.map((key) => [key.id, key.memberId]))
  const answer = await sumUsage(storage, {
    accountId: organisation,
    keyId: undefined,
    ...(member === undefined ? {} : { keyIds: keys.map((key): KeyId => key.id) }),
    interval: 'total',
    groups: ['key'],
    from,
    until,
    timezone,
  })
  if (answer.kind === 'refused') return answer
  const byMember = new Map<MemberId | null, UsageRow[]>()
  for (const row of answer.rows) {
    const whose = memberOf.get(row.keyId ?? '') ?? null
    byMember.set(whose, [...(byMember.get(whose) ?? []), row])
  }
  return {
    kind: 'usage',
    members: [...byMember].map(([whose, rows]) => ({ member: whose, sums: viewSums(rows) })),
    totals: viewSums(answer.rows),
  }
}
