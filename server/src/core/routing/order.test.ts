import { describe, expect, test } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import type { Chain } from '../catalogue.ts'
import { type ChainHealth, HEALTHY } from './health.ts'
import { nextChain, orderChains, type RoutingState } from './order.ts'

const NOW = 100_000
const cooldown = (until: number, probe?: { readonly id: number; readonly until: number }): ChainHealth => ({
  ...HEALTHY,
  cooldown: { cause: 'failure', since: 0, pausedAt: 0, until, level: 0, probe },
})
const limited = (until: number, nextAt: number): ChainHealth => ({
  ...HEALTHY,
  rateLimit: { since: 0, until, nextAt },
})
const full = (nextAt: number): ChainHealth => ({
  ...HEALTHY,
  running: 4,
  lowered: { limit: 4, loweredAt: 0, ranThen: 8, nextAt },
})

/** Chains a, b and c, of priority 1, 2 and 3. */
function ordered(
  health: { readonly [name in 'a' | 'b' | 'c']?: ChainHealth },
  changes: { readonly [name in 'a' | 'b' | 'c']?: Partial<Chain> } = {},
  state: Partial<RoutingState> = {},
) {
  const chains = (['a', 'b', 'c'] as const).map((name, index) =>
    sampleChain(index + 1, 'm', name, { priority: index + 1, ...changes[name] }),
  )
  const model = sampleModel('m', chains)
  const catalogue = sampleCatalogue({
    vendors: ['a', 'b', 'c'].map((code) => sampleVendor(code)),
    models: [model],
  })
  const healthOf = ({ vendorCode }: Chain): ChainHealth =>
    Object.entries(health).find(([name]) => name === vendorCode)?.[1] ?? HEALTHY
  const order = orderChains(model, catalogue, {
    now: NOW,
    healthOf,
    draw: () => 0.5,
    mayUse: () => true,
    speaks: () => true,
    preferred: 'chat',
    ...state,
  })
  return {
    chains: order.chains.map(({ vendorCode }) => vendorCode).join(' '),
    skipped: order.skipped.map(({ chain, reason }) => `${chain.vendorCode} ${reason}`).join(', '),
    until: order.rateLimitedUntil,
    next: nextChain(order.chains, { now: NOW, healthOf })?.chain.vendorCode as string | undefined,
  }
}

describe('chains are tried', () => {
  test.each<[string, Parameters<typeof ordered>, Partial<ReturnType<typeof ordered>>]>([
    ['by priority', [{}], { chains: 'a b c', skipped: '' }],
    [
      'by weight among equal priorities, heavier ones more often first',
      [{}, { a: { priority: 1, weight: 1 }, b: { priority: 1, weight: 300 } }],
      { chains: 'b a c' },
    ],
    [
      'those of the client’s own protocol first among equals',
      [{}, { a: { protocol: 'messages' }, b: { priority: 1, weight: 1 } }],
      { chains: 'b a c' },
    ],
    [
      'not when they are disabled',
      [{}, { a: { status: 'disabled' } }],
      { chains: 'b c', skipped: 'a disabled' },
    ],
    [
      'last instead of never while in a cooldown',
      [{ a: cooldown(NOW + 1) }],
      { chains: 'b c a', skipped: 'a cooling-down', next: 'b' },
    ],
    [
      'the one first whose cooldown ends first',
      [{ a: cooldown(NOW + 30), b: cooldown(NOW + 10), c: cooldown(NOW + 20) }],
      { chains: 'b c a', next: 'b' },
    ],
    [
      'in their place again once the pause is over: this call is the probe',
      [{ a: cooldown(NOW) }],
      { chains: 'a b c' },
    ],
    [
      'last while another call is the probe',
      [{ a: cooldown(NOW, { id: 1, until: NOW + 1 }) }],
      { chains: 'b c a', skipped: 'a probing' },
    ],
    [
      'not while a rate limit runs and a call was let through within the second',
      [{ a: limited(NOW + 5_000, NOW + 1) }],
      { chains: 'b c', skipped: 'a rate-limited', until: undefined },
    ],
    [
      'after the ready ones while a rate limit runs and one call may be let through',
      [{ a: limited(NOW + 5_000, NOW), b: cooldown(NOW + 1) }],
      { chains: 'c a b', skipped: 'a rate-limited, b cooling-down' },
    ],
    [
      'not beyond the concurrency they were seen to take',
      [{ a: full(NOW + 1) }],
      { chains: 'b c', skipped: 'a full' },
    ],
    [
      'none when all are rate limited, and the earliest end is told',
      [{ a: limited(NOW + 9, NOW + 1), b: limited(NOW + 5, NOW + 1), c: limited(NOW + 7, NOW + 1) }],
      { chains: '', until: NOW + 5, next: undefined },
    ],
    [
      'only those that may be paid for',
      [{}, {}, { mayUse: (vendor) => vendor !== 'b' }],
      { chains: 'a c', skipped: 'b unfunded' },
    ],
  ])('%s', (_what, given, expected) => {
    expect(ordered(...given)).toMatchObject(expected)
  })
})
