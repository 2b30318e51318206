import type { Socket } from 'node:net'
import type { Indexed } from '../../core/indexed-set.ts'
import { type ExchangeConnection, FastExchange } from './fast-exchange.ts'
import { type PlainRequest, readPlainRequest } from './read-request.ts'

/** What the connections of one listener share. */
export interface FastLaneRoom {
  readonly headBytesMax: number
  readonly headersMax: number
  readonly keepAliveLines: string
  dateLine(): string
  /** Begins to serve the request; false: it is none that is served here, and nothing was done. */
  serve(exchange: FastExchange, socket: Socket): boolean
  /** From now on `node:http` reads the connection, from these bytes on. */
  handOver(connection: FastConnection, socket: Socket, bytes: Buffer): void
  closed(connection: FastConnection): void
}

/** Bytes of later requests that are kept while one is being answered; then nothing more is read. */
const AHEAD_BYTES_MAX = 65_536
const NOTHING = Buffer.alloc(0)

/** A connection of which the requests so far had the plain shape. One request is served at a time. */
export class FastConnection implements ExchangeConnection, Indexed {
  position: number | undefined
  /** Checks of the lane that found it idle, in a row. */
  idleLooks = 0
  /** It has carried a request. */
  used = false
  readonly #room: FastLaneRoom
  readonly #socket: Socket
  #exchange: FastExchange | undefined
  /** Came before the answer in progress was sent. */
  #ahead: Buffer = NOTHING

  constructor(room: FastLaneRoom, socket: Socket) {
    this.#room = room
    this.#socket = socket
    socket.on('data', this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  get idle(): boolean {
    return this.#exchange === undefined
  }

  get keepAliveLines(): string {
    return this.#room.keepAliveLines
  }

  dateLine(): string {
    return this.#room.dateLine()
  }

  // These are called by the exchange.

  /** A client that ended its side may never take what still waits for it: until its connection has ended, it does not keep up. */
  send(bytes: Uint8Array | string): boolean {
    return this.#socket.writable ? this.#socket.write(bytes) : this.#socket.destroyed
  }

  get keepsUp(): boolean {
    return this.#socket.writable ? !this.#socket.writableNeedDrain : this.#socket.destroyed
  }

  sendAll(pieces: readonly (Uint8Array | string)[]): boolean {
    let keepsUp = true
    this.#socket.cork()
    for (const piece of pieces) keepsUp = this.send(piece)
    this.#socket.uncork()
    return keepsUp
  }

  finish(exchange: FastExchange): void {
    const socket = this.#socket
    if (!socket.writable) return
    if (socket.writableLength === 0) this.#sent(exchange)
    // Called when everything before it was handed to the system.
    else
      socket.write(NOTHING, (error) => {
        if (error === null || error === undefined) this.#sent(exchange)
      })
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Its first request did not come in time. */
  refuse(answer: (socket: Socket) => void): void {
    this.#room.closed(this)
    answer(this.#socket)
  }

  /** Leaves the socket as it was found. */
  leave(): void {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('drain', this.#onDrain)
    socket.off('end', this.#onEnd)
    socket.off('close', this.#onClose)
    socket.off('error', this.#onError)
  }

  readonly #onData = (bytes: Buffer): void => {
    const exchange = this.#exchange
    if (exchange === undefined) {
      // Its last answer was given.
      if (!this.#socket.writable) return
      if (this.#ahead.byteLength > 0) this.#keep(bytes)
      else this.#begin(bytes)
      return
    }
    const left = exchange.bytesLeft
    if (left === 0) return this.#keep(bytes)
    exchange.arrive(bytes.byteLength <= left ? bytes : bytes.subarray(0, left))
    if (bytes.byteLength > left) this.#keep(bytes.subarray(left))
  }

  #begin(bytes: Buffer): void {
    this.idleLooks = 0
    const request = readPlainRequest(bytes, this.#room)
    if (request === undefined || !this.#serve(request, bytes)) this.#room.handOver(this, this.#socket, bytes)
  }

  /** What came with the head is known before the request is served: an answer says whether all of it was read. */
  #serve(request: PlainRequest, bytes: Buffer): boolean {
    const exchange = new FastExchange(this, request)
    this.#exchange = exchange
    const bodyEnd = request.headBytes + request.bodyBytes
    if (bytes.byteLength > request.headBytes) exchange.arrive(bytes.subarray(request.headBytes, bodyEnd))
    if (bytes.byteLength > bodyEnd) this.#keep(bytes.subarray(bodyEnd))
    if (this.#room.serve(exchange, this.#socket)) {
      this.used = true
      return true
    }
    this.#exchange = undefined
    this.#ahead = NOTHING
    return false
  }

  #keep(bytes: Buffer): void {
    this.#ahead = this.#ahead.byteLength === 0 ? bytes : Buffer.concat([this.#ahead, bytes])
    if (this.#ahead.byteLength > AHEAD_BYTES_MAX) this.#socket.pause()
  }

  /** The answer was handed to the system. */
  #sent(exchange: FastExchange): void {
    if (exchange !== this.#exchange) return
    const goesOn = exchange.shouldKeepAlive && exchange.requestRead
    if (!goesOn) {
      // The rest of an unread request is read for a moment, so that its client can read the answer.
      if (exchange.requestRead) this.#socket.destroySoon()
      else this.#socket.end()
    }
    if (exchange.requestRead) this.#exchange = undefined
    exchange.finished()
    if (goesOn) this.#next()
  }

  /** Not in the same turn: a client that sends a thousand requests at once shares the thread with the others. */
  #next(): void {
    if (this.#ahead.byteLength > 0) setImmediate(beginAhead, this)
  }

  beginAhead(): void {
    const bytes = this.#ahead
    this.#ahead = NOTHING
    // Its last answer was given.
    if (!this.#socket.writable) return
    this.#socket.resume()
    this.#begin(bytes)
  }

  readonly #onDrain = (): void => {
    this.#exchange?.drained()
  }

  /**
   * A request that was cut is still refused. Else what was written is sent, and nothing after it: `node:http` takes it so,
   * too.
   */
  readonly #onEnd = (): void => {
    if (this.#exchange?.cut() !== true) this.#socket.end()
  }

  readonly #onError = (): void => {
    // `close` follows.
  }

  readonly #onClose = (): void => {
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#room.closed(this)
    exchange?.lost()
  }
}

function beginAhead(connection: FastConnection): void {
  connection.beginAhead()
}
