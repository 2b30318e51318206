import { ONE_CALL, type Used } from '../metering/quantities.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_PRICES } from '../calls/examples.ts'
import { NO_USAGE, type Usage } from '../canonical/usage.ts'
import type { Pricing } from '../catalogue.ts'
import { chainId } from '../ids.ts'
import { microCredits } from '../money.ts'
import { deductible, priceCall, recomputeAmount } from './price.ts'
import type { Recipe } from '../ledger/recipe.ts'

interface Case {
  readonly pricing?: Partial<Pricing>
  readonly usage?: Partial<Usage>
  readonly images?: number
  readonly videoSeconds?: number
  readonly creditsPerUnit?: string
  readonly multiplier?: string
  readonly userRate?: string
}

function price(row: Case) {
  const consumption: Used = {
    usage: { ...NO_USAGE, ...row.usage },
    images: row.images ?? 0,
    videoSeconds: row.videoSeconds ?? 0,
    ...ONE_CALL,
  }
  const terms = {
    pricing: { ...NO_PRICES, ...row.pricing },
    creditsPerUnit: row.creditsPerUnit ?? '1000',
    multipliers: { '7': row.multiplier ?? '1' },
  }
  return priceCall(consumption, { terms, chainId: chainId(7), userRate: row.userRate ?? '100' })
}

const YUAN = 1_000_000_000n
const cached = { inputPrice: '9', outputPrice: '72', cacheInputPrice: '0.9', cacheOutputPrice: '36' }

