/**
 * Protection against requests that another site makes a browser send (CSRF). A cookie goes along by itself, so a changing
 * request that has nothing but the cookie must show that our own pages made it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

/** Any value will do: a page of another site cannot set it without asking us first, and we never allow that. */
export const CSRF_HEADER = 'x-sluice-csrf'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export interface OriginQuestion {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** How clients reach us from outside; undefined: by the host they name. */
  readonly publicUrl: string | undefined
}

/** Throws 403/40305 unless the request shows that it comes from our own origin. */
export function requireSameOrigin(question: OriginQuestion): void {
  if (SAFE_METHODS.includes(question.method)) return
  const verdict = judgeOrigin(question)
  if (verdict === 'same' || (verdict === 'untold' && question.headers[CSRF_HEADER] !== undefined)) return
  throw new GatewayError(40305, {
    message:
      verdict === 'other'
        ? 'a request with a session cookie must come from this site itself'
        : `a changing request with a session cookie needs the header Origin or ${CSRF_HEADER}, or a bearer token instead`,
  })
}

/** For requests that need no session yet: refuses only what certainly comes from another site (sign-in as somebody else). */
export function refuseOtherOrigin(question: OriginQuestion): void {
  if (judgeOrigin(question) === 'other') {
    throw new GatewayError(40305, { message: 'another site may not sign its visitors in here' })
  }
}

function judgeOrigin({ headers, publicUrl }: OriginQuestion): 'same' | 'other' | 'untold' {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  // The browser's own word: no page can set it, and it holds behind any proxy.
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (origin === undefined) return 'untold'
  const own = publicUrl !== undefined && origin === new URL(publicUrl).origin
  return own || (host !== undefined && hostOf(origin) === host.toLowerCase()) ? 'same' : 'other'
}

/** `null`, which sandboxed pages send, and what is no address have none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
