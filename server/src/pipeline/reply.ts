import type { GatewayError } from '../core/errors/gateway-error.ts'
import type { ModelId } from '../core/ids.ts'
import type { LoggedCall } from './call.ts'

/** The client's side of an exchange, as the request pipeline sees it; `http/` implements it over a socket. */
export interface ClientReply {
  /**
   * Sets the model of the answer, once it is known: every head without another model names it
   * (docs/reference/contract.md#D-requests-37).
   */
  setModel(model: ModelId): void
  /** Sends the head. Without a length the body is chunked. May be called once. */
  start(head: ReplyHead): void
  /** False if the client reads more slowly than the gateway writes: stop until `onDrain`. */
  write(chunk: Uint8Array | string): boolean
  onDrain(listener: (() => void) | undefined): void
  end(): void
  /** Answers with the gateway's own error envelope; only before `start`. */
  fail(error: GatewayError, call: LoggedCall): void
  /** Closes the connection: the only correct end of a body that cannot be completed. */
  destroy(): void
  readonly started: boolean
  /** The client disconnected before the answer was complete. */
  readonly gone: boolean
  /**
   * Called once when the client disconnects; one listener at a time, undefined removes it. An AbortSignal would cost
   * more per call.
   */
  onGone(listener: (() => void) | undefined): void
}

export interface ReplyHead {
  readonly status: number
  /** Lower-case names. The reply adds its own to them. */
  readonly headers: Record<string, string>
  readonly contentLength: number | undefined
}
