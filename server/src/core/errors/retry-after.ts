/** The default wait of a 429. */
const UNKNOWN_WAIT_MS = 1_000

/**
 * The `retry-after` header: whole seconds, at least 1, on every 429 and wherever waiting helps
 * (docs/reference/contract.md#7.3-03, #D-errors-22, #D-errors-23).
 */
export function retryAfterHeader(
  status: number,
  waitMs: number | undefined,
): Readonly<Record<string, string>> {
  if (waitMs === undefined && status !== 429) return {}
  return { 'retry-after': String(Math.max(1, Math.ceil((waitMs ?? UNKNOWN_WAIT_MS) / 1_000))) }
}
