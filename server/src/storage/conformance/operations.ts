import { expect, test } from 'vitest'
import { ACCOUNT, credits } from '../../core/calls/examples.ts'
import type { Pricing } from '../../core/catalogue.ts'
import { chainId, modelId } from '../../core/ids.ts'
import type { AuditedAct, AuditedStores } from '../stores/audit.ts'
import { InvalidCursor } from '../failures/invalid-cursor.ts'
import type { Notice } from '../stores/notices.ts'
import type { PriceChange } from '../stores/prices.ts'
import type { Storage } from '../storage.ts'
import { exampleGrant, NOW, openWithAccount, type StorageSuite } from './suite.ts'

const ADMIN = {
  accountId: ACCOUNT,
  name: 'owner@example.com',
  sessionId: 'ses_1',
  address: '192.0.2.1',
  requestId: 'req_1',
}

function exampleAct(changes: Partial<AuditedAct> = {}): AuditedAct {
  return {
    at: NOW,
    actor: ADMIN,
    action: 'account.change',
    subject: ACCOUNT,
    changes: [{ field: 'user_rate', from: '100', to: '90' }],
    ...changes,
  }
}

const PRICING: Pricing = {
  currency: 'CNY',
  billingModes: ['token'],
  inputPrice: '9',
  outputPrice: '72',
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

export function describeOperations(suite: StorageSuite): void {
  describeAudit(suite)
  describeNotices(suite)
  describePrices(suite)
}

function describeAudit(suite: StorageSuite): void {
  test('an act and its entry are written together', async () => {
    const { storage } = await openWithAccount(suite)
    const value = await storage.audit.act(async (stores) => {
      await stores.accounts.patch(ACCOUNT, { userRate: '90' })
      expect(await stores.accounts.find(ACCOUNT)).toMatchObject({ userRate: '90' })
      return { value: 'done', act: exampleAct() }
    })
    expect(value).toBe('done')
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ userRate: '90' })
    const { entries } = await storage.audit.page({}, { limit: 10, cursor: undefined })
    expect(entries).toMatchObject([{ ...exampleAct(), sequence: 1, previousHash: '0'.repeat(64) }])
    expect(await storage.audit.verify()).toMatchObject({ kind: 'whole', entries: 1, head: { sequence: 1 } })
  })

  test('an act that fails leaves neither its writes nor an entry', async () => {
    const { storage } = await openWithAccount(suite)
    const failing = async (stores: AuditedStores) => {
      await stores.accounts.patch(ACCOUNT, { userRate: '90' })
      await stores.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'grant_1', amount: credits(5) })])
      throw new Error('in the middle')
    }
    await expect(storage.audit.act(failing)).rejects.toThrow('in the middle')
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ userRate: '100', credits: credits(1000) })
    expect(await storage.audit.verify()).toEqual({ kind: 'whole', entries: 0, head: undefined })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('what an act changed is announced, to this instance too', async () => {
    const { storage } = await openWithAccount(suite)
    const heard: string[] = []
    storage.subscribe((change) => heard.push(change.kind))
    await storage.audit.act(async (stores) => {
      await stores.accounts.patch(ACCOUNT, { userRate: '90' })
      return { value: undefined, act: exampleAct() }
    })
    expect(heard).toContain('account')
  })

  test('entries of several instances form one chain without a gap', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? storage : other).audit.record(exampleAct({ subject: `subject_${index}` })),
      ),
    )
    expect(await other.audit.verify()).toMatchObject({ kind: 'whole', entries: 12 })
    const entries = await storage.audit.following(0, 100)
    expect(entries.map((entry) => entry.sequence)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    )
    for (const [index, entry] of entries.entries()) {
      expect(entry.previousHash).toBe(index === 0 ? '0'.repeat(64) : entries[index - 1]?.hash)
    }
  })

  test('pages are newest first, join without gap or repetition, and filter', async () => {
    const { storage } = await openWithAccount(suite)
    for (let index = 0; index < 5; index += 1) {
      await storage.audit.record(
        exampleAct({ at: NOW + index, action: index % 2 === 0 ? 'account.change' : 'chain.disable' }),
      )
    }
    const sequences: number[] = []
    let cursor: string | undefined
    do {
      const page = await storage.audit.page({}, { limit: 2, cursor })
      sequences.push(...page.entries.map((entry) => entry.sequence))
      cursor = page.next
    } while (cursor !== undefined)
    expect(sequences).toEqual([5, 4, 3, 2, 1])
    const filtered = async (filter: Parameters<Storage['audit']['page']>[0]) =>
      (await storage.audit.page(filter, { limit: 10, cursor: undefined })).entries.map((one) => one.sequence)
    expect(await filtered({ action: 'chain.disable' })).toEqual([4, 2])
    expect(await filtered({ actor: ACCOUNT, from: NOW + 1, to: NOW + 3 })).toEqual([3, 2])
    expect(await filtered({ subject: 'nobody' })).toEqual([])
    const unreadable = storage.audit.page({}, { limit: 2, cursor: 'unreadable' })
    await expect(unreadable).rejects.toThrow(InvalidCursor)
  })

  test.each(["update audit_entries set action = 'x'", 'delete from audit_entries'])(
    'the database itself refuses to change entries: %s',
    async (statement) => {
      const { database, storage } = await openWithAccount(suite)
      await storage.audit.record(exampleAct())
      await expect(database.execute(statement)).rejects.toThrow('never changed or deleted')
    },
  )

  test('an entry that was put in by hand breaks the chain, and verifying the ledger says so', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.audit.record(exampleAct())
    const [first] = await storage.audit.following(0, 1)
    await database.execute(
      `insert into audit_entries (sequence, at, actor_name, address, action, subject, changes, previous_hash, hash)
       values (2, 1, 'nobody', '', 'account.change', 'x', '[]', '${first?.hash ?? ''}', '${'e'.repeat(64)}')`,
    )
    expect(await storage.audit.verify()).toMatchObject({ kind: 'broken', sequence: 2 })
    expect(await storage.ledger.verify()).toMatchObject([{ subject: 'audit:2' }])
  })
}

