import type { JsonValue } from '../json.ts'
import { JsonScanner } from '../passthrough/json-scanner.ts'
import { compileWatchTree } from '../passthrough/watch-tree.ts'
import { JsonBuilder } from './json-builder.ts'
import type { LiftedStrings } from './lifted-strings.ts'

/** A long event of a stream, checked and parsed while it arrives. */
export class LongEvent {
  readonly #scanner = new JsonScanner(NOTHING_WATCHED, { onValue: () => undefined })
  readonly #builder: JsonBuilder
  readonly #lifted: LiftedStrings
  readonly #liftedBefore: number
  readonly #countBefore: number
  #readable = true
  #read = 0

  constructor(lifted: LiftedStrings) {
    this.#builder = new JsonBuilder(lifted)
    this.#lifted = lifted
    this.#liftedBefore = lifted.length
    this.#countBefore = lifted.count
  }

  /** Continues reading: `bytes[base, end)` is all of its data received so far. */
  push(bytes: Uint8Array, base: number, end: number): void {
    this.#readable &&= this.#scanner.push(bytes, base + this.#read, end)
    if (this.#readable) this.#builder.push(bytes, base, this.#read, end - base)
    this.#read = end - base
  }

  /** Its bytes without those that were lifted. */
  get bytesLeft(): number {
    return this.#read - (this.#lifted.length - this.#liftedBefore)
  }

  /** Its parsed data; undefined: it is not JSON. */
  end(bytes: Uint8Array, base: number, end: number): JsonValue | undefined {
    this.push(bytes, base, end)
    return this.#readable && this.#scanner.end() ? this.#builder.end(bytes, base, end - base) : undefined
  }

  /** The event is not used: its lifted strings are released, or a stream of such events would keep them all. */
  drop(): void {
    this.#lifted.keepFirst(this.#countBefore)
  }
}

const NOTHING_WATCHED = compileWatchTree([])
