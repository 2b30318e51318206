import { describe, expect, test } from 'vitest'
import { NO_USAGE, type Usage } from '../canonical/usage.ts'
import { boundUsage, type UsageBounds } from './possible-usage.ts'

const BOUNDS: UsageBounds = {
  contextTokens: 100_000,
  maxOutputTokens: 1_000,
  candidates: 1,
  requestBytes: 400,
  answerBytes: 800,
  rounds: 1,
}
const usage = (counts: Partial<Usage>): Usage => ({ ...NO_USAGE, input: 10, output: 20, ...counts })

describe('a reading that can be is charged as it is', () => {
  test.each<readonly [what: string, reported: Partial<Usage>, bounds: Partial<UsageBounds>]>([
    ['a plain one', {}, {}],
    [
      'the whole context, in all its classes',
      { input: 25_000, cachedInput: 25_000, cacheWrite: 25_000, cacheWrite1h: 25_000 },
      {},
    ],
    ['the model’s whole maximum, hidden reasoning included', { output: 1_000, reasoning: 990 }, {}],
    ['more than the maximum, where the answer is as long', { output: 1_500 }, { answerBytes: 9_000 }],
    ['the maximum for each candidate', { output: 3_000 }, { candidates: 3 }],
    ['the context once more for each tool the vendor ran', { input: 250_000 }, { rounds: 3 }],
    [
      'a request longer than the context that the catalogue tells',
      { input: 150_000 },
      { requestBytes: 600_000 },
    ],
    [
      'a long one of a model the catalogue does not know',
      { input: 2_000_000, output: 200_000 },
      { contextTokens: undefined, maxOutputTokens: undefined },
    ],
    ['nothing told', { input: undefined, output: undefined }, {}],
  ])('%s', (_what, reported, bounds) => {
    const given = usage(reported)
    expect(boundUsage(given, { ...BOUNDS, ...bounds })).toEqual({ usage: given, suspect: undefined })
  })
})

describe('a reading that cannot be is charged at what can be, and the row says both numbers', () => {
  test.each<
    readonly [what: string, reported: Partial<Usage>, charged: Partial<Usage>, bounds: Partial<UsageBounds>]
  >([
    ['999 999 999 output tokens', { output: 999_999_999 }, { output: 1_000 }, {}],
    [
      'reasoning goes down with its output',
      { output: 5_000, reasoning: 4_990 },
      { output: 1_000, reasoning: 1_000 },
      {},
    ],
    ['input beyond the context', { input: 100_001 }, { input: 100_000 }, {}],
    [
      'what was cached and written is cut before what was sent',
      { input: 60_000, cachedInput: 60_000, cacheWrite: 5, cacheWrite1h: 5 },
      { input: 60_000, cachedInput: 40_000, cacheWrite: 0, cacheWrite1h: 0 },
      {},
    ],
    [
      'absurd numbers of a model the catalogue does not know',
      { input: 1e14, output: 1e14 },
      { input: 10_000_000, output: 1_000_000 },
      { contextTokens: undefined, maxOutputTokens: undefined },
    ],
  ])('%s', (_what, reported, charged, bounds) => {
    const given = usage(reported)
    const found = boundUsage(given, { ...BOUNDS, ...bounds })
    expect(found.usage).toEqual({ ...given, ...charged })
    const input = (one: Usage) =>
      (one.input ?? 0) + (one.cachedInput ?? 0) + (one.cacheWrite ?? 0) + (one.cacheWrite1h ?? 0)
    expect(found.suspect).toEqual({
      inputReported: input(given),
      inputCharged: input(found.usage),
      outputReported: given.output,
      outputCharged: found.usage.output,
    })
  })
})

test.each([
  [-5, undefined],
  [Number.NaN, undefined],
  [Infinity, undefined],
  [2.4, 3],
])('a count of %d counts as %d', (told, counted) => {
  expect(boundUsage(usage({ output: told, cachedInput: told }), BOUNDS).usage).toEqual(
    usage({ output: counted, cachedInput: counted }),
  )
})
