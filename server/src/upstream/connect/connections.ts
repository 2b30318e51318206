import { Connection, type ConnectionPlace, type ConnectionRoom, Turns } from '../http1/connection.ts'
import { createDial } from '../http1/dial.ts'
import { backgroundTimers, type TimerHandle, type Timers } from '../timers.ts'
import type { FindProxy, Proxy } from './find-proxy.ts'
import type { Transport } from './transport.ts'
import { tunnelConnector } from './tunnel.ts'
import { Client, createConnector } from './undici.ts'
import { UndiciTransport } from './undici-transport.ts'

/** Idle connections kept per origin; a further one is closed when it becomes idle. */
const IDLE_MAX = 256
/** Connections per origin, running ones included: one per call in progress, so this limits calls as well. */
const OPEN_MAX = 16_384
/** Idle connections are closed before most load balancers do it (60 s). An upstream's `keep-alive` header may shorten it. */
const IDLE_MS = 30_000
/** How often connections that were idle too long are closed; it is also checked before each use. */
const SWEEP_MS = 5_000
/** Response heads beyond this are refused; providers send 2–4 kB, some with long policies 20. */
const HEAD_BYTES_MAX = 65_536
/** A last resort: the exchange has its vendor's own connect timeout. */
const CONNECT_MS_MAX = 60_000
/** TLS sessions kept for resumption, per origin. */
const TLS_SESSIONS_MAX = 64
/** As much as libuv reads at once. */
const READ_BYTES = 65_536

/** The use of a connection by one call. */
export interface Lease {
  readonly transport: Transport
  /** Gives it back, idle and healthy. */
  release(): void
  /** Closes it: it broke, or an answer was left unread on it. */
  discard(): void
  /**
   * Closes it because it broke before a byte of an answer. If it had been idle before, the upstream has most likely
   * closed it meanwhile, together with those idle for longer: all idle ones are closed, so that the next attempt gets a
   * new connection.
   */
  distrust(): void
}

/** @param onClose to be called when the connection has closed */
export type OpenTransport = (onClose: () => void) => Transport

/** How connections to an origin are made. */
export type Way = (origin: string) => OpenTransport

/**
 * Keep-alive connections by origin. One connection serves one call at a time and the most recently used is taken first,
 * so that the extra ones of a burst become idle and close.
 */
export class Connections {
  readonly #origins = new Map<string, Origin>()
  readonly #way: Way
  readonly #timers: Timers
  #sweep: TimerHandle | undefined
  #running = 0
  #onQuiet: (() => void) | undefined
  #closed = false

  constructor(way: Way, timers: Timers = backgroundTimers) {
    this.#way = way
    this.#timers = timers
  }

