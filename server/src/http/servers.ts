/**
 * The two addresses of the contract over node:http. Calls go directly to the request pipeline; everything else is
 * routed by the framework on the same ports (docs/decisions/0001-stack.md).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { type CallId, callId } from '../core/ids.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { ArrivingCall } from '../pipeline/call.ts'
import type { Asked } from '../pipeline/kinds/kind.ts'
import type { Pipeline } from '../pipeline/context.ts'
import { type ServeParts, serve } from '../pipeline/serve-call.ts'
import { timeOrderedId } from '../management/new-id.ts'
import { type Address, addressOfHost } from './address.ts'
import {
  type ClientAddress,
  type CorsOrigins,
  GatewayRequest,
  type RequestHead,
  allowOrigin,
  normalizeTarget,
  refusedHead,
  shownPath,
} from './request-head.ts'
import { type BodyWatch, arrivalOf, closeUnlessRead, createBodyWatch } from './calls/incoming.ts'
import { matchCallPath, servedAtGatewayAddress } from './calls/call-paths.ts'
import { renderError } from './error-envelope.ts'
import { Connections } from './connections.ts'
import type { ConsolePages } from './console/console-pages.ts'
import { listen, rarely } from './listen.ts'
import { sendError } from './send-error.ts'
import { NodeBody, NodeWire } from './calls/node-wire.ts'
import { SocketReply } from './calls/socket-reply.ts'
import type { BodySource, Wire } from './calls/wire.ts'
import type { FastExchange } from './fast-lane/fast-exchange.ts'
import { FastLane } from './fast-lane/fast-lane.ts'

type ServersParts = ServeParts & Pick<Pipeline, 'running'>

export interface ServersOptions {
  readonly pipeline: ServersParts
  /** Answers everything that is not a call. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => void
  /** undefined: there is no console here. */
  readonly consolePages: ConsolePages | undefined
  readonly clientAddress: ClientAddress
  readonly host: string | undefined
  readonly port: number
  readonly gatewayPort: number
  /** Both addresses use `port` and are distinguished by this host name; undefined: two ports. */
  readonly gatewayHost: string | undefined
  /** Calls of the plain shape are read from their sockets directly. */
  readonly fastLane: 'on' | 'off'
  readonly headerLimitBytes: number
  readonly headerTimeoutMs: number
  readonly bodyIdleTimeoutMs: number
  /** The longest a call may take; no body may take longer. */
  readonly callDeadlineMs: number
  readonly clientStallTimeoutMs: number
  /** Sites whose pages may call; empty: no other site's pages may. */
  readonly corsOrigins: CorsOrigins
  readonly keepAliveTimeoutMs: number
  readonly headersMax: number
  /** Limit for the body of a request that is not a call. */
  readonly managementBodyTimeoutMs: number
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  readonly isProxy: (address: string) => boolean
}

export interface Servers {
  readonly port: number
  readonly gatewayPort: number
  /** Calls that have not ended yet. */
  openCalls(): number
  /** From now on every answer closes its connection. */
  drain(): void
  /**
   * Accepts no more connections, and serves requests on the existing ones as long as some may still be arriving, so
   * that a request a proxy has sent never meets a closed connection.
   */
  stopListening(): Promise<void>
  /** Stops accepting connections; resolves when the running calls have ended or `graceMs` has passed. */
  close(graceMs: number): Promise<void>
}

export async function openServers(options: ServersOptions): Promise<Servers> {
  const edge = new Edge(options)
  const shared = options.gatewayHost !== undefined
  const base = edge.createServer(shared ? (host) => addressOfHost(host, options.gatewayHost) : () => 'base')
  const pipeline = shared ? base : edge.createServer(() => 'gateway')
  const { host } = options
  const { telemetry, now } = options.pipeline
  const onLost = rarely((error) => telemetry.log.error({ error }, 'connections could not be accepted'), now)
  const port = await listen(base, { port: options.port, host }, onLost)
  const gatewayPort = shared ? port : await listen(pipeline, { port: options.gatewayPort, host }, onLost)
  return {
    port,
    gatewayPort,
    openCalls: () => edge.openCalls(),
    drain: () => edge.drain(),
    stopListening: () => edge.stopListening(),
    close: (graceMs) => edge.close(graceMs),
  }
}

