import { type JsonFailure, type JsonKind, JsonScanner, type JsonSink } from './json-scanner.ts'
import type { WatchNode } from './watch-tree.ts'

/** A scanner that also hands out the bytes of the values it reports, wherever the pieces of the text were cut. */
export class SpanReader {
  readonly #scanner: JsonScanner
  /** Pieces that hold the beginning of a wanted value that is still open. */
  #kept: Uint8Array[] = []
  #keptFrom = 0
  #current: Uint8Array = new Uint8Array(0)
  #currentFrom = 0
  #pushed = 0

  /** `depthMax`: as of the scanner. */
  constructor(root: WatchNode, sink: JsonSink, depthMax?: number) {
    this.#scanner = new JsonScanner(root, sink, depthMax)
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
    this.#kept = []
    return valid
  }

  /** Bytes of a wanted value; to be called from inside `onValue`. A copy only when the value was cut. */
  read(start: number, end: number): Uint8Array {
    if (start >= this.#currentFrom) {
      return this.#current.subarray(start - this.#currentFrom, end - this.#currentFrom)
    }
    const bytes = new Uint8Array(end - start)
    let at = this.#keptFrom
    for (const piece of [...this.#kept, this.#current]) {
      const from = Math.max(start, at)
      const to = Math.min(end, at + piece.length)
      if (from < to) bytes.set(piece.subarray(from - at, to - at), from - start)
      at += piece.length
    }
    return bytes
  }

  /** Keeps the pieces from offset `from` on, in case the value that begins there ends in a later one. */
  #keep(from: number): void {
    if (from >= this.#pushed) {
      if (this.#kept.length > 0) this.#kept = []
      return
    }
    if (this.#kept.length === 0) this.#keptFrom = this.#currentFrom
    this.#kept.push(this.#current)
    while (this.#kept.length > 1 && this.#keptFrom + (this.#kept[0]?.length ?? 0) <= from) {
      this.#keptFrom += this.#kept.shift()?.length ?? 0
    }
  }
}
