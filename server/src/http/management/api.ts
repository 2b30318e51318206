/**
 * Everything over HTTP that is not a call: catalogue, pricing, the model list, the account's own reads. The framework
 * validates and routes; errors use the same envelope as calls.
 */
import { say, type Sentence } from '../../core/sentences/say.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import {
  AddressNotAllowed,
  checkAddress,
  findHolderNow,
  presentedKey,
} from '../../pipeline/stages/authenticate.ts'
import type { KeyHolder } from '../../pipeline/instance/directory.ts'
import { TooManyActs } from '../../management/identity/own-act.ts'
import { timeOrderedId } from '../../management/new-id.ts'
import {
  AmountTooLarge,
  RateChanged,
  RateFixed,
  rateHoldText,
} from '../../storage/failures/amount-refused.ts'
import { InvalidCursor } from '../../storage/failures/invalid-cursor.ts'
import { hashKey } from '../../storage/key-hash.ts'
import { LastAdmin } from '../../storage/failures/last-admin.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import { addressOf, shownPath } from '../request-head.ts'
import { checkKeysOrganisation, createCallerReader } from './access/caller.ts'
import { renderError } from '../error-envelope.ts'
import { allowedMethods } from '../calls/allowed-methods.ts'
import { closeUnlessRead } from '../calls/incoming.ts'
import { readJsonBodies } from './requests/json-body.ts'
import { badCursor } from './requests/page-cursor.ts'
import { Exports } from './answers/send-export.ts'
import { boundBodies } from './requests/management-body.ts'
import { adminRoutes } from './routes/admin/index.ts'
import { catalogueRoutes } from './routes/public/catalogue.ts'
import { geminiModelRoutes } from './routes/public/gemini-models.ts'
import { identityRoutes } from './routes/identity/index.ts'
import { modelRoutes } from './routes/public/models.ts'
import { referenceRoutes } from './routes/public/reference.ts'
import { customerRoutes } from './routes/customer/index.ts'
import { sendError } from '../send-error.ts'
import { unofferedSentence } from '../calls/unoffered.ts'
import type { ApiOptions, ApiContext, Api } from './api-context.ts'
import type { RegisteredRoute } from './route-types.ts'

/** Management bodies are small; calls have their own limit. */
const BODY_BYTES_MAX = 1_048_576

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Answers every request that is not a call. */
export interface ManagementApi {
  readonly answer: Answer
  /** Builds its hundreds of routes, which otherwise the first request would do. */
  readonly load: () => void
}

export function openApi(options: ApiOptions): ManagementApi {
  const { background } = options.telemetry
  let opened: Answer | undefined
  let opening: Promise<void> | undefined
  const open = (): Promise<void> =>
    (opening ??= routeAll(options).then((answer) => {
      opened = answer
    }))
  const answerLater = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await open()
      opened?.(request, response)
    } catch (error) {
      response.destroy()
      throw error
    }
  }
  return {
    answer(request, response) {
      if (opened === undefined) background.track(answerLater(request, response), 'open the management API')
      else opened(request, response)
    },
    load: () => background.track(open(), 'open the management API'),
  }
}

async function routeAll(options: ApiOptions): Promise<Answer> {
  const context = apiContext(options)
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => timeOrderedId(options.now()),
    exposeHeadRoutes: true,
    // What the framework's router refuses by itself: a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      sendError({ request: request.raw, response: reply.raw }, knownError(error), request.id)
    },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  readJsonBodies(app)
  boundBodies(app, { budget: options.bodyBudget, bytesMax: BODY_BYTES_MAX })
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setHeader('x-request-id', request.id)
    // The body of a request to an unknown path is not read.
    done(request.is404 ? notFound(context.routes, request) : undefined)
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    closeUnlessRead(request.raw, reply.raw)
    done()
  })
  app.setNotFoundHandler((request) => {
    throw notFound(context.routes, request)
  })
  app.setErrorHandler((error, request, reply) => refuse(options, error, { request, reply }))
  defineRoutes(app, context)
  await app.ready()
  return (request, response) => app.routing(request, response)
}

function notFound(routes: readonly RegisteredRoute[], request: FastifyRequest): GatewayError {
  const [path = '/'] = request.url.split('?')
  const allow = allowedMethods(routes, path)
  if (allow.length > 0) {
    return new GatewayError(40500, {
      message: say('method-not-taken', { path: shownPath(path), allow: allow.join(', ') }),
      headers: { allow: allow.join(', ') },
    })
  }
  const unoffered = unofferedSentence(path)
  return new GatewayError(40400, {
    message:
      unoffered === undefined
        ? say('path-does-not-exist', { path: shownPath(path) })
        : say('path-unoffered', { path: shownPath(path), why: unoffered }),
  })
}

