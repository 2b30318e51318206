import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import {
  encodeChatListing,
  encodeChatModel,
  encodeMessagesListing,
  encodeMessagesModel,
  findModelForKey,
  listModelsForKey,
} from '../../management/model-listing.ts'
import type { Api, ApiContext } from '../api.ts'

const listingQuery = z.object({
  limit: z.coerce.number().int().optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
})

/** `GET /v1/models`: what this key may call, in the shape its client reads (decisions, Addresses). */
export function modelRoutes(app: Api, context: ApiContext): void {
  const { gateway } = context
  app.get('/v1/models', { schema: { querystring: listingQuery } }, async (request) => {
    const { key } = await context.requireKey(request)
    const models = listModelsForKey(gateway.catalogue(), key)
    if (!speaksMessages(request)) return encodeChatListing(models)
    const query = listingQuery.parse(request.query)
    return encodeMessagesListing(models, {
      limit: query.limit,
      afterId: query.after_id,
      beforeId: query.before_id,
    })
  })

  app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) => {
    const { key } = await context.requireKey(request)
    const model = findModelForKey(gateway.catalogue(), key, request.params['*'])
    if (model === undefined)
      throw new GatewayError(40400, { message: `the model ${request.params['*']} does not exist` })
    return speaksMessages(request) ? encodeMessagesModel(model) : encodeChatModel(model)
  })
}

function speaksMessages(request: FastifyRequest): boolean {
  return request.headers['anthropic-version'] !== undefined
}
