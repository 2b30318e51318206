import { expect, test } from 'vitest'
import type { LimitState } from '../../../core/ledger/hot-rows.ts'
import { decodeLimitState, limitStates } from './limit-state-row.ts'

test('a state comes back as it was written, what a quota carries over included', () => {
  const state: LimitState = {
    subject: 'quota:acc_1',
    slots: 2,
    windows: [
      { tier: 'amount:60', anchor: 5, used: 1n << 60n, held: 3n },
      {
        tier: 'amount:3600',
        anchor: 7,
        used: 9n,
        held: 0n,
        carry: { grant: 1n << 60n, carried: 4n, since: 6 },
      },
    ],
  }
  const [, , windows] = limitStates.encode(state)
  expect(decodeLimitState({ subject: 'quota:acc_1', slots: 2n, windows: String(windows) })).toEqual(state)
})

test('windows of older releases carry nothing over', () => {
  const row = { subject: 'quota:acc_1', slots: 0n, windows: '[["amount:60",5,7,0]]' }
  expect(decodeLimitState(row).windows).toEqual([{ tier: 'amount:60', anchor: 5, used: 7n, held: 0n }])
})
