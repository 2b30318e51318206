import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { openBodyDecoder } from './body-decoding.ts'
import type { BodyWatch } from './body-watch.ts'

export interface BodyReading {
  /** Told the plain bytes, whatever they were compressed with; may throw to refuse the rest. */
  readonly onChunk: (chunk: Uint8Array) => void
  readonly watch: BodyWatch
  /** How long the whole body may take. */
  readonly totalTimeoutMs: number
}

/** Rejects with what `onChunk` threw, when the client goes, when it sends nothing for too long, or too slowly. */
export function readIncomingBody(
  request: IncomingMessage,
  response: ServerResponse,
  reading: BodyReading,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const decoder = openBodyDecoder(request.headers['content-encoding'])
    if (request.headers.expect !== undefined) response.writeContinue()
    let over = false
    let arrived = false
    const leave = (): boolean => {
      if (over) return false
      over = true
      reading.watch.remove(watched)
      return true
    }
    const fail = (error: unknown): void => {
      if (!leave()) return
      request.pause()
      decoder?.destroy()
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    const watched = reading.watch.add(
      () =>
        fail(new GatewayError(40000, { status: 408, message: 'the request body did not arrive in time' })),
      reading.totalTimeoutMs,
    )
    const take = (chunk: Buffer): void => {
      if (over) return
      watched.alive = true
      try {
        reading.onChunk(chunk)
      } catch (error) {
        fail(error)
      }
    }
    const done = (): void => {
      if (leave()) resolve()
    }
    const cut = (): void => {
      if (!arrived)
        fail(new GatewayError(40000, { message: 'the request body ended before it was complete' }))
    }
    request.on('close', cut)
    request.on('error', cut)
    if (decoder === undefined) {
      request.on('data', take)
      request.on('end', done)
      return
    }
    request.on('data', (chunk: Buffer) => {
      if (over) return
      watched.alive = true
      if (!decoder.write(chunk)) request.pause()
    })
    request.on('end', () => {
      arrived = true
      if (!over) decoder.end()
    })
    decoder.on('drain', () => {
      if (!over) request.resume()
    })
    decoder.on('data', take)
    decoder.on('end', done)
    decoder.on('error', (error: Error) => fail(undecodable(request.headers['content-encoding'], error)))
  })
}

function undecodable(encoding: string | undefined, cause: Error): GatewayError {
  return new GatewayError(40000, {
    message: `the request body is not what its Content-Encoding (${encoding ?? ''}) says: ${cause.message}`,
    cause,
  })
}

/** Whether the head announces a body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/**
 * Call before an answer that may go out with its request unread: what is left of the body would otherwise be read and
 * thrown away for as long as the client likes to send it.
 */
export function closeUnlessRead(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete && announcesBody(request) && !response.headersSent)
    response.setHeader('connection', 'close')
}
