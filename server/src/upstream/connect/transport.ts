/** What carries calls to one origin, one at a time, whoever speaks HTTP beneath it. */
import type { BodyPiece } from '../../core/passthrough/splice.ts'
import type { HeaderList } from '../credentials/header-list.ts'
import type { UpstreamHead } from '../upstream.ts'

export interface TransportRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** `host`, `connection` and what frames the body are the transport's own and stand not among them. */
  readonly headers: HeaderList
  readonly body: readonly BodyPiece[] | undefined
  /** Bytes of all pieces. */
  readonly bodyLength: number
}

/** What an exchange may ask of the connection that it runs over. */
export interface Flow {
  pause(): void
  resume(): void
  /** Drops the connection. */
  abort(reason: Error): void
}

/** Named as undici names it, so that one handler serves both transports. Nothing is called before `dispatch` has returned. */
export interface AnswerHandler {
  /** A connection stands, and the first byte is about to be written. */
  onRequestStart(flow: Flow): void
  /** The socket asks for more of the body. */
  onRequestProgress(): void
  /** Also for informational heads. */
  onResponseStart(flow: Flow, status: number, headers: UpstreamHead['headers']): void
  /** The bytes belong to who is called. */
  onResponseData(flow: Flow, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(flow: Flow | undefined, error: Error): void
}

export interface Transport {
  /** Whether it can carry another call, now that one is over. */
  readonly reusable: boolean
  /** How long it may idle, ms, as far as the upstream said. */
  readonly idleMsMax: number
  /** Never while another call is under way. */
  dispatch(request: TransportRequest, handler: AnswerHandler): void
  destroy(): void
}
