/**
 * The session cookie: not readable by scripts, not sent with other sites' forms, and secure if the address is https.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Secret } from '../../../core/secret.ts'
import { SERVICE_TRIP_MS } from '../../../management/identity/service-sign-in.ts'
import type { OpenedSession } from '../../../management/identity/sessions/sessions.ts'

const SESSION = 'sluice_session'
/** In a browser where an admin impersonates an account: the admin’s own session, for when that ends. */
const OPERATOR = 'sluice_operator'
/** In a browser that was redirected to another service to sign in. */
const TRIP = 'sluice_sign_in'
/** Browsers accept a cookie with this prefix only if it is secure and limited to this host. */
const SECURE_PREFIX = '__Host-'
const MS_PER_SECOND = 1_000

/** The session token of the request's cookie. */
export function readSessionCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): string | undefined {
  return readCookie(headers, nameFor(SESSION, publicUrl))
}

/** The session of the admin who impersonates an account in this browser. */
export function readOperatorCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): string | undefined {
  return readCookie(headers, nameFor(OPERATOR, publicUrl))
}

export function readTripCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): string | undefined {
  return readCookie(headers, nameFor(TRIP, publicUrl))
}

function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  const wanted = `${name}=`
  const pair = (headers.cookie ?? '').split(';').find((part) => part.trim().startsWith(wanted))
  const value = pair?.trim().slice(wanted.length)
  return value === '' ? undefined : value
}

/** The value of `Set-Cookie` that signs in. */
export function sessionCookie(
  { session, token }: OpenedSession,
  publicUrl: string | undefined,
  at: number,
  name = SESSION,
): string {
  const maxAge = Math.max(0, Math.floor((session.endsAt - at) / MS_PER_SECOND))
  return cookie(name, { value: token.unwrap(), maxAge }, publicUrl)
}

/** The value of `Set-Cookie` that signs out. */
export function endedSessionCookie(publicUrl: string | undefined): string {
  return cookie(SESSION, { value: '', maxAge: 0 }, publicUrl)
}

/**
 * The values of `Set-Cookie` that let a browser impersonate an account; the admin's own session is kept in a second
 * cookie. undefined: the request came from a program, which keeps its tokens itself.
 */
export function lookCookies(
  headers: IncomingHttpHeaders,
  look: OpenedSession,
  { publicUrl, at }: { readonly publicUrl: string | undefined; readonly at: number },
): readonly string[] | undefined {
  const own = headers.authorization === undefined ? readSessionCookie(headers, publicUrl) : undefined
  if (own === undefined) return undefined
  // As long as the impersonation: after it expires the admin has to sign in again.
  const waiting = { session: look.session, token: new Secret(own) }
  return [sessionCookie(look, publicUrl, at), sessionCookie(waiting, publicUrl, at, OPERATOR)]
}

/** The values of `Set-Cookie` that end an impersonation: the admin's own session is restored if it is still valid. */
export function ownAgainCookies(
  own: OpenedSession | undefined,
  publicUrl: string | undefined,
  at: number,
): readonly string[] {
  const ended = cookie(OPERATOR, { value: '', maxAge: 0 }, publicUrl)
  return [own === undefined ? endedSessionCookie(publicUrl) : sessionCookie(own, publicUrl, at), ended]
}

export function tripCookie(token: Secret, publicUrl: string | undefined): string {
  return cookie(TRIP, { value: token.unwrap(), maxAge: SERVICE_TRIP_MS / MS_PER_SECOND }, publicUrl)
}

export function endedTripCookie(publicUrl: string | undefined): string {
  return cookie(TRIP, { value: '', maxAge: 0 }, publicUrl)
}

/** Tokens are base64url: they need no quoting (RFC 6265 §4.1.1). `maxAge` in seconds. */
function cookie(
  name: string,
  { value, maxAge }: { readonly value: string; readonly maxAge: number },
  publicUrl: string | undefined,
): string {
  return [
    `${nameFor(name, publicUrl)}=${value}`,
    `Max-Age=${maxAge}`,
    'Path=/',
    'HttpOnly',
    ...(isSecure(publicUrl) ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ')
}

function nameFor(name: string, publicUrl: string | undefined): string {
  return isSecure(publicUrl) ? SECURE_PREFIX + name : name
}

function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https://') ?? false
}
