import { type JsonFailure, type JsonKind, JsonScanner, type JsonSink } from './json-scanner.ts'
import type { WatchNode } from './watch-tree.ts'

/** A scanner that also hands out the bytes of the values it reports, wherever the pieces of the text were cut. */
export class SpanReader {
  readonly #scanner: JsonScanner
  /** Pieces that hold the beginning of a wanted value that is still open, one after another. */
  readonly #kept: Piece[] = []
  readonly #keptMax: number
  #current: Uint8Array = new Uint8Array(0)
  #currentFrom = 0
  #pushed = 0

  /**
   * `depthMax`: as of the scanner. `keptMax`: bytes; of a wanted value that was cut, pieces that begin later than this
   * behind its first byte are not kept, and `read` gives its beginning only.
   */
  constructor(root: WatchNode, sink: JsonSink, depthMax?: number, keptMax = Number.POSITIVE_INFINITY) {
    this.#scanner = new JsonScanner(root, sink, depthMax)
    this.#keptMax = keptMax
  }

  /** Values that have begun so far, at any depth. */
  get values(): number {
    return this.#scanner.values
  }

  /** As of the scanner. */
  get lookAlike(): string | undefined {
    return this.#scanner.lookAlike
  }

  get failure(): JsonFailure | undefined {
    return this.#scanner.failure
  }

  get rootKind(): JsonKind | undefined {
    return this.#scanner.rootKind
  }

  /** Bytes pushed so far. */
  get length(): number {
    return this.#pushed
  }

  /** Where the string of `watch` that is cut at the end of the last piece begins; `length` when none is. */
  openFrom(watch: number): number {
    return this.#scanner.openFrom(watch)
  }

  push(piece: Uint8Array): boolean {
    this.#current = piece
    this.#currentFrom = this.#pushed
    this.#pushed += piece.length
    const valid = this.#scanner.push(piece, 0, piece.length)
    this.#keep(valid ? this.#scanner.wantedFrom : this.#pushed)
    return valid
  }

  end(): boolean {
    const valid = this.#scanner.end()
    this.#kept.length = 0
    return valid
  }

  /**
   * Bytes of a wanted value; to be called from inside `onValue`. A copy only when the value was cut; shorter than
   * `end - start` when not all of it was kept.
   */
  read(start: number, end: number): Uint8Array {
    if (start >= this.#currentFrom) {
      return this.#current.subarray(start - this.#currentFrom, end - this.#currentFrom)
    }
    const parts: Uint8Array[] = []
    let next = start
    for (const { from, bytes } of [...this.#kept, { from: this.#currentFrom, bytes: this.#current }]) {
      if (from > next || next >= end) break
      if (from + bytes.length <= next) continue
      const part = bytes.subarray(next - from, end - from)
      next += part.length
      parts.push(part)
    }
    return parts.length === 1 ? (parts[0] as Uint8Array) : joined(parts, next - start)
  }

  /** Keeps the pieces from offset `from` on, in case the value that begins there ends in a later one. */
  #keep(from: number): void {
    const kept = this.#kept
    if (from >= this.#pushed) {
      kept.length = 0
      return
    }
    const done = kept.findIndex((piece) => piece.from + piece.bytes.length > from)
    if (done !== 0) kept.splice(0, done < 0 ? kept.length : done)
    if (this.#currentFrom - from <= this.#keptMax)
      kept.push({ from: this.#currentFrom, bytes: this.#current })
  }
}

interface Piece {
  /** Offset of its first byte in the whole text. */
  readonly from: number
  readonly bytes: Uint8Array
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
