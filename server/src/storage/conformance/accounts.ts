import { expect, test } from 'vitest'
import { ACCOUNT, credits, FALLBACK } from '../../core/calls/examples.ts'
import { accountId, vendorCode } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../failures/conflict.ts'
import { LastAdmin } from '../failures/last-admin.ts'
import { NOW, openWithAccount, OTHER_ACCOUNT, type StorageSuite } from './suite.ts'
import type { AccountPatch } from '../stores/accounts.ts'

const FULL: Required<AccountPatch> = {
  email: 'owner@example.com',
  phone: '+8613800000000',
  passwordHash: '$argon2id$…',
  role: 'admin',
  status: 'suspended',
  verification: 2,
  userRate: '87.5',
  apiDeduction: false,
  monthlyCap: credits(5000),
  autoExchange: { enabled: true, belowCredits: credits(10), step: credits(100) },
  subscription: {
    plan: 'PRO',
    level: 2,
    expiresAt: NOW + 1,
    quota: [{ credits: credits(50_000), seconds: 18_000 }],
  },
  fallbackModel: FALLBACK,
  policy: { concurrency: 3, windows: [{ dimension: 'amount', limit: 5.5, seconds: 60 }] },
}
const OPENAI = vendorCode('openai')

export function describeAccounts(suite: StorageSuite): void {
  test('an active admin is always left', async () => {
    const { database, storage } = await openWithAccount(suite, { role: 'admin' })
    const demoted = { role: 'user' } as const
    const suspended = { status: 'suspended' } as const
    await expect(storage.accounts.patch(ACCOUNT, demoted)).rejects.toThrow(LastAdmin)
    await expect(storage.accounts.patch(ACCOUNT, suspended)).rejects.toThrow(LastAdmin)
    await storage.accounts.create({ id: OTHER_ACCOUNT, createdAt: NOW, role: 'admin' })
    expect(await storage.accounts.patch(OTHER_ACCOUNT, suspended)).toBe(true)
    await expect(storage.accounts.patch(ACCOUNT, suspended)).rejects.toThrow(LastAdmin)
    await storage.accounts.patch(OTHER_ACCOUNT, { status: 'active' })
    const other = await database.open()
    const ends = await Promise.allSettled([
      storage.accounts.patch(ACCOUNT, demoted),
      other.accounts.patch(OTHER_ACCOUNT, suspended),
    ])
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const left = await storage.accounts.list({ role: 'admin', status: 'active', limit: 5, after: undefined })
    expect(left).toHaveLength(1)
  })

  test('a new account has nothing and is held to nothing', async () => {
    const storage = await (await suite.createDatabase()).open()
    await storage.accounts.create({ id: ACCOUNT, createdAt: NOW })
    expect(await storage.accounts.find(ACCOUNT)).toEqual({
      id: ACCOUNT,
      kind: 'person',
      email: undefined,
      phone: undefined,
      passwordHash: undefined,
      role: 'user',
      status: 'active',
      verification: 0,
      userRate: '100',
      credits: 0n,
      held: 0n,
      balance: 0n,
      owed: 0n,
      apiDeduction: true,
      monthlyCap: 0n,
      monthStart: 0,
      monthSpent: 0n,
      monthHeld: 0n,
      autoExchange: { enabled: false, belowCredits: 0n, step: 0n },
      subscription: undefined,
      policy: { concurrency: undefined, windows: [] },
      byokVendors: [],
      fallbackModel: undefined,
      createdAt: NOW,
    })
  })

  test('everything but money can be given at the start or patched, and cleared again', async () => {
    const storage = await (await suite.createDatabase()).open()
    await storage.accounts.create({ id: ACCOUNT, createdAt: NOW, ...FULL })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject(FULL)
    const { email: _, phone: __, ...patch } = FULL
    await storage.accounts.create({ id: OTHER_ACCOUNT, createdAt: NOW })
    expect(await storage.accounts.patch(OTHER_ACCOUNT, patch)).toBe(true)
    expect(await storage.accounts.find(OTHER_ACCOUNT)).toMatchObject(patch)
    const cleared = { email: undefined, subscription: undefined, fallbackModel: undefined }
    await storage.accounts.patch(ACCOUNT, cleared)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ ...FULL, ...cleared })
    expect(await storage.accounts.patch(ACCOUNT, {})).toBe(true)
    expect(await storage.accounts.patch(accountId('nobody'), { role: 'admin' })).toBe(false)
  })

  test('an account is found by its address, however it is written, or its phone number', async () => {
    const storage = await (await suite.createDatabase()).open()
    await storage.accounts.create({
      id: ACCOUNT,
      createdAt: NOW,
      email: 'Owner@Example.com',
      phone: '+86138',
    })
    expect(await storage.accounts.findByLogin({ email: 'owner@EXAMPLE.com' })).toMatchObject({ id: ACCOUNT })
    expect(await storage.accounts.findByLogin({ phone: '+86138' })).toMatchObject({ id: ACCOUNT })
    expect(await storage.accounts.findByLogin({ email: 'other@example.com' })).toBeUndefined()
  })

  test('an address, a phone number or an id that is taken is a conflict', async () => {
    const storage = await (await suite.createDatabase()).open()
    await storage.accounts.create({ id: ACCOUNT, createdAt: NOW, email: 'a@example.com', phone: '1' })
    const create = (id: string, patch: AccountPatch) =>
      storage.accounts.create({ id: accountId(id), createdAt: NOW, ...patch })
    await expect(create('acc_2', { email: 'A@example.com' })).rejects.toThrow(StorageConflict)
    await expect(create('acc_2', { phone: '1' })).rejects.toThrow(StorageConflict)
    await expect(create(ACCOUNT, {})).rejects.toThrow(StorageConflict)
    await create('acc_2', {})
    await expect(storage.accounts.patch(OTHER_ACCOUNT, { phone: '1' })).rejects.toThrow(StorageConflict)
  })

  test('the list goes on after the account a page ended with', async () => {
    const storage = await (await suite.createDatabase()).open()
    const ids = ['acc_1', 'acc_2', 'acc_3', 'acc_4', 'acc_5']
    for (const id of ids) await storage.accounts.create({ id: accountId(id), createdAt: NOW })
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await storage.accounts.list({ limit: 2, after })
      seen.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id
    } while (after !== undefined)
    expect(seen).toEqual(ids)
  })

  test('patching never touches money', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(7) })
    await storage.accounts.patch(ACCOUNT, FULL)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(7) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('own credentials are read back when switched on, listed without secrets, and removed', async () => {
    const { storage } = await openWithAccount(suite)
    const secret = { secret: new Secret('sk-own'), fields: { region: new Secret('eu') } }
    await storage.accounts.putByok(ACCOUNT, OPENAI, secret, { enabled: true })
    await storage.accounts.putByok(ACCOUNT, vendorCode('kling'), secret, { enabled: false })
    const own = await storage.accounts.readByok(ACCOUNT)
    expect([...own.keys()]).toEqual([OPENAI])
    expect(own.get(OPENAI)?.secret?.unwrap()).toBe('sk-own')
    expect(own.get(OPENAI)?.fields['region']?.unwrap()).toBe('eu')
    expect(await storage.accounts.listByok(ACCOUNT)).toEqual([
      { vendor: 'kling', enabled: false },
      { vendor: 'openai', enabled: true },
    ])
    expect((await storage.accounts.find(ACCOUNT))?.byokVendors).toEqual([OPENAI])
    expect(await storage.accounts.removeByok(ACCOUNT, OPENAI)).toBe(true)
    expect(await storage.accounts.removeByok(ACCOUNT, OPENAI)).toBe(false)
    expect((await storage.accounts.readByok(ACCOUNT)).size).toBe(0)
    expect((await storage.accounts.find(ACCOUNT))?.byokVendors).toEqual([])
  })

  test('own credentials are encrypted at rest', async () => {
    const { database, storage } = await openWithAccount(suite)
    const secret = { secret: new Secret('sk-own-very-secret'), fields: {} }
    await storage.accounts.putByok(ACCOUNT, OPENAI, secret, { enabled: true })
    await storage.close()
    expect(await database.dump()).not.toContain('sk-own-very-secret')
  })
}
