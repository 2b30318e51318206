import { HOUR_MS } from '../../core/durations.ts'
import { expect, test } from 'vitest'
import { ACCOUNT, credits, exampleReserve, KEY } from '../../core/calls/examples.ts'
import { accountId, type KeyId, vendorCode } from '../../core/ids.ts'
import { microCredits } from '../../core/money.ts'
import type { SubscriptionTerms } from '../../core/subscriptions/terms.ts'
import { StorageConflict } from '../failures/conflict.ts'
import { InvalidCursor } from '../failures/invalid-cursor.ts'
import type { Act, ActState, Profile, VerificationRequest } from '../stores/customers.ts'
import { Overdraft } from '../failures/overdraft.ts'
import type { Storage } from '../storage.ts'
import {
  createAccount,
  exampleGrant,
  NOW,
  openWithAccount,
  OTHER_ACCOUNT,
  OTHER_KEY,
  settleTwoCredits,
  type StorageSuite,
} from './suite.ts'

export function describeCustomers(suite: StorageSuite): void {
  describeBooking(suite)
  describeActs(suite)
  describePeople(suite)
  describeStatements(suite)
  describeUsage(suite)
  describeAlerts(suite)
}

function describeBooking(suite: StorageSuite): void {
  const takeBack = (pool: string, amount: number) =>
    exampleGrant(ACCOUNT, {
      transactionId: `take-${pool}-${amount}`,
      debit: `${ACCOUNT}/${pool}`,
      credit: 'platform/grants',
      amount: credits(amount),
      kind: 'adjustment',
    })

  test('a booking never takes more from a pool than is in it, and then books nothing', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(10) })
    await expect(storage.ledger.book([takeBack('credits', 11)])).rejects.toThrow(Overdraft)
    await expect(storage.ledger.book([takeBack('balance', 1)])).rejects.toThrow(Overdraft)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(10), balance: 0n })
    expect(await storage.ledger.transfers({ limit: 10, after: undefined })).toHaveLength(1)
    expect(await storage.ledger.book([takeBack('credits', 10)])).toBe(true)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: 0n })
  })

  test('Credits held by running calls are none that a booking may take', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(100) })
    await storage.calls.reserve(exampleReserve('running'))
    const { credits: all, held } = (await storage.accounts.find(ACCOUNT)) ?? { credits: 0n, held: 0n }
    expect(held).toBeGreaterThan(0n)
    await expect(storage.ledger.book([takeBack('credits', 100)])).rejects.toThrow(Overdraft)
    const rest = { ...takeBack('credits', 0), amount: microCredits(all - held) }
    expect(await storage.ledger.book([rest])).toBe(true)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('many at once take together what is there, and not one µCr more', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(7) })
    const other = await database.open()
    const asked = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? storage : other).ledger.book([
        { ...takeBack('credits', 1), transactionId: `take-${index}` },
      ]),
    )
    const results = await Promise.allSettled(asked)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a debt is booked only where one is meant, and a gift smaller than it is taken', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(1) })
    expect(await storage.ledger.book([takeBack('credits', 3)], { overdraw: 'allow' })).toBe(true)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(-2) })
    expect(
      await storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'gift', amount: credits(1) })]),
    ).toBe(true)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(-1) })
  })
}

/** Moves Credits to the balance, once per key. */
function exchangeAct(changes: Partial<Act<string>> = {}): Act<string> {
  return {
    accountId: ACCOUNT,
    operation: 'exchange',
    idempotency: { key: 'k', fingerprint: 'f' },
    at: NOW,
    decide: ({ account }: ActState) =>
      account.credits < credits(5)
        ? { kind: 'refused', refusal: 'too few' }
        : {
            kind: 'done',
            transfers: [
              exampleGrant(ACCOUNT, {
                transactionId: `exchange-${account.credits}`,
                debit: `${ACCOUNT}/credits`,
                credit: `${ACCOUNT}/balance`,
                amount: credits(5),
                kind: 'exchange',
              }),
            ],
            answer: { left: (account.credits - credits(5)).toString() },
          },
    ...changes,
  }
}

