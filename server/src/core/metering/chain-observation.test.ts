import { describe, expect, test } from 'vitest'
import {
  CAP_DISTRUST_MS,
  type FinishedOutput,
  NOTHING_OBSERVED,
  observe,
  outputRateOf,
  trustsCap,
} from './chain-observation.ts'

const seen = (...outputs: readonly FinishedOutput[]) =>
  outputs.reduce((before, output) => observe(before, output, 1_000), NOTHING_OBSERVED)
const output = (outputTokens: number, generatedMs: number): FinishedOutput => ({ outputTokens, generatedMs })

describe('the output rate of a chain', () => {
  test.each<readonly [promise: string, outputs: readonly FinishedOutput[], rate: number | undefined]>([
    ['is not known before anything was seen', [], undefined],
    ['is that of the one call that was seen', [output(5_000, 50_000)], 100],
    ['weighs calls by the time they took', [output(1_000, 10_000), output(9_000, 30_000)], 250],
    ['is not drawn down by answers too short to tell', [output(5_000, 50_000), output(1, 60_000)], 100],
    ['is bounded where an upstream answers at once', [output(5_000, 0)], 5_000],
    [
      'does not take what is no number',
      [output(Number.NaN, 10), output(Infinity, 10), output(100, NaN)],
      undefined,
    ],
    ['takes of a very long call its own rate', [output(100_000, 1_000_000)], 100],
    ['is bounded where an upstream claims what cannot be', [output(999_999_999, 1_000)], 5_000],
    [
      'forgets what is older than ten minutes of generation',
      [output(1_000, 100_000), output(60_000, 600_000)],
      100,
    ],
  ])('%s', (_promise, outputs, rate) => {
    const found = outputRateOf(seen(...outputs))
    if (rate === undefined) expect(found).toBeUndefined()
    else expect(found).toBeCloseTo(rate, 6)
  })
})

describe('a token cap', () => {
  test.each<readonly [promise: string, outputTokens: number, tokenCap: number | undefined, trusted: boolean]>(
    [
      ['is trusted where the answer kept to it', 100, 100, true],
      ['is not trusted where more was billed', 101, 100, false],
      ['below 16 counts as 16, which some vendors raise it to', 16, 1, true],
      ['of one token is broken by 17', 17, 1, false],
      ['that nobody named cannot be broken', 100_000, undefined, true],
    ],
  )('%s', (_promise, outputTokens, tokenCap, trusted) => {
    const after = seen({ outputTokens, generatedMs: 1_000, tokenCap })
    expect(trustsCap(after, 1_001)).toBe(trusted)
  })

  test('is trusted again once the chain behaved for an hour', () => {
    const broken = seen({ outputTokens: 5_000, generatedMs: 1_000, tokenCap: 1 })
    const later = observe(broken, { outputTokens: 1, generatedMs: 10, tokenCap: 1 }, 2_000)
    expect(trustsCap(later, 1_000 + CAP_DISTRUST_MS - 1)).toBe(false)
    expect(trustsCap(later, 1_000 + CAP_DISTRUST_MS)).toBe(true)
  })
})
