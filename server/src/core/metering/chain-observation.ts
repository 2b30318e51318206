/**
 * What finished calls show about a chain: how fast its model generates, hidden reasoning included, and whether it
 * respects a client's token cap. Interrupted calls are charged by the former, holds are sized by the latter.
 */
export interface ChainObservation {
  /** Recent output tokens and the time they took; the rate is their quotient. */
  readonly tokens: number
  readonly ms: number
  /** When it last billed beyond a client's own token cap, epoch ms; undefined: never seen. */
  readonly capBrokenAt: number | undefined
}

export interface FinishedOutput {
  /** As the upstream counted them, hidden reasoning included. */
  readonly outputTokens: number
  /** From sending the request to the end of the answer. */
  readonly generatedMs: number
  /** The client's own cap, for all candidates together; absent: it named none. */
  readonly tokenCap?: number | undefined
}

/** How much generation is remembered: a few long answers, or some dozens of short ones. */
const REMEMBERED_MS = 600_000
/**
 * A shorter answer's time is mostly waiting for its first token: it says nothing about the rate, and a client could ask
 * for many of them.
 */
const OUTPUT_TOKENS_LEAST = 64
/** Faster than any hardware on the market; replaying from a cache does not count as generating. */
const TOKENS_PER_SECOND_MAX = 5_000
/** Some vendors raise a smaller cap to this number, so this many are held, and billing them does not exceed the cap. */
export const TOKEN_CAP_LEAST = 16
/** How long a chain that exceeded a cap must respect caps before holds rely on them again. */
export const CAP_DISTRUST_MS = 3_600_000

/**
 * Tokens a second, used if no chain of the model was observed yet, so that the first client that disconnects is charged
 * too: hosted reasoning models generate 40 to 150.
 */
export const OUTPUT_RATE_ASSUMED = 100

export const NOTHING_OBSERVED: ChainObservation = { tokens: 0, ms: 0, capBrokenAt: undefined }

export function observe(before: ChainObservation, output: FinishedOutput, now: number): ChainObservation {
  const { tokens, ms } = addOutput(before, output)
  return { tokens, ms, capBrokenAt: breaksCap(output) ? now : before.capBrokenAt }
}

function addOutput(
  before: ChainObservation,
  { outputTokens, generatedMs }: FinishedOutput,
): Pick<ChainObservation, 'tokens' | 'ms'> {
  if (!(outputTokens >= OUTPUT_TOKENS_LEAST) || !Number.isFinite(outputTokens) || !(generatedMs >= 0))
    return before
  const took = Math.min(Math.max(generatedMs, (outputTokens / TOKENS_PER_SECOND_MAX) * 1_000), REMEMBERED_MS)
  // Of a call longer than the remembered time, only the last part counts.
  const share = generatedMs > REMEMBERED_MS ? REMEMBERED_MS / generatedMs : 1
  const tokens = Math.min(outputTokens * share, (took / 1_000) * TOKENS_PER_SECOND_MAX)
  const kept = Math.min(1, before.ms === 0 ? 0 : (REMEMBERED_MS - took) / before.ms)
  return { tokens: before.tokens * kept + tokens, ms: before.ms * kept + took }
}

function breaksCap({ outputTokens, tokenCap }: FinishedOutput): boolean {
  return tokenCap !== undefined && outputTokens > Math.max(tokenCap, TOKEN_CAP_LEAST)
}

/** Output tokens a second; undefined: nothing was seen yet. */
export function outputRateOf({ tokens, ms }: ChainObservation): number | undefined {
  return ms > 0 ? (tokens / ms) * 1_000 : undefined
}

export function trustsCap({ capBrokenAt }: ChainObservation, now: number): boolean {
  return capBrokenAt === undefined || now - capBrokenAt >= CAP_DISTRUST_MS
}
