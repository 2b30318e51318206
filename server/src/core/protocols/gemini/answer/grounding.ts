/**
 * Where an answer names its sources. Google counts bytes of UTF-8 over the text of the candidate, the other protocols
 * count UTF-16 code units of one block, and the positions arrive when the text has already been sent
 * (docs/protocols.md#gemini-answers).
 */
import type { Citation } from '../../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { countOf, listOf, objectOf, wordOf } from '../../read-json.ts'

/** Characters kept to find positions in; beyond them a source has no position. */
const CHARACTERS_MAX = 256 * 1024

/** Positions read from one answer: each becomes an annotation for the client. */
const PLACES_MAX = 1_000

/** The text of a block while it can still be cited. */
export interface GroundedText {
  push(text: string): void
  /** Positions in UTF-16 of positions in bytes, where they are still known. */
  positionsOf(bytes: readonly number[]): ReadonlyMap<number, number>
  /** Length of what is known. */
  bytes(): number
}

export function groundedText(): GroundedText {
  const pieces: string[] = []
  let characters = 0
  return {
    push(text) {
      if (characters < CHARACTERS_MAX) pieces.push(text)
      characters += text.length
    },
    positionsOf: (bytes) => findPositions(pieces.join(''), bytes),
    bytes: () => new TextEncoder().encode(pieces.join('')).length,
  }
}

/** A single pass over the text for all of them. */
function findPositions(text: string, bytes: readonly number[]): ReadonlyMap<number, number> {
  const wanted = [...new Set(bytes)].filter((byte) => byte >= 0).toSorted((left, right) => left - right)
  const found = new Map<number, number>()
  let next = 0
  let seenBytes = 0
  let position = 0
  for (const letter of `${text}\0`) {
    while (next < wanted.length && (wanted[next] ?? 0) <= seenBytes) {
      found.set(wanted[next] ?? 0, position)
      next += 1
    }
    if (next === wanted.length) break
    seenBytes += bytesOf(letter.codePointAt(0) ?? 0)
    position += letter.length
  }
  return found
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint < 0x10000 ? 3 : 4
}

/**
 * One citation per supported passage, and one for each source without a passage. `bytesBefore`: where the block begins
 * in the text of its candidate.
 */
export function readGrounding(
  text: GroundedText,
  metadata: JsonObject,
  bytesBefore: number,
): readonly Citation[] {
  const sources = listOf(metadata.groundingChunks).map((chunk) => objectOf(objectOf(chunk)?.web))
  const supports = listOf(metadata.groundingSupports)
    .slice(0, PLACES_MAX)
    .map((support) => readSupport(support, bytesBefore))
  const positions = text.positionsOf(supports.flatMap(({ start, end }) => [start, end ?? start]))
  const named = new Set(supports.flatMap(({ sources: indices }) => indices))
  const placed = supports.flatMap((support) => {
    const place = placeOf(support, positions)
    return support.sources.flatMap((index) => citationOf(sources[index], place) ?? [])
  })
  const rest = sources.flatMap((source, index) =>
    named.has(index) ? [] : (citationOf(source, NOWHERE) ?? []),
  )
  return [...placed, ...rest].slice(0, PLACES_MAX)
}

interface Support {
  readonly start: number
  readonly end: number | undefined
  readonly sources: readonly number[]
}

function readSupport(value: JsonValue, bytesBefore: number): Support {
  const support = objectOf(value)
  const segment = objectOf(support?.segment)
  const end = countOf(segment?.endIndex)
  return {
    // Absent means the beginning, as everywhere in this protocol.
    start: (countOf(segment?.startIndex) ?? 0) - bytesBefore,
    end: end === undefined ? undefined : end - bytesBefore,
    sources: listOf(support?.groundingChunkIndices).flatMap((index) => countOf(index) ?? []),
  }
}

interface Place {
  readonly startIndex: number | undefined
  readonly endIndex: number | undefined
}

const NOWHERE: Place = { startIndex: undefined, endIndex: undefined }

function placeOf({ start, end }: Support, positions: ReadonlyMap<number, number>): Place {
  const startIndex = positions.get(start)
  const endIndex = end === undefined ? undefined : positions.get(end)
  return startIndex === undefined || endIndex === undefined ? NOWHERE : { startIndex, endIndex }
}

function citationOf(source: JsonObject | undefined, place: Place): Citation | undefined {
  const url = wordOf(source?.uri)
  return url === undefined ? undefined : { url, title: wordOf(source?.title), ...place }
}
