import { HOUR_MS } from '../../core/durations.ts'
import { expect, test } from 'vitest'
import type { LimitState } from '../../core/ledger/hot-rows.ts'
import { credits } from '../../core/calls/examples.ts'
import { viewQuota } from './limits-view.ts'

const START = Date.UTC(2026, 0, 1)
const quota = [{ credits: credits(5000), seconds: 18_000 }]

test.each([
  [4, '9505', '0', '2026-01-01T05:00:00.000Z'],
  [5, '4505', '495', '2026-01-01T10:00:00.000Z'],
  [9, '4505', '495', '2026-01-01T10:00:00.000Z'],
  [10, '0', '5000', null],
])('after %i hours an overrun quota shows %s used', (hours, used, remaining, resets) => {
  const window = { tier: 'amount:18000', anchor: START, used: credits(9505), held: 0n }
  const carry = { grant: credits(5000), carried: 0n, since: START }
  const state: LimitState = { subject: 'quota:acc_1', slots: 0, windows: [{ ...window, carry }] }
  expect(viewQuota(state, quota, START + hours * HOUR_MS)).toMatchObject([
    { credits: '5000', used, held: '0', remaining, resets_at: resets },
  ])
})
