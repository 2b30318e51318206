import { expect, test } from 'vitest'
import { ACCOUNT, credits } from '../../../core/calls/examples.ts'
import { accountId } from '../../../core/ids.ts'
import type { Storage } from '../../storage.ts'
import type { Redemption, RedemptionBatch, RedemptionOutcome } from '../../stores/top-ups.ts'
import { createAccount, NOW, openWithAccount, OTHER_ACCOUNT, type StorageSuite } from '../suite.ts'

const hashOf = (index: number): string => index.toString(16).padStart(64, '0')

function exampleBatch(changes: Partial<RedemptionBatch> = {}): RedemptionBatch {
  return {
    id: 'bat_1',
    pool: 'credits',
    amount: credits(5),
    codes: 3,
    expiresAt: undefined,
    note: 'for the fair',
    createdAt: NOW,
    createdBy: 'owner@example.com',
    ...changes,
  }
}

async function createBatch(storage: Storage, changes: Partial<RedemptionBatch> = {}): Promise<void> {
  const batch = exampleBatch(changes)
  const codes = Array.from({ length: batch.codes }, (_, index) => ({
    id: `${batch.id}.${index}`,
    hash: hashOf(index),
    hint: 'ABCDE',
  }))
  await storage.topUps.codes.create(batch, codes)
}

function exampleRedemption(changes: Partial<Redemption> = {}): Redemption {
  return {
    accountId: ACCOUNT,
    hash: hashOf(0),
    transactionId: 'redeemed-0',
    idempotency: undefined,
    at: NOW,
    answer: ({ batch, account }) => ({ worth: batch.amount.toString(), before: account.credits.toString() }),
    ...changes,
  }
}

const count = (outcomes: readonly RedemptionOutcome[], kind: RedemptionOutcome['kind']): number =>
  outcomes.filter((outcome) => outcome.kind === kind).length

