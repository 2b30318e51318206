import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import type { Storage } from '../../storage/storage.ts'
import { readLogTotals } from './log-totals.ts'

const DAY_MS = 86_400_000

let store: TestStore

beforeEach(async () => {
  store = await openTestStore()
})
afterEach(() => store.close())

test('sums of several days end with the day in which the last who waited has gone', async () => {
  const gone = new AbortController()
  let days = 0
  const storage = watchSums(store.storage, () => {
    days += 1
    if (days === 2) gone.abort()
  })
  const totals = await readLogTotals(
    storage,
    { from: TEST_TIME - 30 * DAY_MS },
    { now: TEST_TIME, signal: gone.signal },
  )
  expect(days).toBe(2)
  expect(totals.complete).toBe(false)
})

/** Tells of each read of sums before it begins. */
function watchSums(storage: Storage, onSums: () => void): Pick<Storage, 'logs' | 'customers'> {
  const { logs, customers } = storage
  const { usage } = customers
  return {
    logs,
    customers: {
      ...customers,
      usage: {
        ...usage,
        sums: (question) => {
          onSums()
          return usage.sums(question)
        },
      },
    },
  }
}
