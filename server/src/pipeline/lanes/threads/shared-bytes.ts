/** Bytes in memory that threads share. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Copied at once; a tenth of a second's work would be a hundred times this. */
const COPY_BYTES_MAX = 4 * 1024 * 1024

/** Joins pieces in memory that threads share, so that they are copied once however often they are sent. */
export async function sharedBytes(chunks: readonly Uint8Array[], length: number): Promise<Uint8Array> {
  const shared = new Uint8Array(new SharedArrayBuffer(length))
  let at = 0
  let sinceTurn = 0
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.byteLength; from += COPY_BYTES_MAX) {
      const piece = chunk.subarray(from, from + COPY_BYTES_MAX)
      shared.set(piece, at)
      at += piece.byteLength
      sinceTurn += piece.byteLength
      if (sinceTurn < COPY_BYTES_MAX) continue
      sinceTurn = 0
      await nextTurn()
    }
  }
  return shared
}
