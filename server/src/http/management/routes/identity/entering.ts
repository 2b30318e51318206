import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { Secret } from '../../../../core/secret.ts'
import { requestCode } from '../../../../management/identity/codes.ts'
import { type Contact, readContact } from '../../../../management/identity/contact.ts'
import { resetPassword } from '../../../../management/identity/credentials.ts'
import { register } from '../../../../management/identity/registration.ts'
import { endSession } from '../../../../management/identity/sessions/end-sessions.ts'
import { findSession, type RequestOrigin } from '../../../../management/identity/sessions/sessions.ts'
import { signInByLink } from '../../../../management/identity/sessions/sign-in-by-link.ts'
import { type SignIn, signInByCode, signInByPassword } from '../../../../management/identity/sign-in.ts'
import type { SessionCaller } from '../../access/caller.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { endedSessionCookie, ownAgainCookies, readOperatorCookie } from '../../access/session-cookie.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { isoTime } from '../../answers/wire-values.ts'
import {
  answerSignIn,
  checkPassword,
  codeField,
  contactOf,
  emailField,
  originOf,
  ownersAct,
  passwordField,
  phoneField,
  PREFIX,
  registrationClosed,
  signInShape,
  tooMany,
  wrongCode,
} from './answers.ts'
import type { ApiContext, Api } from '../../api-context.ts'
import type { RouteReply } from '../../route-types.ts'

export type EnteringContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Sign-in'

const codeRequestBody = z.strictObject({
  channel: z.enum(['email', 'phone']),
  target: z.string().min(1).max(320),
  purpose: z.enum(['register', 'sign_in', 'reset_password', 'change_email', 'change_phone']),
})

const one = (body: { readonly email?: unknown; readonly phone?: unknown }): boolean =>
  (body.email === undefined) !== (body.phone === undefined)
const EITHER_CONTACT = issue(say('either-email-or-phone'))

const signInBody = z
  .strictObject({
    email: emailField.optional(),
    phone: phoneField.optional(),
    password: passwordField.optional(),
    code: codeField.optional(),
  })
  .refine(one, EITHER_CONTACT)
  .refine(
    (body) => (body.password === undefined) !== (body.code === undefined),
    issue(say('either-password-or-code')),
  )

const resetBody = z
  .strictObject({
    email: emailField.optional(),
    phone: phoneField.optional(),
    code: codeField,
    password: passwordField,
  })
  .refine(one, EITHER_CONTACT)

/** Codes, registration, sign-in, password reset (docs/reference/contract.md#D-accounts-09, #D-accounts-13). */
export function enteringRoutes(app: Api, context: EnteringContext): void {
  codeRoute(app, context)
  registerRoute(app, context, 'email')
  registerRoute(app, context, 'phone')
  signInRoutes(app, context)
  linkRoute(app, context)
  resetRoute(app, context)
}

