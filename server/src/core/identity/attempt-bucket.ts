/**
 * How many attempts something may have: a leaky bucket. `limit` attempts fit at once, and one more each time `windowMs
 * / limit` has passed, so no wait is longer than that.
 */
export interface AttemptBucket {
  /** Whose attempts: `sign-in/target/…`. */
  readonly subject: string
  readonly limit: number
  readonly windowMs: number
}

export type AttemptDecision =
  | { readonly kind: 'taken'; readonly emptyAt: number }
  | { readonly kind: 'full'; readonly retryAfterMs: number }

/** @param emptyAt when the bucket will have leaked empty, epoch ms; undefined: it is empty */
export function decideAttempt(
  { limit, windowMs }: AttemptBucket,
  emptyAt: number | undefined,
  at: number,
): AttemptDecision {
  const next = Math.max(emptyAt ?? at, at) + oneTryMs({ limit, windowMs })
  const over = next - at - windowMs
  return over > 0 ? { kind: 'full', retryAfterMs: over } : { kind: 'taken', emptyAt: next }
}

/** Gives one attempt back, because it was not a guess. */
export function returnAttempt(bucket: AttemptBucket, emptyAt: number): number {
  return emptyAt - oneTryMs(bucket)
}

/** Whole milliseconds, rounded down, so that `limit` attempts always fit into the window. */
function oneTryMs({ limit, windowMs }: Pick<AttemptBucket, 'limit' | 'windowMs'>): number {
  return Math.floor(windowMs / limit)
}
