/**
 * Keys and accounts cached for the request pipeline. The cache only saves reads: reserve reads key and account again
 * under lock, so a revoked key never passes because of a cache.
 */
import { LRUCache } from 'lru-cache'
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { AccountId, VendorCode } from '../../core/ids.ts'
import type { Soon } from '../../core/soon.ts'
import type { Storage } from '../../storage/storage.ts'
import { asCustomers } from '../../upstream/credentials/customer-credential.ts'
import type { Announcement } from '../../storage/announcement.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

export interface KeyHolder {
  readonly key: Key
  readonly account: Account
}

export interface KeyDirectory {
  find(hash: string): Soon<KeyHolder | undefined>
  /** The same, read from the store: for answers that are not decided under a lock. */
  findFresh(hash: string): Promise<KeyHolder | undefined>
  /** The account's own credentials, by vendor. */
  byok(account: AccountId): Promise<ReadonlyMap<VendorCode, CredentialSecret>>
  forget(change: Announcement): void
}

/**
 * A changed fallback takes effect within about one minute, even if its announcement was lost
 * (docs/reference/contract.md#1-54).
 */
const LIFE_MS = 60_000
/** About 1 kB each. */
const KEYS_MAX = 100_000
const ACCOUNTS_MAX = 100_000
/** Few accounts bring credentials of their own. */
const OWN_MAX = 10_000

export function createKeyDirectory(
  storage: Pick<Storage, 'keys' | 'accounts'>,
  now: () => number,
): KeyDirectory {
  return new RememberedKeys(storage, now)
}

/** With `max`, the cache would allocate space for all entries at every start; with `maxSize` it grows. */
function bounds(entriesMax: number, now: () => number) {
  return { maxSize: entriesMax, sizeCalculation: () => 1, ttl: LIFE_MS, perf: { now } }
}

class RememberedKeys implements KeyDirectory {
  readonly #storage: Pick<Storage, 'keys' | 'accounts'>
  readonly #keys: LRUCache<string, Key>
  readonly #accounts: LRUCache<AccountId, Account>
  readonly #own: LRUCache<AccountId, ReadonlyMap<VendorCode, CredentialSecret>>

  constructor(storage: Pick<Storage, 'keys' | 'accounts'>, now: () => number) {
    this.#storage = storage
    this.#keys = new LRUCache(bounds(KEYS_MAX, now))
    this.#accounts = new LRUCache(bounds(ACCOUNTS_MAX, now))
    this.#own = new LRUCache(bounds(OWN_MAX, now))
  }

  find(hash: string): Soon<KeyHolder | undefined> {
    const key = this.#keys.get(hash)
    const account = key === undefined ? undefined : this.#accounts.get(key.accountId)
    return key === undefined || account === undefined ? this.#read(hash) : { key, account }
  }

  findFresh(hash: string): Promise<KeyHolder | undefined> {
    const known = this.#keys.get(hash)
    if (known !== undefined) this.#accounts.delete(known.accountId)
    this.#keys.delete(hash)
    return this.#read(hash)
  }

  async byok(account: AccountId): Promise<ReadonlyMap<VendorCode, CredentialSecret>> {
    const known = this.#own.get(account)
    if (known !== undefined) return known
    const stored = await this.#storage.accounts.readByok(account)
    const own = new Map([...stored].map(([vendor, credential]) => [vendor, asCustomers(credential)]))
    this.#own.set(account, own)
    return own
  }

  forget(change: Announcement): void {
    switch (change.kind) {
      case 'key':
        this.#keys.delete(change.hash)
        return
      case 'account':
        this.#accounts.delete(change.accountId)
        this.#own.delete(change.accountId)
        return
      case 'everything':
        this.#keys.clear()
        this.#accounts.clear()
        this.#own.clear()
        return
      case 'catalogue':
      case 'chain':
      case 'video':
        return
    }
  }

  async #read(hash: string): Promise<KeyHolder | undefined> {
    const key = this.#keys.get(hash) ?? (await this.#readKey(hash))
    if (key === undefined) return undefined
    const account = this.#accounts.get(key.accountId) ?? (await this.#readAccount(key.accountId))
    return account === undefined ? undefined : { key, account }
  }

  async #readKey(hash: string): Promise<Key | undefined> {
    const read = await this.#storage.keys.findByHash(hash)
    if (read !== undefined) this.#keys.set(hash, read)
    return read
  }

  async #readAccount(id: AccountId): Promise<Account | undefined> {
    const read = await this.#storage.accounts.find(id)
    if (read !== undefined) this.#accounts.set(id, read)
    return read
  }
}
