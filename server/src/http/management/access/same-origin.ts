/**
 * Protection against requests that another site makes a browser send (CSRF). A cookie is sent automatically, so a
 * changing request with only a cookie must prove that the gateway's own pages made it.
 */
import { say } from '../../../core/sentences/say.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

/** Any value is accepted: a page of another site cannot set the header without a preflight, which is never allowed. */
export const CSRF_HEADER = 'x-sluice-csrf'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export interface OriginQuestion {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** The public address; undefined: the host of the request. */
  readonly publicUrl: string | undefined
}

/** Throws 403/40305 unless the request proves that it comes from the gateway's own origin. */
export function requireSameOrigin(question: OriginQuestion): void {
  if (SAFE_METHODS.includes(question.method)) return
  const verdict = judgeOrigin(question)
  if (verdict === 'same' || (verdict === 'untold' && question.headers[CSRF_HEADER] !== undefined)) return
  throw new GatewayError(40305, {
    message: verdict === 'other' ? say('foreign-request') : say('origin-needed', { header: CSRF_HEADER }),
  })
}

/**
 * For requests that need no session yet: refuses only what certainly comes from another site (signing a victim in to an
 * attacker's account).
 */
export function refuseOtherOrigin(question: OriginQuestion): void {
  if (judgeOrigin(question) === 'other') {
    throw new GatewayError(40305, { message: say('foreign-sign-in') })
  }
}

function judgeOrigin({ headers, publicUrl }: OriginQuestion): 'same' | 'other' | 'untold' {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  // Set by the browser: no page can change it, and it works behind any proxy.
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (origin === undefined) return 'untold'
  const own = publicUrl !== undefined && origin === new URL(publicUrl).origin
  return own || (host !== undefined && hostOf(origin) === host.toLowerCase()) ? 'same' : 'other'
}

/** undefined for `null`, which sandboxed pages send, and for invalid addresses. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