  /** undefined: closed, or the origin has the maximum number. */
  take(address: string): Lease | undefined {
    if (this.#closed) return undefined
    let origin = this.#origins.get(address)
    if (origin === undefined) {
      origin = new Origin(this.#way(address), () => this.#origins.delete(address))
      this.#origins.set(address, origin)
    }
    const taken = origin.take(this.#timers.now())
    if (taken === undefined) return undefined
    this.#running += 1
    return new OriginLease(taken, origin, this)
  }

  /** Waits for running calls, then closes everything. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
      })
    }
    this.#sweep?.cancel()
    for (const origin of this.#origins.values()) origin.dropIdle()
  }

  keep(transport: Transport, origin: Origin): void {
    origin.keep(transport, this.#timers.now())
    this.#sweep ??= this.#timers.set(this.#onSweep, SWEEP_MS)
  }

  leave(): void {
    this.#running -= 1
    if (this.#running === 0) this.#onQuiet?.()
  }

  readonly #onSweep = (): void => {
    this.#sweep = undefined
    const now = this.#timers.now()
    let idle = 0
    for (const origin of this.#origins.values()) idle += origin.dropOverdue(now)
    if (idle > 0) this.#sweep = this.#timers.set(this.#onSweep, SWEEP_MS)
  }
}

interface Taken {
  readonly transport: Transport
  readonly wasIdle: boolean
}

class OriginLease implements Lease {
  readonly transport: Transport
  readonly #wasIdle: boolean
  readonly #origin: Origin
  readonly #connections: Connections
  #over = false

  constructor({ transport, wasIdle }: Taken, origin: Origin, connections: Connections) {
    this.transport = transport
    this.#wasIdle = wasIdle
    this.#origin = origin
    this.#connections = connections
  }

  release(): void {
    if (!this.#finish()) return
    this.#connections.keep(this.transport, this.#origin)
  }

  discard(): void {
    if (!this.#finish()) return
    this.#origin.drop(this.transport)
  }

  distrust(): void {
    if (!this.#finish()) return
    this.#origin.drop(this.transport)
    if (this.#wasIdle) this.#origin.dropIdle()
  }

  #finish(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#connections.leave()
    return true
  }
}

interface Idle {
  readonly transport: Transport
  /** Not used after that time. */
  readonly until: number
}

class Origin {
  readonly #openTransport: OpenTransport
  readonly #idle: Idle[] = []
  readonly #onEmpty: () => void
  #open = 0

  constructor(openTransport: OpenTransport, onEmpty: () => void) {
    this.#openTransport = openTransport
    this.#onEmpty = onEmpty
  }

  take(now: number): Taken | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (now < idle.until) return { transport: idle.transport, wasIdle: true }
      this.drop(idle.transport)
    }
    if (this.#open >= OPEN_MAX) return undefined
    const transport = this.#openTransport(() => this.#onClose(transport))
    this.#open += 1
    return { transport, wasIdle: false }
  }

  keep(transport: Transport, now: number): void {
    if (!transport.reusable || this.#idle.length >= IDLE_MAX) this.drop(transport)
    else this.#idle.push({ transport, until: now + Math.min(IDLE_MS, transport.idleMsMax) })
  }

  drop(transport: Transport): void {
    this.#open -= 1
    transport.destroy()
    if (this.#open === 0) this.#onEmpty()
  }

  dropIdle(): void {
    for (const { transport } of this.#idle.splice(0)) this.drop(transport)
  }

  /** @returns how many remain idle */
  dropOverdue(now: number): number {
    const overdue = this.#idle.filter(({ until }) => until <= now)
    for (const idle of overdue) {
      this.#idle.splice(this.#idle.indexOf(idle), 1)
      this.drop(idle.transport)
    }
    return this.#idle.length
  }

  #onClose(transport: Transport): void {
    const place = this.#idle.findIndex((idle) => idle.transport === transport)
    if (place === -1) return
    this.#idle.splice(place, 1)
    this.drop(transport)
  }
}

/** Directly to the origin with the gateway's own HTTP client; with undici if there is a proxy. */
export function ordinaryWay(findProxy: FindProxy): Way {
  const room: ConnectionRoom = { readBuffer: Buffer.allocUnsafeSlow(READ_BYTES), turns: new Turns() }
  return (origin) => {
    const proxy = findProxy(origin)
    if (proxy !== undefined) return undiciWay(proxy)(origin)
    // Shared by all connections, so that TLS sessions are resumed across them.
    const place: ConnectionPlace = { host: new URL(origin).host, dial: createDial(origin) }
    return (onClose) => new Connection(place, room, onClose)
  }
}

/** @param proxy undefined: direct, only in tests */
export function undiciWay(proxy: Proxy | undefined): Way {
  return (origin) => {
    const inside = createConnector({ timeout: CONNECT_MS_MAX, maxCachedSessions: TLS_SESSIONS_MAX })
    const connect = proxy === undefined ? inside : tunnelConnector(proxy, { inside })
    return (onClose) => {
      const client = new Client(origin, {
        connect,
        keepAliveTimeout: IDLE_MS,
        maxHeaderSize: HEAD_BYTES_MAX,
        // The exchange has its own time-outs: it knows when it was paused, and tests control its clock.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      return new UndiciTransport(client, onClose)
    }
  }
}

export interface SplitUrl {
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Addresses are few (one per chain), but some contain ids of stored responses. */
const REMEMBERED_MAX = 1_024

export class SplitUrls {
  readonly #remembered = new Map<string, SplitUrl>()

  /** undefined: no http or https address. Parsed once, because `new URL` costs more than the rest of a small call's head. */
  split(text: string): SplitUrl | undefined {
    const known = this.#remembered.get(text)
    if (known !== undefined) return known
    if (!URL.canParse(text)) return undefined
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    const split = { origin: url.origin, path: url.pathname + url.search }
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
    this.#remembered.set(text, split)
    return split
  }
}
