import type { ModelId } from '../../core/ids.ts'
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ClientReply, ReplyHead } from '../../pipeline/reply.ts'
import { headerText } from '../../pipeline/headers.ts'
import { renderError } from '../error-envelope.ts'
import type { Wire, WireListener } from './wire.ts'

export interface SocketReplyOptions {
  readonly requestId: string
  readonly path: string
  /** A client that accepts no data for this long is disconnected. */
  readonly clientStallTimeoutMs: number
}

/** How long, and how many bytes of, an unwanted body is still read so that the client can read the refusal first. */
const LINGER_MS = 2_000
const LINGER_BYTES = 4 * 1024 * 1024

/** The client's side of an exchange over a real socket. */
export class SocketReply implements ClientReply, WireListener {
  started = false
  gone = false
  readonly #wire: Wire
  readonly #options: SocketReplyOptions
  #model: ModelId | undefined
  #onGone: (() => void) | undefined
  #onDrain: (() => void) | undefined
  #stall: NodeJS.Timeout | undefined

  constructor(wire: Wire, options: SocketReplyOptions) {
    this.#wire = wire
    this.#options = options
    wire.listen(this)
  }

  setModel(model: ModelId): void {
    this.#model = model
  }

  start({ status, headers, contentLength }: ReplyHead): void {
    this.started = true
    headers['x-request-id'] ??= this.#options.requestId
    if (this.#model !== undefined) headers['gw-model'] ??= headerText(this.#model)
    if (contentLength !== undefined) headers['content-length'] = String(contentLength)
    if (!this.#wire.requestRead) headers['connection'] = 'close'
    this.#wire.start(status, headers)
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.gone) return true
    const keepsUp = this.#wire.write(chunk)
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
    this.#wire.end()
    if (!this.#wire.requestRead) this.#linger()
  }

  fail(error: GatewayError): void {
    const rendered = renderError(error, this.#options)
    this.start({
      status: rendered.status,
      headers: rendered.headers,
      contentLength: Buffer.byteLength(rendered.body),
    })
    this.#wire.write(rendered.body)
    this.end()
  }

  destroy(): void {
    this.#wire.destroy()
  }

  /** Called by the wire. */
  drained(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#onDrain?.()
  }

  /** Called by the wire. */
  closed(): void {
    clearTimeout(this.#stall)
    if (this.#wire.sent) return
    this.gone = true
    this.#onGone?.()
  }

  #awaitDrain(): void {
    if (this.#stall !== undefined) return
    this.#stall = setTimeout(() => this.#wire.destroy(), this.#options.clientStallTimeoutMs)
    this.#stall.unref()
  }

  /**
   * The answer was sent before the body was read: the rest is read and discarded for a moment, then the connection is
   * closed.
   */
  #linger(): void {
    let seen = 0
    const timer = setTimeout(() => this.#wire.destroy(), LINGER_MS)
    timer.unref()
    const onBytes = (bytes: number): void => {
      seen += bytes
      if (seen > LINGER_BYTES) this.#wire.destroy()
    }
    this.#wire.discard(onBytes, () => clearTimeout(timer))
  }
}
