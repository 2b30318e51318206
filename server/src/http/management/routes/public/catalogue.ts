import * as z from 'zod'
import type { Chain } from '../../../../core/catalogue.ts'
import { healthWord } from '../../../../core/routing/order.ts'
import { listAdmission } from '../../../../management/catalogue/admission.ts'
import { listCatalogue, listGroups, listPricing } from '../../../../management/catalogue/catalogue.ts'
import { endpointsOf } from '../../../../pipeline/kinds/index.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { admissionShape, catalogueEntryShape, groupShape, pricingEntryShape } from '../../answers/shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type CatalogueContext = RouteContext & Pick<ApiContext, 'catalogue' | 'health'>

const pricingQuery = z.object({
  model_id: z.string().max(512).optional(),
  vendor_code: z.string().max(128).optional(),
})

/** The public catalogue and the prices, personal if the caller is signed in (docs/reference/contract.md#4.5). */
export function catalogueRoutes(app: Api, context: CatalogueContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/models',
    access: 'anonymous',
    tag: 'Catalogue',
    summary: 'List every model and chain on offer',
    data: z.array(catalogueEntryShape),
    handle: () => listCatalogue(context.catalogue(), endpointsOf),
  })

  admission(app, context)
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/groups',
    access: 'session',
    for: 'member',
    tag: 'Catalogue',
    summary: 'List the groups a key may be bound to',
    data: z.array(groupShape),
    handle: () => listGroups(context.catalogue()),
  })

  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/pricing',
    access: 'optional',
    for: 'member',
    tag: 'Catalogue',
    summary: 'List prices',
    description: 'Anonymous callers see user_rate 100; a session or an API key sees its own.',
    query: pricingQuery,
    data: z.array(pricingEntryShape),
    handle: ({ caller, query }) =>
      listPricing(
        context.catalogue(),
        {
          userRate: caller?.account.userRate,
          modelId: query.model_id,
          vendorCode: query.vendor_code,
        },
        endpointsOf,
      ),
  })
}

function admission(app: Api, context: CatalogueContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/admission',
    access: 'session',
    for: 'member',
    tag: 'Catalogue',
    summary: 'List what each model needs of the account, and whether it answers now',
    data: z.array(admissionShape),
    handle: ({ caller: { account } }) => {
      const at = context.now()
      const { subscription, verification } = account
      const runs = subscription !== undefined && subscription.expiresAt > at
      const answers = (chain: Chain) => {
        const word = healthWord(context.health.of(chain), at)
        return word === 'healthy' || word === 'rate-limited'
      }
      const planLevel = runs ? subscription.level : 0
      return listAdmission(context.catalogue(), { verification, planLevel }, answers)
    },
  })
}
