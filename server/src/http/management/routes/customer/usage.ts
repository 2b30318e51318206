import { say } from '../../../../core/sentences/say.ts'
import { DAY_MS } from '../../../../core/durations.ts'
import * as z from 'zod'
import { type AccountId, type KeyId, keyId } from '../../../../core/ids.ts'
import { isTimezone } from '../../../../core/calendar.ts'
import { readUsageByMember } from '../../../../management/money/usage-by-member.ts'
import { clientGone } from '../../answers/client-gone.ts'
import { openEnd, USAGE_INTERVALS } from '../../../../management/money/usage.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { ownKeyIds } from '../../own-keys.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { decimalText, instantText, isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type UsageContext = RouteContext & Pick<ApiContext, 'catalogue'>

const USAGE_GROUPS = ['model', 'key', 'app', 'member'] as const

export const usageQuery = z.strictObject({
  from: instantText.optional(),
  to: instantText.optional().meta({
    description: 'The last moment; absent: the end of the half-hour that is running.',
  }),
  interval: z.enum(USAGE_INTERVALS).default('day'),
  group_by: z
    .string()
    .max(64)
    .default('')
    .transform((text, context) => {
      const names = text.split(',').filter((name) => name !== '')
      const groups = USAGE_GROUPS.filter((group) => names.includes(group))
      if (groups.length !== names.length) {
        context.addIssue({
          code: 'custom',
          ...issue(say('some-of-with-commas', { words: USAGE_GROUPS.join(', ') })),
        })
      }
      return groups
    })
    .meta({
      description:
        'Some of model, key, app, member, with commas between. `member` is the member of the organisation whose key was used.',
    }),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimezone, issue(say('must-be-a-time-zone')))
    .optional(),
})

const count = z.number().int().min(0)
const sums = {
  calls: count,
  failed: count,
  usage: z.strictObject({
    input: count,
    cached_input: count,
    cache_write: count,
    cache_write_1h: count,
    output: count,
    reasoning: count,
  }),
  images: count,
  video_seconds: z.number().min(0),
  characters: count,
  audio_seconds: z.number().min(0),
  amount: decimalText,
  deducted: decimalText,
  subscription_covered: decimalText,
}
export const usageSumsShape = z.strictObject(sums)
export const usageShape = z.strictObject({
  from: isoTime,
  to: isoTime,
  interval: z.enum(USAGE_INTERVALS),
  time_zone: z.string(),
  rows: z.array(
    z.strictObject({
      at: isoTime,
      model: z.string().nullable(),
      key_id: z.string().nullable(),
      app_id: z.string().nullable(),
      member: z
        .string()
        .nullable()
        .meta({ description: 'null: not grouped by it, or the organisation’s own keys.' }),
      ...sums,
    }),
  ),
  totals: usageSumsShape,
})

/** Usage by hour or day, and by model, key or app (docs/reference/contract.md#D-accounts-113). */
export function usageRoutes(app: Api, context: UsageContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/usage',
    access: 'account',
    for: 'member',
    tag: 'Logs',
    summary: 'Sum what was used',
    description:
      'With a session: of the account; for a member of an organisation, of their keys. With an API key: of this key. The sums are those of the log.',
    query: usageQuery.extend({ key_id: z.string().max(128).optional() }),
    data: usageShape,
    handle: async ({ caller, query, reply }) => {
      const own = { accountId: caller.account.id, signal: clientGone(reply) }
      if (caller.kind === 'key') return answerUsage(context, { ...query, key_id: caller.key.id }, own)
      const keyIds = await ownKeyIds(context.storage, caller)
      return answerUsage(context, query, { ...own, keyIds })
    },
  })
}

export interface AskedUsage extends z.output<typeof usageQuery> {
  readonly key_id?: string | undefined
}

/** The account and keys whose usage is summed. */
export interface UsageScope {
  readonly accountId: AccountId
  /** Only calls of these keys; absent: of all keys. */
  readonly keyIds?: readonly KeyId[] | undefined
  /** Once aborted, nobody waits for the answer. */
  readonly signal?: AbortSignal
}

export async function answerUsage(
  context: UsageContext,
  query: AskedUsage,
  { accountId, keyIds, signal }: UsageScope,
): Promise<z.output<typeof usageShape>> {
  const { interval } = query
  const to = query.to ?? openEnd(context.now()) - 1
  const from = query.from ?? to + 1 - (interval === 'hour' ? DAY_MS : 30 * DAY_MS)
  const timezone = query.time_zone ?? context.catalogue().settings.timezone
  const answer = await readUsageByMember(context.storage, {
    accountId,
    byMember: query.group_by.includes('member'),
    ...(keyIds === undefined ? {} : { keyIds }),
    keyId: query.key_id === undefined ? undefined : keyId(query.key_id),
    from,
    until: to + 1,
    interval,
    groups: query.group_by.filter((group) => group !== 'member'),
    timezone,
    signal,
  })
  if (answer.kind === 'refused') {
    throw refuseFields([{ in: 'query', path: answer.path, message: answer.message }])
  }
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    interval,
    time_zone: timezone,
    rows: answer.rows.map((row) => ({ ...row })),
    totals: answer.totals,
  }
}
