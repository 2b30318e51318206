/** Which paths are calls, and what each means; everything else goes to the framework (decisions, Addresses). */
import type { Endpoint, StoredRequest } from '../../pipeline/call.ts'

/** What a request line asks for. */
export type CallPath =
  | { readonly kind: 'call'; readonly endpoint: Endpoint }
  /** A response that was kept. */
  | { readonly kind: 'stored'; readonly endpoint: Endpoint; readonly wanted: StoredRequest }
  /** The path is a call's, the method is not. */
  | { readonly kind: 'wrong-method'; readonly endpoint: Endpoint; readonly allow: string }
  | { readonly kind: 'other' }

const FIXED: ReadonlyMap<string, Endpoint> = new Map(
  [
    endpoint('/v1/chat/completions', 'chat', 'generate'),
    endpoint('/v1/responses', 'responses', 'generate'),
    endpoint('/v1/responses/input_tokens', 'responses', 'count-tokens'),
    endpoint('/v1/messages', 'messages', 'generate'),
    endpoint('/v1/messages/count_tokens', 'messages', 'count-tokens'),
  ].map((fixed) => [fixed.path, fixed]),
)

const GEMINI_PREFIX = '/v1beta/models/'
const GEMINI_VERBS: Readonly<Record<string, Pick<Endpoint, 'operation' | 'streamVerb'>>> = {
  generateContent: { operation: 'generate', streamVerb: false },
  streamGenerateContent: { operation: 'generate', streamVerb: true },
  countTokens: { operation: 'count-tokens', streamVerb: false },
}

export function matchCallPath(method: string, path: string, query: string): CallPath {
  const found = FIXED.get(path) ?? matchGemini(path, query)
  if (found === undefined) return matchStored(method, path, query)
  return method === 'POST'
    ? { kind: 'call', endpoint: found }
    : { kind: 'wrong-method', endpoint: found, allow: 'POST' }
}

const STORED_PATH = /^\/v1\/responses\/([^/]+)(?:\/(input_items|cancel))?$/

/** `/v1/responses/{id}` and what lies below it (contract §4.2). */
function matchStored(method: string, path: string, query: string): CallPath {
  const [, segment = '', below] = STORED_PATH.exec(path) ?? []
  const id = decodeSegment(segment)
  if (id === undefined || id === '') return { kind: 'other' }
  const shown = `/v1/responses/{id}${below === undefined ? '' : `/${below}`}`
  const verbs = STORED_VERBS[below ?? '']
  const what = verbs?.get(method)
  const found = endpoint(shown, 'responses', 'generate')
  if (verbs === undefined || what === undefined) {
    if (method === 'POST' && id === 'compact' && below === undefined) return { kind: 'other' }
    return { kind: 'wrong-method', endpoint: found, allow: [...(verbs?.keys() ?? [])].join(', ') }
  }
  return { kind: 'stored', endpoint: found, wanted: { id, what, query } }
}

const STORED_VERBS: Readonly<Record<string, ReadonlyMap<string, StoredRequest['what']> | undefined>> = {
  '': new Map([
    ['GET', 'response'],
    ['DELETE', 'delete'],
  ]),
  input_items: new Map([['GET', 'input-items']]),
  cancel: new Map([['POST', 'cancel']]),
}

/** `/v1beta/models/{model}:{verb}`; a model id may hold slashes and encoded characters. */
function matchGemini(path: string, query: string): Endpoint | undefined {
  if (!path.startsWith(GEMINI_PREFIX)) return undefined
  const colon = path.lastIndexOf(':')
  const verb = GEMINI_VERBS[path.slice(colon + 1)]
  const model = decodeSegment(path.slice(GEMINI_PREFIX.length, colon))
  if (colon < GEMINI_PREFIX.length || verb === undefined || model === undefined || model === '')
    return undefined
  return {
    path: `${GEMINI_PREFIX}{model}:${path.slice(colon + 1)}`,
    protocol: 'gemini',
    ...verb,
    pathModel: model,
    eventStream: new URLSearchParams(query).get('alt') === 'sse',
  }
}

/** Paths the gateway address serves (decisions, Addresses); anything else there is 404. */
export function servedAtGatewayAddress(path: string): boolean {
  return (
    path === '/v1/messages' ||
    path === '/v1/messages/count_tokens' ||
    path === '/v1/responses' ||
    path.startsWith('/v1/responses/') ||
    path === '/v1/models'
  )
}

function endpoint(path: string, protocol: Endpoint['protocol'], operation: Endpoint['operation']): Endpoint {
  return { path, protocol, operation, streamVerb: undefined, pathModel: undefined, eventStream: true }
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
