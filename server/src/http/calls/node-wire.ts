import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type BodyReader, type BodySource, frameOf, isFramed, type Wire, type WireListener } from './wire.ts'

/** A body that `node:http` reads. */
export class NodeBody implements BodySource {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  read(reader: BodyReader): void {
    const request = this.#request
    if (request.headers.expect !== undefined) this.#response.writeContinue()
    const cut = (): void => reader.cut()
    request.on('close', cut)
    request.on('error', cut)
    request.on('data', (chunk: Buffer) => reader.take(chunk))
    request.on('end', () => reader.arrived())
  }

  pause(): void {
    this.#request.pause()
  }

  resume(): void {
    this.#request.resume()
  }
}

/** An answer that `node:http` sends. */
export class NodeWire implements Wire {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /** The head was sent with the first chunk. */
  #flows = false
  /** A drain of the socket itself is awaited. */
  #awaits = false
  #listener: WireListener | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  get requestRead(): boolean {
    return this.#request.complete
  }

  get sent(): boolean {
    return this.#response.writableFinished
  }

  listen(listener: WireListener): void {
    const response = this.#response
    this.#listener = listener
    response.on('close', () => listener.closed())
    response.on('drain', () => listener.drained())
    // A broken socket is reported by `close`; without a listener its error would end the process.
    response.on('error', () => undefined)
  }

  start(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.#response.writeHead(status, headers)
  }

  /**
   * After the first, small chunks are written to the socket as one piece each. Node would cork the socket, write a
   * length, the chunk and a line end, and send the three at the end of the turn: more work than everything else done
   * with the chunk.
   */
  write(chunk: Uint8Array | string): boolean {
    const { socket, chunkedEncoding } = this.#response
    const isFirst = !this.#flows
    this.#flows = true
    if (isFirst || socket === null || !chunkedEncoding || !isFramed(chunk)) return this.#response.write(chunk)
    const keepsUp = socket.write(frameOf(chunk))
    if (!keepsUp) this.#awaitDrain(socket)
    return keepsUp
  }

  /** The response emits `drain` only for what was written through it. */
  #awaitDrain(socket: Socket): void {
    if (this.#awaits) return
    this.#awaits = true
    socket.once('drain', () => {
      this.#awaits = false
      this.#listener?.drained()
    })
  }

  end(): void {
    this.#response.end()
  }

  discard(onBytes: (bytes: number) => void, onEnd: () => void): void {
    this.#request.on('data', (chunk: Buffer) => onBytes(chunk.byteLength))
    this.#request.once('close', onEnd)
    this.#request.resume()
  }

  destroy(): void {
    // A response that was sent has no socket any more.
    if (this.#response.writableFinished) this.#request.socket.destroy()
    else this.#response.destroy()
  }
}
