import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { Secret } from '../../../../core/secret.ts'
import type { Contact } from '../../../../management/identity/contact.ts'
import { changeContact, changePassword } from '../../../../management/identity/credentials.ts'
import { endOtherSessions, endSession } from '../../../../management/identity/sessions/end-sessions.ts'
import type { Session } from '../../../../storage/stores/identity.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
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
  requireFresh,
  signInShape,
  tooMany,
  wrongCode,
} from './answers.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type OwnAccessContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Access'

const sessionShape = z.object({
  id: z.string(),
  current: z.boolean().meta({ description: 'The session of this request.' }),
  method: z.enum(['password', 'code', 'passkey', 'service', 'link', 'impersonation']),
  created_at: isoTime,
  last_seen_at: isoTime,
  expires_at: isoTime.meta({ description: 'When it ends unless it is used before.' }),
  ends_at: isoTime.meta({ description: 'When it ends in any case.' }),
  user_agent: z.string(),
  address: z.string(),
})

/** The owner's ways to sign in: sessions, password, e-mail address, phone number. */
export function ownAccessRoutes(app: Api, context: OwnAccessContext): void {
  sessionRoutes(app, context)
  passwordRoute(app, context)
  contactRoute(app, context, 'email')
  contactRoute(app, context, 'phone')
}

function sessionRoutes(app: Api, context: OwnAccessContext): void {
  const { sessions } = context.identity.storage.identity

  defineRoute(app, context, {
    method: 'GET',
    path: `${PREFIX}/sessions`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'List active sessions, newest first',
    data: z.array(sessionShape),
    handle: async ({ caller }) => {
      const living = await sessions.list(caller.account.id, context.identity.now())
      return living.map((session) => viewSession(session, caller.session.id))
    },
  })

  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PREFIX}/sessions/:id`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'End one session',
    params: z.object({ id: z.string().max(128) }),
    data: z.object({}),
    errors: [40403],
    handle: async ({ caller, params, request }) => {
      const act = ownersAct(context, { caller, request })
      if (!(await endSession(context.identity, act, { id: params.id, action: 'account.end-session' })))
        throw new GatewayError(40403, { message: say('no-such-session', { id: params.id }) })
      return {}
    },
  })

  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PREFIX}/sessions`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'End every other session',
    data: z.object({ ended: z.int() }),
    handle: async ({ caller, request }) => ({
      ended: await endOtherSessions(
        context.identity,
        ownersAct(context, { caller, request }),
        caller.session.id,
      ),
    }),
  })
}

function viewSession(session: Session, currentId: string): z.output<typeof sessionShape> {
  return {
    id: session.id,
    current: session.id === currentId,
    method: session.method,
    created_at: new Date(session.createdAt).toISOString(),
    last_seen_at: new Date(session.seenAt).toISOString(),
    expires_at: new Date(Math.min(session.idleEndsAt, session.endsAt)).toISOString(),
    ends_at: new Date(session.endsAt).toISOString(),
    user_agent: session.userAgent,
    address: session.address,
  }
}

function passwordRoute(app: Api, context: OwnAccessContext): void {
  defineRoute(app, context, {
    method: 'PUT',
    path: `${PREFIX}/password`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Change the password',
    description:
      'Every session ends, this one too; the answer is a new one. An account without a password sets its first one from a session that has just begun.',
    body: z.strictObject({ current_password: passwordField.optional(), password: passwordField }),
    data: signInShape,
    errors: [40104, 40309, 42908],
    handle: async ({ body, caller, request, reply }) => {
      const { account, session } = caller
      if (account.passwordHash === undefined || session.impersonator !== undefined)
        requireFresh(context, caller)
      checkPassword(body.password, [account.email, account.phone])
      const current = body.current_password === undefined ? undefined : new Secret(body.current_password)
      const outcome = await changePassword(
        context.identity,
        account,
        { current, next: new Secret(body.password) },
        { ...originOf(context, request), session },
      )
      switch (outcome.kind) {
        case 'too-many':
          throw tooMany(outcome)
        case 'wrong':
          throw new GatewayError(40104, { status: 403, message: say('current-password-wrong') })
        case 'signed-in':
        case 'second-factor':
        case 'suspended':
          return answerSignIn(outcome, context, reply)
      }
    },
  })
}

interface ContactBody {
  readonly target: string
  readonly code: string
}

const CONTACT_BODIES: Readonly<Record<Contact['channel'], z.ZodType<ContactBody>>> = {
  email: z
    .strictObject({ email: emailField, code: codeField })
    .transform(({ email: target, code }) => ({ target, code })),
  phone: z
    .strictObject({ phone: phoneField, code: codeField })
    .transform(({ phone: target, code }) => ({ target, code })),
}

function contactRoute(app: Api, context: OwnAccessContext, channel: Contact['channel']): void {
  const name = channel === 'email' ? 'e-mail address' : 'phone number'
  defineRoute(app, context, {
    method: 'PUT',
    path: `${PREFIX}/${channel}`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: `Change the ${name}`,
    description: `The code is one of purpose \`change_${channel}\`, sent to the new ${name} in this account's session. Needs a session that has just begun.`,
    body: CONTACT_BODIES[channel],
    data: z.object({ email: z.string().nullable(), phone: z.string().nullable() }),
    errors: [40005, 40309, 40900, 42908],
    handle: async ({ body, caller, request }) => {
      requireFresh(context, caller)
      originOf(context, request)
      const contact = contactOf(context, channel, body.target)
      const outcome = await changeContact(
        context.identity,
        caller.account,
        { contact, code: new Secret(body.code) },
        ownersAct(context, { caller, request }).actor,
      )
      switch (outcome.kind) {
        case 'too-many':
          throw tooMany(outcome)
        case 'wrong-code':
          throw wrongCode()
        case 'taken':
          throw new GatewayError(40900, { message: say(channel === 'email' ? 'email-taken' : 'phone-taken') })
        case 'changed':
          return {
            email: (channel === 'email' ? contact.target : caller.account.email) ?? null,
            phone: (channel === 'phone' ? contact.target : caller.account.phone) ?? null,
          }
      }
    },
  })
}
