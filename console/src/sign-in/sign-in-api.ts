/** Requests of signing in. */
import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser'
import { client, dataOf } from '../api/client.ts'
import { type Contact, contactField } from './contact.ts'

/** The result of the first proof: a session, or a challenge for the second factor. */
export type FirstStep = Awaited<ReturnType<typeof signInByPassword>>
export type SecondFactor = Extract<FirstStep, { readonly state: 'second_factor_required' }>
export type FactorKind = SecondFactor['factors'][number]

export type CodePurpose = 'register' | 'sign_in' | 'reset_password'

export function signInByPassword(contact: Contact, password: string) {
  return dataOf(client.POST('/api/v1/user/user/sign-in', { body: { ...contactField(contact), password } }))
}

export function signInByCode(contact: Contact, code: string) {
  return dataOf(client.POST('/api/v1/user/user/sign-in', { body: { ...contactField(contact), code } }))
}

export function signInByLink(token: string) {
  return dataOf(client.POST('/api/v1/user/user/sign-in/link', { body: { token } }))
}

/** Sets the first password of an account; needs a session that has just begun. */
export function setPassword(password: string) {
  return dataOf(client.PUT('/api/v1/user/user/password', { body: { password } }))
}

export function sendCode({ channel, target }: Contact, purpose: CodePurpose) {
  return dataOf(client.POST('/api/v1/user/user/verification-codes', { body: { channel, target, purpose } }))
}

export function register(contact: Contact, code: string, password: string) {
  return contact.channel === 'email'
    ? dataOf(
        client.POST('/api/v1/user/user/register/email', {
          body: { email: contact.target, code, password },
        }),
      )
    : dataOf(
        client.POST('/api/v1/user/user/register/phone', {
          body: { phone: contact.target, code, password },
        }),
      )
}

export function resetPassword(contact: Contact, code: string, password: string) {
  return dataOf(
    client.POST('/api/v1/user/user/password/reset', { body: { ...contactField(contact), code, password } }),
  )
}

export function answerSecondFactor(challenge: string, answer: { totp: string } | { recovery_code: string }) {
  return dataOf(client.POST('/api/v1/user/user/sign-in/second-factor', { body: { challenge, ...answer } }))
}

export const passkeysWork = browserSupportsWebAuthn

/** Asks the browser for a passkey: as the whole sign-in, or with a challenge as its second factor. */
export async function signInByPasskey(pending?: string) {
  const asked = await dataOf(
    client.POST('/api/v1/user/user/sign-in/passkey/options', {
      body: pending === undefined ? {} : { challenge: pending },
    }),
  )
  const response = await startAuthentication({ optionsJSON: asked.options })
  const answer = { challenge: asked.challenge, response: { ...response, clientExtensionResults: {} } }
  return pending === undefined
    ? dataOf(client.POST('/api/v1/user/user/sign-in/passkey', { body: answer }))
    : dataOf(
        client.POST('/api/v1/user/user/sign-in/second-factor', {
          body: { challenge: pending, passkey: answer },
        }),
      )
}

/** Resolves to the address of the service's own sign-in page. */
export async function startService(name: string, returnTo: string): Promise<string> {
  const params = { path: { name } }
  const body = { return_to: returnTo }
  const asked = client.POST('/api/v1/user/user/sign-in/services/{name}/start', { params, body })
  return (await dataOf(asked)).url
}
