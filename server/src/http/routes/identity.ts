import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { Secret } from '../../core/secret.ts'
import type { RequestOrigin } from '../../management/identity/sessions.ts'
import { type SignIn, signInByPassword } from '../../management/identity/sign-in.ts'
import type { Api, ApiContext } from '../api.ts'
import { defineRoute, type RouteReply } from '../define-route.ts'
import { refuseOtherOrigin } from '../same-origin.ts'
import { endedSessionCookie, sessionCookie } from '../session-cookie.ts'
import { isoTime } from '../wire-values.ts'

const TAG = 'Sign-in'

const signInBody = z
  .strictObject({
    email: z.string().max(320).optional(),
    phone: z.string().max(40).optional(),
    password: z.string().min(1).max(1024),
  })
  .refine((body) => (body.email === undefined) !== (body.phone === undefined), {
    message: 'must hold either email or phone',
  })

const signedInShape = z.object({
  token: z.string().meta({ description: 'For programs: Authorization: Bearer <token>. Shown once.' }),
  session_id: z.string(),
  expires_at: isoTime,
  account_id: z.string(),
})

/** Sign-in and sign-out (decisions, Accounts). */
export function identityRoutes(app: Api, context: ApiContext): void {
  const { identity, publicUrl } = context

  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/sign-in',
    access: 'anonymous',
    tag: TAG,
    summary: 'Sign in',
    description: 'Sets the session cookie; `data.token` is the same session for programs.',
    body: signInBody,
    data: signedInShape,
    handle: async ({ body, request, reply }) => {
      refuseOtherOrigin({ method: request.method, headers: request.headers, publicUrl })
      const login = body.email === undefined ? { phone: body.phone ?? '' } : { email: body.email }
      const attempt = { login, password: new Secret(body.password) }
      const outcome = await signInByPassword(identity, attempt, originOf(context, request))
      return signedIn(outcome, context, reply)
    },
  })

  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/sign-out',
    access: 'session',
    tag: TAG,
    summary: 'Sign out: end this session',
    data: z.object({}),
    handle: async ({ caller, reply }) => {
      await identity.storage.identity.sessions.revoke(caller.account.id, caller.session.id)
      reply.header('set-cookie', endedSessionCookie(publicUrl))
      return {}
    },
  })
}

function signedIn(outcome: SignIn, context: ApiContext, reply: RouteReply): z.output<typeof signedInShape> {
  switch (outcome.kind) {
    case 'refused':
      throw new GatewayError(40104)
    case 'suspended':
      throw new GatewayError(40303)
    case 'signed-in': {
      const { opened, account } = outcome
      reply.header('set-cookie', sessionCookie(opened, context.publicUrl, context.identity.now()))
      reply.header('cache-control', 'no-store')
      return {
        token: opened.token.unwrap(),
        session_id: opened.session.id,
        expires_at: new Date(opened.session.endsAt).toISOString(),
        account_id: account.id,
      }
    }
  }
}

function originOf(context: ApiContext, request: FastifyRequest): RequestOrigin {
  return {
    userAgent: request.headers['user-agent'] ?? '',
    address: context.clientAddress(request.raw),
  }
}
