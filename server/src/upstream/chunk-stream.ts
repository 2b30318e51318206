import { Readable } from 'node:stream'
import { type BodyPiece, isInMemory, type StoredBytes } from '../core/passthrough/splice.ts'

/** Read at once of what lies outside of memory. */
const READ_BYTES = 65_536

/** A body given in pieces, read as the socket takes it; nothing is copied or joined. */
export class ChunkStream extends Readable {
  readonly #chunks: readonly BodyPiece[]
  readonly #onProgress: () => void
  #next = 0
  /** Of the piece at `#next`. */
  #done = 0

  constructor(chunks: readonly BodyPiece[], onProgress: () => void) {
    super()
    this.#chunks = chunks
    this.#onProgress = onProgress
    // undici reports a broken upload through its handler; the stream's own event says nothing more.
    this.on('error', onProgress)
  }

  override _read(): void {
    this.#onProgress()
    let wanted = true
    while (wanted) {
      const chunk = this.#chunks[this.#next]
      if (chunk === undefined) {
        this.push(null)
        return
      }
      if (!isInMemory(chunk) && this.#done < chunk.length) {
        this.#readStored(chunk)
        return
      }
      this.#next += 1
      this.#done = 0
      if (isInMemory(chunk) && chunk.byteLength > 0) wanted = this.push(chunk)
    }
  }

  #readStored(stored: StoredBytes): void {
    stored.read(this.#done, READ_BYTES).then(
      (bytes) => {
        this.#done += bytes.byteLength
        this.push(bytes)
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  }
}
