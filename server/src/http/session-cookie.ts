/** The session cookie: unreadable to scripts, not sent along by other sites' forms, and secure where the address is. */
import type { IncomingHttpHeaders } from 'node:http'
import type { OpenedSession } from '../management/identity/sessions.ts'

const NAME = 'sluice_session'
/** Browsers take a cookie of this prefix only when it is secure and belongs to this host alone. */
const SECURE_NAME = `__Host-${NAME}`
const MS_PER_SECOND = 1_000

/** The session token of the request's cookie. */
export function readSessionCookie(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): string | undefined {
  const wanted = `${isSecure(publicUrl) ? SECURE_NAME : NAME}=`
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
  return cookie(token.unwrap(), publicUrl, maxAge)
}

/** The value of `Set-Cookie` that signs out. */
export function endedSessionCookie(publicUrl: string | undefined): string {
  return cookie('', publicUrl, 0)
}

/** Tokens are base64url: nothing in them needs quoting (RFC 6265 §4.1.1). */
function cookie(value: string, publicUrl: string | undefined, maxAgeSeconds: number): string {
  const secure = isSecure(publicUrl)
  return [
    `${secure ? SECURE_NAME : NAME}=${value}`,
    `Max-Age=${maxAgeSeconds}`,
    'Path=/',
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ')
}

function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https://') ?? false
}
