/** What a head may not say, and what it says in an unusual form; both before anything is routed by it. */
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Throws nothing: gives the refusal of a head that cannot be served. */
export function refusedHead(request: IncomingMessage, headersMax: number): GatewayError | undefined {
  if (request.rawHeaders.length / 2 > headersMax) {
    return new GatewayError(40000, {
      status: 431,
      message: `a request has at most ${headersMax} headers (SLUICE_HEADER_COUNT_LIMIT)`,
    })
  }
  const hosts = countHosts(request.rawHeaders)
  if (hosts > 1) return new GatewayError(40000, { message: 'a request must have one Host header' })
  // HTTP/1.0 knew no hosts (RFC 9112 §3.2).
  if (hosts === 0 && request.httpVersion !== '1.0')
    return new GatewayError(40000, { message: 'the header Host is missing' })
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return new GatewayError(40000, {
      message:
        'a Transfer-Encoding other than chunked is not read here: compress with Content-Encoding instead',
    })
  }
  return undefined
}

/** Names and values take turns in `rawHeaders`; the parsed ones have kept the first host only. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

/** A target may hold the whole address; then that names the host (RFC 9112 §3.2.2). Rewritten to what everybody sends. */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request
  if (url.startsWith('/') || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return
  const { host, pathname, search } = new URL(url)
  request.url = `${pathname}${search}`
  request.headers.host = host
}

const SHOWN_PATH_CHARACTERS_MAX = 200

/** A path as messages repeat it: a client's, so it may be of any length. */
export function shownPath(path: string): string {
  return path.length <= SHOWN_PATH_CHARACTERS_MAX ? path : `${path.slice(0, SHOWN_PATH_CHARACTERS_MAX)}…`
}
