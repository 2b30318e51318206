import { expect, test, vi } from 'vitest'
import { ACCOUNT, KEY } from '../../core/calls/examples.ts'
import { vendorCode } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { Secret } from '../../core/secret.ts'
import type { Storage } from '../storage.ts'
import { exampleGrant, openWithAccount, type StorageSuite } from './suite.ts'
import type { Announcement } from '../announcement.ts'

const HASH = '1'.repeat(64)
const OTHER_HASH = '2'.repeat(64)
const GROUP = { kind: 'put-group', group: { name: 'g', protocol: 'chat', models: [] } } as const

const WAIT = { timeout: 60_000, interval: 20 }

const CHANGES: readonly {
  readonly what: string
  readonly make: (storage: Storage) => Promise<unknown>
  readonly told: readonly Announcement[]
}[] = [
  {
    what: 'a changed catalogue',
    make: (storage) => storage.catalogue.apply([GROUP]),
    told: [{ kind: 'catalogue' }],
  },
  {
    what: 'a changed key',
    make: (storage) => storage.keys.patch(KEY, { policy: UNLIMITED }),
    told: [{ kind: 'key', hash: HASH }],
  },
  {
    what: 'a key with a new hash, under both',
    make: (storage) => storage.keys.patch(KEY, { hash: OTHER_HASH }),
    told: [
      { kind: 'key', hash: HASH },
      { kind: 'key', hash: OTHER_HASH },
    ],
  },
  {
    what: 'a changed account',
    make: (storage) => storage.accounts.patch(ACCOUNT, { apiDeduction: false }),
    told: [{ kind: 'account', accountId: ACCOUNT }],
  },
  {
    what: 'an own credential',
    make: (storage) =>
      storage.accounts.putByok(
        ACCOUNT,
        vendorCode('openai'),
        { secret: new Secret('s'), fields: {} },
        { enabled: true },
      ),
    told: [{ kind: 'account', accountId: ACCOUNT }],
  },
  {
    what: 'a booking',
    make: (storage) => storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'grant_1' })]),
    told: [{ kind: 'account', accountId: ACCOUNT }],
  },
]

export function describeAnnouncements(suite: StorageSuite): void {
  test.each(CHANGES)('every process hears of $what, the one that made it at once', async ({ make, told }) => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    const here = listen(storage)
    const there = listen(other)
    await make(storage)
    expect(here.heard).toEqual(told)
    await vi.waitFor(() => expect(there.heard).toEqual(told), WAIT)
    // By now its own announcement would have been received.
    await other.catalogue.apply([GROUP])
    await vi.waitFor(() => expect(here.heard).toContainEqual({ kind: 'catalogue' }), WAIT)
    await storage.catalogue.apply([GROUP])
    const marks = [{ kind: 'catalogue' }, { kind: 'catalogue' }]
    await vi.waitFor(() => expect(here.heard).toEqual([...told, ...marks]), WAIT)
  })

  test('a change that failed is not announced', async () => {
    const { storage } = await openWithAccount(suite)
    const { heard } = listen(storage)
    await expect(storage.ledger.book([exampleGrant(ACCOUNT, { debit: 'unreadable' })])).rejects.toThrow()
    expect(await storage.keys.patch(KEY, { status: 'deleted' })).toBe(true)
    expect(heard).toEqual([{ kind: 'key', hash: HASH }])
  })

  test('who stopped listening hears nothing more, and one that throws keeps nobody else from hearing', async () => {
    const { storage } = await openWithAccount(suite)
    const first = listen(storage)
    storage.subscribe(() => {
      throw new Error('a broken listener')
    })
    const second = listen(storage)
    await storage.catalogue.apply([GROUP])
    first.stop()
    await storage.catalogue.apply([GROUP])
    expect(first.heard).toHaveLength(1)
    expect(second.heard).toHaveLength(2)
  })
}

function listen(storage: Storage): { readonly heard: Announcement[]; readonly stop: () => void } {
  const heard: Announcement[] = []
  return { heard, stop: storage.subscribe((change) => heard.push(change)) }
}