function describeNotices(suite: StorageSuite): void {
  const notice: Notice = {
    id: 'notice_1',
    title: 'Maintenance',
    body: 'On Sunday.',
    level: 'warning',
    startsAt: NOW,
    endsAt: NOW + 100,
    createdAt: NOW,
  }

  test('an announcement is shown from its beginning until its end', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.notices.put(notice)
    expect(await storage.notices.list({ at: NOW - 1, limit: 10 })).toEqual([])
    expect(await storage.notices.list({ at: NOW, limit: 10 })).toEqual([notice])
    expect(await storage.notices.list({ at: NOW + 100, limit: 10 })).toEqual([])
    expect(await storage.notices.list({ limit: 10 })).toEqual([notice])
  })

  test('an announcement is changed by its id and removed once', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.notices.put(notice)
    await storage.notices.put({ ...notice, title: 'Later', endsAt: undefined })
    expect(await storage.notices.find(notice.id)).toEqual({ ...notice, title: 'Later', endsAt: undefined })
    expect(await storage.notices.remove(notice.id)).toBe(true)
    expect(await storage.notices.remove(notice.id)).toBe(false)
  })
}

function describePrices(suite: StorageSuite): void {
  async function openWithModel() {
    const { storage } = await openWithAccount(suite)
    await storage.catalogue.apply([
      {
        kind: 'put-model',
        model: {
          modelId: modelId('m'),
          name: 'm',
          status: 'enabled',
          clientVisible: true,
          supportFeatures: ['text'],
          requiredVerification: 0,
          requiredPlan: 0,
          contextTokens: undefined,
          maxOutputTokens: undefined,
          subscriptionCovered: false,
          pricing: PRICING,
          surcharges: {},
          refuse: [],
        },
      },
    ])
    return storage
  }

  const change: PriceChange = {
    id: 'price_1',
    modelId: modelId('m'),
    effectiveAt: NOW + 10,
    pricing: PRICING,
    status: 'pending',
    createdAt: NOW,
    createdBy: 'acc_1',
  }

  test('a future price is due from its moment on and settled once', async () => {
    const storage = await openWithModel()
    await storage.prices.schedule(change)
    await storage.prices.schedule({ ...change, id: 'price_2', effectiveAt: NOW + 20 })
    expect(await storage.prices.due(NOW + 9, 10)).toEqual([])
    expect(await storage.prices.due(NOW + 10, 10)).toEqual([change])
    expect(await storage.prices.settle('price_1', 'applied')).toBe(true)
    expect(await storage.prices.settle('price_1', 'cancelled')).toBe(false)
    expect(await storage.prices.due(NOW + 100, 10)).toMatchObject([{ id: 'price_2' }])
    expect(await storage.prices.list({ status: 'applied', limit: 10 })).toMatchObject([{ id: 'price_1' }])
    expect(await storage.prices.find('price_1')).toEqual({ ...change, status: 'applied' })
  })

  test('what a chain costs is kept until it is taken back', async () => {
    const storage = await openWithModel()
    await expect(storage.prices.putCost(chainId(99), PRICING)).rejects.toThrow()
    expect(await storage.prices.costs()).toEqual(new Map())
    await storage.prices.putCost(chainId(99), undefined)
  })
}
