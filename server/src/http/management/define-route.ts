/**
 * The one way to define a route that is not a call: who may use it, what the request may contain, what the answer
 * contains. Validation, the OpenAPI document and the authorisation matrix are made from this definition, so none of the
 * three can miss a route.
 */
import { say } from '../../core/sentences/say.ts'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { acceptsEncoding } from '../content-encoding.ts'
import { noteActFor, type ActsForOrganisationsContext } from './access/acts-for-organisations.ts'
import type { Right } from './access/caller.ts'
import { noteImpersonated, noteSecret, refuseImpersonator } from './access/impersonation.ts'
import { refuseWithoutFactor } from './access/second-factor-rule.ts'
import { readCursor, writeCursor } from './requests/page-cursor.ts'
import { type FieldFault, readPart, refuseFields, type RequestPart } from './requests/request-fields.ts'
import type { ApiContext, Api } from './api-context.ts'
import type {
  Access,
  CallerByAccess,
  RouteWords,
  RouteRequest,
  RouteReply,
  DataRoute,
  PageRoute,
  RawRoute,
  RegisteredRoute,
  RegisteredAnswer,
} from './route-types.ts'

/**
 * What every route uses: the caller, the records about it, and the list of all routes. A route names what else it uses.
 */
export type RouteContext = ActsForOrganisationsContext &
  Pick<
    ApiContext,
    | 'findAccount'
    | 'identity'
    | 'requireAccount'
    | 'requireAdmin'
    | 'requireKey'
    | 'requireMember'
    | 'requireSession'
    | 'routes'
    | 'telemetry'
  >

/** Schema for absent parts: undeclared parameters are ignored. */
const NOTHING = z.object({})
type Nothing = typeof NOTHING

/** A route that answers `{code: 0, message: 'ok', data}`. */
export function defineRoute<
  Who extends Access,
  Data extends z.ZodType,
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
>(app: Api, context: RouteContext, route: DataRoute<Who, Params, Query, Body, Data>): void {
  register(app, context, route, {
    answer: { kind: 'data', schema: route.data },
    send: async (request) => ({ code: 0, message: 'ok', data: await route.handle(request) }),
  })
}

/** A route that answers `{code: 0, message: 'ok', data: […], next_cursor}`. */
export function definePage<
  Who extends Access,
  Row extends z.ZodType,
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
>(app: Api, context: RouteContext, route: PageRoute<Who, Params, Query, Body, Row>): void {
  register(app, context, route, {
    answer: { kind: 'page', schema: route.row },
    send: async (request) => {
      const { rows, next } = await route.handle({ ...request, query: atPlace(route.path, request.query) })
      const cursor = next === undefined ? null : writeCursor(route.path, next)
      return { code: 0, message: 'ok', data: rows, next_cursor: cursor }
    },
  })
}

/** The query with its cursor replaced by the store's position in the list. */
function atPlace<Query>(list: string, query: Query): Query {
  if (typeof query !== 'object' || query === null || !('cursor' in query)) return query
  const { cursor } = query
  return typeof cursor === 'string' ? { ...query, cursor: readCursor(list, cursor) } : query
}

/** A route whose answer does not have the gateway's envelope. */
export function defineRawRoute<
  Who extends Access,
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
>(app: Api, context: RouteContext, route: RawRoute<Who, Params, Query, Body>): void {
  register(app, context, route, {
    answer: { kind: 'raw', ...route.answer },
    send: async (request) => {
      request.reply.type(route.answer.contentType)
      return route.handle(request)
    },
  })
}

interface Sending<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly answer: RegisteredAnswer
  readonly send: (request: RouteRequest<Who, Params, Query, Body>) => Promise<unknown>
}

function register<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
>(
  app: Api,
  context: RouteContext,
  route: RouteWords<Who, Params, Query, Body>,
  { answer, send }: Sending<Who, Params, Query, Body>,
): void {
  const name = `${route.method} ${route.path}`
  const caching = route.caching ?? (route.method === 'GET' && answer.kind !== 'raw' ? 'etag' : 'none')
  context.routes.push({
    ...wordsOf(route),
    caching,
    params: route.params ?? NOTHING,
    query: route.query ?? NOTHING,
    body: route.body,
    answer,
  })
  const callers = new WeakMap<FastifyRequest, { readonly caller: CallerByAccess[Who] }>()
  app.route({
    method: route.method,
    url: route.path,
    // The caller is determined from the headers alone, before a byte of the body is read.
    onRequest: async (request) => {
      const caller = await CALLERS[route.access](context, request, route.for ?? 'person')
      refuseImpersonator(route, caller)
      refuseWithoutFactor(context, route, caller)
      callers.set(request, { caller })
    },
    handler: async (request, reply: RouteReply) => {
      const known = callers.get(request)
      if (known === undefined) throw new Error(`${name} was reached without its check of access`)
      const read = readRequest(route, request)
      await noteActFor(context, { route, request, caller: known.caller })
      await noteImpersonated(context, { route, request, caller: known.caller })
      reply.statusCode = route.status ?? 200
      if (route.access !== 'anonymous') reply.header('cache-control', 'no-store')
      const body = await send({ ...read, ...known, request, reply })
      noteSecret(context, { route, request, caller: known.caller, body })
      return caching === 'etag' ? revalidated(body, request, reply) : body
    },
  })
}

