import type { TransportFailure, Upstream, UpstreamCall, UpstreamHead } from '../upstream.ts'

export interface WholeAnswer extends UpstreamHead {
  readonly body: Buffer
}

/** A connection that gave no whole answer. */
export class TransportError extends Error {
  readonly failure: TransportFailure

  constructor(failure: TransportFailure) {
    super(`${failure.kind}: ${failure.detail}`)
    this.name = 'TransportError'
    this.failure = failure
  }
}

/** A small answer, whole. For polls, tokens and the like; what a client waits for is streamed. */
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
