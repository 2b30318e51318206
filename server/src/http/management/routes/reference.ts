/** What the API says of itself: the OpenAPI document and a page to read it on. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject } from '../../../core/json.ts'
import { VERSION } from '../../../version.ts'
import type { Api, ApiContext } from '../api.ts'
import { defineRawRoute } from '../define-route.ts'
import { buildDocument } from '../openapi/document.ts'
import { PAGE_STYLE, referencePage } from '../openapi/reference-page.ts'

const TAG = 'Reference'

/** Nothing is loaded, run or framed; the one style is known by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function referenceRoutes(app: Api, context: ApiContext): void {
  let made: JsonObject | undefined
  const document = (): JsonObject => {
    // Made when it is first asked for: by then every route is there.
    made ??= buildDocument(context.routes, { version: VERSION, serverUrl: context.publicUrl })
    return made
  }
  let page: string | undefined

  defineRawRoute(app, context, {
    method: 'GET',
    path: '/openapi.json',
    access: 'anonymous',
    tag: TAG,
    summary: 'Read this document',
    caching: 'etag',
    answer: {
      contentType: 'application/json; charset=utf-8',
      schema: z.looseObject({ openapi: z.string() }),
    },
    handle: document,
  })

  defineRawRoute(app, context, {
    method: 'GET',
    path: '/docs',
    access: 'anonymous',
    tag: TAG,
    summary: 'Read this document as a page',
    answer: { contentType: 'text/html; charset=utf-8', schema: z.string() },
    handle: ({ reply }) => {
      reply.header('content-security-policy', POLICY)
      reply.header('x-content-type-options', 'nosniff')
      reply.header('referrer-policy', 'no-referrer')
      page ??= referencePage(document())
      return page
    },
  })
}
