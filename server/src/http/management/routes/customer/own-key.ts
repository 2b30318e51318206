import { viewKey } from '../../../../management/keys/keys.ts'
import { defineRoute } from '../../define-route.ts'
import { callerLimitsShape, readCallerLimits, type CallerLimitsContext } from './caller-limits.ts'
import { keyShape, showKey } from './keys.ts'
import { answerUsage, usageSumsShape, type UsageContext } from './usage.ts'
import type { Api } from '../../api-context.ts'

type OwnKeyContext = UsageContext & CallerLimitsContext

/** Information about a key for the key itself. */
export function ownKeyRoutes(app: Api, context: OwnKeyContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/key',
    access: 'key',
    tag: 'Keys',
    summary: 'Read the calling key: its limits, its windows, what it used this month',
    data: keyShape.extend({ limits: callerLimitsShape, used_this_month: usageSumsShape }),
    handle: async ({ caller: { key, account } }) => {
      const { timezone } = context.catalogue().settings
      const to = context.now()
      const month = {
        from: context.monthOf(to, timezone).from,
        to,
        interval: 'total' as const,
        group_by: [],
      }
      const used = await answerUsage(context, { ...month, key_id: key.id }, { accountId: account.id })
      return {
        ...(await showKey(context, viewKey(key))),
        limits: await readCallerLimits(context, key, account),
        used_this_month: used.totals,
      }
    },
  })
}