/** Longest interval between checks for heads that arrive too slowly. */
const HEAD_LOOK_MS_MAX = 5_000
/** Longer than a proxy configured as documented keeps an idle connection (`deploy/nginx.conf`: 4 s). */
const EXPECTING_MS_MAX = 5_000
const EXPECTING_LOOK_MS = 50
/** How long a client that was refused may take to read the answer. */
const REFUSAL_LINGER_MS = 2_000
/** For answers still being sent when the last call has ended. */
const LAST_ANSWERS_MS = 500

/** The address a request with this host was sent to. */
type AddressOf = (host: string | undefined) => Address

/** A first request that did not come in time, as `node:http` reports it. */
const LATE = Object.assign(new Error('the request head is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** What both listeners share: the running calls and the routing of requests. */
class Edge {
  readonly #options: ServersOptions
  readonly #servers: Server[] = []
  readonly #lanes: FastLane[] = []
  readonly #bodyWatch: BodyWatch
  /** Calls that have not ended yet. */
  #running = 0
  #onQuiet: (() => void)[] = []

  readonly #connections: Connections
  /** Resolve when a listener and its connections have ended; none before listening stopped. */
  #ended: readonly Promise<void>[] | undefined

  constructor(options: ServersOptions) {
    this.#options = options
    this.#connections = new Connections({ ...options, refuse: refuseConnection })
    this.#bodyWatch = createBodyWatch(options.bodyIdleTimeoutMs)
  }

  createServer(addressOf: AddressOf): Server<typeof GatewayRequest> {
    const options = this.#options
    const server = createServer({
      IncomingMessage: GatewayRequest,
      maxHeaderSize: options.headerLimitBytes,
      headersTimeout: options.headerTimeoutMs,
      connectionsCheckingInterval: Math.min(HEAD_LOOK_MS_MAX, Math.ceil(options.headerTimeoutMs / 2)),
      // Bodies and answers have their own time limits; a long stream is legitimate.
      requestTimeout: 0,
      // A missing or repeated Host is answered with the gateway's own error.
      requireHostHeader: false,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      noDelay: true,
    })
    // With a limit, excess headers would be dropped silently; too many are refused instead.
    server.maxHeadersCount = 0
    const lane = this.#openFastLane(server, addressOf)
    if (lane !== undefined) this.#lanes.push(lane)
    server.prependListener('connection', (socket) => this.#connections.opened(socket))
    const onRequest = (request: GatewayRequest, response: ServerResponse): void => {
      this.#route(request, response, addressOf(request.headers.host))
    }
    server.on('request', onRequest)
    server.on('checkContinue', onRequest)
    server.on('checkExpectation', (request, response) => {
      const error = new GatewayError(40000, {
        status: 417,
        message: 'the only supported expectation is 100-continue',
      })
      answer(request, response, error)
    })
    server.on('upgrade', refuseUpgrade)
    server.on('clientError', refuseMalformed)
    this.#servers.push(server)
    return server
  }

  /** Sites whose pages may call need headers on every answer, which only `#route` sets. */
  #openFastLane(server: Server, addressOf: AddressOf): FastLane | undefined {
    const options = this.#options
    if (options.fastLane === 'off' || options.corsOrigins.length > 0) return undefined
    return new FastLane(server, {
      ...options,
      now: options.pipeline.now,
      refuseLate: (socket) => refuseMalformed(LATE, socket),
      serve: (exchange, socket) => this.#serveFast(exchange, socket, addressOf(exchange.request.host)),
    })
  }

  /** Only calls are served on the fast lane. */
  #serveFast(exchange: FastExchange, socket: Socket, address: Address): boolean {
    const { method, path, query, headers } = exchange.request
    if (refusedPath(path, address) !== undefined) return false
    const match = matchCallPath(method, path, query)
    if (match.kind !== 'call') return false
    const head = { socket, headers }
    const refusal = this.#connections.begun(head, exchange)
    const { endpoint, asked } = match
    const incoming = { body: exchange, wire: exchange, ...head }
    this.#serve(incoming, { endpoint, asked, address }, refusal)
    return true
  }

  openCalls(): number {
    return this.#running
  }

  drain(): void {
    this.#connections.drain()
  }

  async stopListening(): Promise<void> {
    this.drain()
    // Right after the sockets were polled, when hardly any connection is waiting to be accepted: those would be reset.
    await turn()
    // Not the HTTP server's own `close`, which would close idle connections at once.
    this.#ended ??= this.#servers.map(
      (server) => new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())),
    )
    this.#connections.endIdle('direct')
    for (let waitedMs = 0; waitedMs < EXPECTING_MS_MAX && this.#connections.expecting > 0; ) {
      await delay(EXPECTING_LOOK_MS)
      waitedMs += EXPECTING_LOOK_MS
    }
  }

  async close(graceMs: number): Promise<void> {
    if (this.#ended === undefined) await this.stopListening()
    const closed = this.#ended ?? []
    this.#connections.endIdle('all')
    await within(this.#quiet(), graceMs)
    let lastAnswersMs = Math.min(graceMs, LAST_ANSWERS_MS)
    if (this.#running > 0) {
      // Their clients are informed before their connections close; a client that does not read does not delay the stop.
      this.#options.pipeline.pulse.stopAll()
      lastAnswersMs = LAST_ANSWERS_MS
      await within(this.#quiet(), lastAnswersMs)
    }
    // Only connections between two requests are left, or ones whose client never finished its request.
    this.#connections.endIdle('all')
    for (const server of this.#servers) server.closeIdleConnections()
    await within(Promise.all(closed), lastAnswersMs)
    for (const server of this.#servers) server.closeAllConnections()
    for (const lane of this.#lanes) lane.closeAll()
    this.#bodyWatch.stop()
    await Promise.all(closed)
    await this.#quiet()
  }

  /** Resolves when no call is running. */
  #quiet(): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onQuiet.push(resolve))
  }

  #route(request: GatewayRequest, response: ServerResponse, address: Address): void {
    normalizeTarget(request)
    const { url = '/' } = request
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const query = mark < 0 ? '' : url.slice(mark + 1)
    const excess = this.#connections.begun(request, response)
    if (excess === undefined && allowOrigin(this.#options.corsOrigins, { request, response, path })) return
    const refusal = excess ?? refusedHead(request, this.#options.headersMax) ?? refusedPath(path, address)
    if (refusal !== undefined) {
      answer(request, response, refusal)
      return
    }
    const match = matchCallPath(request.method ?? 'GET', path, query)
    switch (match.kind) {
      case 'call':
        this.#serve(
          {
            socket: request.socket,
            headers: request.headers,
            body: new NodeBody(request, response),
            wire: new NodeWire(request, response),
          },
          { endpoint: match.endpoint, asked: match.asked, address },
        )
        return
      case 'wrong-method':
        response.setHeader('allow', match.allow)
        answer(
          request,
          response,
          new GatewayError(40500, { message: `${shownPath(path)} takes ${match.allow} only` }),
        )
        return
      case 'other':
        this.#serveOther(request, response, { path, address })
        return
    }
  }

  #serveOther(
    request: GatewayRequest,
    response: ServerResponse,
    { path, address }: { readonly path: string; readonly address: Address },
  ): void {
    const pages = address === 'base' ? this.#options.consolePages : undefined
    // A client that does not read its answer is disconnected as quickly as on a call.
    response.setTimeout(this.#options.clientStallTimeoutMs, () => response.destroy())
    if (path === '/' && (request.method === 'HEAD' || request.method === 'GET')) {
      if (pages?.welcome(request, response) !== true) greet(request, response)
      return
    }
    if (pages?.serve(request, response, path) === true) return
    request.address = address
    request.bodyBounds = {
      watch: this.#bodyWatch,
      totalTimeoutMs: Math.min(this.#options.managementBodyTimeoutMs, this.#options.callDeadlineMs),
    }
    this.#options.api(request, response)
  }

  #serve(
    request: RequestHead & { readonly body: BodySource; readonly wire: Wire },
    what: Pick<ArrivingCall, 'endpoint' | 'address'> & { readonly asked: Asked },
    refusal?: GatewayError,
  ): void {
    const { pipeline, callDeadlineMs, clientAddress, clientStallTimeoutMs } = this.#options
    const at = pipeline.now()
    const id = timeOrderedId(at)
    const { wire, body } = request
    const reply = new SocketReply(wire, { requestId: id, path: what.endpoint.path, clientStallTimeoutMs })
    if (refusal !== undefined) return reply.fail(refusal)
    const headers = request.headers as ArrivingCall['headers']
    const arrival = arrivalOf(
      { headers, body },
      {
        id,
        at,
        ip: clientAddress(request),
        bodyWatch: this.#bodyWatch,
        bodyTimeoutMs: callDeadlineMs,
        textBytesMax: pipeline.limits.bodyLimitBytes,
        endpoint: what.endpoint,
        address: what.address,
        asked: what.asked,
      },
    )
    this.#track(wire, id, serve(pipeline, arrival, reply))
  }

  #track(wire: Wire, requestId: string, served: Promise<void>): void {
    const { pipeline } = this.#options
    const call = callId(requestId)
    pipeline.running.add(call)
    this.#running += 1
    const failed = (error: unknown): void => {
      pipeline.telemetry.log.error({ requestId, error }, 'a call ended in an unexpected error')
      wire.destroy()
      this.#left(call)
    }
    pipeline.telemetry.background.track(
      served.then(() => this.#left(call), failed),
      'serve a call',
    )
  }

  #left(call: CallId): void {
    this.#options.pipeline.running.delete(call)
    this.#running -= 1
    if (this.#running === 0) for (const resolve of this.#onQuiet.splice(0)) resolve()
  }
}

/** Resolves when the work is done or the time has passed. */
async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

function refusedPath(path: string, address: Address): GatewayError | undefined {
  if (path.includes('/v1/v1/')) {
    return new GatewayError(40400, {
      message: `${shownPath(path)} does not exist: drop the /v1 from your client's base address, the client adds it itself`,
    })
  }
  if (address === 'gateway' && path !== '/' && !servedAtGatewayAddress(path)) {
    return new GatewayError(40400, { message: `${shownPath(path)} is not served at this address` })
  }
  return undefined
}

function answer(request: IncomingMessage, response: ServerResponse, error: GatewayError): void {
  sendError({ request, response }, error, timeOrderedId(Date.now()))
}

/** Some clients request the root before they call; any quick answer is enough. */
function greet(request: IncomingMessage, response: ServerResponse): void {
  const body = '{"service":"sluice"}'
  closeUnlessRead(request, response)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** WebSockets are not supported: clients that try them first fall back at once. */
function refuseUpgrade(request: IncomingMessage, socket: Socket): void {
  const [path = '/'] = (request.url ?? '/').split('?')
  const rendered = renderError(
    new GatewayError(40400, { message: `${shownPath(path)} does not take a protocol upgrade` }),
    {
      requestId: timeOrderedId(Date.now()),
      path,
    },
  )
  socket.on('error', () => socket.destroy())
  endSoon(socket, rawAnswer(404, 'Not Found', rendered))
}

/** A connection above the limit: gets an error, then is closed without reading. */
function refuseConnection(socket: Socket, error: GatewayError): void {
  const rendered = renderError(error, { requestId: timeOrderedId(Date.now()), path: '/' })
  socket.on('error', () => socket.destroy())
  socket.write(
    rawAnswer(error.status, error.status === 429 ? 'Too Many Requests' : 'Service Unavailable', rendered),
  )
  socket.destroySoon()
}

/** HTTP that cannot be parsed at all. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const message = tooLarge
    ? 'the request headers are too large'
    : late
      ? 'the request headers did not arrive in time'
      : 'malformed HTTP'
  const rendered = renderError(new GatewayError(40000, { message }), {
    requestId: timeOrderedId(Date.now()),
    path: '/',
  })
  const [status, reason] = tooLarge
    ? ([431, 'Request Header Fields Too Large'] as const)
    : late
      ? ([408, 'Request Timeout'] as const)
      : ([400, 'Bad Request'] as const)
  endSoon(socket, rawAnswer(status, reason, rendered))
}

/** Leaves the client a moment to read the answer, and no longer: it may never close its side. */
function endSoon(socket: Socket, answer: string): void {
  socket.end(answer)
  // Unread bytes would hide that the client has closed.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

function rawAnswer(
  status: number,
  reason: string,
  { body, headers }: ReturnType<typeof renderError>,
): string {
  const retryAfter = headers['retry-after']
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
    'connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
