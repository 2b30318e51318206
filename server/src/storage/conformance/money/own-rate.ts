import { expect, test } from 'vitest'
import { ACCOUNT, credits } from '../../../core/calls/examples.ts'
import { UNLIMITED } from '../../../core/limits/policy.ts'
import { AMOUNT_MAX, microCredits, POOL_MAX } from '../../../core/money.ts'
import { AmountTooLarge, RateChanged, RateFixed } from '../../failures/amount-refused.ts'
import type { CatalogueChange } from '../../stores/records.ts'
import {
  createAccount,
  exampleGrant,
  NOW,
  openWithAccount,
  OTHER_ACCOUNT,
  type StorageSuite,
} from '../suite.ts'

const rateOf = (creditsPerUnit: string): CatalogueChange => ({
  kind: 'put-settings',
  settings: {
    currency: 'CNY',
    creditsPerUnit,
    otherCurrencies: { USD: '7200' },
    timezone: 'UTC',
    keyPrefix: 'sk-gateway-',
    limits: UNLIMITED,
  },
})

const moneyOf = (transactionId: string) =>
  exampleGrant(ACCOUNT, { transactionId, credit: `${ACCOUNT}/balance`, amount: credits(100) })

const BATCH = {
  id: 'bat_1',
  pool: 'balance',
  amount: credits(100),
  codes: 1,
  expiresAt: undefined,
  note: undefined,
  createdAt: NOW,
  createdBy: 'somebody',
} as const
const CODE = { id: 'bat_1.0', hash: 'c'.repeat(64), hint: 'ABCD' }

export function describeOwnRate(suite: StorageSuite): void {
  test('while nothing was booked, another rate takes caps, steps and packages with it', async () => {
    const { storage } = await openWithAccount(suite)
    const autoExchange = { enabled: true, belowCredits: credits(7), step: credits(10) }
    await storage.accounts.patch(ACCOUNT, { monthlyCap: credits(100), autoExchange })
    const offered = { code: 'p', name: 'P', price: '1', status: 'enabled' } as const
    await storage.topUps.packages.put({ ...offered, pool: 'balance', amount: credits(3) })
    await storage.topUps.packages.put({ ...offered, code: 'q', pool: 'credits', amount: credits(3) })
    await storage.catalogue.apply([rateOf('2500')])
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({
      credits: credits(1000),
      monthlyCap: credits(250),
      autoExchange: { enabled: true, belowCredits: credits(7), step: credits(25) },
    })
    const amounts = (await storage.topUps.packages.list()).map(({ amount }) => amount)
    expect(amounts).toEqual([microCredits(7_500_000n), credits(3)])
  })

  test('once a balance was booked the rate stays, and the rest of the settings may change', async () => {
    const { storage } = await openWithAccount(suite)
    expect(await storage.catalogue.findRateHold('rate')).toBeUndefined()
    await storage.ledger.book([moneyOf('first')])
    expect(await storage.catalogue.findRateHold('rate')).toBe('balance-booked')
    await expect(storage.catalogue.apply([rateOf('2000')])).rejects.toThrow(RateFixed)
    expect((await storage.catalogue.read()).settings.creditsPerUnit).toBe('1000')
    await storage.catalogue.apply([rateOf('1000.0')])
    expect((await storage.catalogue.read()).settings.timezone).toBe('UTC')
  })

  test('open codes worth balance hold the rate until they are void', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.topUps.codes.create(BATCH, [CODE])
    await expect(storage.catalogue.apply([rateOf('2000')])).rejects.toThrow(RateFixed)
    await storage.topUps.codes.voidBatch(BATCH.id, NOW)
    await storage.catalogue.apply([rateOf('2000')])
  })

  test('a payment into a balance under way holds the rate', async () => {
    const { storage } = await openWithAccount(suite)
    const topUp = { id: 'top_1', accountId: ACCOUNT, driver: 'card', currency: 'cny', priceMinor: 100 }
    const begun = {
      ...topUp,
      pool: 'balance',
      amount: credits(1),
      package: undefined,
      createdAt: NOW,
    } as const
    await storage.topUps.payments.begin(begun, undefined)
    expect(await storage.catalogue.findRateHold('rate')).toBe('payments-open')
  })

  test('money counted at a rate that is another one by now are not booked, promised or sold', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.catalogue.apply([rateOf('2000')])
    const stale = { creditsPerUnit: '1000' }
    await expect(storage.ledger.book([moneyOf('first')], stale)).rejects.toThrow(RateChanged)
    await expect(storage.topUps.codes.create(BATCH, [CODE], stale)).rejects.toThrow(RateChanged)
    const act = { accountId: ACCOUNT, operation: 'admin-grant', idempotency: undefined, at: NOW }
    const decide = () => ({ kind: 'done', transfers: [moneyOf('second')], answer: {} }) as const
    await expect(storage.customers.acts.perform<never>({ ...act, ...stale, decide })).rejects.toThrow(
      RateChanged,
    )
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ balance: 0n })
    expect(await storage.ledger.book([moneyOf('third')], { creditsPerUnit: '2000' })).toBe(true)
  })

  test('a booking of balance and a change of the rate at one moment never both hold', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    const tries = [0, 1, 2].map(async (round) => {
      const booked = storage.ledger.book([moneyOf(`grant_${round}`)], { creditsPerUnit: '1000' })
      const changed = other.catalogue.apply([rateOf('2000')])
      return Promise.allSettled([booked, changed])
    })
    const outcomes = (await Promise.all(tries)).flat()
    for (const one of outcomes) {
      if (one.status !== 'rejected') continue
      expect(one.reason instanceof RateChanged || one.reason instanceof RateFixed, String(one.reason)).toBe(
        true,
      )
    }
    const { settings } = await storage.catalogue.read()
    const account = await storage.accounts.find(ACCOUNT)
    expect(settings.creditsPerUnit === '2000').toBe(account?.balance === 0n)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a booking beyond the bounds of one amount or of a pool is refused whole', async () => {
    const { storage } = await openWithAccount(suite, { credits: microCredits(0n) })
    const grant = (transactionId: string, amount: bigint) =>
      exampleGrant(ACCOUNT, { transactionId, amount: microCredits(amount) })
    await expect(storage.ledger.book([grant('large', AMOUNT_MAX + 1n)])).rejects.toThrow(AmountTooLarge)
    await expect(storage.ledger.book([grant('huge', 10n ** 36n)])).rejects.toThrow(AmountTooLarge)
    const full = Array.from({ length: 1000 }, (_, sequence) => ({ ...grant('full', AMOUNT_MAX), sequence }))
    expect(await storage.ledger.book(full)).toBe(true)
    await expect(storage.ledger.book([grant('more', 1n)])).rejects.toThrow(AmountTooLarge)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: POOL_MAX })
    const back = { transactionId: 'back', debit: `${ACCOUNT}/credits`, credit: 'platform/grants' }
    expect(await storage.ledger.book([exampleGrant(ACCOUNT, { ...back, amount: credits(1) })])).toBe(true)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('the movements of one transaction are read by its id', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    await storage.ledger.book([moneyOf('one')])
    expect(await storage.ledger.transaction('one')).toEqual([moneyOf('one')])
    expect(await storage.ledger.transaction('none')).toEqual([])
  })
}
