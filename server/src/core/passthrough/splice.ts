import { encodeJsonString } from './json-text.ts'

/** Bytes from `start` to `end` make way for `replacement`; `start` = `end` inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: Uint8Array
}

/** Bytes of a body that lie outside of memory. */
export interface StoredBytes {
  readonly length: number
  /** The same memory as an array's own: nothing is read or copied. */
  subarray(start: number, end?: number): StoredBytes
  /** Some of them from `start` on, at least one and at most `most`. */
  read(start: number, most: number): Promise<Uint8Array>
}

/** Of a body, in memory or not. */
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

/** Edits that put `model`, as JSON, in place of every span. */
export function modelEdits(spans: readonly Span[], model: string): readonly Edit[] {
  const replacement = encodeJsonString(model)
  return spans.map(({ start, end }) => ({ start, end, replacement }))
}

/** Edits that put `model`, as it is, in place of every span: a form's fields are no JSON. */
export function formModelEdits(spans: readonly Span[], model: string): readonly Edit[] {
  const replacement = new TextEncoder().encode(model)
  return spans.map(({ start, end }) => ({ start, end, replacement }))
}

/**
 * The body with the edits made: everything else is the same memory, cut into views. Edits may come in any order but
 * may not overlap.
 */
export function spliceChunks(chunks: readonly Uint8Array[], edits: readonly Edit[]): SplicedBody
export function spliceChunks(chunks: readonly BodyPiece[], edits: readonly Edit[]): SplicedBody<BodyPiece>
export function spliceChunks(chunks: readonly BodyPiece[], edits: readonly Edit[]): SplicedBody<BodyPiece> {
  const sorted = edits.toSorted((one, other) => one.start - other.start)
  const spliced: BodyPiece[] = []
  let length = 0
  const give = (bytes: BodyPiece): void => {
    if (bytes.length === 0) return
    spliced.push(bytes)
    length += bytes.length
  }
  let next = 0
  /** Offset of the current chunk's first byte, and up to where the original bytes are dealt with. */
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
