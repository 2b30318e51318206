/**
 * Who holds connections: how many in all and of one address, what is asked on each at once, and how they end when the
 * process stops. A proxy that is believed may hold as many as it likes; of its clients the requests are counted instead.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { type ClientAddress, addressGroup } from './request-head.ts'

export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Of one address (IPv6: of one /64), and requests at once of one client behind a proxy. */
  readonly connectionsPerAddressMax: number
}

export interface ConnectionsOptions extends ConnectionBounds {
  readonly clientAddress: ClientAddress
  /** Whether an address is that of a proxy that is believed. */
  readonly isProxy: (address: string) => boolean
  /** Answers on a bare socket and ends it. */
  readonly refuse: (socket: Socket, error: GatewayError) => void
}

/** Requests sent ahead on one connection before the first was answered; no client of ours sends any. */
const AHEAD_MAX = 32
const RETRY_AFTER_MS = 1_000

interface Held {
  /** What it counts as; undefined: a proxy. */
  readonly group: string | undefined
  /** Requests that have not been answered. */
  open: number
  /** Somebody stands between it and a client, who may send the next request just as the connection closes. */
  shared: boolean
  /** A request has come over it. */
  used: boolean
  /** The answer that is being given ends it. */
  closing: boolean
  response: ServerResponse | undefined
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

  /** A new connection; refused and ended when there are too many. */
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

  /** A request on it. Gives the refusal of one that is too many. */
  begun(request: IncomingMessage, response: ServerResponse): GatewayError | undefined {
    const held = this.#held.get(request.socket)
    // The connection itself was refused; nobody reads this answer.
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

  /** From now on every answer ends its connection. */
  drain(): void {
    this.#draining = true
    for (const held of this.#held.values()) {
      if (held.open > 0 && held.response?.headersSent === false) lastAnswer(held)
    }
  }

  /**
   * Ends connections between two requests. `all`: also those over which somebody may be sending the next just now, and
   * those that were promised to go on, with the last byte of their answer.
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

  /** Connections over which a request may be on its way, or may come after the answer that is being given. */
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

/** A client that was answered and is no proxy sends anew when its idle connection ends; one that has just come was promised an answer. */
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
