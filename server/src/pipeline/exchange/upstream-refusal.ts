/** An answer whose status is a refusal: its body is collected for classification. */
import type { UpstreamHead } from '../../upstream/upstream.ts'
import type { AttemptFailure } from './exchange-outcome.ts'

/** Longest error body kept; providers' errors are a few kB. */
const BODY_BYTES_MAX = 1_048_576

export class UpstreamRefusal {
  readonly #head: UpstreamHead
  readonly #chunks: Uint8Array[] = []
  #length = 0

  constructor(head: UpstreamHead) {
    this.#head = head
  }

  push(chunk: Uint8Array): void {
    if (this.#length >= BODY_BYTES_MAX) return
    this.#chunks.push(chunk)
    this.#length += chunk.byteLength
  }

  /** The failure, once its body is complete. */
  failure(): AttemptFailure {
    const { status, headers } = this.#head
    return { kind: 'status', status, headers, body: Buffer.concat(this.#chunks) }
  }
}
