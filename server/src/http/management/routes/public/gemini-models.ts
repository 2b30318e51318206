import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { encodeGeminiListing, encodeGeminiModel } from '../../../../management/catalogue/gemini-listing.ts'
import { findModelForKey, listModelsForKey } from '../../../../management/catalogue/model-listing.ts'
import { defineRawRoute, type RouteContext } from '../../define-route.ts'
import { shownPath } from '../../../request-head.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type GeminiModelsContext = RouteContext & Pick<ApiContext, 'catalogue'>

const JSON_TYPE = 'application/json; charset=utf-8'

const itemShape = z.object({
  name: z.string(),
  version: z.string(),
  displayName: z.string(),
  inputTokenLimit: z.number().optional(),
  outputTokenLimit: z.number().optional(),
  supportedGenerationMethods: z.array(z.string()),
})

const listingShape = z.object({ models: z.array(itemShape), nextPageToken: z.string().optional() })

/** `GET /v1beta/models`: the models this key may call, as Gemini clients list them. */
export function geminiModelRoutes(app: Api, context: GeminiModelsContext): void {
  defineRawRoute(app, context, {
    method: 'GET',
    path: '/v1beta/models',
    access: 'key',
    tag: 'Models',
    summary: 'List the models this key may call, for Gemini clients',
    description: '`x-goog-api-key` is read too.',
    query: z.object({ pageSize: z.coerce.number().int().optional(), pageToken: z.string().optional() }),
    answer: { contentType: JSON_TYPE, schema: listingShape },
    handle: ({ caller, query }) => {
      const models = listModelsForKey(context.catalogue(), caller.key)
      const { pageSize, pageToken } = query
      const listing = encodeGeminiListing(models, { pageSize, pageToken })
      if (listing === undefined) throw new GatewayError(40000, { message: say('page-token-unknown') })
      return listing
    },
  })

  defineRawRoute(app, context, {
    method: 'GET',
    path: '/v1beta/models/*',
    access: 'key',
    tag: 'Models',
    summary: 'Read one model this key may call, for Gemini clients',
    description: '`x-goog-api-key` is read too.',
    params: z.object({ '*': z.string() }),
    answer: { contentType: JSON_TYPE, schema: itemShape },
    handle: ({ caller, params }) => {
      const id = params['*']
      const model = findModelForKey(context.catalogue(), caller.key, id)
      if (model === undefined)
        throw new GatewayError(40400, { message: say('model-does-not-exist', { id: shownPath(id) }) })
      return encodeGeminiModel(model)
    },
  })
}
