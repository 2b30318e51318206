/** Totals over all accounts: usage, and revenue by chain and account. */
import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { isTimezone } from '../../../../core/calendar.ts'
import { DAY_MS } from '../../../../core/durations.ts'
import { accountId, keyId } from '../../../../core/ids.ts'
import { readAccountMargins, readMargin } from '../../../../management/admin/margin.ts'
import { openEnd, OTHER_GROUPS, readUsage, USAGE_INTERVALS } from '../../../../management/money/usage.ts'
import { USAGE_GROUPS } from '../../../../storage/stores/customers.ts'
import type { Storage } from '../../../../storage/storage.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { clientGone } from '../../answers/client-gone.ts'
import { decimalText, instantText, isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'
import { readAccountNames } from './account-names.ts'

type StatisticsContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Admin: logs and statistics'
const MARGIN_DAYS_MAX = 31
const GROUPS_MAX = 500
const ACCOUNTS_MAX = 500

export function adminStatisticRoutes(app: Api, context: StatisticsContext): void {
  sumsRoute(app, context)
  marginRoute(app, context)
  accountMarginsRoute(app, context)
}

const sumsFields = {
  calls: z.number().int(),
  failed: z.number().int(),
  usage: z.strictObject({
    input: z.number(),
    cached_input: z.number(),
    cache_write: z.number(),
    cache_write_1h: z.number(),
    output: z.number(),
    reasoning: z.number(),
  }),
  images: z.number(),
  video_seconds: z.number(),
  characters: z.number(),
  audio_seconds: z.number(),
  amount: decimalText,
  deducted: decimalText,
  subscription_covered: decimalText,
}

const sumsQuery = z.strictObject({
  account_id: z.string().max(128).optional(),
  key_id: z.string().max(128).optional(),
  from: instantText.optional(),
  to: instantText.optional(),
  interval: z.enum(USAGE_INTERVALS).default('hour'),
  group_by: z
    .string()
    .max(40)
    .default('')
    .transform((text) => (text === '' ? [] : text.split(',').map((part) => part.trim())))
    .pipe(z.array(z.enum(USAGE_GROUPS)))
    .meta({ description: `${USAGE_GROUPS.join(', ')}; separated by commas.` }),
  largest: z.coerce
    .number()
    .int()
    .min(1)
    .max(GROUPS_MAX)
    .optional()
    .meta({
      description: `Only so many groups, those that paid most; the others are one row, \`${OTHER_GROUPS}\`. Absent: all.`,
    }),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimezone, issue(say('must-be-a-time-zone')))
    .optional(),
})

function sumsRoute(app: Api, context: StatisticsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/statistics',
    access: 'admin',
    tag: TAG,
    summary: 'Sum calls over all accounts or one',
    description:
      'By hour or day, of the platform’s time zone where none is named, and by model, key, app or account. Absent `from`: the last day.',
    query: sumsQuery,
    data: z.strictObject({
      rows: z.array(
        z.strictObject({
          at: isoTime,
          account_id: z.string().nullable(),
          model: z.string().nullable(),
          key_id: z.string().nullable(),
          app_id: z.string().nullable(),
          ...sumsFields,
        }),
      ),
      totals: z.strictObject(sumsFields),
      keys: z
        .array(z.strictObject({ id: z.string(), name: z.string(), hint: z.string(), account_id: z.string() }))
        .meta({ description: 'The names of the keys of the rows, including deleted ones.' }),
      accounts: z.array(z.strictObject({ id: z.string(), name: z.string() })).meta({
        description: 'The names of the accounts of rows and keys, as far as they have one.',
      }),
    }),
    handle: async ({ query, reply }) => {
      const until = query.to ?? openEnd(context.now())
      const answer = await readUsage(storage, {
        signal: clientGone(reply),
        accountId: query.account_id === undefined ? undefined : accountId(query.account_id),
        keyId: query.key_id === undefined ? undefined : keyId(query.key_id),
        from: query.from ?? until - DAY_MS,
        until,
        interval: query.interval,
        groups: [...new Set(query.group_by)],
        largest: query.largest,
        timezone: query.time_zone ?? context.catalogue().settings.timezone,
      })
      if (answer.kind === 'refused')
        throw refuseFields([{ in: 'query', path: answer.path, message: answer.message }])
      return { rows: answer.rows, totals: answer.totals, ...(await namesOf(storage, answer.rows)) }
    },
  })
}

