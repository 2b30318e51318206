/**
 * Gathers byte ranges into one piece to send. Ranges that follow each other in the same memory stay one range, so bytes
 * that pass unchanged are never copied; where something was put between them, one copy makes one write of them all.
 */
export class ByteAssembler {
  readonly #sources: Uint8Array[] = []
  readonly #bounds: number[] = []
  #length = 0

  add(bytes: Uint8Array, from: number, to: number): void {
    if (to <= from) return
    this.#length += to - from
    const last = this.#sources.length - 1
    if (last >= 0 && this.#sources[last] === bytes && this.#bounds[last * 2 + 1] === from) {
      this.#bounds[last * 2 + 1] = to
      return
    }
    this.#sources.push(bytes)
    this.#bounds.push(from, to)
  }

  /** Everything added since the last time: no piece or one. */
  take(): readonly Uint8Array[] {
    const count = this.#sources.length
    if (count === 0) return NOTHING
    const piece = count === 1 ? this.#only() : this.#joined()
    this.#sources.length = 0
    this.#bounds.length = 0
    this.#length = 0
    return [piece]
  }

  #only(): Uint8Array {
    const bytes = this.#sources[0] ?? EMPTY
    const from = this.#bounds[0] ?? 0
    const to = this.#bounds[1] ?? 0
    return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
  }

  #joined(): Uint8Array {
    const piece = new Uint8Array(this.#length)
    let at = 0
    for (let index = 0; index < this.#sources.length; index++) {
      const bytes = this.#sources[index] ?? EMPTY
      const from = this.#bounds[index * 2] ?? 0
      const to = this.#bounds[index * 2 + 1] ?? 0
      piece.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), at)
      at += to - from
    }
    return piece
  }
}

const NOTHING: readonly Uint8Array[] = []
const EMPTY = new Uint8Array(0)
