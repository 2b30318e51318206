import { expect, test } from 'vitest'
import { type Cashier, takeNotice } from './cashier.ts'

test('a forged notice is a security event with the address it came from', async () => {
  const events: unknown[] = []
  const cashier: Cashier = {
    // A forged notice is neither booked nor logged.
    storage: undefined as never,
    log: undefined as never,
    receipts: 'none',
    driver: {
      name: 'stripe',
      readNotice: () => ({ kind: 'forged', why: 'the signature does not match' }),
      openCheckout: () => Promise.reject(new Error('nobody pays')),
      readCheckout: () => Promise.reject(new Error('nobody paid')),
    },
    security: {
      note: (event, fields) => void events.push({ event, ...fields }),
      close: () => Promise.resolve(),
    },
    now: () => 0,
  }
  const notice = { payload: '{}', headers: {}, address: '192.0.2.1' }
  expect(await takeNotice(cashier, 'stripe', notice)).toMatchObject({ kind: 'forged' })
  expect(events).toEqual([
    {
      event: 'webhook.forged',
      provider: 'stripe',
      why: 'the signature does not match',
      address: '192.0.2.1',
    },
  ])
})