function describeActs(suite: StorageSuite): void {
  test('an act is done once per key, however often and wherever it is asked for, and answers the same', async () => {
    const { database, storage } = await openWithAccount(suite, { credits: credits(12) })
    const other = await database.open()
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? storage : other).customers.acts.perform(exchangeAct()),
      ),
    )
    expect(outcomes.filter((outcome) => outcome.kind === 'done' && !outcome.repeated)).toHaveLength(1)
    const answer = { left: credits(7).toString() }
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'done', answer })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(7), balance: credits(5) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('another request under the same key is told apart; another operation has keys of its own', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(20) })
    await storage.customers.acts.perform(exchangeAct())
    const changed = { idempotency: { key: 'k', fingerprint: 'other' } }
    expect(await storage.customers.acts.perform(exchangeAct(changed))).toEqual({ kind: 'other-request' })
    expect(
      await storage.customers.acts.perform(exchangeAct({ ...changed, operation: 'other' })),
    ).toMatchObject({
      kind: 'done',
      repeated: false,
    })
    expect(await storage.customers.acts.perform(exchangeAct({ idempotency: undefined }))).toMatchObject({
      kind: 'done',
      repeated: false,
    })
  })

  test('a refused act leaves its key free, and an overdrawn one leaves nothing', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(4) })
    expect(await storage.customers.acts.perform(exchangeAct())).toEqual({
      kind: 'refused',
      refusal: 'too few',
    })
    const greedy = exchangeAct({
      decide: () => ({
        kind: 'done',
        transfers: [
          exampleGrant(ACCOUNT, {
            debit: `${ACCOUNT}/credits`,
            credit: 'platform/x',
            amount: credits(5),
            transactionId: 'x',
          }),
        ],
        terms: TERMS,
        answer: {},
      }),
    })
    await expect(storage.customers.acts.perform(greedy)).rejects.toThrow(Overdraft)
    expect(await storage.customers.subscriptions.find(ACCOUNT)).toBeUndefined()
    await storage.ledger.book([exampleGrant(ACCOUNT, { transactionId: 'more', amount: credits(1) })])
    expect(await storage.customers.acts.perform(exchangeAct())).toMatchObject({
      kind: 'done',
      repeated: false,
    })
    expect(await storage.customers.acts.perform(exchangeAct({ accountId: accountId('nobody') }))).toEqual({
      kind: 'no-account',
    })
  })

  test('a subscription and its terms are written with the money, and come back as they were', async () => {
    const { storage } = await openWithAccount(suite)
    const subscription = {
      plan: 'PRO',
      level: 2,
      expiresAt: TERMS.expiresAt,
      quota: [{ credits: credits(50), seconds: 60 }],
    }
    const write = (terms: SubscriptionTerms | undefined) =>
      storage.customers.acts.perform<never>({
        ...exchangeAct({ idempotency: undefined }),
        decide: () => ({ kind: 'done', transfers: [], subscription, terms, answer: {} }),
      })
    await write(TERMS)
    expect(await storage.customers.subscriptions.find(ACCOUNT)).toEqual(TERMS)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ subscription })
    expect(await storage.customers.subscriptions.due(TERMS.expiresAt - 11, 10)).toEqual([])
    expect(await storage.customers.subscriptions.due(TERMS.expiresAt - 10, 10)).toEqual([ACCOUNT])
    await write({ ...TERMS, renewal: undefined })
    expect(await storage.customers.subscriptions.find(ACCOUNT)).toEqual({ ...TERMS, renewal: undefined })
    expect(await storage.customers.subscriptions.due(TERMS.expiresAt, 10)).toEqual([])
    await write(undefined)
    expect(await storage.customers.subscriptions.find(ACCOUNT)).toBeUndefined()
  })
}

const TERMS: SubscriptionTerms = {
  plan: 'PRO',
  expiresAt: NOW + 1_000,
  periods: [{ from: NOW, until: NOW + 1_000, paid: credits(9_007_199_255), pool: 'balance' }],
  renewal: { plan: 'PLUS', pool: 'credits', dueAt: NOW + 990 },
}