/** Records refusals of any route for the security log. */
function noteRefusal(
  { telemetry: { security }, clientAddress }: ApiOptions,
  error: GatewayError,
  request: FastifyRequest,
): void {
  const about = {
    address: clientAddress(request.raw),
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    request: request.id,
  }
  if (error instanceof AddressNotAllowed) security.note('key.address-refused', { ...about, ...error.about })
  if (error.code === 40305) security.note('csrf.refused', about)
  if (error.code === 42908) security.note('request.limited', about)
}

function refuse(
  options: ApiOptions,
  error: unknown,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): FastifyReply {
  const known = knownError(error)
  if (known.code === 50000)
    options.telemetry.log.error({ requestId: request.id, error }, 'a management request failed')
  noteRefusal(options, known, request)
  const rendered = renderError(known, { requestId: request.id, path: request.url })
  return reply.status(rendered.status).headers(rendered.headers).send(rendered.body)
}

/** Defines all routes. A route that is not written with `define-route.ts` has no access rule and prevents the start. */
function defineRoutes(app: Api, context: ApiContext): void {
  const registered: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    // The framework answers HEAD for every GET route.
    for (const verb of [method].flat()) if (verb !== 'HEAD') registered.push(`${verb} ${url}`)
  })
  catalogueRoutes(app, context)
  modelRoutes(app, context)
  geminiModelRoutes(app, context)
  customerRoutes(app, context)
  identityRoutes(app, context)
  adminRoutes(app, context)
  referenceRoutes(app, context)
  const defined = new Set(context.routes.map((route) => `${route.method} ${route.path}`))
  const stranger = registered.find((route) => !defined.has(route))
  if (stranger !== undefined)
    throw new Error(`${stranger} has no rule of access: write it with define-route.ts`)
}

/** The routes without a running gateway, for the document and the tests made from them. */
export function listRoutes(options: ApiOptions): readonly RegisteredRoute[] {
  const context = apiContext(options)
  defineRoutes(Fastify().withTypeProvider<ZodTypeProvider>(), context)
  return context.routes
}

function apiContext(options: ApiOptions): ApiContext {
  const { clientAddress } = options
  const requireKey = async (request: FastifyRequest): Promise<KeyHolder> => {
    const [path = '/'] = request.url.split('?')
    const call = {
      endpoint: { protocol: path.startsWith('/v1beta/') ? 'gemini' : 'none', path },
      address: addressOf(request.raw),
      headers: request.headers as Readonly<Record<string, string | undefined>>,
      keyInQuery: false,
    }
    const holder = await findHolderNow(options, hashKey(presentedKey(call)), options.now())
    checkAddress({ key: holder.key, ip: clientAddress(request.raw) })
    if (holder.account.status === 'suspended') throw new GatewayError(40303)
    checkKeysOrganisation(request, holder.key)
    return holder
  }
  return {
    ...options,
    requireKey,
    ...createCallerReader({ ...options, requireKey }),
    exports: new Exports(),
    routes: [],
  }
}

function knownError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StorageUnavailable)
    return new GatewayError(50301, { cause: error, retryAfterMs: 1_000 })
  if (error instanceof InvalidCursor) return badCursor()
  if (error instanceof TooManyActs) return new GatewayError(42908, { retryAfterMs: error.retryAfterMs })
  if (error instanceof AmountTooLarge)
    return new GatewayError(40000, { message: say('as-said', { said: error.message }) })
  const conflict = conflictOf(error)
  if (conflict !== undefined) return new GatewayError(40900, { message: conflict })
  const { statusCode } = error as { readonly statusCode?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    const message = error instanceof Error ? error.message : undefined
    return new GatewayError(statusCode === 413 ? 41301 : 40000, message === undefined ? {} : { message })
  }
  return new GatewayError(50000, { cause: error })
}

/** What a store refuses because of the state it is in. */
function conflictOf(error: unknown): Sentence | undefined {
  if (error instanceof RateChanged) return say('rate-changed')
  if (error instanceof LastAdmin) return say('is-last-admin')
  return error instanceof RateFixed ? say('rate-held', { why: rateHoldText(error.hold) }) : undefined
}
