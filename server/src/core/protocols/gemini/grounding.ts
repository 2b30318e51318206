/**
 * Where an answer names its sources. Google counts bytes of UTF-8 over the text of the candidate, everybody else counts
 * UTF-16 code units of one block, and the places come when the text has already gone out (reference §1.4, §2.4).
 */
import type { Citation } from '../../canonical/response.ts'
import type { JsonObject } from '../../json.ts'
import { listOf, type Maybe, numberOf, objectOf, wordOf } from '../read-json.ts'

/** Letters kept to find places in; behind them a source is named without its place. */
const LETTERS_MAX = 256 * 1024

/** The text of a block while it can still be cited. */
export interface GroundedText {
  push(text: string): void
  /** Position in UTF-16 of a position in bytes, where it is still known. */
  positionOf(bytes: number): number | undefined
}

export function groundedText(): GroundedText {
  const pieces: string[] = []
  let letters = 0
  return {
    push(text) {
      if (letters < LETTERS_MAX) pieces.push(text)
      letters += text.length
    },
    positionOf: (bytes) => findPosition(pieces, bytes),
  }
}

function findPosition(pieces: readonly string[], bytes: number): number | undefined {
  let seenBytes = 0
  let position = 0
  for (const piece of pieces) {
    for (const letter of piece) {
      if (seenBytes >= bytes) return position
      seenBytes += bytesOf(letter.codePointAt(0) ?? 0)
      position += letter.length
    }
  }
  return seenBytes === bytes ? position : undefined
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint < 0x10000 ? 3 : 4
}

/** One citation a supported place, and one for each source no place names. */
export function readGrounding(text: GroundedText, metadata: JsonObject | undefined): readonly Citation[] {
  const sources = listOf(metadata?.groundingChunks).map((chunk) => objectOf(objectOf(chunk)?.web))
  const supports = listOf(metadata?.groundingSupports).map(objectOf)
  const named = new Set<number>()
  const placed = supports.flatMap((support) => {
    const segment = objectOf(support?.segment)
    return listOf(support?.groundingChunkIndices).flatMap((value) => {
      const index = numberOf(value) ?? -1
      named.add(index)
      return citationOf(sources[index], placeOf(text, segment)) ?? []
    })
  })
  const rest = sources.flatMap((source, index) =>
    named.has(index) ? [] : (citationOf(source, NOWHERE) ?? []),
  )
  return [...placed, ...rest]
}

interface Place {
  readonly startIndex: number | undefined
  readonly endIndex: number | undefined
}

const NOWHERE: Place = { startIndex: undefined, endIndex: undefined }

function placeOf(text: GroundedText, segment: JsonObject | undefined): Place {
  const startIndex = text.positionOf(numberOf(segment?.startIndex) ?? 0)
  const end: Maybe = segment?.endIndex
  const endIndex = numberOf(end) === undefined ? undefined : text.positionOf(numberOf(end) ?? 0)
  return startIndex === undefined || endIndex === undefined ? NOWHERE : { startIndex, endIndex }
}

function citationOf(source: JsonObject | undefined, place: Place): Citation | undefined {
  const url = wordOf(source?.uri)
  return url === undefined ? undefined : { url, title: wordOf(source?.title), ...place }
}
