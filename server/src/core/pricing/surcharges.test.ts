import { describe, expect, test } from 'vitest'
import type { Surcharge } from '../catalogue.ts'
import type { ToldExtras } from '../metering/reported-extras.ts'
import {
  chargedSurcharges,
  findRefused,
  findUnpriced,
  freezeSurcharges,
  type MadeExtras,
  unpricedTools,
} from './surcharges.ts'

const PRIORITY: Surcharge = { kind: 'multiplier', multiplier: '1.75' }
const FLEX: Surcharge = { kind: 'multiplier', multiplier: '0.5' }
const SEARCH: Surcharge = { kind: 'per-call', perCall: '0.07' }
const CODE: Surcharge = { kind: 'per-call', perCall: '0.21' }
const model = {
  surcharges: {
    'service_tier.priority': PRIORITY,
    'service_tier.flex': FLEX,
    web_search_call: SEARCH,
    code_interpreter: CODE,
  },
}

/** Names of what a call asks for that its model prices. */
const askedOf = (surcharges: Readonly<Record<string, Surcharge>>, asked: readonly string[]) =>
  freezeSurcharges({ surcharges }, asked, 10).flatMap((one) => (one.asked === false ? [] : [one.name]))

describe('the surcharges a call asks for', () => {
  test.each<readonly [asked: readonly string[], names: readonly string[]]>([
    [[], []],
    [['service_tier.priority'], ['service_tier.priority']],
    [['service_tier.fast'], ['service_tier.priority']],
    [['service_tier.service_tier_priority'], ['service_tier.priority']],
    [['service_tier.auto', 'service_tier.default'], []],
    [['service_tier'], ['service_tier.priority', 'service_tier.flex']],
    [['web_search'], ['web_search_call']],
    [['web_search_options', 'google_search'], ['web_search_call']],
    [['tool_search_tool_bm25', 'file_search', 'memory_search'], []],
    [['code_execution'], ['code_interpreter']],
    [
      ['web_search', 'service_tier.priority'],
      ['service_tier.priority', 'web_search_call'],
    ],
    [['constructor', '__proto__'], []],
  ])('%j: %j', (asked, names) => {
    expect(askedOf(model.surcharges, asked)).toEqual(names)
  })

  test('one for a field counts for each of its values', () => {
    expect(askedOf({ service_tier: PRIORITY }, ['service_tier.flex'])).toEqual(['service_tier'])
  })

  test('one thing under two names counts once', () => {
    const twice = { web_search: SEARCH, web_search_call: SEARCH, 'service_tier.fast': PRIORITY }
    expect(askedOf(twice, ['web_search', 'service_tier.priority'])).toEqual([
      'web_search',
      'service_tier.fast',
    ])
  })

  test('fields that are not requested are frozen too, because the answer may report them; tools with their bound', () => {
    expect(freezeSurcharges(model, ['web_search', 'service_tier.priority'], 5)).toEqual([
      { name: 'service_tier.priority', multiplier: '1.75' },
      { name: 'service_tier.flex', multiplier: '0.5', asked: false },
      { name: 'web_search_call', perCall: '0.07', usesMax: 5 },
      { name: 'code_interpreter', perCall: '0.21', asked: false },
    ])
  })
})

const told = (parts: {
  readonly counted?: Record<string, number>
  readonly seen?: Record<string, number>
  readonly listed?: readonly string[]
  readonly fields?: Record<string, string>
}): ToldExtras => ({
  counted: new Map(Object.entries(parts.counted ?? {})),
  seen: new Map(Object.entries(parts.seen ?? {})),
  listed: parts.listed ?? [],
  fields: new Map(Object.entries(parts.fields ?? {})),
})

/** Each charged surcharge with its count; a multiplier counts once. */
function charged(asked: readonly string[], made: MadeExtras): Readonly<Record<string, number>> {
  const surcharges = chargedSurcharges(freezeSurcharges(model, asked, 10), made)
  return Object.fromEntries(surcharges.map((one) => [one.name, 'perCall' in one ? (one.count ?? 1) : 1]))
}

