import { describe, expect, test } from 'vitest'
import { credits, exampleAccount, VENDOR } from '../calls/examples.ts'
import type { AccountRow } from '../ledger/hot-rows.ts'
import { ZERO } from '../money.ts'
import { decideRightToAsk } from './right-to-call.ts'

const NOW = 1_000
const demand = {
  vendors: [VENDOR],
  subscriptionCovered: true,
  requiredVerification: 0,
  requiredPlan: 0,
}
const poor = { credits: ZERO, balance: ZERO, apiDeduction: true, byokVendors: [], subscription: undefined }
const subscription = {
  plan: 'PRO',
  level: 2,
  expiresAt: NOW + 1,
  quota: [{ credits: credits(1), seconds: 60 }],
}

describe('who may ask something of a model that costs nothing', () => {
  test.each<readonly [who: string, account: Partial<AccountRow>, code: number | undefined]>([
    ['an account with Credits', { credits: credits(1) }, undefined],
    ['an account without', {}, 40202],
    ['an account below zero', { credits: credits(-1) }, 40202],
    ['one whose API deduction is off', { credits: credits(1), apiDeduction: false }, 40202],
    ['one with a credential of its own for the vendor', { byokVendors: [VENDOR] }, undefined],
    ['one whose subscription covers the model', { subscription }, undefined],
    ['one whose subscription has run out', { subscription: { ...subscription, expiresAt: NOW } }, 40202],
    [
      'one whose balance becomes Credits by itself',
      {
        balance: credits(10),
        autoExchange: { enabled: true, belowCredits: credits(1), step: credits(10) },
      },
      undefined,
    ],
  ])('%s', (_who, account, code) => {
    expect(decideRightToAsk(exampleAccount({ ...poor, ...account }), demand, NOW)?.code).toBe(code)
  })

  test('no account below the level that the model requires', () => {
    const account = exampleAccount({ ...poor, credits: credits(1), verification: 0 })
    expect(decideRightToAsk(account, { ...demand, requiredVerification: 1 }, NOW)?.code).toBe(40203)
    expect(decideRightToAsk(account, { ...demand, requiredPlan: 2 }, NOW)?.code).toBe(40203)
  })
})
