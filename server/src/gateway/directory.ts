/**
 * Keys and accounts as the corridor remembers them. What is cached here only spares reads: reserve looks at key and
 * account again under lock, so a revoked key never passes because of a cache.
 */
import { LRUCache } from 'lru-cache'
import type { CredentialSecret } from '../core/catalogue.ts'
import type { AccountId, VendorCode } from '../core/ids.ts'
import type { Account, Announcement, Key, Storage } from '../storage/storage.ts'

export interface KeyHolder {
  readonly key: Key
  readonly account: Account
}

export interface KeyDirectory {
  find(hash: string): Promise<KeyHolder | undefined>
  /** The same, read anew: for answers that no lock stands behind. */
  findFresh(hash: string): Promise<KeyHolder | undefined>
  /** The account's own credentials, by vendor. */
  byok(account: AccountId): Promise<ReadonlyMap<VendorCode, CredentialSecret>>
  forget(change: Announcement): void
}

/** Contract §1.7: a changed fallback takes effect within about one minute, even if its announcement was lost. */
const LIFE_MS = 60_000
/** About 1 kB each. */
const KEYS_MAX = 100_000
const ACCOUNTS_MAX = 100_000

export function createKeyDirectory(
  storage: Pick<Storage, 'keys' | 'accounts'>,
  now: () => number,
): KeyDirectory {
  const perf = { now }
  const keys = new LRUCache<string, Key>({ max: KEYS_MAX, ttl: LIFE_MS, perf })
  const accounts = new LRUCache<AccountId, Account>({ max: ACCOUNTS_MAX, ttl: LIFE_MS, perf })
  const own = new LRUCache<AccountId, ReadonlyMap<VendorCode, CredentialSecret>>({
    max: ACCOUNTS_MAX,
    ttl: LIFE_MS,
    perf,
  })

  async function findKey(hash: string): Promise<Key | undefined> {
    const known = keys.get(hash)
    if (known !== undefined) return known
    const read = await storage.keys.findByHash(hash)
    if (read !== undefined) keys.set(hash, read)
    return read
  }

  async function findAccount(id: AccountId): Promise<Account | undefined> {
    const known = accounts.get(id)
    if (known !== undefined) return known
    const read = await storage.accounts.find(id)
    if (read !== undefined) accounts.set(id, read)
    return read
  }

  async function find(hash: string): Promise<KeyHolder | undefined> {
    const key = await findKey(hash)
    const account = key === undefined ? undefined : await findAccount(key.accountId)
    return key === undefined || account === undefined ? undefined : { key, account }
  }

  return {
    find,
    findFresh(hash) {
      const known = keys.get(hash)
      if (known !== undefined) accounts.delete(known.accountId)
      keys.delete(hash)
      return find(hash)
    },
    async byok(account) {
      const known = own.get(account)
      if (known !== undefined) return known
      const read = await storage.accounts.readByok(account)
      own.set(account, read)
      return read
    },
    forget(change) {
      switch (change.kind) {
        case 'key':
          keys.delete(change.hash)
          return
        case 'account':
          accounts.delete(change.accountId)
          own.delete(change.accountId)
          return
        case 'everything':
          keys.clear()
          accounts.clear()
          own.clear()
          return
        case 'catalogue':
          return
      }
    },
  }
}
