/**
 * Calls from web pages of other sites (Fetch standard, CORS): only where the operator names the sites, only for calls and
 * model lists, and never with cookies. The management API stays with its own origin (`same-origin.ts`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Origins that may call, or `*`. */
export type CorsOrigins = readonly string[]

/** What scripts may read beside the body. */
const EXPOSED = [
  'x-request-id',
  'gw-model',
  'gw-dropped-fields',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'openai-poll-after-ms',
  'x-should-retry',
].join(', ')

/** How long a browser may remember what it was allowed; some forget after two hours whatever they are told. */
const REMEMBER_SECONDS = 7_200
const METHODS = 'GET, POST, DELETE'
const ASKED_HEADERS = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/** Puts on the answer what a browser has to know. True: it only asked whether it may call, and has been told. */
export function allowOrigin(
  origins: CorsOrigins,
  { request, response, path }: { request: IncomingMessage; response: ServerResponse; path: string },
): boolean {
  if (origins.length === 0 || !/^\/v1(beta)?\//.test(path)) return false
  const anybody = origins.includes('*')
  if (!anybody) response.setHeader('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !(anybody || origins.includes(origin.toLowerCase()))) return false
  response.setHeader('access-control-allow-origin', anybody ? '*' : origin)
  response.setHeader('access-control-expose-headers', EXPOSED)
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false
  answerPreflight(request, response)
  return true
}

/** Clients send headers of their own by the dozen; none of them opens anything here but the key, which a page must know. */
function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  if (asked !== undefined && ASKED_HEADERS.test(asked))
    response.setHeader('access-control-allow-headers', asked)
  response.setHeader('access-control-allow-methods', METHODS)
  response.setHeader('access-control-max-age', REMEMBER_SECONDS)
  response.writeHead(204)
  response.end()
}
