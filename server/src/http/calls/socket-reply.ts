import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ModelId } from '../../core/ids.ts'
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ClientReply, ReplyHead } from '../../pipeline/reply.ts'
import { headerText } from '../../pipeline/headers.ts'
import { renderError } from '../error-envelope.ts'

export interface SocketReplyOptions {
  readonly requestId: string
  readonly path: string
  /** A client that takes nothing for this long is cut off. */
  readonly clientStallTimeoutMs: number
}

/** How long, and how much of, an unwanted body is read on so that the client can read the refusal first. */
const LINGER_MS = 2_000
const LINGER_BYTES = 4 * 1024 * 1024

/** The client's side of an exchange over a real socket. */
export class SocketReply implements ClientReply {
  started = false
  gone = false
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #options: SocketReplyOptions
  #model: ModelId | undefined
  #onGone: (() => void) | undefined
  #onDrain: (() => void) | undefined
  #stall: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, options: SocketReplyOptions) {
    this.#request = request
    this.#response = response
    this.#options = options
    response.on('close', () => this.#closed())
    response.on('drain', () => this.#drained())
    // A broken socket is told by `close`; without a listener its error would end the process.
    response.on('error', () => undefined)
  }

  tellModel(model: ModelId): void {
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
    const keepsUp = this.#response.write(chunk)
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

  #awaitDrain(): void {
    if (this.#stall !== undefined) return
    this.#stall = setTimeout(() => this.#response.destroy(), this.#options.clientStallTimeoutMs)
    this.#stall.unref()
  }

  #drained(): void {
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

  /** The answer went out before the body was read: the rest is read away for a moment, then the connection is dropped. */
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
