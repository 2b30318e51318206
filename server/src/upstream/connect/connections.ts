import { Client, buildConnector } from 'undici'
import type { FindProxy } from './find-proxy.ts'
import { tunnelConnector } from './tunnel.ts'

/** Idle connections kept per origin; one more is closed when it falls idle. */
const IDLE_MAX = 256
/** Connections per origin, running ones included: one per call under way, so this bounds calls as well. */
const OPEN_MAX = 16_384
/** Idle connections are closed before most load balancers do it (60 s). An upstream's `keep-alive` header may shorten it. */
const IDLE_MS = 30_000
/** Response heads beyond this are refused; providers send 2–4 kB, some with long policies 20. */
const HEAD_BYTES_MAX = 65_536
/** A backstop only: the exchange has its vendor's own connect timeout. */
const CONNECT_MS_MAX = 60_000
/** TLS sessions kept for resumption, per origin. */
const TLS_SESSIONS_MAX = 64

/** One connection's turn with one call. */
export interface Lease {
  readonly client: Client
  /** Gives it back, idle and healthy. */
  release(): void
  /** Closes it: it broke, or an answer was left unread on it. */
  discard(): void
  /**
   * Closes it because it broke before a byte of an answer. Where it had been idle before, the upstream has most likely
   * closed it meanwhile, and with it those that fell idle earlier: all idle ones are closed, so that the next try gets a
   * new connection.
   */
  distrust(): void
}

/**
 * Keep-alive connections by origin. One connection serves one call at a time and the latest used is taken first, so
 * that a burst's extra ones fall idle and close.
 */
export class Connections {
  readonly #origins = new Map<string, Origin>()
  readonly #findProxy: FindProxy
  #running = 0
  #onQuiet: (() => void) | undefined
  #closed = false

  constructor(findProxy: FindProxy) {
    this.#findProxy = findProxy
  }

  /** undefined: closed, or the origin has as many as it may have. */
  take(address: string): Lease | undefined {
    if (this.#closed) return undefined
    let origin = this.#origins.get(address)
    if (origin === undefined) {
      origin = new Origin(address, this.#findProxy, () => this.#origins.delete(address))
      this.#origins.set(address, origin)
    }
    const taken = origin.take()
    if (taken === undefined) return undefined
    this.#running += 1
    return new ClientLease(taken, origin, () => this.#leave())
  }

  /** Waits for running calls, then closes everything. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
      })
    }
    await Promise.all([...this.#origins.values()].map((origin) => origin.close()))
  }

  #leave(): void {
    this.#running -= 1
    if (this.#running === 0) this.#onQuiet?.()
  }
}

interface Taken {
  readonly client: Client
  readonly wasIdle: boolean
}

class ClientLease implements Lease {
  readonly client: Client
  readonly #wasIdle: boolean
  readonly #origin: Origin
  readonly #leave: () => void
  #over = false

  constructor({ client, wasIdle }: Taken, origin: Origin, leave: () => void) {
    this.client = client
    this.#wasIdle = wasIdle
    this.#origin = origin
    this.#leave = leave
  }

  release(): void {
    if (!this.#finish()) return
    this.#origin.keep(this.client)
  }

  discard(): void {
    if (!this.#finish()) return
    this.#origin.drop(this.client)
  }

  distrust(): void {
    if (!this.#finish()) return
    this.#origin.drop(this.client)
    if (this.#wasIdle) this.#origin.dropIdle()
  }

  #finish(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#leave()
    return true
  }
}

class Origin {
  readonly #address: string
  readonly #connect: buildConnector.connector
  readonly #idle: Client[] = []
  readonly #onEmpty: () => void
  #open = 0

  constructor(address: string, findProxy: FindProxy, onEmpty: () => void) {
    this.#address = address
    this.#onEmpty = onEmpty
    // One connector for all, so that TLS sessions are resumed across connections.
    const connect = buildConnector({ timeout: CONNECT_MS_MAX, maxCachedSessions: TLS_SESSIONS_MAX })
    const proxy = findProxy(address)
    this.#connect = proxy === undefined ? connect : tunnelConnector(proxy, { inside: connect })
  }

  take(): Taken | undefined {
    const idle = this.#idle.pop()
    if (idle !== undefined) return { client: idle, wasIdle: true }
    if (this.#open >= OPEN_MAX) return undefined
    const client = new Client(this.#address, {
      connect: this.#connect,
      keepAliveTimeout: IDLE_MS,
      maxHeaderSize: HEAD_BYTES_MAX,
      // The exchange keeps time itself: it knows when it was paused, and tests have no clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    client.on('disconnect', () => this.#onDisconnect(client))
    this.#open += 1
    return { client, wasIdle: false }
  }

  keep(client: Client): void {
    if (this.#idle.length < IDLE_MAX) this.#idle.push(client)
    else this.drop(client)
  }

  drop(client: Client): void {
    this.#open -= 1
    // Not at once: undici may be in the middle of reporting the end that led here.
    queueMicrotask(() => client.destroy(null, ignoreClosed))
    if (this.#open === 0) this.#onEmpty()
  }

  dropIdle(): void {
    for (const client of this.#idle.splice(0)) this.drop(client)
  }

  async close(): Promise<void> {
    const idle = this.#idle.splice(0)
    this.#open -= idle.length
    await Promise.all(idle.map((client) => client.destroy()))
    this.#onEmpty()
  }

  #onDisconnect(client: Client): void {
    const place = this.#idle.indexOf(client)
    if (place === -1) return
    this.#idle.splice(place, 1)
    this.drop(client)
  }
}

/** Destroying tells its caller when the socket is gone; nobody here waits for it. */
function ignoreClosed(): void {}

export interface SplitUrl {
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Addresses are few (one a chain) but ids of stored responses stand in some. */
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
