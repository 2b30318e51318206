import { setImmediate as nextTurn } from 'node:timers/promises'

/** Hashing and measuring this much takes a few milliseconds. */
const PIECE_BYTES = 1024 * 1024

/** Bytes in memory, in pieces for a store, with other work between the pieces. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES)
    await nextTurn()
  }
}
