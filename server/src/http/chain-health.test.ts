import { expect, test } from 'vitest'
import { type ChainHealth, HEALTHY } from '../core/routing/health.ts'
import { type TroubledChain, viewHealth, worstOf } from './chain-health.ts'

const chain = (chain_id: number, state: TroubledChain['state']): TroubledChain => ({
  ...viewHealth(HEALTHY, 0),
  chain_id,
  state,
})

test('of several processes the worst state of each chain is shown', () => {
  expect(
    worstOf([chain(2, 'failing'), chain(1, 'failing'), chain(1, 'cooling-down'), chain(1, 'rate-limited')]),
  ).toEqual([chain(1, 'cooling-down'), chain(2, 'failing')])
})

const COOLDOWN = {
  cause: 'failure',
  since: 1_000,
  pausedAt: 3_000,
  until: 5_000,
  level: 0,
  probe: undefined,
} as const

test.each<[string, Partial<ChainHealth>, object]>([
  [
    'nothing is known',
    {},
    { state: 'healthy', cause: null, since: null, cooling_until: null, last_error: null },
  ],
  [
    'it is in a cooldown',
    { cooldown: COOLDOWN, failuresInRow: 2 },
    {
      state: 'cooling-down',
      cause: 'failure',
      since: '1970-01-01T00:00:01.000Z',
      cooling_until: '1970-01-01T00:00:05.000Z',
    },
  ],
  [
    'its pause is over: the next call is the probe',
    { cooldown: { ...COOLDOWN, until: 4_000 } },
    { state: 'probing', cause: 'failure', cooling_until: null },
  ],
  [
    'the upstream named a time',
    { rateLimit: { since: 1_000, until: 9_000, nextAt: 2_000 } },
    { state: 'rate-limited', cause: 'rate-limit', cooling_until: '1970-01-01T00:00:09.000Z' },
  ],
  [
    'the time is over',
    { rateLimit: { since: 1_000, until: 4_000, nextAt: 2_000 } },
    { state: 'healthy', cause: null, since: null },
  ],
  [
    'the upstream took fewer calls at once',
    { lowered: { limit: 3.5, loweredAt: 0, ranThen: 7, nextAt: 0 }, running: 2 },
    { state: 'rate-limited', concurrency_limit: 3, running: 2 },
  ],
  [
    'it failed once',
    { failuresInRow: 1, outcomes: 0b001, outcomeCount: 3 },
    { state: 'failing', outcomes: '++-' },
  ],
  [
    'the upstream said why',
    { lastError: { at: 2_000, kind: 'overloaded', status: 503, code: 'busy', message: 'come back later' } },
    {
      last_error: {
        at: '1970-01-01T00:00:02.000Z',
        kind: 'overloaded',
        status: 503,
        code: 'busy',
        message: 'come back later',
      },
    },
  ],
])('a chain is told to operators: %s', (_what, health, expected) => {
  expect(viewHealth({ ...HEALTHY, ...health }, 4_000)).toMatchObject(expected)
})
