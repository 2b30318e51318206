import { STATUS_CODES } from 'node:http'
import { fieldLine } from '../../core/http1/fields.ts'
import { joinMessage } from '../../core/http1/join-message.ts'
import {
  type BodyReader,
  type BodySource,
  byteLengthOf,
  frameOf,
  isFramed,
  type Wire,
  type WireListener,
} from '../calls/wire.ts'
import type { EndingAnswer } from '../connections.ts'
import type { PlainRequest } from './read-request.ts'

/** The connection as one of its exchanges uses it. */
export interface ExchangeConnection {
  /** False: wait for `drained`. */
  send(bytes: Uint8Array | string): boolean
  /** Sends pieces together. */
  sendAll(pieces: readonly (Uint8Array | string)[]): boolean
  /** What `send` said last, or would say now. */
  readonly keepsUp: boolean
  /** The last byte was written; `finished` of the exchange is called when the system has it. */
  finish(exchange: FastExchange): void
  pause(): void
  resume(): void
  destroy(): void
  /** What every answer says of its connection. */
  readonly keepAliveLines: string
  dateLine(): string
}

/** Answers up to this length are sent in one piece: one copy is cheaper than a write of several. */
const JOIN_BYTES_MAX = 32_768
const CLOSE_LINE = 'Connection: close\r\n'
const CHUNKED_LINE = 'Transfer-Encoding: chunked\r\n'
const LAST_CHUNK = '0\r\n\r\n'

/** One request of a connection and its answer. */
export class FastExchange implements BodySource, Wire, EndingAnswer {
  headersSent = false
  shouldKeepAlive = true
  sent = false
  readonly request: PlainRequest
  readonly #connection: ExchangeConnection
  /** Bytes of the body that have not arrived. */
  #left: number
  /** They never will. */
  #isCut = false
  #reader: BodyReader | undefined
  /** What arrived before anybody read. */
  #early: Buffer | undefined
  #discard: ((bytes: number) => void) | undefined
  #onDiscarded: (() => void) | undefined
  #listener: WireListener | undefined
  #onEvent: { readonly event: 'close' | 'finish'; readonly listener: () => void }[] = []
  /** Not sent yet. */
  #head = ''
  #framing: 'length' | 'chunked' | 'none' = 'length'
  /** Waits for the end of the answer, or of the turn. */
  #pieces: (Uint8Array | string)[] = []
  #pieceBytes = 0
  #ended = false

  constructor(connection: ExchangeConnection, request: PlainRequest) {
    this.#connection = connection
    this.request = request
    this.#left = request.bodyBytes
  }

  get requestRead(): boolean {
    return this.#left === 0
  }

  /** Bytes of the body that have not arrived. */
  get bytesLeft(): number {
    return this.#left
  }

  // The next five are called by the connection.

