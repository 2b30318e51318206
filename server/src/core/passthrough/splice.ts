import { encodeJsonString } from './json-text.ts'

/** Bytes from `start` to `end` are replaced by `replacement`; `start` = `end` inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: Uint8Array
}

/** Bytes of a body that are not in memory. */
export interface StoredBytes {
  readonly length: number
  /** Like an array's `subarray`: nothing is read or copied. */
  subarray(start: number, end?: number): StoredBytes
  /** Reads bytes from `start` on, at least one and at most `most`. */
  read(start: number, most: number): Promise<Uint8Array>
}

/** A piece of a body, in memory or not. */
export type BodyPiece = Uint8Array | StoredBytes

export function isInMemory(piece: BodyPiece): piece is Uint8Array {
  return piece instanceof Uint8Array
}

export interface SplicedBody<Piece extends BodyPiece = Uint8Array> {
  readonly chunks: readonly Piece[]
  readonly length: number
}

export interface Span {
  readonly start: number
  readonly end: number
}

const NO_EDITS: readonly Edit[] = []

/** Edits that replace every span by `model` as JSON. */
export function modelEdits(spans: readonly Span[], model: string): readonly Edit[] {
  if (spans.length === 0) return NO_EDITS
  const replacement = encodeJsonString(model)
  return spans.map(({ start, end }) => ({ start, end, replacement }))
}

/** Edits that replace every span by the plain text of `model`: a form's fields are not JSON. */
export function formModelEdits(spans: readonly Span[], model: string): readonly Edit[] {
  const replacement = new TextEncoder().encode(model)
  return spans.map(({ start, end }) => ({ start, end, replacement }))
}

/**
 * The edited body: everything unchanged is the same memory, as views. Edits may come in any order but may not overlap.
 */
export function spliceChunks(chunks: readonly Uint8Array[], edits: readonly Edit[]): SplicedBody
export function spliceChunks(chunks: readonly BodyPiece[], edits: readonly Edit[]): SplicedBody<BodyPiece>
export function spliceChunks(chunks: readonly BodyPiece[], edits: readonly Edit[]): SplicedBody<BodyPiece> {
  const sorted = edits.length < 2 ? edits : edits.toSorted((one, other) => one.start - other.start)
  const spliced: BodyPiece[] = []
  let length = 0
  const give = (bytes: BodyPiece): void => {
    if (bytes.length === 0) return
    spliced.push(bytes)
    length += bytes.length
  }
  let next = 0
  /** Offset of the current chunk's first byte, and how far the original bytes are processed. */
  let base = 0
  let done = 0
  for (const chunk of chunks) {
    const chunkEnd = base + chunk.length
    for (let edit = sorted[next]; edit !== undefined && edit.start < chunkEnd; edit = sorted[next]) {
      if (edit.start > done) give(chunk.subarray(done - base, edit.start - base))
      give(edit.replacement)
      done = Math.max(done, edit.end)
      next++
    }
    if (done < chunkEnd) {
      give(done <= base ? chunk : chunk.subarray(done - base))
      done = chunkEnd
    }
    base = chunkEnd
  }
  for (const edit of sorted.slice(next)) give(edit.replacement)
  return { chunks: spliced, length }
}
