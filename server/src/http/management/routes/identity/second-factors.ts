import { say } from '../../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Secret } from '../../../../core/secret.ts'
import {
  confirmAuthenticator,
  removeAuthenticator,
  replaceRecoveryCodes,
  startAuthenticator,
} from '../../../../management/identity/factors/factors.ts'
import {
  finishRegistration,
  removePasskey,
  type Site,
  startRegistration,
} from '../../../../management/identity/factors/passkeys.ts'
import type { Passkey } from '../../../../storage/stores/identity.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { isoTime } from '../../answers/wire-values.ts'
import { challengeField, codeField, ownersAct, PREFIX, requireFresh, tooMany, wrongCode } from './answers.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type SecondFactorsContext = RouteContext & Pick<ApiContext, 'publicUrl'>

const TAG = 'Second factors'
const PATH = `${PREFIX}/second-factors`
const FRESH = 'Needs a session that has just begun.'

const passkeyShape = z.object({
  id: z.string(),
  name: z.string(),
  backed_up: z.boolean(),
  created_at: isoTime,
  last_used_at: isoTime.nullable(),
})

const recoveryCodes = z
  .array(z.string())
  .meta({ description: 'Each works once. Shown this once; empty when there are some already.' })

/** Input and output of a browser's WebAuthn interface, as JSON; the library checks its content. */
export const webAuthnOptions = z.looseObject({ challenge: z.string() })
const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]+$/)

const attestation = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
  clientExtensionResults: z.object({}),
})

/** Setting up second factors. */
export function secondFactorRoutes(app: Api, context: SecondFactorsContext): void {
  overviewRoutes(app, context)
  authenticatorRoutes(app, context)
  passkeyRoutes(app, context)
}

function overviewRoutes(app: Api, context: SecondFactorsContext): void {
  const { identity } = context
  const { factors } = identity.storage.identity

  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    withoutSecondFactor: 'may',
    for: 'person',
    tag: TAG,
    summary: 'List the second factors',
    data: z.object({ totp: z.boolean(), passkeys: z.array(passkeyShape), recovery_codes_left: z.int() }),
    handle: async ({ caller }) => ({
      totp: (await factors.findAuthenticator(caller.account.id))?.confirmedAt !== undefined,
      passkeys: (await factors.listPasskeys(caller.account.id)).map(viewPasskey),
      recovery_codes_left: await factors.countRecoveryCodes(caller.account.id),
    }),
  })

  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/recovery-codes`,
    access: 'session',
    showsSecret: true,
    for: 'person',
    tag: TAG,
    summary: 'Make new recovery codes',
    description: `The former ones end. ${FRESH}`,
    data: z.object({ recovery_codes: recoveryCodes }),
    errors: [40309],
    handle: async ({ caller, request, reply }) => {
      requireFresh(context, caller)
      reply.header('cache-control', 'no-store')
      const act = ownersAct(context, { caller, request })
      return { recovery_codes: shown(await replaceRecoveryCodes(identity, act)) }
    },
  })
}

function authenticatorRoutes(app: Api, context: SecondFactorsContext): void {
  authenticatorStartRoute(app, context)
  authenticatorConfirmRoute(app, context)
  authenticatorRemoveRoute(app, context)
}

function authenticatorStartRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/totp`,
    access: 'session',
    showsSecret: true,
    withoutSecondFactor: 'may',
    for: 'person',
    tag: TAG,
    summary: 'Begin with an authenticator app',
    description: `It is asked for at sign-in once a code has confirmed it. ${FRESH}`,
    data: z.object({ secret: z.string(), otpauth_url: z.string() }),
    errors: [40309, 40900],
    handle: async ({ caller }) => {
      requireFresh(context, caller)
      const started = await startAuthenticator(context.identity, caller.account)
      if (started.kind === 'exists') throw new GatewayError(40900, { message: say('authenticator-exists') })
      return { secret: started.seed.unwrap(), otpauth_url: started.address }
    },
  })
}

function authenticatorConfirmRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/totp/confirm`,
    access: 'session',
    showsSecret: true,
    withoutSecondFactor: 'may',
    for: 'person',
    tag: TAG,
    summary: 'Confirm the authenticator app with a code of it',
    body: z.strictObject({ code: codeField }),
    data: z.object({ recovery_codes: recoveryCodes }),
    errors: [40005, 40309, 42908],
    handle: async ({ caller, body, request }) => {
      requireFresh(context, caller)
      const act = ownersAct(context, { caller, request })
      const outcome = await confirmAuthenticator(context.identity, act, body.code)
      switch (outcome.kind) {
        case 'wrong':
          throw wrongCode()
        case 'too-many':
          throw tooMany(outcome)
        case 'confirmed':
          return { recovery_codes: shown(outcome.recoveryCodes) }
      }
    },
  })
}

function authenticatorRemoveRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/totp`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Remove the authenticator app',
    description: FRESH,
    data: z.object({}),
    errors: [40309, 40403],
    handle: async ({ caller, request }) => {
      requireFresh(context, caller)
      const act = ownersAct(context, { caller, request })
      if (!(await removeAuthenticator(context.identity, act))) throw new GatewayError(40403)
      return {}
    },
  })
}

function passkeyRoutes(app: Api, context: SecondFactorsContext): void {
  passkeyStartRoute(app, context)
  passkeyAddRoute(app, context)
  passkeyRemoveRoute(app, context)
}

function passkeyStartRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/passkeys/options`,
    access: 'session',
    withoutSecondFactor: 'may',
    for: 'person',
    tag: TAG,
    summary: 'Begin with a passkey',
    description: `\`options\` goes to navigator.credentials.create. ${FRESH}`,
    data: z.object({ challenge: z.string(), options: webAuthnOptions, expires_at: isoTime }),
    errors: [40309],
    handle: async ({ caller, request }) => {
      requireFresh(context, caller)
      const question = await startRegistration(context.identity, caller.account, siteOf(context, request))
      return {
        challenge: question.challenge.unwrap(),
        options: { ...question.options },
        expires_at: new Date(question.endsAt).toISOString(),
      }
    },
  })
}

function passkeyAddRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/passkeys`,
    access: 'session',
    showsSecret: true,
    withoutSecondFactor: 'may',
    for: 'person',
    tag: TAG,
    summary: 'Add the passkey',
    description: 'With what the browser answered to the options.',
    body: z.strictObject({
      challenge: challengeField,
      name: z.string().trim().min(1).max(100),
      response: attestation,
    }),
    status: 201,
    data: z.object({ passkey: passkeyShape, recovery_codes: recoveryCodes }),
    errors: [40005, 40309, 40900],
    handle: async ({ caller, body, request }) => {
      requireFresh(context, caller)
      const answer = { ...body, site: siteOf(context, request) }
      const act = ownersAct(context, { caller, request })
      const outcome = await finishRegistration(context.identity, act, answer)
      switch (outcome.kind) {
        case 'refused':
          throw new GatewayError(40005, { message: say('passkey-wrong') })
        case 'too-many-keys':
          throw new GatewayError(40900, { message: say('too-many-passkeys') })
        case 'added':
          return { passkey: viewPasskey(outcome.passkey), recovery_codes: shown(outcome.recoveryCodes) }
      }
    },
  })
}

function passkeyRemoveRoute(app: Api, context: SecondFactorsContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/passkeys/:id`,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Remove a passkey',
    description: FRESH,
    params: z.object({ id: z.string().max(2048) }),
    data: z.object({}),
    errors: [40309, 40403],
    handle: async ({ caller, params, request }) => {
      requireFresh(context, caller)
      const act = ownersAct(context, { caller, request })
      if (!(await removePasskey(context.identity, act, params.id))) throw new GatewayError(40403)
      return {}
    },
  })
}

/**
 * The origin as the browser sees it. The browser's answer is signed over it, so a false Host only makes the answer
 * invalid.
 */
export function siteOf({ publicUrl }: Pick<ApiContext, 'publicUrl'>, request: FastifyRequest): Site {
  const url = new URL(publicUrl ?? `http://${request.headers.host ?? 'localhost'}`)
  return { origin: url.origin, hostName: url.hostname }
}

function viewPasskey(passkey: Passkey): z.output<typeof passkeyShape> {
  return {
    id: passkey.id,
    name: passkey.name,
    backed_up: passkey.backedUp,
    created_at: new Date(passkey.createdAt).toISOString(),
    last_used_at: passkey.usedAt === undefined ? null : new Date(passkey.usedAt).toISOString(),
  }
}

function shown(codes: readonly Secret[]): string[] {
  return codes.map((code) => code.unwrap())
}
