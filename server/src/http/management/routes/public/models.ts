import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import {
  encodeChatListing,
  encodeChatModel,
  encodeMessagesListing,
  encodeMessagesModel,
  findModelForKey,
  listModelsForKey,
} from '../../../../management/catalogue/model-listing.ts'
import { checkBound } from '../../../../pipeline/stages/authenticate.ts'
import { addressOf } from '../../../request-head.ts'
import { defineRawRoute, type RouteContext } from '../../define-route.ts'
import { modelItemShape, modelListingShape } from '../../answers/shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type ModelsContext = RouteContext & Pick<ApiContext, 'catalogue'>

const listingQuery = z.object({
  limit: z.coerce.number().int().optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
})

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * `GET /v1/models`: the models this key may call, in the format its client reads
 * (docs/reference/contract.md#D-addresses-23, #D-addresses-25).
 */
export function modelRoutes(app: Api, context: ModelsContext): void {
  defineRawRoute(app, context, {
    method: 'GET',
    path: '/v1/models',
    access: 'key',
    tag: 'Models',
    summary: 'List the models this key may call',
    description: 'The version header of the messages protocol selects that protocol’s listing.',
    query: listingQuery,
    answer: { contentType: JSON_TYPE, schema: modelListingShape },
    handle: ({ caller, query, request }) => {
      checkBound({ key: caller.key, address: addressOf(request.raw) })
      const models = listModelsForKey(context.catalogue(), caller.key)
      if (!speaksMessages(request)) return encodeChatListing(models)
      return encodeMessagesListing(models, {
        limit: query.limit,
        afterId: query.after_id,
        beforeId: query.before_id,
      })
    },
  })

  defineRawRoute(app, context, {
    method: 'GET',
    path: '/v1/models/*',
    access: 'key',
    tag: 'Models',
    summary: 'Read one model this key may call',
    params: z.object({ '*': z.string() }),
    answer: { contentType: JSON_TYPE, schema: modelItemShape },
    handle: ({ caller, params, request }) => {
      const id = params['*']
      const model = findModelForKey(context.catalogue(), caller.key, id)
      if (model === undefined) throw new GatewayError(40400, { message: say('model-does-not-exist', { id }) })
      return speaksMessages(request) ? encodeMessagesModel(model) : encodeChatModel(model)
    },
  })
}

function speaksMessages(request: FastifyRequest): boolean {
  return request.headers['anthropic-version'] !== undefined
}
