import { Readable } from 'node:stream'
import { asError } from '../core/errors/as-error.ts'
import type { BodyPiece } from '../core/passthrough/splice.ts'
import { PieceReader } from './piece-reader.ts'

/** A body given in pieces, read as the socket accepts it. */
export class ChunkStream extends Readable {
  readonly #pieces: PieceReader
  readonly #onProgress: () => void

  constructor(chunks: readonly BodyPiece[], onProgress: () => void) {
    super()
    this.#pieces = new PieceReader(chunks)
    this.#onProgress = onProgress
    // undici reports a broken upload through its handler; the stream's own event adds nothing.
    this.on('error', onProgress)
  }

  override _read(): void {
    this.#onProgress()
    for (let wanted = true; wanted; ) {
      const bytes = this.#pieces.read()
      if (bytes instanceof Promise) {
        bytes.then(
          (read) => this.push(read),
          (error: unknown) => this.destroy(asError(error)),
        )
        return
      }
      wanted = this.push(bytes ?? null)
    }
  }
}
