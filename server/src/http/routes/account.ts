import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { viewAccount } from '../../management/accounts.ts'
import { viewLogRow } from '../../management/log-view.ts'
import type { Api, ApiContext } from '../api.ts'

const LOG_ROWS_MAX = 200
const LOG_ROWS_DEFAULT = 50

const instant = z
  .string()
  .max(40)
  .transform((text, context) => {
    const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text)
    if (Number.isNaN(at))
      context.addIssue({ code: 'custom', message: 'must be epoch milliseconds or an ISO 8601 time' })
    return at
  })

const logQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LOG_ROWS_MAX).default(LOG_ROWS_DEFAULT),
  cursor: z.string().max(512).optional(),
  from: instant.optional(),
  to: instant.optional(),
  model: z.string().max(512).optional(),
  key_id: z.string().max(128).optional(),
  request_id: z.string().max(128).optional(),
  app_id: z.string().max(256).optional(),
  custom_id: z.string().max(256).optional(),
  user: z.string().max(512).optional(),
  status: z.coerce.number().int().optional(),
})

/** What a key may read of its account (decisions, Accounts). */
export function accountRoutes(app: Api, context: ApiContext): void {
  const { gateway } = context
  app.get('/api/v1/user/user/account', async (request) => {
    const holder = await context.requireKey(request)
    const account = (await gateway.storage.accounts.find(holder.account.id)) ?? holder.account
    const { creditsPerYuan, timezone } = gateway.catalogue().settings
    const at = gateway.now()
    const monthStart = gateway.monthOf(at, timezone).from
    return { code: 0, message: 'ok', data: viewAccount(account, { creditsPerYuan, at, monthStart }) }
  })

  const typed = app.withTypeProvider<ZodTypeProvider>()
  typed.get('/api/v1/user/user/logs', { schema: { querystring: logQuery } }, async (request) => {
    const { key } = await context.requireKey(request)
    const { query } = request
    // A key sees its own calls only, so no row can match another key as well.
    if (query.key_id !== undefined && query.key_id !== key.id) {
      return { code: 0, message: 'ok', data: [], next_cursor: null }
    }
    const page = await gateway.storage.logs.page(
      {
        keyId: key.id,
        ...(query.from === undefined ? {} : { from: query.from }),
        ...(query.to === undefined ? {} : { to: query.to }),
        ...(query.model === undefined ? {} : { model: query.model }),
        ...(query.request_id === undefined ? {} : { requestId: query.request_id }),
        ...(query.app_id === undefined ? {} : { appId: query.app_id }),
        ...(query.custom_id === undefined ? {} : { customId: query.custom_id }),
        ...(query.user === undefined ? {} : { user: query.user }),
        ...(query.status === undefined ? {} : { status: query.status }),
      },
      { limit: query.limit, cursor: query.cursor },
    )
    return { code: 0, message: 'ok', data: page.rows.map(viewLogRow), next_cursor: page.next ?? null }
  })
}