function codeRoute(app: Api, context: EnteringContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/verification-codes`,
    access: 'optional',
    for: 'person',
    tag: TAG,
    summary: 'Send a verification code',
    description:
      'Six digits, valid for ten minutes and five attempts, of which three may come from another network than the one that requested it; a new code leaves those before it as they are. The answer is the same whether or not the address has an account. A change of address needs a session.',
    body: codeRequestBody,
    data: z.object({ expires_at: isoTime }),
    errors: [40307, 42908],
    handle: async ({ body, caller, request }) => {
      const { address } = originOf(context, request)
      const changes = body.purpose === 'change_email' || body.purpose === 'change_phone'
      if (changes && caller?.kind !== 'session')
        throw new GatewayError(caller === undefined ? 40001 : 40304, {
          message: say('sign-in-first'),
        })
      const outcome = await requestCode(
        context.identity,
        {
          contact: targetOf(context, body),
          purpose: body.purpose,
          accountId: changes ? caller?.account.id : undefined,
        },
        address,
      )
      switch (outcome.kind) {
        case 'too-many':
          throw tooMany(outcome)
        case 'closed':
          throw registrationClosed(context)
        case 'not-texted':
          throw refuseFields([
            {
              in: 'body',
              path: 'target',
              message: say('no-text-messages'),
            },
          ])
        case 'accepted':
          return { expires_at: new Date(outcome.endsAt).toISOString() }
      }
    },
  })
}

function targetOf(context: Pick<ApiContext, 'identity'>, body: z.output<typeof codeRequestBody>): Contact {
  const fits =
    (body.purpose !== 'change_email' || body.channel === 'email') &&
    (body.purpose !== 'change_phone' || body.channel === 'phone')
  if (!fits)
    throw refuseFields([
      {
        in: 'body',
        path: 'channel',
        message: say('not-with-purpose', { purpose: body.purpose, channel: body.channel }),
      },
    ])
  const contact = readContact(body.channel, body.target, context.identity.phoneRegion)
  if (contact !== undefined) return contact
  const message = say(body.channel === 'email' ? 'must-be-an-email' : 'must-be-a-phone-with-country')
  throw refuseFields([{ in: 'body', path: 'target', message }])
}

interface RegisterBody {
  readonly target: string
  readonly code: string
  readonly password: string
}

const REGISTER_BODIES: Readonly<Record<Contact['channel'], z.ZodType<RegisterBody>>> = {
  email: z
    .strictObject({ email: emailField, code: codeField, password: passwordField })
    .transform(({ email: target, code, password }) => ({ target, code, password })),
  phone: z
    .strictObject({ phone: phoneField, code: codeField, password: passwordField })
    .transform(({ phone: target, code, password }) => ({ target, code, password })),
}

function registerRoute(app: Api, context: EnteringContext, channel: Contact['channel']): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/register/${channel}`,
    access: 'anonymous',
    tag: TAG,
    summary: `Create an account by ${channel === 'email' ? 'e-mail' : 'phone'} and sign it in`,
    description: 'The code is one of purpose `register`. Sets the session cookie.',
    body: REGISTER_BODIES[channel],
    data: signInShape,
    errors: [40005, 40307, 40900, 42908],
    handle: async ({ body, request, reply }) => {
      const contact = contactOf(context, channel, body.target)
      checkPassword(body.password, [contact.target])
      const outcome = await register(
        context.identity,
        { contact, code: new Secret(body.code), password: new Secret(body.password) },
        originOf(context, request),
      )
      switch (outcome.kind) {
        case 'too-many':
          throw tooMany(outcome)
        case 'wrong-code':
          throw wrongCode()
        case 'closed':
          throw registrationClosed(context)
        case 'taken':
          throw new GatewayError(40900, {
            message: say(channel === 'email' ? 'email-has-account' : 'phone-has-account'),
          })
        case 'signed-in':
        case 'second-factor':
        case 'suspended':
          return answerSignIn(outcome, context, reply)
      }
    },
  })
}

