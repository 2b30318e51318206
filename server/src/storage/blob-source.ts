/** What both stores do with a blob’s key, and with incoming bytes. */
import { createHash } from 'node:crypto'
import { BlobTooLarge } from './failures/blob-too-large.ts'
import type { StoredBlob } from './stores/blobs.ts'
import { StorageUnavailable } from './failures/unavailable.ts'

const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const SEGMENTS_MAX = 8

/**
 * The segments of a blob's key, such as `videos/video_1.mp4`. Keys are generated here; any other form is a bug. A segment
 * begins with a letter or a digit, so no key leaves its directory, and a store's own files begin with another character.
 */
export function segmentsOf(key: string): readonly string[] {
  const segments = key.split('/')
  if (segments.length > SEGMENTS_MAX || !segments.every((segment) => SEGMENT.test(segment))) {
    throw new Error(`${JSON.stringify(key)} is no key of a blob`)
  }
  return segments
}

/** Counts and hashes a source as it is read, and ends it when it grows too large. */
export class BlobSource implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>
  readonly #maxBytes: number
  readonly #hash = createHash('sha256')
  #bytes = 0
  #failure: { readonly error: unknown } | undefined

  constructor(source: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#source = source
    this.#maxBytes = maxBytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#source) {
        this.#bytes += chunk.length
        if (this.#bytes > this.#maxBytes) throw new BlobTooLarge(this.#maxBytes)
        this.#hash.update(chunk)
        yield chunk
      }
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  /** Once, after everything was read. */
  stored(): StoredBlob {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  /** Distinguishes the causes of a failed write: the source's own error unchanged, else the store's. */
  errorOf(error: unknown): unknown {
    return this.#failure === undefined ? blobUnavailable(error) : this.#failure.error
  }
}

export function blobUnavailable(error: unknown): StorageUnavailable {
  const reason = error instanceof Error ? error.message : String(error)
  return new StorageUnavailable(`blob storage: ${reason}`, { cause: error })
}
