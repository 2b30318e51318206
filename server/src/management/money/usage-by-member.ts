/** Usage by member: the log has keys, and the organisation knows their members. */
import type { AccountId } from '../../core/ids.ts'
import type { UsageRow } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import {
  addRows,
  sumUsage,
  type UsageQuestion,
  type UsageRefusal,
  type UsageSums,
  type UsageView,
  viewRow,
  viewSums,
} from './usage.ts'

export interface MemberQuestion extends UsageQuestion {
  readonly accountId: AccountId
  readonly byMember: boolean
}

export interface MemberUsageView extends UsageView {
  /** null: not requested, or one of the organisation's own keys. */
  readonly member: string | null
}

export type MemberUsageAnswer =
  | { readonly kind: 'usage'; readonly rows: readonly MemberUsageView[]; readonly totals: UsageSums }
  | UsageRefusal

/** Includes deleted keys; keys of a removed member count for their present owner. */
export async function readUsageByMember(
  storage: Pick<Storage, 'customers' | 'keys'>,
  question: MemberQuestion,
): Promise<MemberUsageAnswer> {
  const { accountId, byMember, groups } = question
  const asked = byMember && !groups.includes('key') ? [...groups, 'key' as const] : groups
  const summed = await sumUsage(storage, { ...question, groups: asked })
  if (summed.kind === 'refused') return summed
  const totals = viewSums(summed.rows)
  if (!byMember) {
    return { kind: 'usage', rows: summed.rows.map((row) => ({ ...viewRow(row), member: null })), totals }
  }
  const keys = await storage.keys.list(accountId, { ever: 'included' })
  const memberOf = new Map<string, string | undefined>(keys.map((key) => [key.id, key.memberId]))
  const sums = new Map<string, { readonly row: UsageRow; readonly member: string | null }>()
  for (const found of summed.rows) {
    const member = memberOf.get(found.keyId ?? '') ?? null
    const row = groups.includes('key') ? found : { ...found, keyId: undefined }
    const place = JSON.stringify([row.at, row.model, row.keyId, row.appId, member])
    const before = sums.get(place)
    sums.set(place, { row: before === undefined ? row : addRows(before.row, row), member })
  }
  return {
    kind: 'usage',
    rows: [...sums.values()].map(({ row, member }) => ({ ...viewRow(row), member })),
    totals,
  }
}
