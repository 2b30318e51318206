/** Bytes too large for a database: finished videos, verification documents. Two implementers: a directory, and S3. */
export interface BlobStore {
  /**
   * Stores a stream completely or not at all, with back-pressure; a half-written blob is never visible. Rejects with
   * `BlobTooLarge` past `maxBytes`.
   */
  put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { readonly mediaType: string; readonly maxBytes: number },
  ): Promise<StoredBlob>
  /** undefined: not found. `range` is inclusive and already checked against the size. */
  open(key: string, range?: { readonly start: number; readonly end: number }): Promise<OpenBlob | undefined>
  find(key: string): Promise<{ readonly bytes: number; readonly mediaType: string } | undefined>
  /** No error if it does not exist. */
  remove(key: string): Promise<void>
  /** Resolves if a write and a read work; rejects otherwise, and for a network store as soon as `signal` aborts. */
  ping(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Time limit of a check whether the store works, which writes and reads a few bytes. */
export const PING_PATIENCE_MS = 10_000

export interface StoredBlob {
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

export interface OpenBlob {
  /** Size of the whole blob, whatever the range. */
  readonly bytes: number
  readonly mediaType: string
  readonly body: AsyncIterable<Uint8Array>
}