function describePeople(suite: StorageSuite): void {
  test('a profile comes back as it was put, and is replaced whole', async () => {
    const { storage } = await openWithAccount(suite)
    const profile: Profile = {
      name: 'Ada',
      language: 'en',
      timezone: 'Europe/London',
      alerts: {
        email: true,
        lowCredits: credits(5),
        failuresPerHour: 3,
        receipts: false,
        webhookUrl: 'https://example.com/x',
      },
    }
    expect(await storage.customers.profiles.find(ACCOUNT)).toBeUndefined()
    await storage.customers.profiles.put(ACCOUNT, profile)
    expect(await storage.customers.profiles.find(ACCOUNT)).toEqual(profile)
    const bare: Profile = {
      name: undefined,
      language: undefined,
      timezone: undefined,
      alerts: {
        email: false,
        lowCredits: undefined,
        failuresPerHour: undefined,
        webhookUrl: undefined,
        receipts: true,
      },
    }
    await storage.customers.profiles.put(ACCOUNT, bare)
    expect(await storage.customers.profiles.find(ACCOUNT)).toEqual(bare)
  })

  test('an own credential is switched off and on without its secret being given again', async () => {
    const { storage } = await openWithAccount(suite)
    const vendor = vendorCode('openai')
    expect(await storage.accounts.switchByok(ACCOUNT, vendor, false)).toBe(false)
    await storage.accounts.putByok(ACCOUNT, vendor, { secret: undefined, fields: {} }, { enabled: true })
    expect(await storage.accounts.switchByok(ACCOUNT, vendor, false)).toBe(true)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ byokVendors: [] })
    expect(await storage.accounts.listByok(ACCOUNT)).toEqual([{ vendor, enabled: false }])
    await storage.accounts.switchByok(ACCOUNT, vendor, true)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ byokVendors: [vendor] })
    expect((await storage.accounts.readByok(ACCOUNT)).size).toBe(1)
  })

  const request = (id: string, changes: Partial<VerificationRequest> = {}): VerificationRequest => ({
    id,
    accountId: ACCOUNT,
    kind: 'personal',
    status: 'pending',
    submittedAt: NOW,
    decidedAt: undefined,
    decidedBy: undefined,
    reason: undefined,
    statement: { legal_name: 'Ada Lovelace-Byron', id_number: '110101199003071234' },
    documents: [{ name: 'front.png', blobKey: 'b', mediaType: 'image/png', bytes: 3, sha256: 'x' }],
    ...changes,
  })

  test('a verification request is kept sealed, one at a time, and decided once with its level', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.customers.verifications.submit(request('v1'))
    expect(await storage.customers.verifications.find('v1')).toEqual(request('v1'))
    expect(await database.dump()).not.toMatch(/110101199003071234|Lovelace/)
    await expect(storage.customers.verifications.submit(request('v2'))).rejects.toThrow(StorageConflict)
    const rejected = {
      id: 'v1',
      status: 'rejected',
      by: 'admin',
      reason: 'unreadable',
      at: NOW + 1,
      level: undefined,
    } as const
    expect(await storage.customers.verifications.decide(rejected)).toBe(true)
    expect(await storage.customers.verifications.decide(rejected)).toBe(false)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ verification: 0 })
    await storage.customers.verifications.submit(request('v2'))
    await storage.customers.verifications.decide({ ...rejected, id: 'v2', status: 'approved', level: 1 })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ verification: 1 })
    const list = (filter: object) =>
      storage.customers.verifications.list({ limit: 1, after: undefined, ...filter })
    expect((await list({})).map(({ id }) => id)).toEqual(['v2'])
    expect((await list({ after: 'v2' })).map(({ id }) => id)).toEqual(['v1'])
    expect((await list({ status: 'rejected' })).map(({ id }) => id)).toEqual(['v1'])
    expect(await list({ accountId: OTHER_ACCOUNT })).toEqual([])
  })

  test('a rotated key works by both secrets until the overlap ends, and by one where there is none', async () => {
    const { storage } = await openWithAccount(suite)
    const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [
      string,
      string,
      string,
    ]
    const hint = 'sk-gateway-newone'
    expect(await storage.keys.rotate(KEY, { hash: second, hint }, { formerUntil: NOW + 60, at: NOW })).toBe(
      true,
    )
    expect(await storage.keys.findByHash(second)).toMatchObject({ id: KEY, hint, expiresAt: undefined })
    expect(await storage.keys.findByHash(first)).toMatchObject({ id: KEY, expiresAt: NOW + 60 })
    expect(await storage.keys.find(KEY)).toMatchObject({ hash: second, expiresAt: undefined })
    const formerUntil = async (at = NOW) => [...(await storage.keys.formerUntil([KEY, OTHER_KEY], at))]
    expect(await formerUntil()).toEqual([[KEY, NOW + 60]])
    expect(await formerUntil(NOW + 60)).toEqual([])
    expect(await storage.keys.formerUntil([], NOW)).toEqual(new Map())
    await storage.keys.patch(KEY, { expiresAt: NOW + 5 })
    expect(await storage.keys.findByHash(first)).toMatchObject({ expiresAt: NOW + 5 })
    await storage.keys.rotate(KEY, { hash: third, hint }, { formerUntil: undefined, at: NOW })
    expect(await formerUntil()).toEqual([])
    expect(await storage.keys.findByHash(first)).toBeUndefined()
    expect(await storage.keys.findByHash(second)).toBeUndefined()
    expect(await storage.keys.findByHash(third)).toMatchObject({ id: KEY })
    await storage.keys.rotate(KEY, { hash: first, hint }, { formerUntil: NOW + 60, at: NOW })
    await storage.keys.rotate(KEY, { hash: second, hint }, { formerUntil: NOW + 30, at: NOW })
    expect(await formerUntil()).toEqual([[KEY, NOW + 60]])
    await storage.keys.patch(KEY, { status: 'deleted' })
    expect(await storage.keys.findByHash(third)).toBeUndefined()
    expect(await storage.keys.rotate(KEY, { hash: second, hint }, { formerUntil: NOW, at: NOW })).toBe(false)
  })
}

