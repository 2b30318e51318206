/**
 * Requests of the plain shape, read from their sockets directly, which saves a seventh of a small call's CPU
 * (docs/decisions/0022-fast-lane.md). Everything else is handed to `node:http`, bytes and connection.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { IndexedSet } from '../../core/indexed-set.ts'
import { FastConnection, type FastLaneRoom } from './fast-connection.ts'
import type { FastExchange } from './fast-exchange.ts'

export interface FastLaneOptions {
  readonly headerLimitBytes: number
  readonly headersMax: number
  readonly headerTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly now: () => number
  /** Begins to serve the request; false: it is none that is served here, and nothing was done. */
  readonly serve: (exchange: FastExchange, socket: Socket) => boolean
  /** Answers a client whose first request did not come in time. */
  readonly refuseLate: (socket: Socket) => void
}

const MS_PER_SECOND = 1_000
const LOOK_MS_MAX = 5_000

export class FastLane implements FastLaneRoom {
  readonly headBytesMax: number
  readonly headersMax: number
  readonly keepAliveLines: string
  readonly #options: FastLaneOptions
  readonly #connections = new IndexedSet<FastConnection>()
  readonly #readByNode: (socket: Socket) => void
  readonly #looks: { readonly timer: NodeJS.Timeout; readonly everyMs: number }
  #second = 0
  #dateLine = ''

  /** Takes the place of the server's own reader of requests. */
  constructor(server: Server, options: FastLaneOptions) {
    this.#options = options
    this.headBytesMax = options.headerLimitBytes
    this.headersMax = options.headersMax
    const seconds = Math.floor(options.keepAliveTimeoutMs / MS_PER_SECOND)
    this.keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
    this.#readByNode = takeReader(server)
    server.on('connection', (socket: Socket) => this.#opened(socket))
    const shortest = Math.min(options.headerTimeoutMs, options.keepAliveTimeoutMs)
    const everyMs = Math.min(LOOK_MS_MAX, Math.ceil(shortest / 2))
    this.#looks = { everyMs, timer: setInterval(() => this.#look(), everyMs) }
    this.#looks.timer.unref()
  }

  serve(exchange: FastExchange, socket: Socket): boolean {
    return this.#options.serve(exchange, socket)
  }

  handOver(connection: FastConnection, socket: Socket, bytes: Buffer): void {
    this.closed(connection)
    connection.leave()
    socket.pause()
    socket.unshift(bytes)
    this.#readByNode(socket)
    // It does not do so itself with a socket that was paused.
    socket.resume()
  }

  closed(connection: FastConnection): void {
    this.#connections.remove(connection)
  }

  dateLine(): string {
    const now = this.#options.now()
    const second = Math.floor(now / MS_PER_SECOND)
    if (second !== this.#second) {
      this.#second = second
      this.#dateLine = `Date: ${new Date(now).toUTCString()}\r\n`
    }
    return this.#dateLine
  }

  /** Closes all connections, also those in use. */
  closeAll(): void {
    clearInterval(this.#looks.timer)
    this.#connections.visit((connection) => connection.destroy())
  }

  #opened(socket: Socket): void {
    // A connection that was refused.
    if (!socket.writable) return
    this.#connections.add(new FastConnection(this, socket))
  }

  /** A connection that is idle for its time-out is closed within one and a half of them. */
  #look(): void {
    const { headerTimeoutMs, keepAliveTimeoutMs, refuseLate } = this.#options
    const { everyMs } = this.#looks
    this.#connections.visit((connection) => {
      connection.idleLooks = connection.idle ? connection.idleLooks + 1 : 0
      const timeoutMs = connection.used ? keepAliveTimeoutMs : headerTimeoutMs
      // The first check may have come at once.
      if ((connection.idleLooks - 1) * everyMs < timeoutMs) return
      if (connection.used) connection.destroy()
      else connection.refuse(refuseLate)
    })
  }
}

/** The listener by which `node:http` begins to read a connection; the server has it no more. */
function takeReader(server: Server): (socket: Socket) => void {
  const [reader, ...others] = server.listeners('connection')
  if (reader === undefined || others.length > 0)
    throw new Error('node:http was expected to have one listener for connections')
  server.removeAllListeners('connection')
  return (socket) => {
    reader.call(server, socket)
  }
}
