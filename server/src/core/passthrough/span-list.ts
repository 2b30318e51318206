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