function describeStatements(suite: StorageSuite): void {
  test('opening + entries = closing, whatever the calls hold meanwhile', async () => {
    const { storage } = await openWithAccount(suite, { credits: credits(100) })
    const book = (transactionId: string, at: number, amount: number) =>
      storage.ledger.book([exampleGrant(ACCOUNT, { transactionId, at, amount: credits(amount) })])
    await book('early', NOW + 10, 1)
    await book('a', NOW + 20, 2)
    await book('b', NOW + 20, 3)
    await storage.calls.reserve(exampleReserve('ended', { at: NOW + 25 }))
    await storage.calls.settle(settleTwoCredits('ended', { at: NOW + 26 }))
    await book('late', NOW + 30, 5)
    await storage.calls.reserve(exampleReserve('running', { at: NOW + 27 }))
    const period = { from: NOW + 20, until: NOW + 30 }
    const { opening, closing } = await storage.customers.statements.sums(ACCOUNT, period)
    expect(opening).toEqual({ credits: credits(101), balance: 0n })
    expect(closing).toEqual({ credits: credits(104), balance: 0n })
    const entries = await readEntries(storage, period, 1)
    expect(entries.map(({ kind, credits: change }) => [kind, change])).toEqual([
      ['grant', credits(2)],
      ['grant', credits(3)],
      ['charge', credits(-2)],
    ])
    const all = await storage.customers.statements.sums(ACCOUNT, { from: 0, until: NOW + HOUR_MS })
    expect(all.closing.credits).toBe((await storage.accounts.find(ACCOUNT))?.credits)
    const broken = { ...period, limit: 1, after: 'unreadable' }
    await expect(storage.customers.statements.entries(ACCOUNT, broken)).rejects.toThrow(InvalidCursor)
  })
}

async function readEntries(
  storage: Storage,
  period: { readonly from: number; readonly until: number },
  limit: number,
) {
  const entries = []
  let after: string | undefined
  do {
    const page = await storage.customers.statements.entries(ACCOUNT, { ...period, limit, after })
    entries.push(...page.entries)
    after = page.next
  } while (after !== undefined)
  return entries
}

function describeUsage(suite: StorageSuite): void {
  test('sums by bucket and group equal the rows they sum', async () => {
    const { storage } = await openWithAccount(suite)
    await createAccount(storage, { id: OTHER_ACCOUNT })
    for (const [id, at] of [
      ['c1', NOW],
      ['c2', NOW + 5],
      ['c3', NOW + HOUR_MS],
    ] as const) {
      await storage.calls.reserve(exampleReserve(id, { at }))
      await storage.calls.settle(settleTwoCredits(id, { at }))
    }
    const { rows } = await storage.logs.page({ accountId: ACCOUNT }, { limit: 10, cursor: undefined })
    const from = Math.min(...rows.map((row) => row.createdAt))
    const question = {
      accountId: ACCOUNT,
      keyId: undefined,
      from,
      until: from + 2 * HOUR_MS,
      groups: ['model', 'key', 'app'],
      bucketMs: HOUR_MS,
      rowsMax: 100,
    } as const
    const sums = await storage.customers.usage.sums(question)
    const total = sums.reduce((sum, row) => sum + row.deducted, 0n)
    expect(total).toBe(rows.reduce((sum, row) => sum + row.deducted, 0n))
    expect(total).toBe(credits(6))
    const output = sums.reduce((sum, row) => sum + row.output, 0)
    expect(output).toBe(rows.reduce((sum, row) => sum + (row.usage.output ?? 0), 0))
    expect(sums.reduce((sum, row) => sum + row.calls, 0)).toBe(3)
    expect(sums[0]).toMatchObject({ at: from, keyId: KEY, failed: 0, covered: 0n, videoSeconds: 0 })
    expect(
      await storage.customers.usage.sums({ ...question, groups: [], bucketMs: 2 * HOUR_MS }),
    ).toMatchObject([{ model: undefined, keyId: undefined, appId: undefined, calls: 3 }])
    expect(await storage.customers.usage.sums({ ...question, accountId: OTHER_ACCOUNT })).toEqual([])
    expect(await storage.customers.usage.sums({ ...question, rowsMax: 1 })).toHaveLength(1)
    const some = (keyIds: readonly KeyId[]) =>
      storage.customers.usage.sums({ ...question, groups: [], keyIds })
    expect(await some([KEY, OTHER_KEY])).toMatchObject([{ calls: 3 }])
    expect(await some([OTHER_KEY])).toEqual([])
    expect(await some([])).toEqual([])
  })

  test('windows as they stand are read by subject', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('running'))
    const states = await storage.customers.limits.read([`key:${KEY}`, 'key:nobody'])
    expect([...states.keys()]).toEqual([`key:${KEY}`])
    expect(states.get(`key:${KEY}`)?.slots).toBe(1)
  })

  test('logs are found by what was deducted', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('ended'))
    await storage.calls.settle(settleTwoCredits('ended'))
    const page = (filter: object) => storage.logs.page(filter, { limit: 10, cursor: undefined })
    expect((await page({ deductedMin: credits(2), deductedMax: credits(2) })).rows).toHaveLength(1)
    expect((await page({ deductedMin: credits(3) })).rows).toEqual([])
    expect((await page({ accountId: ACCOUNT, deductedMax: credits(1) })).rows).toEqual([])
  })
}