describe('a tool at the vendor is charged', () => {
  const LISTED = ['web_search_call', 'code_interpreter_call']
  test.each<
    readonly [
      sentence: string,
      asked: readonly string[],
      extent: MadeExtras['extent'],
      told: ToldExtras | undefined,
      uses: number,
    ]
  >([
    ['not at all where it was only offered', ['web_search'], 'whole', told({ listed: LISTED }), 0],
    ['for each use the answer shows', ['web_search'], 'whole', told({ seen: { web_search_call: 3 } }), 3],
    [
      'by the vendor’s own count where it tells one',
      ['web_search'],
      'whole',
      told({ counted: { web_search: 2 }, seen: { web_search: 3 } }),
      2,
    ],
    ['not where the vendor counts none', ['web_search'], 'whole', told({ counted: { web_search: 0 } }), 0],
    ['once where the answer would not tell', ['web_search_options'], 'whole', told({}), 1],
    ['once where nothing is known of the answer', ['web_search'], 'cut', undefined, 1],
    ['also where it was used unasked', [], 'whole', told({ seen: { web_search_call: 2 } }), 2],
    ['once at least where we cut the answer', ['web_search'], 'cut', told({ listed: LISTED }), 1],
    [
      'for all that was seen where we cut the answer',
      ['web_search'],
      'cut',
      told({ seen: { web_search: 4 }, counted: { web_search: 1 } }),
      4,
    ],
    ['for what was seen where the vendor broke it', ['web_search'], 'broken', told({}), 0],
    [
      'under each of its names',
      ['google_search'],
      'whole',
      told({ seen: { web_search: 1, x_search_call: 2 } }),
      3,
    ],
    [
      'not for a search of something else',
      [],
      'whole',
      told({ seen: { file_search_call: 2, tool_search_tool_regex: 1 } }),
      0,
    ],
    ['for no more than can be', ['web_search'], 'whole', told({ counted: { web_search: 1e15 } }), 1_000],
  ])('%s', (_sentence, asked, extent, answer, uses) => {
    const { web_search_call: count = 0 } = charged(asked, { told: answer, sent: undefined, extent })
    expect(count).toBe(uses)
  })

  test('not where it was left out of the request', () => {
    expect(charged(['web_search'], { told: told({}), sent: [], extent: 'whole' })).toEqual({})
    expect(charged(['web_search'], { told: told({}), sent: ['web_search'], extent: 'whole' })).toEqual({
      web_search_call: 1,
    })
  })
})

describe('a tier is charged', () => {
  const tier = (value: string) => told({ fields: { service_tier: value } })
  test.each<
    readonly [
      sentence: string,
      asked: readonly string[],
      extent: MadeExtras['extent'],
      told: ToldExtras | undefined,
      names: readonly string[],
    ]
  >([
    ['as the answer says', ['service_tier.priority'], 'whole', tier('priority'), ['service_tier.priority']],
    ['under its newer name', ['service_tier.fast'], 'whole', tier('priority'), ['service_tier.priority']],
    ['not where the vendor fell back', ['service_tier.priority'], 'whole', tier('default'), []],
    [
      'as asked where the answer is silent',
      ['service_tier.priority'],
      'whole',
      told({}),
      ['service_tier.priority'],
    ],
    [
      'as asked where nothing is known',
      ['service_tier.priority'],
      'cut',
      undefined,
      ['service_tier.priority'],
    ],
    ['where the vendor made it so unasked', [], 'whole', tier('priority'), ['service_tier.priority']],
    [
      'by the more expensive where we cut the answer',
      ['service_tier.priority'],
      'cut',
      tier('default'),
      ['service_tier.priority'],
    ],
    ['by what was told where the vendor broke it', ['service_tier.priority'], 'broken', tier('default'), []],
    [
      'at a discount where the answer confirms it',
      ['service_tier.flex'],
      'whole',
      tier('flex'),
      ['service_tier.flex'],
    ],
    ['at none where it does not', ['service_tier.flex'], 'whole', told({}), []],
    ['at none where the vendor fell back', ['service_tier.flex'], 'whole', tier('default'), []],
    ['at none where nothing is known', ['service_tier.flex'], 'cut', undefined, []],
    [
      'as any that costs extra where it cannot be read',
      ['service_tier'],
      'whole',
      told({}),
      ['service_tier.priority'],
    ],
  ])('%s', (_sentence, asked, extent, answer, names) => {
    expect(Object.keys(charged(asked, { told: answer, sent: undefined, extent }))).toEqual(names)
  })
})

test.each([
  [['service_tier'], ['service_tier.priority'], 'service_tier.priority'],
  [['service_tier.priority'], ['service_tier.auto'], undefined],
  [['service_tier.priority'], ['service_tier.fast'], 'service_tier.fast'],
  [['service_tier.priority'], ['service_tier'], 'service_tier'],
  [['web_search_options'], ['web_search'], 'web_search'],
  [
    ['anthropic-beta.context-1m-2025-08-07'],
    ['anthropic-beta.context-1m-2025-08-07'],
    'anthropic-beta.context-1m-2025-08-07',
  ],
])('a model that refuses %j, asked for %j', (refuse, asked, refused) => {
  expect(findRefused({ refuse }, asked)).toBe(refused)
})

test('what the vendor charges for without a price here is found', () => {
  const extraCosts = ['service_tier.priority', 'speed.fast', 'web_search']
  expect(findUnpriced(model, ['service_tier.priority', 'web_search_options'], extraCosts)).toBeUndefined()
  expect(findUnpriced(model, ['speed.fast'], extraCosts)).toBe('speed.fast')
  expect(findUnpriced(model, ['service_tier.auto'], extraCosts)).toBeUndefined()
})

test('of the tools a chain has, those that cost extra and have no price', () => {
  const tools = ['web-search', 'code-interpreter', 'url-context', 'file-search']
  expect(
    unpricedTools({ surcharges: { web_search: SEARCH } }, tools, ['web_search', 'code_execution']),
  ).toEqual(['code-interpreter'])
})