  /** A part of the body, at most what is left of it; not empty. */
  arrive(bytes: Buffer): void {
    this.#left -= bytes.byteLength
    if (this.#discard !== undefined) this.#discard(bytes.byteLength)
    else if (this.#reader === undefined) {
      this.#early = this.#early === undefined ? bytes : Buffer.concat([this.#early, bytes])
      if (this.#left > 0) this.#connection.pause()
    } else {
      this.#reader.take(bytes)
      if (this.#left === 0) this.#reader.arrived()
    }
  }

  /** Nothing more arrives. Returns whether an answer follows that says so. */
  cut(): boolean {
    if (this.#left === 0 || this.#ended) return false
    this.#isCut = true
    this.#reader?.cut()
    return true
  }

  drained(): void {
    this.#listener?.drained()
  }

  /** The whole answer was handed to the system. */
  finished(): void {
    this.sent = true
    this.#reader?.cut()
    this.#emit('finish')
    this.#listener?.closed()
    this.#emit('close')
  }

  /** The connection has ended, perhaps long after the answer. */
  lost(): void {
    this.#onDiscarded?.()
    if (this.sent) return
    this.#isCut = true
    this.#reader?.cut()
    this.#listener?.closed()
    this.#emit('close')
  }

  once(event: 'close' | 'finish', listener: () => void): void {
    this.#onEvent.push({ event, listener })
  }

  #emit(event: 'close' | 'finish'): void {
    for (const each of this.#onEvent) if (each.event === event) each.listener()
  }

  // The body of the request.

  read(reader: BodyReader): void {
    this.#reader = reader
    const early = this.#early
    this.#early = undefined
    // First, because the reader may pause.
    if (this.#left > 0) this.#connection.resume()
    if (early !== undefined) reader.take(early)
    if (this.#left === 0) reader.arrived()
    else if (this.#isCut) reader.cut()
  }

  pause(): void {
    if (this.#left > 0) this.#connection.pause()
  }

  resume(): void {
    if (this.#left > 0) this.#connection.resume()
  }

  discard(onBytes: (bytes: number) => void, onEnd: () => void): void {
    this.#discard = onBytes
    this.#onDiscarded = onEnd
    this.#connection.resume()
  }

  // The answer.

  listen(listener: WireListener): void {
    this.#listener = listener
  }

  start(status: number, headers: Readonly<Record<string, string | number>>): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
    for (const name in headers) {
      if (name === 'connection') this.shouldKeepAlive = false
      head += fieldLine(name, String(headers[name]))
    }
    if (headers['date'] === undefined) head += this.#connection.dateLine()
    if (headers['connection'] === undefined)
      head += this.shouldKeepAlive ? this.#connection.keepAliveLines : CLOSE_LINE
    if (!hasBody(status)) this.#framing = 'none'
    else if (headers['content-length'] === undefined) this.#framing = 'chunked'
    this.#head = this.#framing === 'chunked' ? `${head}${CHUNKED_LINE}\r\n` : `${head}\r\n`
    this.headersSent = true
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#ended || this.#framing === 'none' || chunk.length === 0) return true
    if (this.#framing === 'chunked') return this.#writeChunk(chunk)
    if (this.#pieces.length === 0) process.nextTick(flush, this)
    this.#pieces.push(chunk)
    this.#pieceBytes += byteLengthOf(chunk)
    return this.#pieceBytes <= JOIN_BYTES_MAX ? this.#connection.keepsUp : this.flush()
  }

  /** Sends what waits for the end of the turn. False: the client reads more slowly. */
  flush(): boolean {
    if (this.#pieces.length === 0 && this.#head === '') return true
    const [head, pieces, bytes] = [this.#head, this.#pieces, this.#pieceBytes]
    this.#head = ''
    this.#pieces = []
    this.#pieceBytes = 0
    if (bytes > JOIN_BYTES_MAX) return this.#connection.sendAll([Buffer.from(head, 'latin1'), ...pieces])
    return this.#connection.send(joinMessage(Buffer.allocUnsafe(head.length + bytes), head, pieces))
  }

  end(): void {
    if (this.#ended) return
    if (this.#framing === 'chunked') {
      this.#pieces.push(LAST_CHUNK)
      this.#pieceBytes += LAST_CHUNK.length
    }
    this.flush()
    this.#ended = true
    this.#connection.finish(this)
  }

  destroy(): void {
    this.#connection.destroy()
  }

  #writeChunk(chunk: Uint8Array | string): boolean {
    const head = this.#head
    this.#head = ''
    if (isFramed(chunk)) return this.#connection.send(frameOf(chunk, head))
    const size = `${head}${byteLengthOf(chunk).toString(16)}\r\n`
    return this.#connection.sendAll([Buffer.from(size, 'latin1'), chunk, '\r\n'])
  }
}

function flush(exchange: FastExchange): void {
  exchange.flush()
}

/** Whether an answer of this status may have a body (RFC 9110 §6.4.1). */
function hasBody(status: number): boolean {
  return status !== 204 && status !== 304
}
