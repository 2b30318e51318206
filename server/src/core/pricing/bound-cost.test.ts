import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_PRICES } from '../calls/examples.ts'
import type { Estimate } from '../ledger/operations.ts'
import { ONE_CALL } from '../metering/quantities.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import { chainId } from '../ids.ts'
import { boundCost, LEAST_OUTPUT_TOKENS } from './bound-cost.ts'
import { parseDecimal } from './decimal.ts'
import { priceCall } from './price.ts'
import { createTermsReader, readTerms } from './read-terms.ts'
import type { PriceTerms } from './terms.ts'

const estimate: Estimate = {
  inputTokens: 1000,
  outputTokens: 4000,
  images: 0,
  videoSeconds: 0,
  bound: 'strict',
  worstInputTokens: 2000,
  worstOutputTokens: 8000,
}
const terms: PriceTerms = {
  pricing: { ...NO_PRICES, inputPrice: '1', outputPrice: '10', cacheWrite1hPrice: '2' },
  creditsPerUnit: '1000',
  multipliers: { '1': '1', '2': '1.5' },
}

function bounds(price: PriceTerms, asked: Estimate, userRate = '100') {
  const read = readTerms(JSON.stringify(price))
  const rate = parseDecimal(userRate)
  if (read.kind === 'unreadable' || rate.kind === 'refused') throw new Error('unreadable example')
  return boundCost(read.bounds, asked, rate.value)
}

describe('what a call may cost', () => {
  test('the input estimate and the output cap at the prices of the most expensive chain [D-money-08]', () => {
    expect(bounds(terms, estimate).full).toBe(1_000_000n + 40_000_000n + (1_000_000n + 40_000_000n) / 2n)
  })

  test('a strict bound does not shrink', () => {
    const { full, least } = bounds(terms, estimate)
    expect(least).toBe(full)
  })

  test('an affordable bound shrinks to input and a least output', () => {
    const { least } = bounds({ ...terms, multipliers: {} }, { ...estimate, bound: 'affordable' })
    expect(least).toBe(1_000_000n + BigInt(LEAST_OUTPUT_TOKENS) * 10_000n)
  })

  test('a bound smaller than the least output is the least', () => {
    const { full, least } = bounds(terms, { ...estimate, outputTokens: 5, bound: 'affordable' })
    expect(least).toBe(full)
  })

  test('the worst case takes the most expensive input class', () => {
    expect(bounds({ ...terms, multipliers: {} }, estimate).worst).toBe(2000n * 2000n + 8000n * 10_000n)
  })

  test('the worst case is never below the estimate', () => {
    const { full, worst } = bounds(terms, { ...estimate, worstInputTokens: 0, worstOutputTokens: 0 })
    expect(worst).toBe(full)
  })

  test('images, seconds and the request itself are bounded too', () => {
    const pricing = {
      ...NO_PRICES,
      billingModes: ['image', 'video_second', 'request'] as const,
      imagePrice: '0.2',
      videoPrice: '0.5',
      requestPrice: '0.01',
    }
    const asked = { ...estimate, images: 2, videoSeconds: 3 }
    expect(bounds({ ...terms, pricing, multipliers: {} }, asked, '50').full).toBe(955_000_000n)
  })

  test('a call inside its estimate never costs more than was held', () => {
    const count = fc.nat({ max: 3000 })
    fc.assert(
      fc.property(
        fc.record({ input: count, output: count, lessInput: count, lessOutput: count }),
        fc.constantFrom('100', '87.5', '33.333'),
        fc.constantFrom('0.0005', '1.23', '9'),
        ({ input, output, lessInput, lessOutput }, userRate, inputPrice) => {
          const priced: PriceTerms = { ...terms, pricing: { ...NO_PRICES, inputPrice, outputPrice: '7.7' } }
          const asked = { ...estimate, inputTokens: input + lessInput, outputTokens: output + lessOutput }
          const consumption = {
            usage: { ...NO_USAGE, input, output },
            images: 0,
            videoSeconds: 0,
            ...ONE_CALL,
          }
          const { amount } = priceCall(consumption, { terms: priced, chainId: chainId(2), userRate })
          expect(amount <= bounds(priced, asked, userRate).full).toBe(true)
        },
      ),
    )
  })
})

describe('reading terms', () => {
  test.each([
    ['no JSON', 'nine yuan'],
    ['no object', '[]'],
    ['no pricing', JSON.stringify({ ...terms, pricing: undefined })],
    [
      'an unknown billing mode',
      JSON.stringify({ ...terms, pricing: { ...terms.pricing, billingModes: ['word'] } }),
    ],
    [
      'a price that is no number',
      JSON.stringify({ ...terms, pricing: { ...terms.pricing, inputPrice: '9 yuan' } }),
    ],
    ['a negative price', JSON.stringify({ ...terms, pricing: { ...terms.pricing, outputPrice: '-1' } })],
    ['no rate', JSON.stringify({ ...terms, creditsPerUnit: null })],
    ['a multiplier that is no number', JSON.stringify({ ...terms, multipliers: { '1': 'x' } })],
    ['a multiplier of null', JSON.stringify({ ...terms, multipliers: { '1': null } })],
  ])('%s is unreadable, not an exception', (_what, text) => {
    expect(readTerms(text).kind).toBe('unreadable')
  })

  test('a reader parses each text once', () => {
    const reader = createTermsReader()
    const text = JSON.stringify(terms)
    expect(reader.terms(text)).toBe(reader.terms(`${text}`))
    expect(reader.rate('87.5')).toBe(reader.rate('87.5'))
  })

  test('a reader stays bounded however many texts it sees', () => {
    const reader = createTermsReader()
    const first = reader.rate('0')
    for (let rate = 1; rate <= 1024; rate++) reader.rate(String(rate))
    expect(reader.rate('0')).not.toBe(first)
    expect(reader.rate('0')).toEqual(first)
  })

  test.each(['', '-1', 'all'])('a user rate of "%s" is unreadable', (rate) => {
    expect(createTermsReader().rate(rate).kind).toBe('unreadable')
  })
})
