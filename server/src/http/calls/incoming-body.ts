import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { openBodyDecoder } from './body-decoding.ts'
import type { BodyWatch, WatchedBody } from './body-watch.ts'

export interface BodyReading {
  /** Told the plain bytes, whatever they were compressed with; may throw to refuse the rest. */
  readonly onChunk: (chunk: Uint8Array) => void
  readonly watch: BodyWatch
  /** How long the whole body may take. */
  readonly totalTimeoutMs: number
}

/** Rejects with what `onChunk` threw, when the client goes, when it sends nothing for too long, or too slowly. */
export async function readIncomingBody(
  request: IncomingMessage,
  response: ServerResponse,
  reading: BodyReading,
): Promise<void> {
  const decoder = openBodyDecoder(request.headers['content-encoding'])
  if (request.headers.expect !== undefined) response.writeContinue()
  const body = new IncomingBody(request, reading, decoder)
  return decoder === undefined ? body.readPlain() : body.readThrough(decoder)
}

/** A body while it arrives. */
class IncomingBody {
  readonly #request: IncomingMessage
  readonly #reading: BodyReading
  readonly #decoder: Transform | undefined
  readonly #watched: WatchedBody
  readonly #whole: Promise<void>
  #resolve: () => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  /** Read, or given up. */
  #over = false
  /** The wire has given all it had; a decoder may still be at it. */
  #arrived = false

  constructor(request: IncomingMessage, reading: BodyReading, decoder: Transform | undefined) {
    this.#request = request
    this.#reading = reading
    this.#decoder = decoder
    this.#whole = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#watched = reading.watch.add(() => this.#fail(tooLate()), reading.totalTimeoutMs)
    const cut = (): void => {
      if (!this.#arrived && !this.#over) this.#fail(cutShort())
    }
    request.on('close', cut)
    request.on('error', cut)
  }

  readPlain(): Promise<void> {
    this.#request.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#request.on('end', () => this.#done())
    return this.#whole
  }

  readThrough(decoder: Transform): Promise<void> {
    const request = this.#request
    request.on('data', (chunk: Buffer) => {
      if (this.#over) return
      this.#watched.alive = true
      if (!decoder.write(chunk)) request.pause()
    })
    request.on('end', () => {
      this.#arrived = true
      if (!this.#over) decoder.end()
    })
    decoder.on('drain', () => {
      if (!this.#over) request.resume()
    })
    decoder.on('data', (chunk: Buffer) => this.#take(chunk))
    decoder.on('end', () => this.#done())
    decoder.on('error', (error: Error) => this.#fail(undecodable(request.headers['content-encoding'], error)))
    return this.#whole
  }

  #take(chunk: Buffer): void {
    if (this.#over) return
    this.#watched.alive = true
    try {
      this.#reading.onChunk(chunk)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #done(): void {
    if (this.#leave()) this.#resolve()
  }

  #fail(error: Error): void {
    if (!this.#leave()) return
    this.#request.pause()
    this.#decoder?.destroy()
    this.#reject(error)
  }

  #leave(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#reading.watch.remove(this.#watched)
    return true
  }
}

function tooLate(): GatewayError {
  return new GatewayError(40000, { status: 408, message: 'the request body did not arrive in time' })
}

function cutShort(): GatewayError {
  return new GatewayError(40000, { message: 'the request body ended before it was complete' })
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
