import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { AccountId } from '../../../../core/ids.ts'
import {
  finishTrip,
  hasOtherWayIn,
  startTrip,
  type TripEnd,
  unlink,
} from '../../../../management/identity/service-sign-in.ts'
import type { SignInService } from '../../../../management/identity/services/service.ts'
import { defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { endedTripCookie, readTripCookie, sessionCookie, tripCookie } from '../../access/session-cookie.ts'
import { isoTime } from '../../answers/wire-values.ts'
import { originOf, ownersAct, PREFIX, requireFresh, tooMany } from './answers.ts'
import type { ApiContext, Api } from '../../api-context.ts'
import type { RouteReply } from '../../route-types.ts'

type ServicesContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Sign-in through other services'
/** The console's page that continues with a second factor or shows an error. */
const SIGN_IN_PAGE = '/console/sign-in'

const nameParams = z.object({ name: z.string().max(32) })

/** A path of this site: with a host in it, this would be an open redirect. */
const returnTo = z
  .string()
  .max(2048)
  .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/)
  .default('/')
  .meta({ description: 'A path of this site to return to.' })

const startBody = z.strictObject({ return_to: returnTo })
const startShape = z.object({ url: z.string().meta({ description: 'Send the browser there.' }) })

const linkShape = z.object({ service: z.string(), label: z.string(), linked_at: isoTime })

/** Sign-in through other services, and the services an account is linked to. */
export function serviceRoutes(app: Api, context: ServicesContext): void {
  startRoutes(app, context)
  callbackRoute(app, context)
  linkRoutes(app, context)
}

function startRoutes(app: Api, context: ServicesContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PREFIX}/sign-in/services`,
    access: 'anonymous',
    tag: TAG,
    summary: 'List the services for sign-in',
    data: z.array(z.object({ name: z.string(), label: z.string() })),
    handle: () => [...context.identity.services.values()].map(({ name, label }) => ({ name, label })),
  })

  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in/services/:name/start`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Begin a sign-in through a service',
    params: nameParams,
    body: startBody,
    data: startShape,
    errors: [40403, 42908, 50201],
    handle: ({ params, body, request, reply }) =>
      begin(context, { name: params.name, returnTo: body.return_to, linkTo: undefined }, { request, reply }),
  })

  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/linked-services/:name/start`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Begin to link a service to the account',
    description: 'Needs a session that has just begun.',
    params: nameParams,
    body: startBody,
    data: startShape,
    errors: [40309, 40403, 42908, 50201],
    handle: ({ caller, params, body, request, reply }) => {
      requireFresh(context, caller)
      const trip = { name: params.name, returnTo: body.return_to, linkTo: caller.account.id }
      return begin(context, trip, { request, reply })
    },
  })
}

async function begin(
  context: ServicesContext,
  trip: { readonly name: string; readonly returnTo: string; readonly linkTo: AccountId | undefined },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: RouteReply },
): Promise<z.output<typeof startShape>> {
  const service = serviceNamed(context, trip.name)
  const redirectUri = `${context.publicUrl ?? ''}${PREFIX}/sign-in/services/${service.name}/callback`
  const { address } = originOf(context, request)
  const started = await startTrip(context.identity, service, { ...trip, redirectUri, address }).catch(
    (error: unknown) => {
      throw new GatewayError(50201, {
        message: say('service-silent', { label: service.label }),
        cause: error,
      })
    },
  )
  if (started.kind === 'too-many') throw tooMany(started)
  reply.header('set-cookie', tripCookie(started.token, context.publicUrl))
  return { url: started.url.href }
}

function callbackRoute(app: Api, context: ServicesContext): void {
  defineRawRoute(app, context, {
    method: 'GET',
    path: `${PREFIX}/sign-in/services/:name/callback`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Where a service sends the browser back to',
    description: `Redirects: to the path named at the start, with \`error\` \`taken\` or \`refused\` where a service was not linked, or to ${SIGN_IN_PAGE} with what is to do next behind the #.`,
    params: nameParams,
    answer: { contentType: 'text/plain; charset=utf-8', schema: z.string() },
    handle: async ({ params, request, reply }) => {
      const service = serviceNamed(context, params.name)
      const token = readTripCookie(request.headers, context.publicUrl)
      const callback = new URL(request.url, 'http://localhost')
      const end: TripEnd =
        token === undefined
          ? { kind: 'lost' }
          : await finishTrip(context.identity, service, {
              token,
              callback,
              origin: visitOf(context, request),
            })
      return redirect(context, end, reply)
    },
  })
}