export function describeRedemptionCodes(suite: StorageSuite): void {
  test('a code is redeemed exactly once, by whoever of fifty at once is first, and the ledger balances', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(0) })
    const other = await database.open()
    const people = Array.from({ length: 10 }, (_, index) => accountId(`acc_p${index}`))
    for (const id of people) await createAccount(storage, { id, credits: credits(0) })
    await createBatch(storage)
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? storage : other).topUps.codes.redeem(
          exampleRedemption({ accountId: people[index % 10] ?? ACCOUNT, transactionId: `try-${index}` }),
        ),
      ),
    )
    expect([count(outcomes, 'redeemed'), count(outcomes, 'spent')]).toEqual([1, 49])
    const found = await Promise.all(people.map((id) => storage.accounts.find(id)))
    expect(found.reduce((sum, account) => sum + (account?.credits ?? 0n), 0n)).toBe(credits(5))
    expect(await storage.ledger.transfers({ limit: 10, after: undefined })).toMatchObject([
      { kind: 'top-up', debit: 'platform/redeemed-codes', amount: credits(5) },
    ])
    expect(await storage.ledger.verify()).toEqual([])
    expect(await storage.topUps.codes.findBatch('bat_1')).toMatchObject({ codes: 3, redeemed: 1, voided: 0 })
  })

  test('under one idempotency key it happens once and answers the same; with another code it is a conflict', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(1) })
    await createBatch(storage, { pool: 'balance' })
    const redemption = exampleRedemption({ idempotency: { key: 'k', fingerprint: 'f' } })
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        storage.topUps.codes.redeem({ ...redemption, transactionId: `try-${index}` }),
      ),
    )
    expect(count(outcomes, 'redeemed')).toBe(6)
    expect(new Set(outcomes.map((one) => JSON.stringify({ ...one, repeated: true }))).size).toBe(1)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1), balance: credits(5) })
    const reused = { ...redemption, hash: hashOf(1), idempotency: { key: 'k', fingerprint: 'other' } }
    expect(await storage.topUps.codes.redeem(reused)).toEqual({ kind: 'other-request' })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a code that is unknown, void or expired opens nothing, and says which', async () => {
    const { storage } = await openWithAccount(suite)
    await createBatch(storage, { expiresAt: NOW + 10 })
    const redeem = (changes: Partial<Redemption>) => storage.topUps.codes.redeem(exampleRedemption(changes))
    expect(await redeem({ hash: 'f'.repeat(64) })).toEqual({ kind: 'unknown' })
    expect(await redeem({ at: NOW + 10 })).toEqual({ kind: 'expired', at: NOW + 10 })
    expect(await redeem({ accountId: accountId('acc_none') })).toEqual({ kind: 'no-account' })
    expect(await storage.topUps.codes.voidCode('bat_1.0')).toBe(true)
    expect(await storage.topUps.codes.voidCode('bat_1.0')).toBe(false)
    expect(await redeem({})).toEqual({ kind: 'void' })
    expect(await redeem({ hash: hashOf(1), at: NOW + 9 })).toMatchObject({ kind: 'redeemed' })
    expect(await storage.topUps.codes.voidCode('bat_1.1')).toBe(false)
    expect(await redeem({ hash: hashOf(1), at: NOW + 20 })).toEqual({
      kind: 'spent',
      by: ACCOUNT,
      at: NOW + 9,
    })
  })

  test('a voided batch keeps what was redeemed of it and makes the rest void', async () => {
    const { storage } = await openWithAccount(suite)
    await createBatch(storage)
    await storage.topUps.codes.redeem(exampleRedemption())
    expect(await storage.topUps.codes.voidBatch('bat_1', NOW + 1)).toBe(2)
    expect(await storage.topUps.codes.voidBatch('bat_1', NOW + 2)).toBe(0)
    expect(await storage.topUps.codes.voidBatch('bat_none', NOW)).toBeUndefined()
    const batch = await storage.topUps.codes.findBatch('bat_1')
    expect(batch).toMatchObject({ redeemed: 1, voided: 2, note: 'for the fair' })
    expect(
      (await storage.topUps.codes.listCodes('bat_1', { limit: 9, after: undefined })).map(statusOf),
    ).toEqual(['redeemed', 'void', 'void'])
  })

  test('a batch voided while its codes are redeemed leaves each code either redeemed or void', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(0) })
    const other = await database.open()
    await createBatch(storage, { codes: 20 })
    const [voided, ...outcomes] = await Promise.all([
      other.topUps.codes.voidBatch('bat_1', NOW),
      ...Array.from({ length: 20 }, (_, index) =>
        storage.topUps.codes.redeem(
          exampleRedemption({ hash: hashOf(index), transactionId: `redeemed-${index}` }),
        ),
      ),
    ])
    expect((voided ?? 0) + count(outcomes, 'redeemed')).toBe(20)
    expect(count(outcomes, 'void')).toBe(voided)
    expect((await storage.accounts.find(ACCOUNT))?.credits).toBe(credits(5 * count(outcomes, 'redeemed')))
  })

  test('batches are listed newest first and codes in their order, page by page', async () => {
    const { storage } = await openWithAccount(suite)
    await createBatch(storage, { codes: 2_500 })
    await storage.topUps.codes.create(exampleBatch({ id: 'bat_2', codes: 0, expiresAt: NOW + 1 }), [])
    const { codes } = storage.topUps
    const first = await codes.listBatches({ limit: 1, after: undefined })
    expect(first).toMatchObject([{ id: 'bat_2', expiresAt: NOW + 1 }])
    expect(await codes.listBatches({ limit: 9, after: 'bat_2' })).toMatchObject([
      { id: 'bat_1', codes: 2_500 },
    ])
    const page = await codes.listCodes('bat_1', { limit: 2, after: 'bat_1.0' })
    expect(page.map(({ id }) => id)).toEqual(['bat_1.1', 'bat_1.10'])
    expect(await codes.findCode({ hash: hashOf(2_499) })).toMatchObject({ id: 'bat_1.2499', status: 'open' })
    expect(await codes.findCode({ id: 'bat_1.9999' })).toBeUndefined()
  })

  test('accounts that redeem different codes of one batch at once all get theirs', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(0) })
    const other = await database.open()
    await createAccount(storage, { id: OTHER_ACCOUNT, credits: credits(0) })
    await createBatch(storage, { codes: 20 })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 3 === 0 ? storage : other).topUps.codes.redeem(
          exampleRedemption({
            accountId: index % 2 === 0 ? ACCOUNT : OTHER_ACCOUNT,
            hash: hashOf(index),
            transactionId: `redeemed-${index}`,
          }),
        ),
      ),
    )
    expect(count(outcomes, 'redeemed')).toBe(20)
    expect((await storage.accounts.find(OTHER_ACCOUNT))?.credits).toBe(credits(50))
  })
}

function statusOf({ status }: { readonly status: string }): string {
  return status
}
