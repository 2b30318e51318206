/**
 * An answer made without a network: the sandbox composes it, and `upstream/` passes it to the same sink as a real one.
 */
export interface OfflineAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Pulled one at a time, so that a long stream is never in memory as a whole. */
  readonly chunks: Iterable<OfflineChunk>
}

export interface OfflineChunk {
  readonly data: string | Uint8Array
  /** Pause before it. */
  readonly afterMs: number
}