/**
 * The other service redirects the browser here, so the request necessarily comes from another site; the cookie set at
 * the start protects it.
 */
function visitOf(context: Pick<ApiContext, 'clientAddress'>, request: FastifyRequest) {
  return {
    userAgent: request.headers['user-agent'] ?? '',
    address: context.clientAddress(request.raw),
    requestId: request.id,
  }
}

function redirect(
  context: Pick<ApiContext, 'identity' | 'publicUrl'>,
  end: TripEnd,
  reply: RouteReply,
): string {
  const { location, cookies } = destinationOf(context, end)
  reply.statusCode = 303
  reply.header('location', `${context.publicUrl ?? ''}${location}`)
  reply.header('cache-control', 'no-store')
  reply.header('set-cookie', [endedTripCookie(context.publicUrl), ...cookies])
  return ''
}

interface Destination {
  readonly location: string
  readonly cookies: readonly string[]
}

function destinationOf(context: Pick<ApiContext, 'identity' | 'publicUrl'>, end: TripEnd): Destination {
  switch (end.kind) {
    case 'lost':
    case 'refused':
    case 'taken':
    case 'closed':
      return toSignInPage({ error: end.kind })
    case 'linked':
      return { location: end.returnTo, cookies: [] }
    case 'not-linked':
      return { location: withQuery(end.returnTo, 'error', end.why), cookies: [] }
    case 'entered':
      return destinationOfSignIn(context, end)
  }
}

/** @param path of this site, as given at the start */
function withQuery(path: string, name: string, value: string): string {
  const { pathname, searchParams, hash } = new URL(path, 'http://localhost')
  searchParams.set(name, value)
  return `${pathname}?${searchParams.toString()}${hash}`
}

function destinationOfSignIn(
  context: Pick<ApiContext, 'identity' | 'publicUrl'>,
  { outcome, returnTo: location }: Extract<TripEnd, { kind: 'entered' }>,
): Destination {
  switch (outcome.kind) {
    case 'suspended':
      return toSignInPage({ error: 'suspended' })
    case 'second-factor':
      return toSignInPage({
        challenge: outcome.challenge.unwrap(),
        factors: outcome.factors.join(','),
        return_to: location,
      })
    case 'signed-in':
      return {
        location,
        cookies: [sessionCookie(outcome.opened, context.publicUrl, context.identity.now())],
      }
  }
}

/** In the fragment, which no server or log sees. */
function toSignInPage(told: Readonly<Record<string, string>>): Destination {
  return { location: `${SIGN_IN_PAGE}#${new URLSearchParams(told).toString()}`, cookies: [] }
}

function linkRoutes(app: Api, context: ServicesContext): void {
  const { identity } = context
  const { links } = identity.storage.identity

  defineRoute(app, context, {
    method: 'GET',
    path: `${PREFIX}/linked-services`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'List the services linked to the account',
    data: z.array(linkShape),
    handle: async ({ caller }) =>
      (await links.list(caller.account.id)).map(({ service, label, createdAt }) => ({
        service,
        label,
        linked_at: new Date(createdAt).toISOString(),
      })),
  })

  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PREFIX}/linked-services/:name`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Unlink a service',
    description: 'Refused for the last means of sign-in. Needs a session that has just begun.',
    params: nameParams,
    data: z.object({}),
    errors: [40309, 40403, 40900],
    handle: async ({ caller, params, request }) => {
      requireFresh(context, caller)
      if (!(await hasOtherWayIn(identity, caller.account, params.name)))
        throw new GatewayError(40900, { message: say('only-way-in') })
      const act = ownersAct(context, { caller, request })
      if (!(await unlink(identity, act, params.name))) throw new GatewayError(40403)
      return {}
    },
  })
}

function serviceNamed({ identity }: Pick<ApiContext, 'identity'>, name: string): SignInService {
  const service = identity.services.get(name)
  if (service === undefined)
    throw new GatewayError(40403, { message: say('service-not-available', { name }) })
  return service
}
