/** Sends a request: its head, with the length of the body, and the body. */
import type { Writable } from 'node:stream'
import { asError } from '../../core/errors/as-error.ts'
import { fieldLine } from '../../core/http1/fields.ts'
import { joinMessage } from '../../core/http1/join-message.ts'
import { HttpSyntaxError } from '../../core/http1/syntax-error.ts'
import { type BodyPiece, isInMemory } from '../../core/passthrough/splice.ts'
import type { TransportRequest } from '../connect/transport.ts'
import { PieceReader } from '../piece-reader.ts'

/** Requests up to this size are sent in one piece: one copy is cheaper than a write of several. */
const JOIN_BYTES_MAX = 16_384

/** A receiver that is as fast as this would take a large body in one turn of the event loop, and all other calls wait. */
const TURN_BYTES = 1024 * 1024

export interface UploadEvents {
  /** The socket accepts more. */
  progress(): void
  /** Bytes that are not in memory cannot be read. */
  fail(error: Error): void
}

/** One write if it is small, else piece by piece as the socket accepts them. */
export class Upload {
  /** All of it has been handed to the socket. */
  done = false
  readonly #socket: Writable
  readonly #pieces: readonly BodyPiece[]
  readonly #left: PieceReader
  readonly #events: UploadEvents
  #stopped = false

  constructor(socket: Writable, pieces: readonly BodyPiece[], events: UploadEvents) {
    this.#socket = socket
    this.#pieces = pieces
    this.#left = new PieceReader(pieces)
    this.#events = events
  }

  /** @param head one character per byte */
  begin(head: string, bodyLength: number): void {
    const length = head.length + bodyLength
    if (length <= JOIN_BYTES_MAX && this.#pieces.every(isInMemory)) {
      this.#socket.write(joinMessage(Buffer.allocUnsafe(length), head, this.#pieces))
      this.done = true
      return
    }
    this.#socket.cork()
    // A full socket emits `drain` later; continuing now as well would read and send stored bytes twice.
    if (this.#socket.write(head, 'latin1')) this.pump()
    this.#socket.uncork()
  }

  /** Continues after the socket has drained. */
  pump(): void {
    if (this.done || this.#stopped) return
    this.#events.progress()
    for (let sent = 0; sent < TURN_BYTES; ) {
      const bytes = this.#left.read()
      if (bytes === undefined) {
        this.done = true
        return
      }
      if (bytes instanceof Promise) return this.#goOnAfter(bytes)
      if (!this.#socket.write(bytes)) return
      sent += bytes.byteLength
    }
    setImmediate(() => this.pump())
  }

  stop(): void {
    this.#stopped = true
  }

  #goOnAfter(stored: Promise<Uint8Array>): void {
    stored.then(
      (bytes) => {
        if (!this.#stopped && this.#socket.write(bytes)) this.pump()
      },
      (error: unknown) => {
        if (!this.#stopped) this.#events.fail(asError(error))
      },
    )
  }
}

const METHOD = /^[A-Z]+$/
const PATH = /^[\x21\x22\x24-\xff]+$/
/** Methods for which a missing body needs no Content-Length (RFC 9110 §8.6). */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** Headers for connection and framing, which are set here only. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The head of a request, one character per byte. Throws `HttpSyntaxError`, which shows no value. */
export function formHead(host: string, request: TransportRequest): string {
  const { method, path, headers, body, bodyLength } = request
  if (!METHOD.test(method) || !PATH.test(path))
    throw new HttpSyntaxError('a request line that cannot be sent')
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (RESERVED.has(name.toLowerCase()))
      throw new HttpSyntaxError('a header that only the connection may set')
    head += fieldLine(name, value)
  }
  if (body === undefined && BODILESS.has(method)) return `${head}\r\n`
  checkLength(body ?? [], bodyLength)
  return `${head}content-length: ${bodyLength}\r\n\r\n`
}

/** A wrong length would make the next request a part of this one. */
function checkLength(pieces: readonly BodyPiece[], bodyLength: number): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length !== bodyLength) throw new HttpSyntaxError('a body whose length differs from its content-length')
}
