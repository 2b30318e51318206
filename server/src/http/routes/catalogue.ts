import { z } from 'zod'
import { listCatalogue, listPricing } from '../../management/catalogue.ts'
import type { Api, ApiContext } from '../api.ts'

const pricingQuery = z.object({
  model_id: z.string().max(512).optional(),
  vendor_code: z.string().max(128).optional(),
})

/** Contract §4.5: the public catalogue and the prices, personal for whoever is logged in. */
export function catalogueRoutes(app: Api, context: ApiContext): void {
  const { gateway } = context
  app.get('/api/v1/user/user/models', async () => ({
    code: 0,
    message: 'ok',
    data: listCatalogue(gateway.catalogue()),
  }))

  app.get('/api/v1/user/user/pricing', { schema: { querystring: pricingQuery } }, async (request) => {
    const query = pricingQuery.parse(request.query)
    const caller = await context.findKey(request)
    const data = listPricing(gateway.catalogue(), {
      userRate: caller?.account.userRate,
      modelId: query.model_id,
      vendorCode: query.vendor_code,
    })
    return { code: 0, message: 'ok', data }
  })
}