describe('the amount of a call in µCr', () => {
  test.each<[string, Case, bigint]>([
    [
      'price 9, one million input tokens: 9 yuan [D-names-05]',
      { pricing: { inputPrice: '9' }, usage: { input: 1_000_000 } },
      9n * YUAN,
    ],
    [
      'image_price 0.2, one image: 0.2 yuan [D-names-06]',
      { pricing: { billingModes: ['image'], imagePrice: '0.2' }, images: 1 },
      YUAN / 5n,
    ],
    [
      'video_price 0.5, 8 seconds: 4 yuan [D-names-07]',
      { pricing: { billingModes: ['video_second'], videoPrice: '0.5' }, videoSeconds: 8 },
      4n * YUAN,
    ],
    [
      'a price per request bills the request',
      { pricing: { billingModes: ['request'], requestPrice: '0.03' } },
      30_000_000n,
    ],
    [
      'a changed creditsPerUnit changes the Credits of the same call [D-names-08]',
      { pricing: { inputPrice: '9' }, usage: { input: 1_000_000 }, creditsPerUnit: '500' },
      4_500_000_000n,
    ],
    [
      'cached tokens cost cache_input_price [D-names-14]',
      { pricing: cached, usage: { cachedInput: 1_000_000 } },
      900_000_000n,
    ],
    [
      'cache_input_price null: cached tokens cost input_price [D-names-15]',
      { pricing: { ...cached, cacheInputPrice: null }, usage: { cachedInput: 1_000_000 } },
      9n * YUAN,
    ],
    [
      'output of a call that hit the cache costs cache_output_price [D-names-16]',
      { pricing: { ...cached, cacheInputPrice: '0' }, usage: { cachedInput: 1, output: 1_000_000 } },
      36n * YUAN,
    ],
    [
      'output of a call without a hit costs output_price [D-names-17]',
      { pricing: cached, usage: { cachedInput: 0, cacheWrite: 0, output: 1_000_000 } },
      72n * YUAN,
    ],
    [
      'cache_output_price null: output of a hit call costs output_price [D-names-18]',
      {
        pricing: { ...cached, cacheInputPrice: '0', cacheOutputPrice: null },
        usage: { cachedInput: 1, output: 1_000_000 },
      },
      72n * YUAN,
    ],
    [
      'writing to the cache is no hit',
      { pricing: { ...cached, cacheWritePrice: '0' }, usage: { cacheWrite: 5, output: 1_000_000 } },
      72n * YUAN,
    ],
    [
      '5-minute cache writes cost cache_write_price [D-names-27]',
      { pricing: { ...cached, cacheWritePrice: '11' }, usage: { cacheWrite: 1_000_000 } },
      11n * YUAN,
    ],
    [
      '1-hour cache writes cost cache_write_1h_price [D-names-28]',
      {
        pricing: { ...cached, cacheWritePrice: '11', cacheWrite1hPrice: '18' },
        usage: { cacheWrite1h: 1_000_000 },
      },
      18n * YUAN,
    ],
    [
      'cache writes without a price of their own cost input_price [D-names-29]',
      { pricing: cached, usage: { cacheWrite: 500_000, cacheWrite1h: 500_000 } },
      9n * YUAN,
    ],
    [
      'classes are disjoint: each token is billed once [D-names-34]',
      {
        pricing: { inputPrice: '1', outputPrice: '1' },
        usage: { input: 1, cachedInput: 2, cacheWrite: 4, cacheWrite1h: 8, output: 16 },
      },
      31_000n,
    ],
    [
      'reasoning is part of output, billed once [D-names-35]',
      { pricing: { outputPrice: '10' }, usage: { output: 100, reasoning: 60 } },
      1_000_000n,
    ],
    [
      'a model billed by several modes sums them',
      {
        pricing: {
          billingModes: ['token', 'image', 'video_second', 'request'],
          inputPrice: '1',
          imagePrice: '0.2',
          videoPrice: '0.5',
          requestPrice: '0.01',
        },
        usage: { input: 1_000_000 },
        images: 2,
        videoSeconds: 3,
      },
      YUAN + 400_000_000n + 1_500_000_000n + 10_000_000n,
    ],
    [
      'a mode the model is not billed by costs nothing, whatever its price',
      {
        pricing: { billingModes: ['image'], imagePrice: '0.2', inputPrice: '9', videoPrice: '1' },
        usage: { input: 1_000_000 },
        videoSeconds: 5,
        images: 1,
      },
      200_000_000n,
    ],
    [
      'multiplier 2 doubles the amount [8-32]',
      { pricing: { inputPrice: '9' }, usage: { input: 1_000_000 }, multiplier: '2' },
      18n * YUAN,
    ],
    [
      'rate_multiplier and user_rate apply to video [8-26]',
      {
        pricing: { billingModes: ['video_second'], videoPrice: '0.5' },
        videoSeconds: 8,
        multiplier: '1.5',
        userRate: '80',
      },
      4_800_000_000n,
    ],
    [
      'half a µCr goes to the even neighbour below [D-names-03]',
      { pricing: { inputPrice: '0.0005' }, usage: { input: 1 }, userRate: '100' },
      0n,
    ],
    [
      'half a µCr goes to the even neighbour above [D-names-03]',
      { pricing: { inputPrice: '0.0015' }, usage: { input: 1 }, userRate: '100' },
      2n,
    ],
    [
      'parts below half a µCr are not rounded before the sum [D-names-04]',
      {
        pricing: { inputPrice: '0.0004', outputPrice: '0.0004', cacheInputPrice: '0.0004' },
        usage: { input: 1, cachedInput: 1, output: 1 },
      },
      1n,
    ],
    ['no prices, no amount', { usage: { input: 5, output: 5 } }, 0n],
    ['nothing reported, no amount', { pricing: cached }, 0n],
    ['a user rate of 0 is free', { pricing: cached, usage: { input: 1_000_000 }, userRate: '0' }, 0n],
  ])('%s', (_sentence, row, amount) => {
    const priced = price(row)
    expect(priced.amount).toBe(amount)
    expect(priced.recipe.amount).toBe(amount.toString())
  })

  test.each([
    ['1', '100', 9_000n],
    ['1.2', '100', 10_800n],
    ['0.85', '90', 6_885n],
    ['3', '12.5', 3_375n],
  ])('list amount × rate_multiplier %s × user_rate %s/100 [D-names-10]', (multiplier, userRate, amount) => {
    expect(price({ pricing: { inputPrice: '9' }, usage: { input: 1 }, multiplier, userRate }).amount).toBe(
      amount,
    )
  })

  test('a chain the terms do not know counts with multiplier 1', () => {
    const terms = { pricing: { ...NO_PRICES, inputPrice: '9' }, creditsPerUnit: '1000', multipliers: {} }
    const usage = { ...NO_USAGE, input: 1 }
    const consumption = { usage, images: 0, videoSeconds: 0, ...ONE_CALL }
    expect(priceCall(consumption, { terms, chainId: chainId(1), userRate: '100' }).amount).toBe(9_000n)
  })

  test('a count beyond all bounds is bounded, an unreadable count is none', () => {
    const usage = { input: Number.POSITIVE_INFINITY, output: Number.NaN }
    const { recipe } = price({ pricing: { inputPrice: '1', outputPrice: '1' }, usage })
    expect(recipe.lines.map(({ quantity }) => quantity)).toEqual([Number.MAX_SAFE_INTEGER])
  })

  test('an impossible count never becomes money', () => {
    expect(() => price({ pricing: { inputPrice: 'nine' }, usage: { input: 1 } })).toThrow(/nine/)
    expect(() => price({ pricing: { inputPrice: '-9' }, usage: { input: 1 } })).toThrow(/-9/)
  })
})

