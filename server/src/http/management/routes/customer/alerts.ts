import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { raiseTest, viewAlert, webhookSecretOf } from '../../../../management/accounts/alerts.ts'
import { countAct } from '../../../../management/identity/own-act.ts'
import { ALERT_KINDS } from '../../../../storage/stores/customers.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type AlertsContext = RouteContext & Pick<ApiContext, 'secretKey'>

/** Alerts the list shows. */
const ALERTS_SHOWN_MAX = 100

const alertShape = z.strictObject({
  id: z.string(),
  type: z.enum(ALERT_KINDS),
  raised_at: isoTime,
  cleared_at: isoTime.nullable(),
  data: z.record(z.string(), z.union([z.string(), z.number()])),
  deliveries: z.array(
    z.strictObject({
      channel: z.enum(['email', 'webhook']),
      attempts: z.number().int(),
      outcome: z.enum(['waiting', 'sent', 'failed']),
    }),
  ),
})

/** The account's alerts, the secret its webhooks are signed with, and whether webhooks arrive. */
export function alertRoutes(app: Api, context: AlertsContext): void {
  listing(app, context)
  testing(app, context)
}

function listing(app: Api, context: AlertsContext): void {
  const { storage, secretKey } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/alerts',
    access: 'session',
    for: 'admin',
    showsSecret: true,
    tag: 'Account',
    summary: 'List alerts, newest first, and read the webhook’s secret',
    description:
      'A webhook carries `Sluice-Signature: t=<Unix seconds>,v1=<hex>`, the HMAC-SHA256 under this secret of the seconds, a dot and the body. Another webhook_url has another secret.',
    data: z.strictObject({ webhook_secret: z.string().nullable(), alerts: z.array(alertShape) }),
    handle: async ({ caller }) => {
      const account = caller.account.id
      const url = (await storage.customers.profiles.find(account))?.alerts.webhookUrl
      const alerts = await storage.customers.alerts.list(account, ALERTS_SHOWN_MAX)
      // The secret signs in the account's name, so an impersonator must not get it.
      const isOwn = caller.session.impersonator === undefined
      const secret = url === undefined || !isOwn ? undefined : webhookSecretOf(secretKey, { account, url })
      return {
        webhook_secret: secret?.unwrap() ?? null,
        alerts: alerts.map((alert) => {
          const { data, deliveries, ...rest } = viewAlert(alert)
          return { ...rest, data: { ...data }, deliveries: deliveries.map((one) => ({ ...one })) }
        }),
      }
    },
  })
}

function testing(app: Api, context: AlertsContext): void {
  const { storage, now } = context
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/alerts/test',
    access: 'session',
    for: 'admin',
    tag: 'Account',
    summary: 'Send a test alert over every channel',
    description:
      'A mail and a signed webhook of type `test`, as far as they are set. They are sent within seconds; the list of alerts shows their delivery.',
    errors: [40900],
    data: z.strictObject({ deliveries: z.number().int().min(1) }),
    handle: async ({ caller: { account } }) => {
      await countAct(storage, account.id, now())
      const alerts = (await storage.customers.profiles.find(account.id))?.alerts
      const deliveries = alerts === undefined ? 0 : await raiseTest(storage, { account, alerts }, now())
      if (deliveries === 0)
        throw new GatewayError(40900, {
          message: say('alert-nowhere'),
        })
      return { deliveries }
    },
  })
}