function describeAlerts(suite: StorageSuite): void {
  const settings = {
    email: true,
    lowCredits: credits(5),
    failuresPerHour: 2,
    webhookUrl: undefined,
    receipts: true,
  }
  const alert = (id: string) =>
    ({ id, accountId: ACCOUNT, kind: 'low-credits', raisedAt: NOW, facts: { credits: '1' } }) as const
  const mail = (id: string) => [{ id, channel: 'email', target: 'a@example.com' }] as const

  test('only accounts that ask to be told are watched, with what stands of them', async () => {
    const { storage } = await openWithAccount(suite)
    const { alerts, profiles } = storage.customers
    const page = { limit: 10, after: undefined }
    const profile = { name: undefined, language: undefined, timezone: undefined }
    await profiles.put(ACCOUNT, { ...profile, alerts: { ...settings, email: false } })
    expect(await alerts.watched(page)).toEqual([])
    await profiles.put(ACCOUNT, { ...profile, alerts: settings })
    await alerts.raise(alert('a1'), [])
    expect(await alerts.watched(page)).toMatchObject([
      { account: { id: ACCOUNT, credits: credits(1000) }, alerts: settings, standing: ['low-credits'] },
    ])
    expect(await alerts.watched({ limit: 10, after: ACCOUNT })).toEqual([])
    expect(await alerts.countFailures(ACCOUNT, 0, 5)).toBe(0)
  })

  test('one of a kind stands at a time, and each delivery is taken by one', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open()
    const raised = await Promise.all([
      storage.customers.alerts.raise(alert('a1'), mail('d1')),
      other.customers.alerts.raise(alert('a2'), mail('d2')),
    ])
    expect(raised.filter((first) => first)).toHaveLength(1)
    const lease = { limit: 10, leaseMs: 100 }
    const taken = await Promise.all([
      storage.customers.alerts.take(NOW, lease),
      other.customers.alerts.take(NOW, lease),
    ])
    expect(taken.flat()).toMatchObject([
      { attempts: 1, target: 'a@example.com', alert: { facts: { credits: '1' } } },
    ])
    const [delivery] = taken.flat()
    expect(await storage.customers.alerts.take(NOW + 99, lease)).toEqual([])
    expect(await storage.customers.alerts.take(NOW + 100, lease)).toMatchObject([{ attempts: 2 }])
    await storage.customers.alerts.finish(delivery?.id ?? '', { outcome: 'waiting', dueAt: NOW + 500 })
    expect(await storage.customers.alerts.take(NOW + 499, lease)).toEqual([])
    await storage.customers.alerts.finish(delivery?.id ?? '', { outcome: 'sent' })
    expect(await storage.customers.alerts.take(NOW + 9_999, lease)).toEqual([])
    expect(await storage.customers.alerts.clear(ACCOUNT, 'low-credits', NOW + 1)).toBe(true)
    expect(await storage.customers.alerts.clear(ACCOUNT, 'low-credits', NOW + 1)).toBe(false)
    expect(await storage.customers.alerts.raise(alert('a3'), [])).toBe(true)
    expect(await storage.customers.alerts.list(ACCOUNT, 10)).toMatchObject([
      { id: 'a3', clearedAt: undefined, deliveries: [] },
      { clearedAt: NOW + 1, deliveries: [{ channel: 'email', attempts: 2, outcome: 'sent' }] },
    ])
  })
}
