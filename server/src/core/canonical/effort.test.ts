import { describe, expect, test } from 'vitest'
import {
  budgetForEffort,
  effortForBudget,
  effortForLevel,
  effortOf,
  GEMINI_LEVELS,
  geminiBudgetForEffort,
  levelForEffort,
  nearestEffort,
} from './effort.ts'
import { EFFORTS, type Effort } from './request.ts'

describe('effort and budget', () => {
  test.each<[Effort, number, number, string]>([
    ['none', 0, 0, 'MINIMAL'],
    ['minimal', 1024, 1024, 'MINIMAL'],
    ['low', 2048, 4096, 'LOW'],
    ['medium', 8192, 12288, 'MEDIUM'],
    ['high', 16384, 24576, 'HIGH'],
    ['xhigh', 24576, 24576, 'HIGH'],
    ['max', 32000, 24576, 'HIGH'],
  ])('%s is a budget of %i, of %i for Gemini, and level %s', (effort, budget, geminiBudget, level) => {
    expect(budgetForEffort(effort)).toBe(budget)
    expect(geminiBudgetForEffort(effort)).toBe(geminiBudget)
    expect(levelForEffort(effort)).toBe(level)
  })

  test.each<[number, Effort]>([
    [-1, 'medium'],
    [0, 'none'],
    [1, 'low'],
    [2048, 'low'],
    [2049, 'medium'],
    [12288, 'medium'],
    [12289, 'high'],
    [24576, 'high'],
    [24577, 'xhigh'],
    [31999, 'xhigh'],
  ])('a budget of %i stands for %s', (budget, effort) => {
    expect(effortForBudget(budget)).toBe(effort)
  })

  test('an effort the client named counts before its budget', () => {
    const reasoning = { effort: 'low', budgetTokens: 30000, expose: undefined, summary: undefined } as const
    expect(effortOf(reasoning)).toBe('low')
    expect(effortOf({ ...reasoning, effort: undefined })).toBe('xhigh')
    expect(effortOf({ ...reasoning, effort: undefined, budgetTokens: undefined })).toBeUndefined()
  })

  test('a level is recovered from the effort it was converted to', () => {
    for (const level of GEMINI_LEVELS) expect(levelForEffort(effortForLevel(level))).toBe(level)
  })
})

describe('the nearest supported effort', () => {
  test.each<[Effort, readonly Effort[], Effort | undefined]>([
    ['high', ['low', 'medium', 'high'], 'high'],
    ['xhigh', ['none', 'low', 'medium', 'high', 'max'], 'max'],
    ['max', ['low', 'medium', 'high'], 'high'],
    ['minimal', ['none', 'low', 'high'], 'low'],
    ['none', ['low', 'medium'], 'low'],
    ['none', ['none', 'low'], 'none'],
    ['medium', ['low', 'high'], 'high'],
    ['low', ['none'], 'none'],
    ['low', [], undefined],
  ])('%s among %j is %s', (effort, supported, nearest) => {
    expect(nearestEffort(effort, supported)).toBe(nearest)
  })

  test('every effort keeps itself when all are supported', () => {
    for (const effort of EFFORTS) expect(nearestEffort(effort, EFFORTS)).toBe(effort)
  })
})
