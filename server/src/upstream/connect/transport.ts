/** A connection that carries calls to one origin, one at a time, independent of the HTTP implementation. */
import type { BodyPiece } from '../../core/passthrough/splice.ts'
import type { HeaderList } from '../credentials/header-list.ts'
import type { UpstreamHead } from '../upstream.ts'

export interface TransportRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Without `host`, `connection` and the headers that frame the body, which the transport sets. */
  readonly headers: HeaderList
  readonly body: readonly BodyPiece[] | undefined
  /** Bytes of all pieces. */
  readonly bodyLength: number
  /** As `UpstreamCall.onBodySent`. */
  readonly onBodySent?: (() => void) | undefined
}

/** Control of the connection by its exchange. */
export interface Flow {
  pause(): void
  resume(): void
  /** Closes the connection. */
  abort(reason: Error): void
}

/** Has undici's names, so that one handler serves both transports. Nothing is called before `dispatch` has returned. */
export interface AnswerHandler {
  /** The connection is established, and the first byte is about to be written. */
  onRequestStart(flow: Flow): void
  /** The socket asks for more of the body. */
  onRequestProgress(): void
  /** Also for informational heads. */
  onResponseStart(flow: Flow, status: number, headers: UpstreamHead['headers']): void
  /** The bytes belong to the handler. */
  onResponseData(flow: Flow, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(flow: Flow | undefined, error: Error): void
}

export interface Transport {
  /** Whether it can carry another call after the last one ended. */
  readonly reusable: boolean
  /** How long it may be idle, ms, as far as the upstream stated. */
  readonly idleMsMax: number
  /** Never while another call is in progress. */
  dispatch(request: TransportRequest, handler: AnswerHandler): void
  destroy(): void
}