function wordsOf(
  route: RouteWords<Access, z.ZodType, z.ZodType, z.ZodType>,
): Omit<RegisteredRoute, 'params' | 'query' | 'body' | 'answer' | 'caching'> {
  const { method, path, access, tag, summary, description, status, idempotency, errors } = route
  const { for: right, reads, impersonator, form, withoutSecondFactor, showsSecret } = route
  return {
    method,
    path,
    access,
    tag,
    summary,
    ...(right === undefined ? {} : { for: right }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status }),
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(reads === undefined ? {} : { reads }),
    ...(form === undefined ? {} : { form }),
    ...(impersonator === undefined ? {} : { impersonator }),
    ...(showsSecret === undefined ? {} : { showsSecret }),
    ...(withoutSecondFactor === undefined ? {} : { withoutSecondFactor }),
    ...(errors === undefined ? {} : { errors }),
  }
}

const CALLERS: {
  readonly [Who in Access]: (
    context: RouteContext,
    request: FastifyRequest,
    right: Right,
  ) => Promise<CallerByAccess[Who]>
} = {
  anonymous: () => Promise.resolve(undefined),
  optional: (context, request, right) => context.findAccount(request, right),
  account: (context, request, right) => context.requireAccount(request, right),
  session: (context, request, right) => context.requireSession(request, right),
  organisation: (context, request, right) => context.requireMember(request, right),
  key: (context, request) => context.requireKey(request),
  admin: (context, request) => context.requireAdmin(request),
}

/** Every part is read before any is refused, so that one answer names all mistakes. */
function readRequest<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  route: RouteWords<Access, Params, Query, Body>,
  request: FastifyRequest,
): Pick<RouteRequest<Access, Params, Query, Body>, 'params' | 'query' | 'body' | 'idempotencyKey'> {
  const faults: FieldFault[] = []
  const idempotencyKey = readIdempotencyKey(route.idempotency, request, faults)
  const params = readOr('path', route.params, request.params, faults)
  const query = readOr('query', route.query, request.query, faults)
  const body = route.body === undefined ? readNoBody(route, request, faults) : request.body
  const read = readOr('body', route.body, body, faults)
  if (faults.length > 0) throw refuseFields(faults)
  return { params, query, body: read, idempotencyKey }
}

function readOr<Schema extends z.ZodType>(
  part: RequestPart,
  schema: Schema | undefined,
  value: unknown,
  faults: FieldFault[],
): z.output<Schema> {
  // The type of an absent schema is that of NOTHING, the type parameter's default.
  const wanted = (schema ?? NOTHING) as Schema
  const result = readPart(part, wanted, value)
  if (result.kind === 'value') return result.value
  faults.push(...result.faults)
  // Never used: a fault ends the request.
  return undefined as z.output<Schema>
}

/** A body where none is expected suggests a wrong path. An empty object is accepted, since many clients send one. */
function readNoBody(
  { form }: Pick<RegisteredRoute, 'form'>,
  request: FastifyRequest,
  faults: FieldFault[],
): object {
  const { body } = request
  if (form !== undefined) {
    if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? ''))
      faults.push({ in: 'body', path: '', message: say('must-be-a-form') })
    return {}
  }
  const isEmpty = body === undefined || body === null || JSON.stringify(body) === '{}'
  if (!isEmpty) faults.push({ in: 'body', path: '', message: say('must-be-empty-here') })
  return {}
}

/** Printable, short, one token: it becomes a part of a transaction's id. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

function readIdempotencyKey(
  rule: 'required' | 'optional' | undefined,
  request: FastifyRequest,
  faults: FieldFault[],
): string | undefined {
  if (rule === undefined) return undefined
  const sent = request.headers['idempotency-key']
  if (sent === undefined) {
    if (rule === 'required')
      faults.push({
        in: 'header',
        path: 'Idempotency-Key',
        message: say('idempotency-key-missing'),
      })
    return undefined
  }
  if (typeof sent === 'string' && IDEMPOTENCY_KEY.test(sent)) return sent
  faults.push({
    in: 'header',
    path: 'Idempotency-Key',
    message: say('must-be-visible-ascii'),
  })
  return undefined
}

const DIGEST_CHARACTERS = 27

/** Shorter answers fit into one packet uncompressed. */
const COMPRESSED_BYTES_MIN = 1_400
const gzipped = promisify(gzip)

/**
 * An unchanged answer to `If-None-Match`: 304 without a body (RFC 9110 §13.1.2). Long answers are compressed for clients that
 * accept it, because lists repeat their field names in every row. The length of a compressed answer reveals nothing to other
 * sites: they cannot send the session's cookie along.
 */
async function revalidated(body: unknown, request: FastifyRequest, reply: RouteReply): Promise<unknown> {
  const text = JSON.stringify(body)
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARACTERS)
  const etag = `"${digest}"`
  reply.header('etag', etag)
  reply.header('cache-control', 'private, no-cache')
  const { vary } = reply.raw.getHeaders()
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`)
  const known = (request.headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) {
    reply.statusCode = 304
    return ''
  }
  reply.type('application/json; charset=utf-8')
  const isLong = text.length >= COMPRESSED_BYTES_MIN
  if (!isLong || !acceptsEncoding(String(request.headers['accept-encoding'] ?? ''), 'gzip')) return text
  // The same content in other bytes.
  reply.header('etag', `W/${etag}`)
  reply.header('content-encoding', 'gzip')
  return gzipped(text)
}