function signInRoutes(app: Api, context: EnteringContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Sign in by password or code',
    description:
      'Sets the session cookie; `data.token` is the same session for programs. Where the account has a second factor, the answer is a challenge instead, to go on with.',
    body: signInBody,
    data: signInShape,
    errors: [40104, 42908],
    handle: async ({ body, request, reply }) => {
      const origin = originOf(context, request)
      const channel = body.email === undefined ? 'phone' : 'email'
      const contact = contactOf(context, channel, body.email ?? body.phone ?? '')
      return signedIn(await proveBy(context, { contact, ...body }, origin), context, reply)
    },
  })

  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-out`,
    access: 'session',
    withoutSecondFactor: 'may',
    for: 'person',
    impersonator: 'may',
    tag: TAG,
    summary: 'Sign out: end this session',
    data: z.object({}),
    handle: async ({ caller, request, reply }) => {
      await signOut(context, caller, request)
      reply.header('set-cookie', await cookiesAfter(context, caller, request))
      return {}
    },
  })
}

/** Ends an impersonation, not the owner's session; it is in the audit log already. */
async function signOut(
  context: Pick<ApiContext, 'clientAddress' | 'identity'>,
  caller: SessionCaller,
  request: FastifyRequest,
): Promise<void> {
  const { identity } = context
  const { account, session } = caller
  if (session.impersonator === undefined) {
    const act = ownersAct(context, { caller, request })
    await endSession(identity, act, { id: session.id, action: 'account.sign-out' })
    return
  }
  await identity.storage.identity.sessions.revoke(account.id, session.id)
  identity.security.note('impersonation.ended', { actor: session.impersonator, account: account.id })
}

/** After an impersonation the admin's own session is restored in the same browser. */
async function cookiesAfter(
  { identity, publicUrl }: Pick<ApiContext, 'identity' | 'publicUrl'>,
  { session }: SessionCaller,
  request: FastifyRequest,
): Promise<string[]> {
  if (session.impersonator === undefined) return [endedSessionCookie(publicUrl)]
  const at = identity.now()
  const token = readOperatorCookie(request.headers, publicUrl)
  const own = token === undefined ? undefined : await findSession(identity.storage, token, at)
  const isTheirs = own?.accountId === session.impersonator && own.impersonator === undefined
  const again = token !== undefined && isTheirs ? { session: own, token: new Secret(token) } : undefined
  return [...ownAgainCookies(again, publicUrl, at)]
}

function proveBy(
  { identity }: Pick<ApiContext, 'identity'>,
  attempt: {
    readonly contact: Contact
    readonly password?: string | undefined
    readonly code?: string | undefined
  },
  origin: RequestOrigin,
): Promise<SignIn> {
  const { contact, password, code } = attempt
  return password === undefined
    ? signInByCode(identity, { contact, code: new Secret(code ?? '') }, origin)
    : signInByPassword(identity, { contact, password: new Secret(password) }, origin)
}

function signedIn(
  outcome: SignIn,
  context: Pick<ApiContext, 'identity' | 'publicUrl'>,
  reply: RouteReply,
): z.output<typeof signInShape> {
  switch (outcome.kind) {
    case 'refused':
      throw new GatewayError(40104)
    case 'too-many':
      throw tooMany(outcome)
    case 'signed-in':
    case 'second-factor':
    case 'suspended':
      return answerSignIn(outcome, context, reply)
  }
}

function linkRoute(app: Api, context: EnteringContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in/link`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Sign in with a link of the command line',
    description:
      'The token of a link that `sluice sign-in-link`, or the first start, has printed. It works once and for a day, and replaces the first proof: a second factor is still required.',
    body: z.strictObject({ token: z.string().min(1).max(128) }),
    data: signInShape,
    errors: [40104],
    handle: async ({ body, request, reply }) => {
      const outcome = await signInByLink(context.identity, body.token, originOf(context, request))
      if (outcome.kind === 'refused') throw new GatewayError(40104, { message: say('link-over') })
      return answerSignIn(outcome, context, reply)
    },
  })
}

function resetRoute(app: Api, context: EnteringContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/password/reset`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Set a new password with a code',
    description:
      'The code is one of purpose `reset_password`. Every session of the account ends; a new one begins.',
    body: resetBody,
    data: signInShape,
    errors: [40005, 42908],
    handle: async ({ body, request, reply }) => {
      const origin = originOf(context, request)
      const contact = contactOf(
        context,
        body.email === undefined ? 'phone' : 'email',
        body.email ?? body.phone ?? '',
      )
      checkPassword(body.password, [contact.target])
      const proof = { contact, code: new Secret(body.code), password: new Secret(body.password) }
      const outcome = await resetPassword(context.identity, proof, origin)
      switch (outcome.kind) {
        case 'too-many':
          throw tooMany(outcome)
        case 'wrong-code':
          throw wrongCode()
        case 'signed-in':
        case 'second-factor':
        case 'suspended':
          return answerSignIn(outcome, context, reply)
      }
    },
  })
}
