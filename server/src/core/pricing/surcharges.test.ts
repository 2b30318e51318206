import { describe, expect, test } from 'vitest'
import type { Surcharge } from '../catalogue.ts'
import { findRefused, findUnpriced, surchargesOf } from './surcharges.ts'

const PRIORITY: Surcharge = { kind: 'multiplier', multiplier: '1.75' }
const SEARCH: Surcharge = { kind: 'per-call', perCall: '0.07' }
const model = { surcharges: { 'service_tier.priority': PRIORITY, web_search_call: SEARCH } }

describe('the surcharges a call comes under', () => {
  test.each<readonly [asked: readonly string[], names: readonly string[]]>([
    [[], []],
    [['service_tier.priority'], ['service_tier.priority']],
    [['service_tier.auto', 'service_tier'], []],
    [['web_search'], ['web_search_call']],
    [['web_search_options', 'google_search'], ['web_search_call']],
    [
      ['web_search', 'service_tier.priority'],
      ['service_tier.priority', 'web_search_call'],
    ],
    [['constructor', '__proto__'], []],
  ])('%j: %j', (asked, names) => {
    expect(surchargesOf(model, asked).map(({ name }) => name)).toEqual(names)
  })

  test('one for a field counts for each of its values', () => {
    const [found] = surchargesOf({ surcharges: { service_tier: PRIORITY } }, ['service_tier.flex'])
    expect(found).toEqual({ name: 'service_tier', multiplier: '1.75' })
  })
})

test.each([
  [['service_tier'], ['service_tier.priority'], 'service_tier.priority'],
  [['service_tier.priority'], ['service_tier.auto'], undefined],
  [['web_search_options'], ['web_search'], 'web_search'],
  [
    ['anthropic-beta.context-1m-2025-08-07'],
    ['anthropic-beta.context-1m-2025-08-07'],
    'anthropic-beta.context-1m-2025-08-07',
  ],
])('a model that refuses %j, asked for %j', (refuse, asked, refused) => {
  expect(findRefused({ refuse }, asked)).toBe(refused)
})

test('what the vendor charges for and nobody prices is found', () => {
  const dear = ['service_tier.priority', 'speed.fast', 'web_search']
  expect(findUnpriced(model, ['service_tier.priority', 'web_search_options'], dear)).toBeUndefined()
  expect(findUnpriced(model, ['speed.fast'], dear)).toBe('speed.fast')
  expect(findUnpriced(model, ['service_tier.auto'], dear)).toBeUndefined()
})
