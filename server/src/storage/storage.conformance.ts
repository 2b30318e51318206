/**
 * What every engine owes the port. Each engine's test file runs it; there is nothing in it about how an engine works.
 */
import { describe, expect, test } from 'vitest'
import { exampleLog, exampleReserve, exampleSettle, KEY, ACCOUNT, credits } from '../core/calls/examples.ts'
import { callId, instanceId } from '../core/ids.ts'
import type { Storage } from './storage.ts'

export interface StorageUnderTest {
  /** Opens the same empty database again and again within one test. */
  open(): Promise<Storage>
}

export function describeStorage(name: string, fresh: () => Promise<StorageUnderTest>): void {
  describe(`storage on ${name}`, () => {
    test('a call is reserved, settled once, and logged', async () => {
      const storage = await (await fresh()).open()
      await storage.accounts.create({ id: ACCOUNT, createdAt: 1 })
      await storage.keys.create({
        id: KEY,
        accountId: ACCOUNT,
        name: 'k',
        hash: 'h',
        hint: 'x',
        status: 'enabled',
        createdAt: 1,
        expiresAt: undefined,
        group: undefined,
        models: [],
        ipAllow: [],
        policy: undefined,
      })
      await storage.ledger.book([
        {
          transactionId: 'g',
          sequence: 0,
          at: 1,
          debit: 'platform/grants',
          credit: `${ACCOUNT}/credits`,
          amount: credits(100),
          kind: 'grant',
          reference: undefined,
        },
      ])
      const r = await storage.calls.reserve(exampleReserve('c1'))
      expect(r.kind).toBe('reserved')
      const s = await storage.calls.settle(exampleSettle('c1', { usage: { input: 1000, output: 100 } }))
      expect(s).toMatchObject({ first: true })
      expect(
        (await storage.calls.settle(exampleSettle('c1', { usage: { input: 1000, output: 100 } }))).first,
      ).toBe(false)
      expect((await storage.logs.page({}, { limit: 10, cursor: undefined })).rows).toHaveLength(1)
      expect((await storage.accounts.find(ACCOUNT))?.credits).toBe(credits(100) - s.deducted)
      await storage.close()
    })
  })
}
