/** Checks of a request's head before it is routed: where it arrived, who sends it, what is not allowed. */
import ipaddr from 'ipaddr.js'
import { IncomingMessage, type ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Address } from './address.ts'
import type { BodyWatch } from './calls/incoming.ts'

/** Returns the refusal of a head that cannot be served; never throws. */
export function refusedHead(request: IncomingMessage, headersMax: number): GatewayError | undefined {
  if (request.rawHeaders.length / 2 > headersMax) {
    return new GatewayError(40000, {
      status: 431,
      message: `a request has at most ${headersMax} headers (SLUICE_HEADER_COUNT_LIMIT)`,
    })
  }
  const hosts = countHosts(request.rawHeaders)
  if (hosts > 1) return new GatewayError(40000, { message: 'a request must have one Host header' })
  // HTTP/1.0 has no Host header (RFC 9112 §3.2).
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

/** Names and values alternate in `rawHeaders`; the parsed headers keep only the first host. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

/** A target may be an absolute address, which then names the host (RFC 9112 §3.2.2). Rewritten to the usual form. */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request
  if (url.startsWith('/') || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return
  const { host, pathname, search } = new URL(url)
  request.url = `${pathname}${search}`
  request.headers.host = host
}

const SHOWN_PATH_CHARACTERS_MAX = 200

/** A path for use in messages, shortened: it comes from a client. */
export function shownPath(path: string): string {
  return path.length <= SHOWN_PATH_CHARACTERS_MAX ? path : `${path.slice(0, SHOWN_PATH_CHARACTERS_MAX)}…`
}

/** A request with what the listener knows about it, for routes that the framework calls. */
export class GatewayRequest extends IncomingMessage {
  address: Address = 'base'
  /** undefined: there is no body, or its limits are not set yet. */
  bodyBounds: BodyBounds | undefined
}

export interface BodyBounds {
  readonly watch: BodyWatch
  readonly totalTimeoutMs: number
}

export function addressOf(request: IncomingMessage): Address {
  return request instanceof GatewayRequest ? request.address : 'base'
}

export function boundsOf(request: IncomingMessage): BodyBounds | undefined {
  return request instanceof GatewayRequest ? request.bodyBounds : undefined
}

/** What is known of a request once its head was read. */
export type RequestHead = Pick<IncomingMessage, 'socket' | 'headers'>

/** Finds the caller's address: the socket's, or the one that a trusted proxy reports. */
export type ClientAddress = (request: RequestHead) => string

export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (request) => plain(request.socket.remoteAddress)
  const trusted = createIsProxy(trustedProxies)
  return (request) => {
    let address = plain(request.socket.remoteAddress)
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => hop.trim())
    while (trusted(address)) {
      const hop = hops.pop()
      if (hop === undefined || !ipaddr.isValid(hop)) break
      address = plain(hop)
    }
    return address
  }
}

/** Whether an address lies in one of the ranges. */
export function createIsProxy(trustedProxies: readonly string[]): (address: string) => boolean {
  const ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range))
  if (ranges.length === 0) return () => false
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
}

/** The part of an address that belongs to one subscriber: all of an IPv4 address, the first half of an IPv6 one. */
export function addressGroup(address: string): string {
  const known = plain(address)
  if (!known.includes(':') || !ipaddr.isValid(known)) return known
  const parsed = ipaddr.parse(known)
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : known
}

/** An IPv4 address that a dual-stack socket shows as IPv6 is shown as IPv4. */
function plain(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** Origins that may call, or `*`. */
export type CorsOrigins = readonly string[]

/** Headers that scripts may read. */
const EXPOSED = [
  'x-request-id',
  'gw-model',
  'gw-dropped-fields',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'openai-poll-after-ms',
  'x-should-retry',
].join(', ')

/** How long a browser may cache a preflight; some limit it to two hours. */
const REMEMBER_SECONDS = 7_200
const METHODS = 'GET, POST, DELETE'
const ASKED_HEADERS = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/**
 * Calls from web pages of other sites (Fetch standard, CORS): only if the operator names the sites, only for calls and
 * model lists, and never with cookies. The management API is limited to its own origin (`same-origin.ts`). Sets the
 * headers a browser needs. True: it was a preflight, which has been answered.
 */
export function allowOrigin(
  origins: CorsOrigins,
  { request, response, path }: { request: IncomingMessage; response: ServerResponse; path: string },
): boolean {
  if (origins.length === 0 || !/^\/v1(beta)?\//.test(path)) return false
  const anybody = origins.includes('*')
  if (!anybody) response.setHeader('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !(anybody || origins.includes(origin.toLowerCase()))) return false
  response.setHeader('access-control-allow-origin', anybody ? '*' : origin)
  response.setHeader('access-control-expose-headers', EXPOSED)
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false
  answerPreflight(request, response)
  return true
}

/**
 * All requested headers are allowed: clients send many of their own, and none but the key, which a page must have,
 * grants anything.
 */
function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  if (asked !== undefined && ASKED_HEADERS.test(asked))
    response.setHeader('access-control-allow-headers', asked)
  response.setHeader('access-control-allow-methods', METHODS)
  response.setHeader('access-control-max-age', REMEMBER_SECONDS)
  response.writeHead(204)
  response.end()
}
