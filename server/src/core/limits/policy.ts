/** Limits of one subject: a key, an account or an upstream credential (docs/reference/contract.md#2.6, #8). */

export const DIMENSIONS = [
  'requests',
  'tokens',
  'images',
  'videos',
  'amount',
  'video_seconds',
  'characters',
  'audio_seconds',
] as const
/** What a window counts. Each dimension has windows and anchors of its own (docs/reference/contract.md#8-13). */
export type Dimension = (typeof DIMENSIONS)[number]

/** One tier: at most `limit` of `dimension` in `seconds` from first use. `amount` is in whole Credits or decimals of it. */
export interface WindowLimit {
  readonly dimension: Dimension
  readonly limit: number
  readonly seconds: number
}

export interface Policy {
  /** Calls at once; undefined: unlimited. One number, not a window. */
  readonly concurrency: number | undefined
  readonly windows: readonly WindowLimit[]
}

export const UNLIMITED: Policy = { concurrency: undefined, windows: [] }

/** Which limit it is, for the refused client. */
export interface ExceededLimit {
  /** `concurrency` has no window. */
  readonly dimension: Dimension | 'concurrency'
  readonly limit: number
  readonly seconds: number | undefined
}
