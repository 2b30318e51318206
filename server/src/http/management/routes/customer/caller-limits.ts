/** The limits that the calls of a key must fit into, and their use. */
import * as z from 'zod'
import { readLimitStates, viewLimits } from '../../../../management/keys/limits-view.ts'
import { viewMonth } from '../../../../management/organisations/member-view.ts'
import { currencyCode, decimalText, isoTime } from '../../answers/wire-values.ts'
import type { Account } from '../../../../storage/stores/accounts.ts'
import type { Key } from '../../../../storage/stores/keys.ts'
import type { ApiContext } from '../../api-context.ts'
import type { Answered } from '../../route-types.ts'

export type CallerLimitsContext = Pick<ApiContext, 'catalogue' | 'monthOf' | 'now' | 'storage'>

const windowShape = z.strictObject({
  dimension: z.string(),
  seconds: z.number().int(),
  limit: z.string(),
  used: z.string(),
  held: z.string(),
  remaining: z.string(),
  resets_at: isoTime.nullable(),
})
const limitsShape = z.strictObject({
  concurrency: z.strictObject({ limit: z.number().int().nullable(), in_use: z.number().int() }),
  windows: z.array(windowShape),
})
export const keyLimitsShape = limitsShape.extend({
  id: z.string(),
  last_used_at: isoTime.nullable().meta({ description: 'Of the calls that are still in the log.' }),
})
const memberLimitsShape = limitsShape.extend({
  id: z.string(),
  currency: currencyCode,
  monthly_cap_yuan: decimalText.meta({ description: '0: no cap.' }),
  month_spent_yuan: decimalText,
  month_held_yuan: decimalText,
})
export const callerLimitsShape = z.strictObject({
  key: limitsShape,
  member: memberLimitsShape.nullable().meta({ description: 'null: the key is no member’s.' }),
  account: limitsShape,
})

/** Each key's own windows, and when it was last used. */
export async function readKeyLimits(
  context: CallerLimitsContext,
  keys: readonly Pick<Key, 'id' | 'policy'>[],
): Promise<readonly Answered<z.output<typeof keyLimitsShape>>[]> {
  const { storage } = context
  const [stateOf, lastUses] = await Promise.all([
    readLimitStates(
      storage,
      keys.map(({ id }) => `key:${id}` as const),
    ),
    storage.logs.lastUses(keys.map(({ id }) => id)),
  ])
  const at = context.now()
  const { limits } = context.catalogue().settings
  return keys.map(({ id, policy }) => {
    const usedAt = lastUses.get(id)
    return {
      id,
      last_used_at: usedAt === undefined ? null : new Date(usedAt).toISOString(),
      ...viewLimits(stateOf(`key:${id}`), policy ?? limits, at),
    }
  })
}

/** The key's own windows, its member's and its account's: a call has to fit into all of them. */
export async function readCallerLimits(
  context: CallerLimitsContext,
  key: Pick<Key, 'id' | 'policy' | 'memberId'>,
  account: Account,
) {
  const { storage } = context
  const { memberId: member } = key
  const found = member === undefined ? undefined : await storage.organisations.findMember(member)
  const stateOf = await readLimitStates(storage, [
    `key:${key.id}`,
    `account:${account.id}`,
    ...(found === undefined ? [] : [`member:${found.id}` as const]),
  ])
  const at = context.now()
  const { currency, creditsPerUnit, limits, timezone } = context.catalogue().settings
  const options = { currency, creditsPerUnit, monthStart: context.monthOf(at, timezone).from }
  return {
    key: viewLimits(stateOf(`key:${key.id}`), key.policy ?? limits, at),
    member:
      found === undefined
        ? null
        : {
            ...viewLimits(stateOf(`member:${found.id}`), found.policy, at),
            ...viewMonth(found, options),
            id: found.id,
          },
    account: viewLimits(stateOf(`account:${account.id}`), account.policy, at),
  }
}
