import { setImmediate as nextTurn } from 'node:timers/promises'
import { wholeCharacters } from '../../../core/whole-characters.ts'
import { sharedBytes } from './shared-bytes.ts'

/** Encoding this much takes a few milliseconds, whatever the characters. */
const PIECE_CHARACTERS = 1_048_576

/** Stored text: a string, or its UTF-8 if it was sent to a thread. */
export type KeptText = string | Uint8Array

/** A long text in memory that threads share. Other work runs between its pieces. */
export async function sharedText(text: string): Promise<Uint8Array> {
  const encoder = new TextEncoder()
  const pieces: Uint8Array[] = []
  let bytes = 0
  for (let at = 0; at < text.length; ) {
    const end = wholeCharacters(text, at + PIECE_CHARACTERS)
    const piece = encoder.encode(text.slice(at, end))
    pieces.push(piece)
    bytes += piece.byteLength
    at = end
    await nextTurn()
  }
  return sharedBytes(pieces, bytes)
}

/** The text as a string. */
export function textOf(kept: KeptText): string {
  if (typeof kept === 'string') return kept
  return Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('utf8')
}
