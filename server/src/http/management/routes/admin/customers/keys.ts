/** The keys of all accounts in one list; operations on one are under its account (`account-keys.ts`). */
import * as z from 'zod'
import { accountId } from '../../../../../core/ids.ts'
import { readFormerUntil } from '../../../../../management/keys/keys.ts'
import { KEY_STATES } from '../../../../../storage/stores/keys.ts'
import type { Api } from '../../../api-context.ts'
import { isoTime, pageQuery } from '../../../answers/wire-values.ts'
import { definePage, type RouteContext } from '../../../define-route.ts'
import { readAccountNames } from '../account-names.ts'
import { keyShape } from '../shapes.ts'
import { viewKeyRow } from './account-keys.ts'

const anyKeyShape = keyShape.extend({
  account_id: z.string(),
  account_name: z
    .string()
    .nullable()
    .meta({ description: 'The account’s name, else its address or number.' }),
  last_used_at: isoTime.nullable().meta({ description: 'Of the calls that are still in the log.' }),
})

export function adminKeyRoutes(app: Api, context: RouteContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/admin/keys',
    access: 'admin',
    tag: 'Admin: accounts',
    summary: 'List and search the keys of all accounts, newest first',
    description:
      '`search` looks for part of a key’s name or hint, for its id, or for the name of its account. `state=expired`: enabled, and past its end.',
    query: z.strictObject({
      ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
      search: z.string().min(1).max(320).optional(),
      account_id: z.string().max(128).optional(),
      group: z.string().max(128).optional(),
      state: z.enum(KEY_STATES).optional(),
    }),
    row: anyKeyShape,
    handle: async ({ query: { limit, cursor, account_id: account, ...filter } }) => {
      const at = context.now()
      const whose = account === undefined ? undefined : accountId(account)
      const page = await storage.keys.page({ ...filter, account: whose, at }, { limit, cursor })
      const [names, ends, lastUses] = await Promise.all([
        readAccountNames(storage, page.rows),
        readFormerUntil(storage, page.rows, at),
        storage.logs.lastUses(page.rows.map(({ id }) => id)),
      ])
      const rows = page.rows.map((key) => {
        const usedAt = lastUses.get(key.id)
        return {
          ...viewKeyRow(key, ends.get(key.id)),
          account_id: key.accountId,
          account_name: names.get(key.accountId) ?? null,
          last_used_at: usedAt === undefined ? null : new Date(usedAt).toISOString(),
        }
      })
      return { rows, next: page.next }
    },
  })
}