describe('what is deducted of an amount', () => {
  test.each([
    ['0.999999 Credit: nothing [8-33]', 999_999n, 0n],
    ['exactly 1 Credit: all of it [8-35]', 1_000_000n, 1_000_000n],
    ['above 1 Credit: unrounded', 1_000_001n, 1_000_001n],
    ['nothing: nothing', 0n, 0n],
  ])('%s', (_sentence, amount, deducted) => {
    expect(deductible(microCredits(amount))).toBe(deducted)
  })
})

const prices = fc.option(
  fc.nat({ max: 10_000_000 }).map((units) => (units / 10_000).toString()),
  { nil: null },
)
const counts = fc.option(fc.nat({ max: 5_000_000 }), { nil: undefined })
const cases = fc.record({
  pricing: fc.record({
    billingModes: fc.subarray(['token', 'image', 'video_second', 'request'] as const),
    inputPrice: prices,
    outputPrice: prices,
    cacheInputPrice: prices,
    cacheOutputPrice: prices,
    cacheWritePrice: prices,
    cacheWrite1hPrice: prices,
    requestPrice: prices,
    imagePrice: prices,
    videoPrice: prices,
  }),
  usage: fc.record({
    input: counts,
    cachedInput: counts,
    cacheWrite: counts,
    cacheWrite1h: counts,
    output: counts,
    reasoning: counts,
  }),
  images: fc.nat({ max: 9 }),
  videoSeconds: fc.nat({ max: 60 }),
  creditsPerUnit: fc.constantFrom('1000', '1', '123.456'),
  multiplier: fc.constantFrom('1', '0.85', '1.333'),
  userRate: fc.constantFrom('100', '0', '87.5'),
})

describe('laws', () => {
  test('the recipe alone gives the amount again, also after a trip through JSON', () => {
    fc.assert(
      fc.property(cases, (row) => {
        const { recipe, amount } = price(row)
        const stored: Recipe = JSON.parse(JSON.stringify(recipe))
        expect(recomputeAmount(stored)).toBe(amount)
      }),
    )
  })

  test('more tokens never cost less', () => {
    fc.assert(
      fc.property(cases, fc.nat({ max: 1000 }), (row, more) => {
        const costlier = { ...row, usage: { ...row.usage, output: (row.usage.output ?? 0) + more } }
        expect(price(costlier).amount >= price(row).amount).toBe(true)
      }),
    )
  })
})
