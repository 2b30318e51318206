import { SpanList } from './span-list.ts'

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
