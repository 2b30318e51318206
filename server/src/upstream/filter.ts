/** A filter between an answer's bytes and their reader. */

export interface BodyFilter {
  /** false: full; wait for `drain`. */
  push(chunk: Uint8Array): boolean
  end(): void
  pause(): void
  resume(): void
  destroy(): void
}

export interface FilterOutput {
  data(chunk: Uint8Array): void
  end(): void
  fail(detail: string): void
  drain(): void
}
