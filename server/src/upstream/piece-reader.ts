import { type BodyPiece, isInMemory, type StoredBytes } from '../core/passthrough/splice.ts'

/** Bytes read at once of what is not in memory. */
const READ_BYTES = 65_536

/** A body given in pieces, from its first byte to its last; nothing is copied or joined. */
export class PieceReader {
  readonly #pieces: readonly BodyPiece[]
  #next = 0
  /** Bytes read of the stored piece at `#next`. */
  #done = 0

  constructor(pieces: readonly BodyPiece[]) {
    this.#pieces = pieces
  }

  /** At least one byte; undefined: that was all. Await a promise before reading more. */
  read(): Uint8Array | Promise<Uint8Array> | undefined {
    for (;;) {
      const piece = this.#pieces[this.#next]
      if (piece === undefined) return undefined
      if (!isInMemory(piece) && this.#done < piece.length) return this.#readStored(piece)
      this.#next += 1
      this.#done = 0
      if (isInMemory(piece) && piece.byteLength > 0) return piece
    }
  }

  async #readStored(stored: StoredBytes): Promise<Uint8Array> {
    const bytes = await stored.read(this.#done, Math.min(READ_BYTES, stored.length - this.#done))
    this.#done += bytes.byteLength
    return bytes
  }
}
