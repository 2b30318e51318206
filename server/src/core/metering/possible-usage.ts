import type { Usage } from '../canonical/usage.ts'

/** The bounds of a possible reading. */
export interface UsageBounds {
  /** The model's context; undefined: the catalogue does not say. */
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  /** Number of answers requested. */
  readonly candidates: number
  /** Bytes of the request and of the answer: no token is shorter than a byte. */
  readonly requestBytes: number
  readonly answerBytes: number
  /** How often the model may have read its context: it reads it again after each tool that runs at the vendor. */
  readonly rounds: number
}

export interface PossibleUsage {
  readonly usage: Usage
  /** undefined: the reading is possible. */
  readonly suspect: UsageSuspect | undefined
}

/** A model whose tools run at the vendor reads its context again for each; vendors stop after about this many. */
export const ROUNDS_OF_TOOLS = 10
/** More than any vendor runs for one answer: a bound or a count above it is not believed. */
export const TOOL_USES_MAX = 1_000
/** Used if the catalogue does not say: more than any model reads or writes at once. */
const CONTEXT_TOKENS_UNKNOWN = 10_000_000
const OUTPUT_TOKENS_UNKNOWN = 1_000_000
/** What a vendor adds around a conversation and its tools. */
const FRAMING_TOKENS = 10_000

/**
 * An impossible reading is charged at the highest possible value: input beyond the model's context, output beyond both
 * the model's maximum and what the answer's bytes could hold (docs/operating/charges.md#usage-that-cannot-be). Counts
 * other than non-negative integers count as not reported.
 */
export function boundUsage(reported: Usage, bounds: UsageBounds): PossibleUsage {
  const usage = wholeCounts(reported)
  const inputMost = Math.max(
    (bounds.contextTokens ?? CONTEXT_TOKENS_UNKNOWN) * bounds.rounds,
    bounds.requestBytes + FRAMING_TOKENS,
  )
  const outputMost = Math.max(
    (bounds.maxOutputTokens ?? OUTPUT_TOKENS_UNKNOWN) * bounds.candidates * bounds.rounds,
    bounds.answerBytes,
  )
  const input = cutInput(usage, inputMost)
  const output = usage.output === undefined ? undefined : Math.min(usage.output, outputMost)
  if (input === undefined && output === usage.output) return { usage, suspect: undefined }
  const charged: Usage = {
    ...usage,
    ...input,
    output,
    reasoning: usage.reasoning === undefined ? undefined : Math.min(usage.reasoning, output ?? 0),
  }
  return {
    usage: charged,
    suspect: {
      inputReported: inputOf(usage),
      inputCharged: inputOf(charged),
      outputReported: usage.output ?? 0,
      outputCharged: output ?? 0,
    },
  }
}

const CLASSES = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'] as const

function wholeCounts(usage: Usage): Usage {
  const isWhole = (count: number | undefined) =>
    count === undefined || (Number.isFinite(count) && count >= 0 && Number.isInteger(count))
  if (CLASSES.every((name) => isWhole(usage[name]))) return usage
  const whole = (count: number | undefined) =>
    count !== undefined && Number.isFinite(count) && count >= 0 ? Math.ceil(count) : undefined
  return {
    input: whole(usage.input),
    cachedInput: whole(usage.cachedInput),
    cacheWrite: whole(usage.cacheWrite),
    cacheWrite1h: whole(usage.cacheWrite1h),
    output: whole(usage.output),
    reasoning: whole(usage.reasoning),
  }
}

function inputOf({ input, cachedInput, cacheWrite, cacheWrite1h }: Usage): number {
  return (input ?? 0) + (cachedInput ?? 0) + (cacheWrite ?? 0) + (cacheWrite1h ?? 0)
}

/**
 * Uncached input is kept first, then what was cached or written: the customer knows what they sent. undefined:
 * everything fits.
 */
function cutInput(
  usage: Usage,
  most: number,
): Pick<Usage, 'input' | 'cachedInput' | 'cacheWrite' | 'cacheWrite1h'> | undefined {
  if (inputOf(usage) <= most) return undefined
  let room = most
  const take = (count: number | undefined) => {
    if (count === undefined) return undefined
    const taken = Math.min(count, room)
    room -= taken
    return taken
  }
  const input = take(usage.input)
  const cachedInput = take(usage.cachedInput)
  const cacheWrite = take(usage.cacheWrite)
  return { input, cachedInput, cacheWrite, cacheWrite1h: take(usage.cacheWrite1h) }
}

/** Tokens of all classes of one side. */
export interface UsageSuspect {
  readonly inputReported: number
  readonly inputCharged: number
  readonly outputReported: number
  readonly outputCharged: number
}
