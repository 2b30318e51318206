import type { Socket } from 'node:net'
import { asError } from '../../core/errors/as-error.ts'
import { type BodyPiece, isInMemory } from '../../core/passthrough/splice.ts'
import { PieceReader } from '../piece-reader.ts'
import { HttpSyntaxError } from './syntax-error.ts'

/** Requests up to this size go out in one piece: one copy is cheaper than a write of several. */
const JOIN_BYTES_MAX = 16_384

export interface UploadEvents {
  /** The socket asks for more. */
  progress(): void
  /** What lies outside of memory cannot be read. */
  fail(error: Error): void
}

/** A request on its way out: one write where it is small, else piece by piece as the socket takes them. */
export class Upload {
  /** All of it has been handed to the socket. */
  done = false
  readonly #socket: Socket
  readonly #pieces: readonly BodyPiece[]
  readonly #left: PieceReader
  readonly #events: UploadEvents
  #stopped = false

  constructor(socket: Socket, pieces: readonly BodyPiece[], events: UploadEvents) {
    this.#socket = socket
    this.#pieces = pieces
    this.#left = new PieceReader(pieces)
    this.#events = events
  }

  /** @param head a character a byte */
  begin(head: string, bodyLength: number): void {
    const length = head.length + bodyLength
    if (length <= JOIN_BYTES_MAX && this.#pieces.every(isInMemory)) {
      this.#socket.write(join(head, this.#pieces, length))
      this.done = true
      return
    }
    this.#socket.cork()
    // A socket that is full asks for more by itself; asked twice, what is stored would be read and sent twice.
    if (this.#socket.write(head, 'latin1')) this.pump()
    this.#socket.uncork()
  }

  /** Goes on after the socket drained. */
  pump(): void {
    if (this.done || this.#stopped) return
    this.#events.progress()
    for (let wanted = true; wanted; ) {
      const bytes = this.#left.read()
      if (bytes === undefined) {
        this.done = true
        return
      }
      if (bytes instanceof Promise) return this.#goOnAfter(bytes)
      wanted = this.#socket.write(bytes)
    }
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

/** A length that is not kept to would make the next request part of this one. */
export function checkLength(pieces: readonly BodyPiece[], bodyLength: number): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length !== bodyLength) throw new HttpSyntaxError('a body whose length differs from its content-length')
}

function join(head: string, pieces: readonly Uint8Array[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let at = bytes.write(head, 'latin1')
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}
