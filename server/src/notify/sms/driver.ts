/** An SMS service as data and functions: how its requests are built, and what its answers mean. One folder each. */
import type { Auth, HttpRequest } from '../../core/http-request.ts'
import type { Secret } from '../../core/secret.ts'
import type { PhoneMessage } from '../messenger.ts'

export interface SmsDriver {
  /** Schemes of `SLUICE_SMS_URL`, including the colon. */
  readonly schemes: readonly string[]
  /** Throws an `Error` that says what the address lacks. */
  open(url: URL): SmsService
}

export interface SmsService {
  /** What `auth` puts into the request; undefined: the request is signed or needs no secret. */
  readonly secret: Secret | undefined
  readonly auth: Auth
  form(message: PhoneMessage, moment: SendMoment): HttpRequest
  /** Why the message was not accepted; undefined: it was. */
  refusal(answer: { readonly status: number; readonly body: string }): string | undefined
}

/** Values that signatures need and that a pure function cannot create. */
export interface SendMoment {
  /** Epoch ms. */
  readonly at: number
  /** Unique. */
  readonly nonce: string
}

/** The service's endpoint: the host of its address over https, or `?endpoint=` for a private proxy. */
export function endpointOf(url: URL): string {
  const given = url.searchParams.get('endpoint')
  if (given !== null) return given.replace(/\/+$/, '')
  if (url.host === '') throw new Error('SLUICE_SMS_URL names no host')
  return `https://${url.host}`
}

export function requiredParameter(url: URL, name: string): string {
  const value = url.searchParams.get(name)
  if (value === null || value === '') throw new Error(`SLUICE_SMS_URL needs ?${name}=`)
  return value
}

export function userOf(url: URL): { readonly user: string; readonly password: string } {
  if (url.username === '' || url.password === '')
    throw new Error('SLUICE_SMS_URL needs an account and its secret before the @')
  return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
}
