import { encodeJsonString } from './json-text.ts'

/** Bytes from `start` to `end` make way for `replacement`; `start` = `end` inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: Uint8Array
}

export interface SplicedBody {
  readonly chunks: readonly Uint8Array[]
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

/**
 * The body with the edits made: everything else is the same memory, cut into views. Edits may come in any order but
 * may not overlap.
 */
export function spliceChunks(chunks: readonly Uint8Array[], edits: readonly Edit[]): SplicedBody {
  const sorted = edits.toSorted((one, other) => one.start - other.start)
  const spliced: Uint8Array[] = []
  let length = 0
  const give = (bytes: Uint8Array): void => {
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
