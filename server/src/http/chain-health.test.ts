import { expect, test } from 'vitest'
import { HEALTHY } from '../core/routing/health.ts'
import { type TroubledChain, viewHealth, worstOf } from './chain-health.ts'

const chain = (chain_id: number, state: TroubledChain['state']): TroubledChain => ({
  chain_id,
  state,
  cause: null,
  cooling_until: null,
  failures_in_row: 1,
})

test('of several processes each chain is told at its worst', () => {
  expect(
    worstOf([chain(2, 'failing'), chain(1, 'failing'), chain(1, 'cooling-down'), chain(1, 'rate-limited')]),
  ).toEqual([chain(1, 'cooling-down'), chain(2, 'failing')])
})

test('a chain that rests no longer is not said to', () => {
  const rested = { ...HEALTHY, coolingUntil: 5, failuresInRow: 2 }
  expect(viewHealth(rested, 4)).toMatchObject({
    state: 'cooling-down',
    cooling_until: '1970-01-01T00:00:00.005Z',
  })
  expect(viewHealth(rested, 5)).toMatchObject({ state: 'failing', cooling_until: null })
  expect(viewHealth(HEALTHY, 0)).toMatchObject({ state: 'healthy' })
})
