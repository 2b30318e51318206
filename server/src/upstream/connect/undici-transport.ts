import type { Client } from './undici.ts'
import { isInMemory } from '../../core/passthrough/splice.ts'
import { ChunkStream } from '../chunk-stream.ts'
import type { AnswerHandler, Transport, TransportRequest } from './transport.ts'

/** Bodies up to this size are joined: one copy is cheaper than several writes. */
const JOIN_BYTES_MAX = 65_536

/** One undici connection: for proxies, and for individually checked addresses. */
export class UndiciTransport implements Transport {
  /** undici itself closes connections that cannot be reused. */
  readonly reusable = true
  readonly idleMsMax = Number.POSITIVE_INFINITY
  readonly #client: Client

  /** @param onClose called when its connection has closed, idle or not */
  constructor(client: Client, onClose: () => void = () => undefined) {
    this.#client = client
    client.on('disconnect', onClose)
  }

  dispatch(request: TransportRequest, handler: AnswerHandler): void {
    const { method, path, headers, bodyLength } = request
    const body = bodyOf(request, handler)
    this.#client.dispatch(
      {
        method,
        path,
        headers: body === null ? [...headers] : [...headers, 'content-length', String(bodyLength)],
        body,
      },
      handler,
    )
  }

  destroy(): void {
    // Not at once: undici may be in the middle of reporting the end that led here.
    queueMicrotask(() => this.#client.destroy(null, ignoreClosed))
  }
}

function bodyOf(
  { body, bodyLength }: TransportRequest,
  handler: AnswerHandler,
): Uint8Array | ChunkStream | null {
  if (body === undefined) return null
  const only = body[0]
  if (body.length === 1 && only instanceof Uint8Array) return only
  if (bodyLength <= JOIN_BYTES_MAX && body.every(isInMemory)) return Buffer.concat(body, bodyLength)
  return new ChunkStream(body, () => handler.onRequestProgress())
}

/** `destroy` calls back when the socket has closed, which nothing here waits for. */
function ignoreClosed(): void {}
