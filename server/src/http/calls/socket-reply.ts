import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ModelId } from '../../core/ids.ts'
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ClientReply, ReplyHead } from '../../pipeline/reply.ts'
import { headerText } from '../../pipeline/headers.ts'
import { renderError } from '../error-envelope.ts'

export interface SocketReplyOptions {
  readonly requestId: string
  readonly path: string
  /** A client that accepts no data for this long is disconnected. */
  readonly clientStallTimeoutMs: number
}

/** How long, and how many bytes of, an unwanted body is still read so that the client can read the refusal first. */
const LINGER_MS = 2_000
const LINGER_BYTES = 4 * 1024 * 1024

/**
 * Longest chunk, in bytes or characters, that is copied into its frame; copying a longer one costs more than sending it
 * in pieces.
 */
const FRAMED_LENGTH_MAX = 16_384

/** The client's side of an exchange over a real socket. */
export class SocketReply implements ClientReply {
  started = false
  gone = false
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #options: SocketReplyOptions
  #model: ModelId | undefined
  /** The head was sent with the first chunk. */
  #flows = false
  #onGone: (() => void) | undefined
  #onDrain: (() => void) | undefined
  #stall: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, options: SocketReplyOptions) {
    this.#request = request
    this.#response = response
    this.#options = options
    response.on('close', () => this.#closed())
    response.on('drain', this.#drained)
    // A broken socket is reported by `close`; without a listener its error would end the process.
    response.on('error', () => undefined)
  }

  setModel(model: ModelId): void {
    this.#model = model
  }

  start(head: ReplyHead): void {
    this.started = true
    const headers: Record<string, string | number> = { 'x-request-id': this.#options.requestId }
    if (this.#model !== undefined) headers['gw-model'] = headerText(this.#model)
    Object.assign(headers, head.headers)
    if (head.contentLength !== undefined) headers['content-length'] = head.contentLength
    if (!this.#request.complete) headers['connection'] = 'close'
    this.#response.writeHead(head.status, headers)
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.gone) return true
    const keepsUp = this.#flows ? this.#writeOn(chunk) : this.#response.write(chunk)
    this.#flows = true
    if (!keepsUp) this.#awaitDrain()
    return keepsUp
  }

  onDrain(listener: (() => void) | undefined): void {
    this.#onDrain = listener
  }

  onGone(listener: (() => void) | undefined): void {
    this.#onGone = listener
  }

  end(): void {
    this.#response.end()
    if (!this.#request.complete) this.#linger()
  }

  fail(error: GatewayError): void {
    const rendered = renderError(error, this.#options)
    this.start({
      status: rendered.status,
      headers: rendered.headers,
      contentLength: Buffer.byteLength(rendered.body),
    })
    this.#response.end(rendered.body)
    if (!this.#request.complete) this.#linger()
  }

  destroy(): void {
    this.#response.destroy()
  }

  /**
   * After the first, small chunks are written to the socket as one piece each. Node would cork the socket, write a
   * length, the chunk and a line end, and send the three at the end of the turn: more work than everything else done
   * with the chunk.
   */
  #writeOn(chunk: Uint8Array | string): boolean {
    const { socket, chunkedEncoding } = this.#response
    const isSmall = chunk.length > 0 && chunk.length <= FRAMED_LENGTH_MAX
    if (socket === null || !chunkedEncoding || !isSmall) return this.#response.write(chunk)
    return socket.write(frameOf(chunk))
  }

  #awaitDrain(): void {
    if (this.#stall !== undefined) return
    this.#stall = setTimeout(() => this.#response.destroy(), this.#options.clientStallTimeoutMs)
    this.#stall.unref()
    // The response emits `drain` only for what was written through it.
    this.#response.socket?.once('drain', this.#drained)
  }

  readonly #drained = (): void => {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#onDrain?.()
  }

  #closed(): void {
    clearTimeout(this.#stall)
    if (this.#response.writableFinished) return
    this.gone = true
    this.#onGone?.()
  }

  /**
   * The answer was sent before the body was read: the rest is read and discarded for a moment, then the connection is
   * closed.
   */
  #linger(): void {
    let seen = 0
    const { socket } = this.#request
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    timer.unref()
    this.#request.on('data', (chunk: Buffer) => {
      seen += chunk.byteLength
      if (seen > LINGER_BYTES) socket.destroy()
    })
    this.#request.once('close', () => clearTimeout(timer))
    this.#request.resume()
  }
}

/** A chunk as HTTP/1.1 frames it (RFC 9112 §7.1). */
function frameOf(chunk: Uint8Array | string): Buffer {
  const length = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
  const size = length.toString(16)
  const frame = Buffer.allocUnsafe(size.length + length + 4)
  let at = 0
  for (; at < size.length; at++) frame[at] = size.charCodeAt(at)
  frame[at++] = CARRIAGE_RETURN
  frame[at++] = LINE_FEED
  if (typeof chunk === 'string') frame.write(chunk, at)
  else frame.set(chunk, at)
  at += length
  frame[at++] = CARRIAGE_RETURN
  frame[at] = LINE_FEED
  return frame
}

const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
