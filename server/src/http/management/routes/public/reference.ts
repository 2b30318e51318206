/** The API's own documentation: the OpenAPI document and a page to read it. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { JsonObject } from '../../../../core/json.ts'
import { VERSION } from '../../../../version.ts'
import { defineRawRoute, type RouteContext } from '../../define-route.ts'
import { buildDocument } from '../../openapi/document.ts'
import { type ReferencePart, referencePage } from '../../openapi/reference-page.ts'
import { PAGE_SCRIPT } from '../../openapi/reference-script.ts'
import { PAGE_STYLE } from '../../openapi/reference-style.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type ReferenceContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Reference'

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Nothing is loaded or framed; the one style and the one script are allowed by their hashes. */
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(PAGE_STYLE)}`,
  `script-src ${hashOf(PAGE_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function referenceRoutes(app: Api, context: ReferenceContext): void {
  let made: JsonObject | undefined
  const document = (): JsonObject => {
    // Made at the first request: by then every route is defined.
    made ??= buildDocument(context.routes, { version: VERSION, serverUrl: context.publicUrl })
    return made
  }
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
  pageRoute(app, context, { path: '/docs', part: 'use', summary: 'Read this document as a page', document })
  pageRoute(app, context, {
    path: '/docs/operate',
    part: 'operate',
    summary: 'Read what administrators do as a page',
    document,
  })
}

interface ReferencePageRoute {
  readonly path: string
  readonly part: ReferencePart
  readonly summary: string
  readonly document: () => JsonObject
}

function pageRoute(
  app: Api,
  context: ReferenceContext,
  { path, part, summary, document }: ReferencePageRoute,
): void {
  let page: string | undefined
  defineRawRoute(app, context, {
    method: 'GET',
    path,
    access: 'anonymous',
    tag: TAG,
    summary,
    answer: { contentType: 'text/html; charset=utf-8', schema: z.string() },
    handle: ({ reply }) => {
      reply.header('content-security-policy', POLICY)
      reply.header('x-content-type-options', 'nosniff')
      reply.header('referrer-policy', 'no-referrer')
      page ??= referencePage(document(), part)
      return page
    },
  })
}
