import type { TransportFailure, Upstream, UpstreamCall, UpstreamExchange, UpstreamHead } from '../upstream.ts'

export interface WholeAnswer extends UpstreamHead {
  readonly body: Buffer
}

/** The connection broke before the answer was complete. */
export class TransportError extends Error {
  readonly failure: TransportFailure

  constructor(failure: TransportFailure) {
    super(`${failure.kind}: ${failure.detail}`)
    this.name = 'TransportError'
    this.failure = failure
  }
}

/** Reads a small answer as a whole. For polls, tokens and the like; answers that clients wait for are streamed. */
export function readWhole(
  open: Upstream['open'],
  call: UpstreamCall,
  bodyBytesMax: number,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    let head: UpstreamHead = { status: 0, headers: {} }
    let length = 0
    const chunks: Uint8Array[] = []
    const exchange = open(call, {
      head: (given) => {
        head = given
      },
      data: (chunk) => {
        length += chunk.byteLength
        if (length > bodyBytesMax) exchange.abort()
        else chunks.push(chunk)
      },
      end: () => resolve({ ...head, body: Buffer.concat(chunks, length) }),
      fail: (failure) => reject(new TransportError(length > bodyBytesMax ? tooLarge(bodyBytesMax) : failure)),
    })
  })
}

function tooLarge(bodyBytesMax: number): TransportFailure {
  return { kind: 'protocol', sent: true, detail: `an answer larger than ${bodyBytesMax} bytes` }
}

/**
 * An answer whose body is read at the reader's pace: used for files, for which every caller would have to queue a
 * sink's calls.
 */
export interface StreamedAnswer extends UpstreamHead {
  /** Can be read once. Throws `TransportError` if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  /** Call if the body is not read to its end. */
  abort(): void
}

/** Bytes buffered for the reader before the upstream is paused. */
const WAITING_BYTES_MAX = 262_144

/** Resolves with the head of the answer; rejects with `TransportError` if none arrives. */
export function openStream(open: Upstream['open'], call: UpstreamCall): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    const body = new BodyQueue(() => exchange)
    let begun = false
    const exchange = open(call, {
      head(head) {
        begun = true
        resolve({ ...head, body, abort: () => exchange.abort() })
      },
      data: (chunk) => body.push(chunk),
      end: () => body.close(undefined),
      fail(failure) {
        body.close(failure)
        if (!begun) reject(new TransportError(failure))
      },
    })
  })
}

class BodyQueue implements AsyncIterable<Uint8Array> {
  readonly #exchange: () => UpstreamExchange
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #paused = false
  #closed = false
  #failure: TransportFailure | undefined
  #wake: (() => void) | undefined

  constructor(exchange: () => UpstreamExchange) {
    this.#exchange = exchange
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    if (this.#bytes > WAITING_BYTES_MAX && !this.#paused) {
      this.#paused = true
      this.#exchange().pause()
    }
    this.#wake?.()
  }

  close(failure: TransportFailure | undefined): void {
    this.#closed = true
    this.#failure = failure
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#taken(chunk.byteLength)
          yield chunk
        } else if (this.#closed) {
          if (this.#failure !== undefined) throw new TransportError(this.#failure)
          return
        } else await this.#more()
      }
    } finally {
      // Without effect if the exchange has ended.
      if (!this.#closed) this.#exchange().abort()
    }
  }

  #taken(bytes: number): void {
    this.#bytes -= bytes
    if (!this.#paused || this.#bytes > WAITING_BYTES_MAX / 2) return
    this.#paused = false
    this.#exchange().resume()
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }
}
