/**
 * Memory of large request bodies that is used again. V8 counts buffers outside its heap, too: with new ones for each body,
 * eight bodies of 5 MB at once cause so many full garbage collections that a body costs half as much again.
 *
 * The bytes of one client must never be read as another's. So a block is used again only if every exchange that sent
 * from it has said that all of it was sent; whatever is not sure is left to the garbage collector.
 */

export const BLOCK_BYTES = 65_536
/** The most that is kept for later bodies, at most a quarter of what all running bodies may take. */
const FREE_BYTES_MAX = 64 * 1024 * 1024
const LOOK_MS = 10_000

export class BodyBlocks {
  readonly #free: Uint8Array[] = []
  readonly #freeMax: number
  /** The fewest that were free since the last look: nobody needed these. */
  #spare = 0
  #timer: NodeJS.Timeout | undefined

  /** @param bytesInFlightMax that of the budget of bodies */
  constructor(bytesInFlightMax: number) {
    this.#freeMax = Math.floor(Math.min(FREE_BYTES_MAX, bytesInFlightMax / 4) / BLOCK_BYTES)
  }

  get free(): number {
    return this.#free.length
  }

  /** What it contains is somebody else's: give on only what was written. */
  take(): Uint8Array {
    const block = this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
    this.#spare = Math.min(this.#spare, this.#free.length)
    return block
  }

  /** Nobody may read from them any more. */
  give(blocks: readonly Uint8Array[]): void {
    for (const block of blocks) if (this.#free.length < this.#freeMax) this.#free.push(block)
  }

  /** Lets go what was not needed since the last call. */
  look(): void {
    this.#free.length -= this.#spare
    this.#spare = this.#free.length
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Looks at them by itself, until they are stopped. */
export function keepBodyBlocks(bytesInFlightMax: number): BodyBlocks {
  const blocks = new BodyBlocks(bytesInFlightMax)
  blocks.start()
  return blocks
}

/** What one body takes of them. */
export class BodyMemory {
  readonly #pool: BodyBlocks
  readonly #full: Uint8Array[] = []
  #block: Uint8Array | undefined
  /** Bytes written of the block. */
  #written = 0
  #lent = 0
  #returned = 0

  constructor(pool: BodyBlocks) {
    this.#pool = pool
  }

  /** Copies the bytes. */
  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.byteLength; ) {
      const block = this.#room()
      const more = Math.min(bytes.byteLength - from, BLOCK_BYTES - this.#written)
      block.set(bytes.subarray(from, from + more), this.#written)
      this.#written += more
      from += more
    }
  }

  /** All that was appended, without a copy. */
  pieces(): readonly Uint8Array[] {
    const last = this.#block?.subarray(0, this.#written)
    return last === undefined ? this.#full : [...this.#full, last]
  }

  /**
   * Somebody sends from it.
   * @returns call this once nothing reads it any more; never, if that cannot be known
   */
  lend(): () => void {
    this.#lent += 1
    let isOut = true
    return () => {
      if (isOut) this.#returned += 1
      isOut = false
    }
  }

  /** The body's call has ended. Its memory serves another one, unless somebody may still send from it. */
  giveBack(): void {
    const isSure = this.#lent > 0 && this.#lent === this.#returned
    const blocks = this.#block === undefined ? this.#full : [...this.#full, this.#block]
    if (isSure) this.#pool.give(blocks)
    this.#full.length = 0
    this.#block = undefined
  }

  #room(): Uint8Array {
    const block = this.#block
    if (block !== undefined && this.#written < BLOCK_BYTES) return block
    if (block !== undefined) this.#full.push(block)
    // If there is no memory for another one, this one still counts once.
    this.#block = undefined
    this.#block = this.#pool.take()
    this.#written = 0
    return this.#block
  }
}
