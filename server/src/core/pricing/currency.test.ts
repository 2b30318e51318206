import { ONE_CALL } from '../metering/quantities.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_PRICES, TERMS } from '../calls/examples.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import { chainId } from '../ids.ts'
import { currencyOfPrice, knownRateOf, ownChange, ownRateChange, rateOf, ratesOf } from './currency.ts'
import { parseDecimal, printDecimal } from './decimal.ts'
import { priceCall } from './price.ts'

const SETTINGS = { currency: 'CNY', creditsPerUnit: '1000', otherCurrencies: { USD: '7200', JPY: '48.5' } }

describe('rates', () => {
  test('each currency has one, the platform’s own among them', () => {
    expect(ratesOf(SETTINGS)).toEqual({ CNY: '1000', USD: '7200', JPY: '48.5' })
    expect(rateOf(SETTINGS, 'USD')).toBe('7200')
    expect(rateOf(SETTINGS, 'CNY')).toBe('1000')
  })

  test.each(['EUR', '', 'usd', 'constructor', '__proto__'])(
    '%j has none, and no call is priced in it',
    (currency) => {
      expect(rateOf(SETTINGS, currency)).toBeUndefined()
      expect(() => knownRateOf(SETTINGS, currency)).toThrow('no rate of Credits')
    },
  )
})

describe('the platform’s own money', () => {
  test.each([
    ['another rate of it', { ...SETTINGS, creditsPerUnit: '2000' }, 'rate', '2000'],
    [
      'another currency',
      { currency: 'USD', creditsPerUnit: '7200', otherCurrencies: { CNY: '1000' } },
      'currency',
      '1000',
    ],
    [
      'another currency, and another rate of the former one',
      { currency: 'USD', creditsPerUnit: '7200', otherCurrencies: { CNY: '900' } },
      'currency',
      '900',
    ],
    ['a rate of another', { ...SETTINGS, otherCurrencies: { USD: '7300' } }, undefined, '1000'],
    ['the same rate in other digits', { ...SETTINGS, creditsPerUnit: '1000.0' }, undefined, '1000.0'],
  ])('%s', (_, after, change, to) => {
    expect(ownChange(SETTINGS, after)).toBe(change)
    expect(ownRateChange(SETTINGS, after)).toEqual({ from: '1000', to })
  })
})

describe('the currency of a price that is written', () => {
  test.each([
    ['a new one that names none is in the platform’s own', undefined, undefined, 'CNY'],
    ['a new one is in what it names', 'USD', undefined, 'USD'],
    ['one in the platform’s own needs no name', undefined, { currency: 'CNY' }, 'CNY'],
    ['another may be chosen on purpose', 'CNY', { currency: 'USD' }, 'CNY'],
    ['fees stay where the currency does', 'USD', { currency: 'USD', feesStay: true }, 'USD'],
  ])('%s', (_, written, replaced, currency) => {
    expect(currencyOfPrice({ written, replaced }, SETTINGS)).toEqual({ kind: 'currency', currency })
  })

  test.each([
    [
      'what it replaces is in another and it names none',
      undefined,
      { currency: 'USD' },
      /must be named: the price so far is in USD/,
    ],
    ['fees stay behind', 'USD', { currency: 'CNY', feesStay: true }, /surcharges per call, CNY/],
    ['there is no rate', 'EUR', undefined, /EUR has no rate.*it has CNY, USD, JPY/],
  ])('is refused where %s', (_, written, replaced, message) => {
    expect(currencyOfPrice({ written, replaced }, SETTINGS)).toMatchObject({
      kind: 'mistake',
      message: { text: expect.stringMatching(message) },
    })
  })
})

const decimal = (unitsMax: bigint, scaleMax: number) =>
  fc
    .tuple(fc.bigInt({ min: 1n, max: unitsMax }), fc.integer({ min: 0, max: scaleMax }))
    .map(([units, scale]) => printDecimal({ units, scale }))
const price = decimal(10n ** 9n, 9)
const rate = decimal(10n ** 9n, 6)
const tokens = fc.nat({ max: 1_000_000_000 })

/** Numerator over a power of ten. */
function fraction(text: string): { readonly units: bigint; readonly scale: bigint } {
  const read = parseDecimal(text)
  if (read.kind === 'refused') throw new Error(read.reason)
  return { units: read.value.units, scale: 10n ** BigInt(read.value.scale) }
}

/** In fractions of whole numbers, without the module's own arithmetic. */
function exactly(parts: readonly string[], tokenCount: number): bigint {
  // A price is for a million tokens, an amount in millionths: they cancel. The user's rate is percent.
  let [top, bottom] = [BigInt(tokenCount), 100n]
  for (const { units, scale } of parts.map(fraction)) {
    top *= units
    bottom *= scale
  }
  const whole = top / bottom
  const twice = (top - whole * bottom) * 2n
  const up = twice > bottom || (twice === bottom && whole % 2n === 1n)
  return up ? whole + 1n : whole
}

const amountOf = (
  input: {
    readonly currency: string
    readonly price: string
    readonly rate: string
    readonly tokens: number
  },
  { multiplier = '1', userRate = '100' } = {},
) =>
  priceCall(
    { usage: { ...NO_USAGE, input: input.tokens }, images: 0, videoSeconds: 0, ...ONE_CALL },
    {
      chainId: chainId(1),
      userRate,
      terms: {
        ...TERMS,
        multipliers: { '1': multiplier },
        creditsPerUnit: input.rate,
        pricing: { ...NO_PRICES, currency: input.currency, inputPrice: input.price, outputPrice: '0' },
      },
    },
  )

describe('money that is converted', () => {
  test('is exact to the µCr and rounded once, half to even, whatever price, rate and shares are', () => {
    const shares = fc.record({ multiplier: decimal(10n ** 5n, 4), userRate: decimal(10n ** 4n, 2) })
    fc.assert(
      fc.property(price, rate, tokens, shares, (amount, credits, count, { multiplier, userRate }) => {
        const priced = amountOf(
          { currency: 'USD', price: amount, rate: credits, tokens: count },
          { multiplier, userRate },
        )
        expect(priced.amount).toBe(exactly([amount, credits, multiplier, userRate], count))
        expect(priced.recipe).toMatchObject({ currency: 'USD', creditsPerUnit: credits })
      }),
      { numRuns: 500 },
    )
  })

  test('costs the same in any currency in which the price is worth as much', () => {
    const factor = decimal(10n ** 6n, 4)
    fc.assert(
      fc.property(price, rate, factor, tokens, (amount, credits, times, count) => {
        const product = (one: string, other: string) => {
          const [left, right] = [parseDecimal(one), parseDecimal(other)]
          if (left.kind === 'refused' || right.kind === 'refused') throw new Error('no decimal')
          const units = left.value.units * right.value.units
          return printDecimal({ units, scale: left.value.scale + right.value.scale })
        }
        const there = amountOf({
          currency: 'USD',
          price: amount,
          rate: product(credits, times),
          tokens: count,
        })
        const here = amountOf({
          currency: 'CNY',
          price: product(amount, times),
          rate: credits,
          tokens: count,
        })
        expect(there.amount).toBe(here.amount)
      }),
      { numRuns: 500 },
    )
  })
})
