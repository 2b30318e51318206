/**
 * Tokens of one call in disjoint classes (docs/reference/contract.md#D-names-34): no token is in two of them. `undefined`
 * means not reported, 0 means known to be none. `reasoning` is the part of `output` spent on reasoning, so it is never
 * added to it.
 */
export interface Usage {
  /** Uncached input. */
  readonly input: number | undefined
  readonly cachedInput: number | undefined
  /** Written to the cache for the short life (5 minutes). */
  readonly cacheWrite: number | undefined
  readonly cacheWrite1h: number | undefined
  /** All output, reasoning included. */
  readonly output: number | undefined
  readonly reasoning: number | undefined
}

export const NO_USAGE: Usage = {
  input: undefined,
  cachedInput: undefined,
  cacheWrite: undefined,
  cacheWrite1h: undefined,
  output: undefined,
  reasoning: undefined,
}

/**
 * Later counters replace earlier ones; a counter that is not reported keeps the value it had (docs/protocols.md#usage).
 */
export function mergeUsage(earlier: Usage, later: Usage): Usage {
  return {
    input: later.input ?? earlier.input,
    cachedInput: later.cachedInput ?? earlier.cachedInput,
    cacheWrite: later.cacheWrite ?? earlier.cacheWrite,
    cacheWrite1h: later.cacheWrite1h ?? earlier.cacheWrite1h,
    output: later.output ?? earlier.output,
    reasoning: later.reasoning ?? earlier.reasoning,
  }
}

/** All tokens of a call, every class once; reasoning is part of output. */
export function tokensOf(usage: Usage): number {
  return (
    (usage.input ?? 0) +
    (usage.cachedInput ?? 0) +
    (usage.cacheWrite ?? 0) +
    (usage.cacheWrite1h ?? 0) +
    (usage.output ?? 0)
  )
}
