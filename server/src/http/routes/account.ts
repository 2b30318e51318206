import { z } from 'zod'
import { keyId } from '../../core/ids.ts'
import { viewAccount } from '../../management/accounts.ts'
import { viewLogRow } from '../../management/log-view.ts'
import type { Api, ApiContext } from '../api.ts'
import { definePage, defineRoute } from '../define-route.ts'
import { accountShape, logRowShape } from '../shapes.ts'
import { instantText, pageQuery } from '../wire-values.ts'

const logQuery = z.object({
  ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
  from: instantText.optional(),
  to: instantText.optional(),
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
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/account',
    access: 'account',
    tag: 'Account',
    summary: 'Read the account',
    data: accountShape,
    handle: async ({ caller }) => {
      const account = (await gateway.storage.accounts.find(caller.account.id)) ?? caller.account
      const { creditsPerYuan, timezone } = gateway.catalogue().settings
      const at = gateway.now()
      const monthStart = gateway.monthOf(at, timezone).from
      return viewAccount(account, { creditsPerYuan, at, monthStart })
    },
  })

  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs',
    access: 'account',
    tag: 'Logs',
    summary: 'List calls, newest first',
    description: 'With a session: the calls of the account. With an API key: the calls of this key.',
    query: logQuery,
    row: logRowShape,
    handle: async ({ caller, query }) => {
      // A key sees its own calls only, so no row can match another key as well.
      if (caller.kind === 'key' && query.key_id !== undefined && query.key_id !== caller.key.id)
        return { rows: [], next: undefined }
      const page = await gateway.storage.logs.page(
        {
          ...(caller.kind === 'key' ? { keyId: caller.key.id } : { accountId: caller.account.id }),
          ...(caller.kind === 'key' || query.key_id === undefined ? {} : { keyId: keyId(query.key_id) }),
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
      return { rows: page.rows.map(viewLogRow), next: page.next }
    },
  })
}