/** Names of the keys and accounts in usage reports. */
async function namesOf(
  storage: Pick<Storage, 'accounts' | 'keys'>,
  rows: readonly { readonly key_id: string | null; readonly account_id: string | null }[],
) {
  const ids = new Set(
    rows.flatMap(({ key_id: id }) => (id === null || id === OTHER_GROUPS ? [] : [keyId(id)])),
  )
  const keys = await storage.keys.readNames([...ids])
  const owners = [
    ...rows.flatMap(({ account_id: id }) => (id === null || id === OTHER_GROUPS ? [] : [accountId(id)])),
    ...[...keys.values()].map((key) => key.accountId),
  ]
  const accounts = await readAccountNames(
    storage,
    owners.map((id) => ({ accountId: id })),
  )
  return {
    keys: [...keys].map(([id, { name, hint, accountId: owner }]) => ({ id, name, hint, account_id: owner })),
    accounts: [...accounts].map(([id, name]) => ({ id, name })),
  }
}

const marginFields = {
  calls: z.number().int(),
  free_calls: z.number().int(),
  byok_calls: z.number().int(),
  revenue: decimalText,
  cost: decimalText.nullable(),
  margin: decimalText.nullable(),
}
const chainMarginShape = z.strictObject({
  chain_id: z.number().int(),
  model: z.string().nullable(),
  vendor_code: z.string().nullable(),
  ...marginFields,
})
const marginPeriod = { from: instantText.optional(), to: instantText.optional() }

function marginRoute(app: Api, context: StatisticsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/margin',
    access: 'admin',
    tag: TAG,
    summary: 'Read revenue and cost of each chain',
    description:
      'In Credits. Costs are known for chains whose `cost` is set; the others show their revenue only. At most ' +
      `${MARGIN_DAYS_MAX} days; absent \`from\`: the last day.`,
    query: z.strictObject({
      ...marginPeriod,
      timezone: z.string().max(100).optional().meta({
        description: 'Like Asia/Shanghai: `days` has each of its days; absent: there are none.',
      }),
    }),
    data: z.strictObject({
      from: isoTime,
      to: isoTime,
      calls: z.number().int(),
      complete: z.boolean().meta({
        description: 'False: only the newest calls of the period are counted; ask for a shorter one.',
      }),
      chains: z.array(chainMarginShape),
      days: z.array(z.strictObject({ at: isoTime, chains: z.array(chainMarginShape) })),
    }),
    handle: async ({ query }) => {
      const { from, to } = marginPeriodOf(query, context.now())
      const { timezone } = query
      if (timezone !== undefined && !isTimezone(timezone)) {
        const message = say('must-be-a-time-zone')
        throw refuseFields([{ in: 'query', path: 'timezone', message }])
      }
      const { days, ...report } = await readMargin(storage, { from, to, timezone })
      return {
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        ...report,
        days: days.map(({ at, chains }) => ({ at: new Date(at).toISOString(), chains })),
      }
    },
  })
}

const accountMarginsShape = z.strictObject({
  from: isoTime,
  to: isoTime,
  accounts: z.array(
    z.strictObject({
      account_id: z.string(),
      account_name: z
        .string()
        .nullable()
        .meta({ description: 'The account’s name, else its address or number.' }),
      ...marginFields,
    }),
  ),
  others: z
    .strictObject({ accounts: z.number().int(), ...marginFields })
    .nullable()
    .meta({ description: 'All accounts that are not listed one by one; null: there are none.' }),
  totals: z.strictObject(marginFields),
})

function accountMarginsRoute(app: Api, context: StatisticsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/margin/accounts',
    access: 'admin',
    tag: TAG,
    summary: 'Read revenue and cost of each account',
    description:
      'In Credits, those that paid most first. Costs are known where every chain that was called has a `cost`. At most ' +
      `${MARGIN_DAYS_MAX} days; absent \`from\`: the last day.`,
    query: z.strictObject({
      ...marginPeriod,
      limit: z.coerce.number().int().min(1).max(ACCOUNTS_MAX).default(50),
    }),
    data: accountMarginsShape,
    handle: async ({ query }) => {
      const { from, to } = marginPeriodOf(query, context.now())
      const { accounts, others, totals } = await readAccountMargins(storage, { from, to }, query.limit)
      const names = await readAccountNames(storage, accounts)
      return {
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        accounts: accounts.map(({ accountId: id, ...margin }) => ({
          account_id: id,
          account_name: names.get(id) ?? null,
          ...margin,
        })),
        others: others ?? null,
        totals,
      }
    },
  })
}

function marginPeriodOf(
  query: { readonly from?: number | undefined; readonly to?: number | undefined },
  now: number,
): { readonly from: number; readonly to: number } {
  const to = query.to ?? openEnd(now) - 1
  const from = query.from ?? to + 1 - DAY_MS
  if (from >= to || to - from > MARGIN_DAYS_MAX * DAY_MS) {
    const message = say('before-to-by-days', { most: MARGIN_DAYS_MAX })
    throw refuseFields([{ in: 'query', path: 'from', message }])
  }
  return { from, to }
}
