/** An answer made without a network: the sandbox composes it, `upstream/` plays it into the same sink as a real one. */
export interface OfflineAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Pulled one at a time, so that a long stream is never held whole. */
  readonly chunks: Iterable<OfflineChunk>
}

export interface OfflineChunk {
  readonly data: string | Uint8Array
  /** Pause before it. */
  readonly afterMs: number
}
