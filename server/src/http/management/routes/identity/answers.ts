/** What the routes of identity share: fields, answers, and how an outcome becomes an answer or a refusal. */
import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { type Contact, readContact } from '../../../../management/identity/contact.ts'
import type { OwnersAct } from '../../../../management/identity/factors/factors.ts'
import type { TooMany } from '../../../../management/identity/identity.ts'
import { findPasswordMistake } from '../../../../management/identity/password-rules.ts'
import type { RequestOrigin } from '../../../../management/identity/sessions/sessions.ts'
import type { SignedIn } from '../../../../management/identity/sign-in.ts'
import { personOf } from '../../access/acts-for-organisations.ts'
import type { SessionCaller } from '../../access/caller.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { refuseOtherOrigin } from '../../access/same-origin.ts'
import { sessionCookie } from '../../access/session-cookie.ts'
import { isoTime } from '../../answers/wire-values.ts'
import type { ApiContext } from '../../api-context.ts'
import type { RouteReply } from '../../route-types.ts'

export const PREFIX = '/api/v1/user/user'

export const emailField = z.string().min(1).max(320).meta({ description: 'An e-mail address, in any case.' })
export const phoneField = z
  .string()
  .min(1)
  .max(40)
  .meta({ description: 'A phone number with its country code: +86 138 0000 0000.' })
/** The requirements of a new password are in `password-rules.ts`; this only limits what is read. */
export const passwordField = z.string().min(1).max(1024)
export const codeField = z
  .string()
  .regex(/^\d{6}$/)
  .meta({ description: 'The six digits of the code.' })
export const challengeField = z.string().min(1).max(128)

export const signInShape = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('signed_in'),
    token: z.string().meta({ description: 'For programs: Authorization: Bearer <token>. Shown once.' }),
    session_id: z.string(),
    expires_at: isoTime,
    account_id: z.string(),
  }),
  z.object({
    state: z.literal('second_factor_required'),
    challenge: z.string().meta({ description: 'Send it with the second factor to …/sign-in/second-factor.' }),
    factors: z.array(z.enum(['totp', 'passkey', 'recovery_code'])),
    expires_at: isoTime,
  }),
])

/** A successful sign-in: cookie and token, or the request for the second factor. */
export function answerSignIn(
  outcome: SignedIn,
  context: Pick<ApiContext, 'identity' | 'publicUrl'>,
  reply: RouteReply,
): z.output<typeof signInShape> {
  reply.header('cache-control', 'no-store')
  switch (outcome.kind) {
    case 'suspended':
      throw new GatewayError(40303)
    case 'second-factor':
      return {
        state: 'second_factor_required',
        challenge: outcome.challenge.unwrap(),
        factors: [...outcome.factors],
        expires_at: new Date(outcome.endsAt).toISOString(),
      }
    case 'signed-in': {
      const { opened, account } = outcome
      reply.header('set-cookie', sessionCookie(opened, context.publicUrl, context.identity.now()))
      return {
        state: 'signed_in',
        token: opened.token.unwrap(),
        session_id: opened.session.id,
        expires_at: new Date(opened.session.endsAt).toISOString(),
        account_id: account.id,
      }
    }
  }
}

export function tooMany({ retryAfterMs }: TooMany): GatewayError {
  return new GatewayError(42908, { retryAfterMs })
}

export function wrongCode(): GatewayError {
  return new GatewayError(40005)
}

/** The address or number in canonical form; otherwise throws 400 naming the field. */
export function contactOf(
  context: Pick<ApiContext, 'identity'>,
  channel: Contact['channel'],
  text: string,
): Contact {
  const contact = readContact(channel, text, context.identity.phoneRegion)
  if (contact !== undefined) return contact
  const message = say(channel === 'email' ? 'must-be-an-email' : 'must-be-a-phone-with-country')
  throw refuseFields([{ in: 'body', path: channel, message }])
}

/** Throws 400 naming the field if the password is not acceptable. */
export function checkPassword(password: string, logins: readonly (string | undefined)[]): void {
  const message = findPasswordMistake(password, logins)
  if (message !== undefined) throw refuseFields([{ in: 'body', path: 'password', message }])
}

/** Where a request comes from; another site's pages may not sign their visitors in here. */
export function originOf(
  context: Pick<ApiContext, 'clientAddress' | 'publicUrl'>,
  request: FastifyRequest,
): RequestOrigin {
  refuseOtherOrigin({ method: request.method, headers: request.headers, publicUrl: context.publicUrl })
  return {
    userAgent: request.headers['user-agent'] ?? '',
    address: context.clientAddress(request.raw),
    requestId: request.id,
  }
}

/** The owner of an account who changes it, in their own session. */
export function ownersAct(
  context: Pick<ApiContext, 'clientAddress'>,
  { caller, request }: { readonly caller: SessionCaller; readonly request: FastifyRequest },
): OwnersAct {
  const { account, session } = caller
  return { account, actor: personOf(context, { caller, request }), sessionId: session.id }
}

export function registrationClosed(context: Pick<ApiContext, 'identity'>): GatewayError {
  return new GatewayError(40307, {
    message: say(
      context.identity.registration === 'invited' ? 'registration-by-invitation' : 'registration-closed',
    ),
  })
}

/** 15 minutes: in a session left open for longer, another person may be using the browser. */
const FRESH_MS = 900_000

/** Changes of the ways to sign in require a recent session of the account's owner. */
export function requireFresh(context: Pick<ApiContext, 'identity'>, { session }: SessionCaller): void {
  if (session.impersonator !== undefined) throw new GatewayError(40304, { message: say('owner-only') })
  if (context.identity.now() - session.createdAt > FRESH_MS) throw new GatewayError(40309)
}
