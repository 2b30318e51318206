import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { modelId } from '../../../../core/ids.ts'
import {
  type OwnAccountView,
  type SettingsChange,
  changeSettings,
  readOwnAccount,
} from '../../../../management/accounts/account-settings.ts'
import { isTimezone } from '../../../../core/calendar.ts'
import { amountInput } from '../../requests/amount-input.ts'
import type { Caller } from '../../access/caller.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { accountShape } from '../../answers/shapes.ts'
import { decimalText, isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type AccountContext = RouteContext & Pick<ApiContext, 'catalogue' | 'closedAddress' | 'monthOf'>

const TAG = 'Account'
const PATH = '/api/v1/user/user/account'

const ownAccountShape = accountShape.extend({
  auto_exchange: z.strictObject({ enabled: z.boolean(), below_credits: decimalText, step_yuan: decimalText }),
  name: z.string().nullable(),
  language: z.string().nullable(),
  time_zone: z.string().nullable(),
  alerts: z.strictObject({
    email: z.boolean(),
    low_credits: decimalText.nullable(),
    failures_per_hour: z.number().int().nullable(),
    webhook_url: z.string().nullable(),
    receipts: z.boolean(),
  }),
  impersonation: z
    .strictObject({ ends_at: isoTime })
    .nullable()
    .meta({ description: 'Set while an administrator impersonates the account with this session.' }),
})

const settingsBody = z.strictObject({
  fallback_model: z.string().min(1).max(512).nullable().optional(),
  api_deduction: z.boolean().optional(),
  monthly_cap_yuan: amountInput.optional().meta({ description: '0: no cap.' }),
  auto_exchange: z
    .strictObject({
      enabled: z.boolean().optional(),
      below_credits: amountInput.optional(),
      step_yuan: amountInput.optional(),
    })
    .optional(),
  name: z
    .string()
    .max(100)
    .regex(/^[^\p{Cc}]*\S[^\p{Cc}]*$/u, say('no-control-or-empty').text)
    .nullable()
    .optional(),
  language: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, say('must-be-a-language').text)
    .nullable()
    .optional(),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimezone, issue(say('must-be-a-time-zone')))
    .nullable()
    .optional(),
  alerts: z
    .strictObject({
      email: z.boolean().optional(),
      receipts: z.boolean().optional(),
      low_credits: amountInput.nullable().optional(),
      failures_per_hour: z.number().int().min(1).max(1_000_000).nullable().optional(),
      webhook_url: z
        .string()
        .max(2048)
        .refine(isWebAddress, issue(say('must-be-a-web-address')))
        .nullable()
        .optional(),
    })
    .optional(),
})

/** The account, as seen and changed by its owner (docs/reference/contract.md#D-accounts-19, #D-accounts-37). */
export function accountRoutes(app: Api, context: AccountContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'account',
    withoutSecondFactor: 'may',
    for: 'admin',
    tag: TAG,
    summary: 'Read the account',
    data: ownAccountShape,
    handle: async ({ caller }) => {
      const account = await readOwnAccount(context.storage, caller.account, viewOptions(context))
      return shownTo(caller, account)
    },
  })

  defineRoute(app, context, {
    method: 'PATCH',
    path: PATH,
    access: 'session',
    for: 'admin',
    impersonator: 'may',
    tag: TAG,
    summary: 'Change the account’s own settings',
    description:
      'Members that are absent stay as they are; null removes the value. An impersonating administrator changes its fallback model, name, language and time zone only.',
    body: settingsBody,
    data: ownAccountShape,
    handle: async ({ caller, body }) => {
      if (caller.session.impersonator !== undefined) refuseOwnersAffairs(body)
      await checkWebhook(context, body.alerts?.webhook_url)
      const change = settingsChange(body)
      const options = viewOptions(context)
      const mistakes = await changeSettings(context.storage, caller.account.id, {
        change,
        catalogue: context.catalogue(),
      })
      if (mistakes.length > 0) throw refuseFields(mistakes.map((mistake) => ({ in: 'body', ...mistake })))
      const account = await readOwnAccount(context.storage, caller.account, options)
      return shownTo(caller, account)
    },
  })
}

function shownTo(caller: Caller, account: OwnAccountView): z.output<typeof ownAccountShape> {
  if (caller.kind === 'key' || caller.session.impersonator === undefined)
    return { ...account, impersonation: null }
  const endsAt = new Date(caller.session.endsAt).toISOString()
  return { ...withoutSecrets(account), impersonation: { ends_at: endsAt } }
}

/**
 * The path of a webhook's address often is its only protection, so an admin who impersonates the account sees only its
 * origin.
 */
function withoutSecrets<View extends { readonly alerts: { readonly webhook_url: string | null } }>(
  account: View,
): View {
  const { webhook_url: url } = account.alerts
  const shown = url === null ? null : `${new URL(url).origin}/…`
  return { ...account, alerts: { ...account.alerts, webhook_url: shown } }
}

/** Money and notifications may only be set by the account's owner, so an impersonator may change these alone. */
const IMPERSONATORS_FIELDS = ['fallback_model', 'name', 'language', 'time_zone']

function refuseOwnersAffairs(body: z.output<typeof settingsBody>): void {
  const foreign = Object.keys(body).filter((name) => !IMPERSONATORS_FIELDS.includes(name))
  if (foreign.length > 0)
    throw new GatewayError(40304, { message: say('owner-only-changes', { foreign: foreign.join(', ') }) })
}

/**
 * Checked when it is set, because later failures would go unnoticed. A name that does not resolve yet may do so later.
 */
async function checkWebhook(
  { closedAddress }: Pick<ApiContext, 'closedAddress'>,
  url: string | null | undefined,
): Promise<void> {
  const closed = url === null || url === undefined ? undefined : await closedAddress(url)
  if (closed === undefined) return
  const message = say('address-private', { closed })
  throw refuseFields([{ in: 'body', path: 'alerts.webhook_url', message }])
}

function viewOptions(context: AccountContext) {
  const { currency, creditsPerUnit, timezone } = context.catalogue().settings
  const at = context.now()
  return { currency, creditsPerUnit, at, monthStart: context.monthOf(at, timezone).from }
}

function settingsChange(body: z.output<typeof settingsBody>): SettingsChange {
  const fallback = body.fallback_model
  return {
    ...('fallback_model' in body && {
      fallbackModel: fallback === null || fallback === undefined ? undefined : modelId(fallback),
    }),
    apiDeduction: body.api_deduction,
    monthlyCapYuan: body.monthly_cap_yuan,
    autoExchange: body.auto_exchange && {
      enabled: body.auto_exchange.enabled,
      belowCredits: body.auto_exchange.below_credits,
      stepYuan: body.auto_exchange.step_yuan,
    },
    ...('name' in body && { name: body.name ?? undefined }),
    ...('language' in body && { language: body.language ?? undefined }),
    ...('time_zone' in body && { timezone: body.time_zone ?? undefined }),
    alerts: body.alerts && {
      email: body.alerts.email,
      receipts: body.alerts.receipts,
      ...('low_credits' in body.alerts && { lowCredits: body.alerts.low_credits ?? undefined }),
      ...('failures_per_hour' in body.alerts && {
        failuresPerHour: body.alerts.failures_per_hour ?? undefined,
      }),
      ...('webhook_url' in body.alerts && { webhookUrl: body.alerts.webhook_url ?? undefined }),
    },
  }
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
