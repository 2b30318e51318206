/**
 * Limits connections: their number in total and per address, the requests in progress on each, and how they end when
 * the process stops. A trusted proxy may have any number; the requests of its clients are counted instead.
 */
import type { Socket } from 'node:net'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { type ClientAddress, type RequestHead, addressGroup } from './request-head.ts'

export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Connections per address (IPv6: per /64), and concurrent requests per client behind a proxy. */
  readonly connectionsPerAddressMax: number
}

export interface ConnectionsOptions extends ConnectionBounds {
  readonly clientAddress: ClientAddress
  /** Whether an address is that of a trusted proxy. */
  readonly isProxy: (address: string) => boolean
  /** Answers on a bare socket and closes it. */
  readonly refuse: (socket: Socket, error: GatewayError) => void
}

/** Pipelined requests on one connection before the first is answered; no real client sends any. */
const AHEAD_MAX = 32
const RETRY_AFTER_MS = 1_000

/** An answer in so far as it decides about its connection. */
export interface EndingAnswer {
  readonly headersSent: boolean
  /** Set to false before the head is sent: the answer closes its connection. */
  shouldKeepAlive: boolean
  /** `finish`: all of it was handed to the system; `close`: so it was, or its connection has ended. */
  once(event: 'close' | 'finish', listener: () => void): unknown
}

interface Held {
  /** The group it is counted in; undefined: a proxy. */
  readonly group: string | undefined
  /** Requests that have not been answered. */
  open: number
  /** There is a proxy in between, which may send the next request just as the connection closes. */
  shared: boolean
  /** It has carried a request. */
  used: boolean
  /** The answer in progress closes it. */
  closing: boolean
  response: EndingAnswer | undefined
}

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #held = new Map<Socket, Held>()
  readonly #perGroup = new Map<string, number>()
  #draining = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#held.size
  }

  /** A new connection; refused and closed if there are too many. */
  opened(socket: Socket): void {
    const { connectionsMax, connectionsPerAddressMax, isProxy, refuse } = this.#options
    const address = socket.remoteAddress ?? ''
    const group = isProxy(address) ? undefined : addressGroup(address)
    if (this.#held.size >= connectionsMax) return refuse(socket, full())
    if (group !== undefined && !this.#take(group, connectionsPerAddressMax))
      return refuse(socket, tooMany('connections'))
    this.#held.set(socket, {
      group,
      open: 0,
      shared: false,
      used: false,
      closing: false,
      response: undefined,
    })
    socket.once('close', () => {
      this.#held.delete(socket)
      if (group !== undefined) this.#give(group)
    })
  }

  /** A request on it. Returns the refusal if there are too many. */
  begun(request: RequestHead, response: EndingAnswer): GatewayError | undefined {
    const held = this.#held.get(request.socket)
    // The connection itself was refused; this answer is not read.
    if (held === undefined) return full()
    held.open += 1
    held.used = true
    held.response = response
    held.shared ||= request.headers['x-forwarded-for'] !== undefined || request.headers.via !== undefined
    if (this.#draining) lastAnswer(held)
    const client = held.group === undefined ? addressGroup(this.#options.clientAddress(request)) : undefined
    const taken = client === undefined || this.#take(client, this.#options.connectionsPerAddressMax)
    response.once('close', () => {
      held.open -= 1
      if (client !== undefined && taken) this.#give(client)
    })
    if (!taken) return tooMany('requests')
    if (held.open <= AHEAD_MAX) return undefined
    response.shouldKeepAlive = false
    return new GatewayError(42908, {
      message: `at most ${AHEAD_MAX} requests may be sent ahead on one connection`,
    })
  }

  /** From now on every answer closes its connection. */
  drain(): void {
    this.#draining = true
    for (const held of this.#held.values()) {
      if (held.open > 0 && held.response?.headersSent === false) lastAnswer(held)
    }
  }

  /**
   * Closes connections between two requests. `all`: also those on which the next request may be arriving, and those
   * whose answer announced keep-alive, after its last byte.
   */
  endIdle(which: 'direct' | 'all'): void {
    for (const [socket, held] of this.#held) {
      if (held.open === 0) {
        if (which === 'all' || mayEnd(held)) socket.destroy()
      } else if (which === 'all' && !held.closing) {
        held.closing = true
        held.response?.once('finish', () => socket.end())
      }
    }
  }

  /** Connections on which a request may be arriving, or may follow the answer in progress. */
  get expecting(): number {
    let expecting = 0
    for (const held of this.#held.values()) {
      if (!held.closing && (held.shared || !held.used)) expecting += 1
    }
    return expecting
  }

  #take(group: string, most: number): boolean {
    const count = this.#perGroup.get(group) ?? 0
    if (count >= most) return false
    this.#perGroup.set(group, count + 1)
    return true
  }

  #give(group: string): void {
    const count = this.#perGroup.get(group) ?? 0
    if (count <= 1) this.#perGroup.delete(group)
    else this.#perGroup.set(group, count - 1)
  }
}

function lastAnswer(held: Held): void {
  held.closing = true
  if (held.response !== undefined) held.response.shouldKeepAlive = false
}

/**
 * A client that was answered and is not a proxy retries when its idle connection closes; a new connection may still
 * expect an answer.
 */
function mayEnd({ shared, used }: Held): boolean {
  return used && !shared
}

function full(): GatewayError {
  return new GatewayError(50301, {
    message: 'too many connections are open right now, try again shortly',
    retryAfterMs: RETRY_AFTER_MS,
  })
}

function tooMany(what: 'connections' | 'requests'): GatewayError {
  return new GatewayError(42908, {
    message: `too many ${what} of this address at once`,
    retryAfterMs: RETRY_AFTER_MS,
  })
}
