import { type JsonFailure, type JsonKind, JsonScanner, type JsonSink } from './json-scanner.ts'
import type { WatchNode } from './watch-tree.ts'

const EMPTY: Uint8Array = new Uint8Array(0)

/** A scanner that also returns the bytes of the values it reports, wherever the text was cut into pieces. */
export class SpanReader {
  readonly #scanner: JsonScanner
  /** Pieces that hold the beginning of a wanted value that is still open, one after another. */
  readonly #kept: Piece[] = []
  readonly #keptMax: number
  #current = EMPTY
  #currentFrom = 0
  #pushed = 0

  /**
   * `depthMax`: as for the scanner. `keptMax`: bytes; if a wanted value is split, pieces that begin further than this
   * after its first byte are not kept, and `read` returns only its beginning.
   */
  constructor(root: WatchNode, sink: JsonSink, depthMax?: number, keptMax = Number.POSITIVE_INFINITY) {
    this.#scanner = new JsonScanner(root, sink, depthMax)
    this.#keptMax = keptMax
  }

  /** Values that have begun so far, at any depth. */
  get values(): number {
    return this.#scanner.values
  }

  /** As for the scanner. */
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

  /** Start of the string of `watch` that is incomplete at the end of the last piece; `length` if there is none. */
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
    this.#keep(this.#pushed)
    return valid
  }

  /**
   * Bytes of a wanted value; call it only inside `onValue`. A copy only if the value was split; shorter than `end -
   * start` if not all of it was kept.
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
      // Setting the length of an array is slow, even to what it is.
      if (kept.length > 0) kept.length = 0
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

/** Start and end offsets in one array that is reused, so that emptying it costs nothing. */
export class SpanList {
  count = 0
  readonly #bounds: number[] = []

  add(start: number, end: number): void {
    this.#bounds[this.count * 2] = start
    this.#bounds[this.count * 2 + 1] = end
    this.count++
  }

  clear(): void {
    this.count = 0
  }

  start(index: number): number {
    return this.#bounds[index * 2] ?? 0
  }

  end(index: number): number {
    return this.#bounds[index * 2 + 1] ?? 0
  }

  stretch(index: number, end: number): void {
    this.#bounds[index * 2 + 1] = end
  }
}

/**
 * Gathers byte ranges into one piece to send. Ranges that follow each other in the same memory stay one range, so bytes
 * that pass unchanged are never copied; if something was inserted, they are copied once into a single write.
 */
export class ByteAssembler {
  readonly #sources: Uint8Array[] = []
  readonly #ranges = new SpanList()
  #length = 0

  add(bytes: Uint8Array, from: number, to: number): void {
    if (to <= from) return
    this.#length += to - from
    const { count } = this.#ranges
    if (count > 0 && this.#sources[count - 1] === bytes && this.#ranges.end(count - 1) === from) {
      this.#ranges.stretch(count - 1, to)
      return
    }
    this.#sources[count] = bytes
    this.#ranges.add(from, to)
  }

  /** Everything added since the last call: no piece or one; large ranges are returned as several pieces, uncopied. */
  take(): readonly Uint8Array[] {
    const { count } = this.#ranges
    if (count === 0) return NOTHING
    const pieces =
      count === 1 ? [this.#range(0)] : this.#length > JOINED_BYTES_MAX ? this.#apart() : [this.#joined()]
    // Drops references, so that an idle stream does not keep sent bytes in memory.
    for (let index = 0; index < count; index++) this.#sources[index] = EMPTY
    this.#ranges.clear()
    this.#length = 0
    return pieces
  }

  #range(index: number): Uint8Array {
    return viewOf(this.#sources[index] ?? EMPTY, this.#ranges.start(index), this.#ranges.end(index))
  }

  #apart(): readonly Uint8Array[] {
    return Array.from({ length: this.#ranges.count }, (_, index) => this.#range(index))
  }

  #joined(): Uint8Array {
    const first = this.#sources[0] ?? EMPTY
    const room = this.#length + first.length
    if (room > SLAB_BYTES / 2) {
      const piece = new Uint8Array(this.#length)
      this.#copyInto(piece, 0, EMPTY)
      return piece
    }
    if (slabUsed + room > SLAB_BYTES) {
      slab = new Uint8Array(SLAB_BYTES)
      slabUsed = 0
    }
    const start = slabUsed
    slabUsed += this.#length
    slab.set(first, slabUsed)
    this.#copyInto(slab, start, first)
    return slab.subarray(start, slabUsed)
  }

  /**
   * Writes all ranges from `start` on. Those in `staged`, which follows directly after their target, are moved from
   * there.
   */
  #copyInto(target: Uint8Array, start: number, staged: Uint8Array): void {
    const stagedAt = start + this.#length
    let at = start
    for (let index = 0; index < this.#ranges.count; index++) {
      const bytes = this.#sources[index] ?? EMPTY
      const from = this.#ranges.start(index)
      const to = this.#ranges.end(index)
      if (bytes === staged) target.copyWithin(at, stagedAt + from, stagedAt + to)
      else if (to - from <= LOOP_BYTES_MAX) {
        for (let offset = from; offset < to; offset++) target[at + offset - from] = bytes[offset] ?? 0
      } else target.set(viewOf(bytes, from, to), at)
      at += to - from
    }
  }
}

/**
 * Small pieces are allocated from one larger block, since every event of a chat stream needs one and a new array costs
 * as much as reading the event. A piece's memory is never reused, so its receiver may keep it.
 */
const SLAB_BYTES = 65_536
let slab = new Uint8Array(SLAB_BYTES)
let slabUsed = 0

/** Larger outputs are written in pieces: joining them would copy everything. */
const JOINED_BYTES_MAX = 1_048_576

/** Below this a loop is quicker than making a view and calling `set`. */
const LOOP_BYTES_MAX = 48

const NOTHING: readonly Uint8Array[] = []

function viewOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)
}
