import { say } from '../../../../core/sentences/say.ts'
import { issue } from '../../requests/request-fields.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import {
  answerSecondFactor,
  type FactorOutcome,
  findPending,
  passSecondFactor,
} from '../../../../management/identity/factors/factors.ts'
import { passPasskey, startPasskeySignIn } from '../../../../management/identity/factors/passkeys.ts'
import { begin, enter } from '../../../../management/identity/sign-in.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { isoTime } from '../../answers/wire-values.ts'
import { answerSignIn, challengeField, codeField, originOf, PREFIX, signInShape, tooMany } from './answers.ts'
import { siteOf, webAuthnOptions } from './second-factors.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type SecondStepContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Sign-in'

const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]+$/)

const assertion = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
  }),
  clientExtensionResults: z.object({}),
})

const passkeyAnswer = z.strictObject({ challenge: challengeField, response: assertion })

const secondFactorBody = z
  .strictObject({
    challenge: challengeField,
    totp: codeField.optional(),
    recovery_code: z.string().min(1).max(64).optional(),
    passkey: passkeyAnswer.optional(),
  })
  .refine(
    ({ totp, recovery_code, passkey }) =>
      [totp, recovery_code, passkey].filter((each) => each !== undefined).length === 1,
    issue(say('one-of-second-factors')),
  )

/** The second step of a sign-in, and passkeys, which need no first step. */
export function secondStepRoutes(app: Api, context: SecondStepContext): void {
  secondFactorRoute(app, context)
  passkeyQuestionRoute(app, context)
  passkeySignInRoute(app, context)
}

function secondFactorRoute(app: Api, context: SecondStepContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in/second-factor`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Finish a sign-in with the second factor',
    description: 'A challenge accepts five answers and is valid for ten minutes.',
    body: secondFactorBody,
    data: signInShape,
    errors: [40104, 42908],
    handle: async ({ body, request, reply }) => {
      const origin = originOf(context, request)
      const site = siteOf(context, request)
      const outcome = await answerOf(context, body, site)
      const { account, method } = passed(outcome)
      return answerSignIn(
        await begin(context.identity, account, { ...origin, method, secondFactor: true }),
        context,
        reply,
      )
    },
  })
}

function passkeyQuestionRoute(app: Api, context: SecondStepContext): void {
  const { identity } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in/passkey/options`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Ask for a passkey',
    description:
      '`options` goes to navigator.credentials.get. With the challenge of a sign-in: as its second factor. Without: as the whole sign-in.',
    body: z.strictObject({ challenge: challengeField.optional() }),
    data: z.object({ challenge: z.string(), options: webAuthnOptions, expires_at: isoTime }),
    errors: [40104, 42908],
    handle: async ({ body, request }) => {
      const account = body.challenge === undefined ? undefined : await findPending(identity, body.challenge)
      if (body.challenge !== undefined && account === undefined) throw new GatewayError(40104)
      const { address } = originOf(context, request)
      const question = await startPasskeySignIn(identity, {
        account,
        site: siteOf(context, request),
        address,
      })
      if (question.kind === 'too-many') throw tooMany(question)
      return {
        challenge: question.challenge.unwrap(),
        options: { ...question.options },
        expires_at: new Date(question.endsAt).toISOString(),
      }
    },
  })
}

function passkeySignInRoute(app: Api, context: SecondStepContext): void {
  const { identity } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PREFIX}/sign-in/passkey`,
    access: 'anonymous',
    tag: TAG,
    summary: 'Sign in with a passkey alone',
    body: passkeyAnswer,
    data: signInShape,
    errors: [40104],
    handle: async ({ body, request, reply }) => {
      const origin = originOf(context, request)
      const id = await passPasskey(identity, { ...body, site: siteOf(context, request) }, 'alone')
      const account = id === undefined ? undefined : await identity.storage.accounts.find(id)
      if (account === undefined) {
        identity.security.note('sign-in.failed', { address: origin.address, method: 'passkey' })
        throw new GatewayError(40104)
      }
      return answerSignIn(await enter(identity, account, { ...origin, method: 'passkey' }), context, reply)
    },
  })
}

function answerOf(
  { identity }: Pick<ApiContext, 'identity'>,
  body: z.output<typeof secondFactorBody>,
  site: ReturnType<typeof siteOf>,
): Promise<FactorOutcome> {
  const { challenge, totp, recovery_code, passkey } = body
  if (passkey !== undefined) {
    return passSecondFactor(identity, challenge, async (account) => {
      return (await passPasskey(identity, { ...passkey, site }, 'second-factor')) === account.id
    })
  }
  if (totp !== undefined) return answerSecondFactor(identity, challenge, { kind: 'totp', code: totp })
  return answerSecondFactor(identity, challenge, { kind: 'recovery_code', code: recovery_code ?? '' })
}

function passed(outcome: FactorOutcome): Extract<FactorOutcome, { kind: 'passed' }>['pending'] {
  switch (outcome.kind) {
    case 'wrong':
      throw new GatewayError(40104, { message: say('second-factor-wrong') })
    case 'gone':
      throw new GatewayError(40104, { message: say('sign-in-over') })
    case 'too-many':
      throw tooMany(outcome)
    case 'passed':
      return outcome.pending
  }
}
