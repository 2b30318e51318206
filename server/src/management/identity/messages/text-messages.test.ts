import { describe, expect, test } from 'vitest'
import { mayBeTexted, textBudgets } from './text-messages.ts'

const RULES = { dayLimit: 100, monthLimit: 1_000, countries: [], refused: [] }

describe('a number that makes the operator pay dearly', () => {
  test.each([
    ['Iridium', '+8816123456789'],
    ['Inmarsat', '+870773123456'],
    ['international networks', '+882161234567'],
    ['international networks', '+883510012345678'],
    ['universal personal numbers', '+878101234567890'],
    ['international premium rate', '+979123456789'],
    ['premium rate of Germany', '+4990012345678'],
    ['premium rate of the United Kingdom', '+449012345678'],
    ['shared cost of Germany', '+491801123456'],
    ['toll free of the United States', '+18005551234'],
  ])('gets no message: %s', (_what, phone) => {
    expect(mayBeTexted(phone, RULES)).toBe(false)
    expect(mayBeTexted(phone, { ...RULES, countries: ['DE', 'GB', 'US'] })).toBe(false)
  })

  test('gets one where the operator names its prefix', () => {
    expect(mayBeTexted('+8816123456789', { ...RULES, countries: ['CN', '+8816'] })).toBe(true)
  })

  test.each([
    ['China', '+8613800138000'],
    ['Germany', '+4915112345678'],
    ['the United States', '+14155550123'],
    ['Brazil', '+5511912345678'],
  ])('is none of %s', (_what, phone) => {
    expect(mayBeTexted(phone, RULES)).toBe(true)
  })
})

describe('where messages go', () => {
  test('is every country, or those that are named and no other', () => {
    const rules = { ...RULES, countries: ['CN', '+1415'] }
    expect(mayBeTexted('+8613800138000', rules)).toBe(true)
    expect(mayBeTexted('+14155550123', rules)).toBe(true)
    expect(mayBeTexted('+12125550123', rules)).toBe(false)
    expect(mayBeTexted('+4915112345678', rules)).toBe(false)
  })

  test('is never where they are refused', () => {
    const rules = { ...RULES, refused: ['DE', '+8613'] }
    expect(mayBeTexted('+4915112345678', rules)).toBe(false)
    expect(mayBeTexted('+8613800138000', rules)).toBe(false)
    expect(mayBeTexted('+8615800138000', rules)).toBe(true)
  })
})

test('strangers get half of a budget, accounts four fifths, who is where they were before all of it', () => {
  const at = Date.parse('2026-11-22T23:59:00Z')
  const limits = (['stranger', 'account', 'known-place'] as const).map((asker) =>
    textBudgets(RULES, asker, at).map(({ limit }) => limit),
  )
  expect(limits).toEqual([
    [50, 500],
    [80, 800],
    [100, 1_000],
  ])
})

test('a day and a month end by UTC, also at the end of a year', () => {
  const ends = (time: string) =>
    textBudgets(RULES, 'account', Date.parse(time)).map(({ subject, endsAt }) => [
      subject,
      new Date(endsAt).toISOString(),
    ])
  expect(ends('2026-12-31T23:59:59Z')).toEqual([
    ['sms/day/2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['sms/month/2026-12', '2027-01-01T00:00:00.000Z'],
  ])
})
