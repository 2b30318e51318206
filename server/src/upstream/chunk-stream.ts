import { Readable } from 'node:stream'

/** A body given in chunks, read as the socket takes it; nothing is copied or joined. */
export class ChunkStream extends Readable {
  readonly #chunks: readonly Uint8Array[]
  readonly #onProgress: () => void
  #next = 0

  constructor(chunks: readonly Uint8Array[], onProgress: () => void) {
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
      this.#next += 1
      if (chunk === undefined) {
        this.push(null)
        return
      }
      if (chunk.byteLength > 0) wanted = this.push(chunk)
    }
  }
}
