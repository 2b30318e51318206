/** Top-ups of all accounts, and the packages offered. */
import { say } from '../../../../../core/sentences/say.ts'
import { issue } from '../../../requests/request-fields.ts'
import * as z from 'zod'
import { accountId } from '../../../../../core/ids.ts'
import { creditsOfText, creditsOfYuan } from '../../../../../management/money/amounts.ts'
import { viewTopUp } from '../../../../../management/top-up/cashier.ts'
import { putPackage, removePackage, viewPackage } from '../../../../../management/top-up/packages.ts'
import { amountInput } from '../../../requests/amount-input.ts'
import { definePage, defineRoute, type RouteContext } from '../../../define-route.ts'
import { pageQuery, nextCursor } from '../../../answers/wire-values.ts'
import { packageShape, topUpShape } from '../../customer/top-up-shapes.ts'
import { tariffOf } from '../../customer/top-ups.ts'
import { actorOf, valueOf } from '../admin-route.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

type AdminTopUpsContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Admin: top-ups'
const PACKAGES = '/api/v1/admin/top-up-packages'
const codeParams = z.object({ code: z.string().regex(/^[\w.-]{1,64}$/) })

const rowShape = topUpShape.extend({
  account_id: z.string(),
  provider: z.string(),
  checkout: z.string().nullable().meta({ description: 'The provider’s id of the checkout.' }),
})

const packageBody = z
  .strictObject({
    name: z.string().min(1).max(200),
    price: amountInput,
    credits: amountInput.optional(),
    yuan: amountInput.optional(),
    status: z.enum(['enabled', 'disabled']).default('enabled'),
  })
  .refine(
    (body) => (body.credits === undefined) !== (body.yuan === undefined),
    issue(say('either-credits-or-yuan')),
  )

export function adminTopUpRoutes(app: Api, context: AdminTopUpsContext): void {
  listRoute(app, context)
  packageRoutes(app, context)
}

function listRoute(app: Api, context: AdminTopUpsContext): void {
  const { topUps } = context.storage
  definePage(app, context, {
    method: 'GET',
    path: '/api/v1/admin/top-ups',
    access: 'admin',
    tag: TAG,
    summary: 'List top-ups, newest first',
    query: z.strictObject({
      ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
      account_id: z.string().max(128).optional(),
      status: topUpShape.shape.status.optional(),
    }),
    row: rowShape,
    handle: async ({ query }) => {
      const { limit, cursor: after, account_id: account, status } = query
      const filter = {
        ...(account === undefined ? {} : { accountId: accountId(account) }),
        ...(status === undefined ? {} : { status }),
      }
      const rows = await topUps.payments.list(filter, { limit, after })
      const at = context.now()
      return {
        rows: rows.map((topUp) => ({
          ...viewTopUp(topUp, tariffOf(context), at),
          account_id: topUp.accountId,
          provider: topUp.driver,
          checkout: topUp.checkout?.reference ?? null,
        })),
        next: nextCursor(rows, limit),
      }
    },
  })
}

function packageRoutes(app: Api, context: AdminTopUpsContext): void {
  const { topUps } = context.storage
  defineRoute(app, context, {
    method: 'GET',
    path: PACKAGES,
    access: 'admin',
    tag: TAG,
    summary: 'List the packages that can be bought',
    data: z.array(packageShape),
    handle: async () =>
      (await topUps.packages.list()).map((one) => viewPackage(one, tariffOf(context).creditsPerUnit)),
  })

  defineRoute(app, context, {
    method: 'PUT',
    path: `${PACKAGES}/:code`,
    access: 'admin',
    tag: TAG,
    summary: 'Offer a package, or change one',
    description: 'Purchases keep the terms they were made at.',
    params: codeParams,
    body: packageBody,
    data: packageShape,
    handle: async ({ params, body, caller, request }) => {
      const tariff = tariffOf(context)
      const { name, price, status, credits, yuan } = body
      const amount =
        yuan === undefined ? creditsOfText(credits ?? '0') : creditsOfYuan(yuan, tariff.creditsPerUnit)
      const pool = yuan === undefined ? 'credits' : 'balance'
      const offered = { code: params.code, name, price, pool, amount, status } as const
      const actor = actorOf(context, { caller, request })
      const kept = valueOf(await putPackage(context.storage, { offered, tariff }, actor))
      return viewPackage(kept, tariff.creditsPerUnit)
    },
  })

  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PACKAGES}/:code`,
    access: 'admin',
    tag: TAG,
    summary: 'Remove a package',
    params: codeParams,
    data: z.strictObject({ removed: z.literal(true) }),
    handle: async ({ params, caller, request }) =>
      valueOf(await removePackage(context.storage, params.code, actorOf(context, { caller, request }))),
  })
}
