import { describe, expect, test } from 'vitest'
import type { AccountRow } from '../ledger/hot-rows.ts'
import { decideLevels, planLevelOf } from './levels.ts'

const NOW = 1_000_000

function account(
  verification: number,
  plan = 0,
  expiresAt = NOW + 1,
): Pick<AccountRow, 'verification' | 'subscription'> {
  const subscription = plan === 0 ? undefined : { plan: 'any', level: plan, expiresAt, quota: [] }
  return { verification, subscription }
}
const decide = (who: ReturnType<typeof account>, requiredVerification: number, requiredPlan: number) =>
  decideLevels(who, { requiredVerification, requiredPlan }, NOW)

describe('verification: 0 none < 1 personal < 2 enterprise', () => {
  test.each([-1, 0])('a requirement of %s always passes', (required) => {
    expect(decide(account(0), required, required)).toBeUndefined()
  })

  test.each([0, 1, 2].flatMap((level) => [1, 2].map((required) => [level, required] as const)))(
    'level %s against a requirement of %s',
    (level, required) => {
      expect(decide(account(level), required, 0) === undefined).toBe(level >= required)
    },
  )
})

describe('plan: 0 none < 1 PLUS < 2 PRO < 3 PROMAX', () => {
  test.each([0, 1, 2, 3].flatMap((level) => [1, 2, 3].map((required) => [level, required] as const)))(
    'level %s against a requirement of %s',
    (level, required) => {
      expect(decide(account(0, level), 0, required) === undefined).toBe(level >= required)
    },
  )

  test('the level is that of the subscription active now: an expired one counts as none', () => {
    expect(planLevelOf(account(0, 2, NOW + 1), NOW)).toBe(2)
    expect(planLevelOf(account(0, 2, NOW), NOW)).toBe(0)
    expect(decide(account(0, 2, NOW), 0, 1)?.code).toBe(40203)
  })
})

describe('the five messages', () => {
  test.each([
    ['[7.1-35]', 1, 0, 'this model needs real-name verification of your account'],
    ['[7.1-36]', 2, 0, 'this model needs enterprise verification of your account'],
    ['[7.1-37]', 0, 1, 'this model needs a subscription to Sluice PLUS'],
    ['[7.1-38]', 0, 2, 'this model needs a subscription to Sluice PRO'],
    ['[7.1-39]', 0, 3, 'this model needs a subscription to Sluice PROMAX'],
  ])('%s verification %s, plan %s', (_id, verification, plan, message) => {
    expect(decide(account(0), verification, plan)).toEqual({ code: 40203, message, retryAfterMs: undefined })
  })

  test('when both fail the verification message comes first [D-admission-33]', () => {
    expect(decide(account(0), 1, 3)?.message).toContain('real-name')
  })

  test('only one met is not enough [D-admission-27]', () => {
    expect(decide(account(2, 1), 2, 2)?.message).toContain('PRO')
    expect(decide(account(1, 3), 2, 2)?.message).toContain('enterprise')
    expect(decide(account(2, 2), 2, 2)).toBeUndefined()
  })
})
