/** The module's interface: one outgoing call, described as data and answered to a sink. */
import type { CredentialSecret, Timeouts } from '../core/catalogue.ts'
import type { Auth, HttpRequest } from '../core/http-request.ts'
import type { BodyPiece } from '../core/passthrough/splice.ts'

export interface UpstreamCall {
  readonly request: Pick<HttpRequest, 'method' | 'url' | 'headers'>
  readonly auth: Auth
  readonly credential: CredentialSecret
  /** Written in order as the socket accepts them; undefined: no body. */
  readonly body: readonly BodyPiece[] | undefined
  /** Bytes of all chunks. */
  readonly bodyLength: number
  readonly timeouts: Timeouts
  /** An answer that sent less than this over `timeouts.idleMs` has stalled; absent or 0: any byte is enough. */
  readonly minBytesPerSecond?: number
  /** How a streamed answer is framed (`Dialect.framing`); the sink sees SSE in any case. */
  readonly framing?: 'aws-event-stream' | undefined
  /** Called when all of the body was sent and nothing reads its memory any more; not called if that is not known. */
  readonly onBodySent?: (() => void) | undefined
  /** Aborts the exchange like `UpstreamExchange.abort`. */
  readonly signal?: AbortSignal
}

export interface UpstreamHead {
  readonly status: number
  /** Lower-case names; `content-encoding` and `content-length` are removed if the body was decoded. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Takes one answer: `head` once, `data` any number of times, then exactly one of `end` and `fail`. Nothing is called
 * before `open` has returned.
 */
export interface UpstreamSink {
  head(head: UpstreamHead): void
  /** Never empty. The bytes belong to the sink. */
  data(chunk: Uint8Array): void
  end(): void
  fail(failure: TransportFailure): void
  /** How many of the bytes so far only keep the connection alive; absent: none. */
  keepAliveBytes?(): number
}

/** A sink behind steps of our own, in which something may break: an error thrown to a connection would end nothing. */
export interface GuardedSink extends UpstreamSink {
  /** Ends the answer. */
  broke(error: unknown): void
}

export interface UpstreamExchange {
  /** The request may have reached the upstream. */
  readonly sent: boolean
  /** It has become a task, which continues even if nobody waits for it. Absent: it has not. */
  readonly isTask?: boolean
  /** Stops reading from the upstream. A few chunks already on their way may still arrive. */
  pause(): void
  resume(): void
  /** Closes the connection. `fail({kind: 'aborted'})` is called before this returns, unless the exchange has ended. */
  abort(): void
}

export interface Upstream {
  open(call: UpstreamCall, sink: UpstreamSink): UpstreamExchange
  /** Waits for running exchanges, then closes every connection. */
  close(): Promise<void>
}

export interface TransportFailure {
  /**
   * `connect`: no connection in time, or none at all. `reset`: it broke. `first-byte-timeout`: no byte of an answer's
   * body in time. `idle-timeout`: silence inside an answer, or too low a rate. `protocol`: the answer was not HTTP, or
   * could not be decoded.
   */
  readonly kind: 'connect' | 'reset' | 'first-byte-timeout' | 'idle-timeout' | 'aborted' | 'protocol'
  /** The request may have reached the upstream. */
  readonly sent: boolean
  /** For the log: no secret, no content. */
  readonly detail: string
}
