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

/** Start and end offsets, kept in one array that is filled again and again: emptying it costs nothing. */
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
 * that pass unchanged are never copied; where something was put between them, one copy makes one write of them all.
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

  /** Everything added since the last time: no piece or one; large ranges are several, as they lie. */
  take(): readonly Uint8Array[] {
    const { count } = this.#ranges
    if (count === 0) return NOTHING
    const pieces =
      count === 1 ? [this.#range(0)] : this.#length > JOINED_BYTES_MAX ? this.#apart() : [this.#joined()]
    // What was sent is not to be kept alive by an idle stream.
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

  /** Writes all ranges from `start` on. Those of `staged`, which lies right behind their place, are moved from there. */
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
 * Small pieces are cut from one larger piece of memory, as every event of a chat stream makes one: a fresh array costs
 * as much as reading the event. What is cut off is never used again, so whoever got it may keep it.
 */
const SLAB_BYTES = 65_536
let slab = new Uint8Array(SLAB_BYTES)
let slabUsed = 0

/** More than this is written in pieces: one write of all would cost a copy of all. */
const JOINED_BYTES_MAX = 1_048_576

/** Below this a loop is quicker than making a view and calling `set`. */
const LOOP_BYTES_MAX = 48

const NOTHING: readonly Uint8Array[] = []
const EMPTY = new Uint8Array(0)

function viewOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)
}
