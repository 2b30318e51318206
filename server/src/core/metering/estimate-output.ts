/**
 * The estimated usage of an answer whose vendor reported none: interrupted answers, and those that end without usage.
 */
import type { MeterReading } from './meter.ts'

export interface Generation {
  /** Output tokens as last reported by the upstream; undefined: never. */
  readonly reportedOutput: number | undefined
  /** ms the upstream may have generated since then. */
  readonly unreportedMs: number
  /** Output tokens a second, hidden reasoning included; undefined: nothing is known about the chain. */
  readonly rate: number | undefined
  /** The most that the call's hold allows for. */
  readonly worstOutputTokens: number
}

/**
 * The larger of what was visible and what the chain's rate yields for the time: hidden reasoning is not in the bytes.
 * The estimate by rate is limited to the hold's worst case; visible output always counts in full.
 */
export function estimateOutput(
  reading: MeterReading,
  { reportedOutput, unreportedMs, rate, worstOutputTokens }: Generation,
): MeterReading {
  const seen = reading.usage.output ?? 0
  const made = (reportedOutput ?? 0) + Math.ceil(((rate ?? 0) * Math.max(0, unreportedMs)) / 1_000)
  const output = Math.max(seen, Math.min(made, worstOutputTokens))
  return { ...reading, usage: { ...reading.usage, output }, source: 'estimated' }
}
