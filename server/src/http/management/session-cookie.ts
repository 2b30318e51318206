/** The session cookie: unreadable to scripts, not sent along by other sites' forms, and secure where the address is. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Secret } from '../../core/secret.ts'
import { SERVICE_TRIP_MS } from '../../management/identity/service-sign-in.ts'
import type { OpenedSession } from '../../management/identity/sessions.ts'

const SESSION = 'sluice_session'
/** Of a browser that went to another service and is to come back. */
const TRIP = 'sluice_sign_in'
/** Browsers take a cookie of this prefix only when it is secure and belongs to this host alone. */
const SECURE_PREFIX = '__Host-'
const MS_PER_SECOND = 1_000

/** The session token of the request's cookie. */
export function readSessionCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): string | undefined {
  return readCookie(headers, nameFor(SESSION, publicUrl))
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
): string {
  const maxAge = Math.max(0, Math.floor((session.endsAt - at) / MS_PER_SECOND))
  return cookie(SESSION, { value: token.unwrap(), maxAge }, publicUrl)
}

/** The value of `Set-Cookie` that signs out. */
export function endedSessionCookie(publicUrl: string | undefined): string {
  return cookie(SESSION, { value: '', maxAge: 0 }, publicUrl)
}

export function tripCookie(token: Secret, publicUrl: string | undefined): string {
  return cookie(TRIP, { value: token.unwrap(), maxAge: SERVICE_TRIP_MS / MS_PER_SECOND }, publicUrl)
}

export function endedTripCookie(publicUrl: string | undefined): string {
  return cookie(TRIP, { value: '', maxAge: 0 }, publicUrl)
}

/** Tokens are base64url: nothing in them needs quoting (RFC 6265 §4.1.1). `maxAge` in seconds. */
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
