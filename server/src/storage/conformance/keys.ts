import { expect, test } from 'vitest'
import { ACCOUNT, KEY, MODEL } from '../../core/calls/examples.ts'
import { keyId } from '../../core/ids.ts'
import { StorageConflict } from '../failures/conflict.ts'
import type { Key, KeyFilter } from '../stores/keys.ts'
import { exampleApiKey, NOW, openWithAccount, OTHER_ACCOUNT, OTHER_KEY, type StorageSuite } from './suite.ts'

const HASH = '1'.repeat(64)
const OTHER_HASH = '2'.repeat(64)

export function describeKeys(suite: StorageSuite): void {
  test('a key comes back as it was created, by hash, by id and in the list', async () => {
    const { storage } = await openWithAccount(suite)
    const key = exampleApiKey({
      id: OTHER_KEY,
      hash: OTHER_HASH,
      createdAt: NOW + 1,
      expiresAt: NOW + 2,
      group: 'claude-code',
      models: [MODEL],
      ipAllow: ['10.0.0.0/8'],
      policy: { concurrency: 1, windows: [{ dimension: 'tokens', limit: 5, seconds: 60 }] },
    })
    await storage.keys.create(key)
    expect(await storage.keys.findByHash(OTHER_HASH)).toEqual(key)
    expect(await storage.keys.find(OTHER_KEY)).toEqual(key)
    expect(await storage.keys.list(ACCOUNT)).toEqual([exampleApiKey(), key])
    expect(await storage.keys.findByHash('3'.repeat(64))).toBeUndefined()
  })

  test('keys bound to a group are found whoever has them, the newest first, without those that are gone', async () => {
    const { storage } = await openWithAccount(suite)
    expect(await storage.keys.boundTo('team', 10)).toEqual([])
    const keys = ['1', '2', '3'].map((digit, index) =>
      exampleApiKey({
        id: keyId(`key_group_${digit}`),
        hash: `${digit}a`.repeat(32),
        createdAt: NOW + index,
        group: 'team',
      }),
    )
    for (const key of keys) await storage.keys.create(key)
    await storage.keys.patch(keyId('key_group_2'), { status: 'deleted' })
    expect(await storage.keys.boundTo('team', 10)).toEqual([keys[2], keys[0]])
    expect(await storage.keys.boundTo('team', 1)).toEqual([keys[2]])
    expect(await storage.keys.boundTo('other', 10)).toEqual([])
  })

  test('keys of all accounts are found by what they and their accounts are called, newest first', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.accounts.create({ id: OTHER_ACCOUNT, createdAt: NOW, email: 'other@example.com' })
    const make = async (name: string, changes: Partial<Key>) => {
      const hash = Buffer.from(name.padEnd(32, '.')).toString('hex')
      const key = exampleApiKey({ id: keyId(`key_${name}`), name, hash, hint: `sk-hint-${name}`, ...changes })
      await storage.keys.create(key)
      return key.id
    }
    const old = await make('Old_One', { createdAt: NOW - 3, accountId: OTHER_ACCOUNT, expiresAt: NOW })
    const off = await make('off', { createdAt: NOW - 2, status: 'disabled', group: 'team', expiresAt: NOW })
    const first = await make('same-1', { createdAt: NOW - 1 })
    const second = await make('same-2', { createdAt: NOW - 1, accountId: OTHER_ACCOUNT })
    const gone = await make('gone', {})
    await storage.keys.patch(gone, { status: 'deleted' })

    const found = async (filter: Partial<KeyFilter>) => {
      const page = await storage.keys.page({ at: NOW, ...filter }, { limit: 100, cursor: undefined })
      return page.rows.map(({ id }) => id)
    }
    expect(await found({})).toEqual([KEY, second, first, off, old])
    expect(await found({ account: OTHER_ACCOUNT })).toEqual([second, old])
    expect(await found({ search: 'OTHER@' })).toEqual([second, old])
    expect(await found({ search: 'hint-same' })).toEqual([second, first])
    expect(await found({ search: 'd_o' })).toEqual([old])
    expect(await found({ search: second })).toEqual([second])
    expect(await found({ search: 'nobody' })).toEqual([])
    expect(await found({ group: 'team' })).toEqual([off])
    expect(await found({ state: 'enabled' })).toEqual([KEY, second, first])
    expect(await found({ state: 'disabled' })).toEqual([off])
    expect(await found({ state: 'expired' })).toEqual([old])

    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await storage.keys.page({ at: NOW }, { limit: 2, cursor })
      paged.push(...page.rows.map(({ id }) => id))
      cursor = page.next
    } while (cursor !== undefined)
    expect(paged).toEqual([KEY, second, first, off, old])

    expect(await storage.keys.readNames([gone, first, keyId('nobody')])).toEqual(
      new Map([
        [gone, { accountId: ACCOUNT, name: 'gone', hint: 'sk-hint-gone' }],
        [first, { accountId: ACCOUNT, name: 'same-1', hint: 'sk-hint-same-1' }],
      ]),
    )
    expect(await storage.keys.readNames([])).toEqual(new Map())
  })

  test('a patch changes what it names and clears what it names as undefined', async () => {
    const { storage } = await openWithAccount(suite)
    const patch = {
      name: 'server',
      status: 'disabled',
      expiresAt: 5,
      group: 'g',
      models: [MODEL],
      ipAllow: ['::1/128'],
      policy: { concurrency: 2, windows: [] },
      hash: OTHER_HASH,
      hint: 'sk-gateway-zzzzzz',
    } as const
    expect(await storage.keys.patch(KEY, patch)).toBe(true)
    expect(await storage.keys.findByHash(OTHER_HASH)).toMatchObject(patch)
    expect(await storage.keys.findByHash(HASH)).toBeUndefined()
    const cleared = { expiresAt: undefined, group: undefined, policy: undefined }
    await storage.keys.patch(KEY, cleared)
    expect(await storage.keys.find(KEY)).toEqual({ ...exampleApiKey(), ...patch, ...cleared })
    expect(await storage.keys.patch(KEY, {})).toBe(true)
    expect(await storage.keys.patch(keyId('nobody'), { name: 'x' })).toBe(false)
  })

  test('a deleted key is found no more, cannot be patched, and its hash may come again', async () => {
    const { storage } = await openWithAccount(suite)
    expect(await storage.keys.patch(KEY, { status: 'deleted' })).toBe(true)
    expect(await storage.keys.findByHash(HASH)).toBeUndefined()
    expect(await storage.keys.find(KEY)).toBeUndefined()
    expect(await storage.keys.list(ACCOUNT)).toEqual([])
    expect(await storage.keys.patch(KEY, { status: 'enabled' })).toBe(false)
    await storage.keys.create(exampleApiKey({ id: OTHER_KEY }))
    expect(await storage.keys.findByHash(HASH)).toMatchObject({ id: OTHER_KEY })
  })

  test('two living keys never share a hash', async () => {
    const { storage } = await openWithAccount(suite)
    const twin = exampleApiKey({ id: OTHER_KEY })
    await expect(storage.keys.create(twin)).rejects.toThrow(StorageConflict)
  })
}
