import { HALF_HOUR_MS, HOUR_MS } from '../../core/durations.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ACCOUNT, CHAIN, exampleLog, exampleReserve, exampleAbandon, KEY } from '../../core/calls/examples.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import {
  type AccountId,
  accountId,
  callId,
  chainId,
  instanceId,
  keyId,
  modelId,
  vendorCode,
} from '../../core/ids.ts'
import { microCredits } from '../../core/money.ts'
import {
  type ChainQuestion,
  type ChainUsage,
  type Payers,
  type PayersQuestion,
  type Period,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageQuestion,
  type UsageRow,
} from '../stores/customers.ts'
import type { Storage } from '../storage.ts'
import {
  type DatabaseUnderTest,
  exampleApiKey,
  openWithAccount,
  OTHER_ACCOUNT,
  OTHER_KEY,
  settleTwoCredits,
  type StorageSuite,
} from './suite.ts'
import type { RecipeLine } from '../../core/ledger/recipe.ts'

/** 2026-03-01, and the end of the examples. */
const BEGIN = Date.UTC(2026, 2, 1)
const END = BEGIN + 6 * HOUR_MS
const EVERYTHING: UsageQuestion = {
  accountId: undefined,
  keyId: undefined,
  from: BEGIN,
  until: END,
  groups: [],
  bucketMs: END - BEGIN,
  rowsMax: 10_000,
}

export function describeUsageSums(suite: StorageSuite): void {
  test('usage and usage by chain equal what adding up the log gives, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(loggedCall, { minLength: 200, maxLength: 200 }),
        fc.array(question, { minLength: 40, maxLength: 40 }),
        async (calls, questions) => {
          const { storage } = await openForUsage(suite)
          const rows = calls.map((call, index) => ({ ...call, callId: callId(`call-${index}`) }))
          const logAll = () => Promise.all(rows.map((log) => storage.calls.log({ log })))
          // Some again at once, all again later: nothing is counted twice.
          await Promise.all([logAll(), ...rows.slice(0, 20).map((log) => storage.calls.log({ log }))])
          await logAll()
          const compare = async () => {
            for (const one of questions) {
              expect(await readSums(storage, one)).toEqual(addUp(rows, one))
              for (const asked of [one, { ...one, only: [ACCOUNT] }, { ...one, except: [ACCOUNT] }])
                expect(await readChains(storage, asked)).toEqual(addUpChains(rows, asked))
              const both = { ...one, only: [ACCOUNT, OTHER_ACCOUNT] }
              expect(await readChains(storage, both)).toEqual(addUpChains(rows, both))
              for (const limit of [1, 10]) {
                const asked = { from: one.from, until: one.until, limit }
                expect(await storage.customers.usage.payers(asked)).toEqual(payersOf(rows, asked))
              }
            }
          }
          await compare()
          expect(await storage.customers.usage.recount({ from: BEGIN, until: END })).toBe(12)
          await compare()
        },
      ),
      // One database with enough rows: shrinking an example would need a new database.
      { numRuns: 1, endOnFailure: true },
    )
  })

  test('sums outlive the calls they count; then a half-hour belongs to the period it begins in', async () => {
    const { storage } = await openForUsage(suite)
    const log = (id: string, at: number) => storage.calls.log({ log: exampleLog(id, { createdAt: at }) })
    await Promise.all([
      log('first', BEGIN + 60_000),
      log('second', BEGIN + 1_200_000),
      log('later', BEGIN + HOUR_MS),
    ])
    const count = async (period: Period) =>
      (await storage.customers.usage.sums({ ...EVERYTHING, ...period })).reduce(
        (all, row) => all + row.calls,
        0,
      )
    const early = { from: BEGIN, until: BEGIN + 600_000 }
    const late = { from: BEGIN + 600_000, until: BEGIN + 2 * HOUR_MS }
    expect([await count(early), await count(late)]).toEqual([1, 2])
    expect(await storage.logs.keep({ at: END, keepSince: BEGIN + HALF_HOUR_MS })).toBe(2)
    expect([await count(early), await count(late)]).toEqual([2, 1])
    expect(await storage.ledger.verify()).toEqual([])
    expect(await storage.customers.usage.recount({ from: BEGIN, until: END })).toBe(11)
    expect(await count(EVERYTHING)).toBe(3)
    // A longer retention later does not restore them.
    await storage.logs.keep({ at: END, keepSince: BEGIN })
    expect([await count(early), await count(late)]).toEqual([2, 1])
  })

  test('instances that end calls of the same keys at once count each of them once', async () => {
    const { database, storage } = await openForUsage(suite)
    const other = await database.open({ instanceId: instanceId('instance_2'), now: END })
    const accounts = [ACCOUNT, OTHER_ACCOUNT, undefined]
    const calls = (storageIndex: number) =>
      Array.from({ length: 300 }, (_, index) =>
        exampleLog(`call-${storageIndex}-${index}`, {
          createdAt: BEGIN + ((index * 7_919) % (END - BEGIN)),
          accountId: accounts[(index * (storageIndex + 1)) % 3],
          appId: `app-${(index * (storageIndex + 3)) % 11}`,
        }),
      )
    await Promise.all(
      [storage, other].flatMap((one, index) => calls(index).map((log) => one.calls.log({ log }))),
    )
    const rows = [...calls(0), ...calls(1)]
    for (const groups of [[], ['app'], USAGE_GROUPS] as const) {
      const asked = { ...EVERYTHING, groups }
      expect(await readSums(storage, asked)).toEqual(addUp(rows, asked))
    }
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a call that was logged while it was reserved is counted once when it is given up', async () => {
    const { database, storage } = await openWithAccount(suite)
    await storage.calls.reserve(exampleReserve('lost'))
    await storage.calls.log({ log: exampleLog('lost', { httpStatus: 503 }) })
    await storage.calls.abandon(exampleAbandon('lost', { log: exampleLog('lost', { httpStatus: 503 }) }))
    await storage.calls.reserve(exampleReserve('plain'))
    await Promise.all([
      storage.calls.settle(settleTwoCredits('plain')),
      storage.calls.settle(settleTwoCredits('plain')),
    ])
    const all = { ...EVERYTHING, from: 0, until: HALF_HOUR_MS }
    expect(await storage.customers.usage.sums(all)).toMatchObject([
      { calls: 2, failed: 1, input: 1000, output: 100, deducted: 2_000_000n },
    ])
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute('update usage_half_hours set calls = calls + 1 where failed = 1')
    expect(await storage.ledger.verify()).toEqual([
      { subject: 'usage:0', what: 'calls', expected: '2', found: '3' },
      { subject: `usage of account:${ACCOUNT}`, what: 'calls', expected: '2', found: '3' },
    ])
    expect(await storage.customers.usage.recount({ from: 0, until: HALF_HOUR_MS })).toBe(1)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('names that a client invents without end fill no table', async () => {
    const { storage } = await openForUsage(suite)
    const call = (index: number, changes: Partial<CallLogRow>) =>
      storage.calls.log({ log: exampleLog(`call-${index}`, { createdAt: BEGIN, ...changes }) })
    for (let index = 0; index < 120; index++) {
      await call(index, { appId: `app-${index}` })
      await call(1_000 + index, {
        accountId: OTHER_ACCOUNT,
        model: undefined,
        modelRequested: modelId(`guess-${index}`),
      })
    }
    await call(2_000, { appId: 'app-119', createdAt: BEGIN + HALF_HOUR_MS })
    const apps = await storage.customers.usage.sums({ ...EVERYTHING, accountId: ACCOUNT, groups: ['app'] })
    expect(apps).toHaveLength(102)
    expect(apps.find(({ appId }) => appId === '(other)')).toMatchObject({ calls: 20 })
    expect(apps.find(({ appId }) => appId === 'app-119')).toMatchObject({ calls: 1 })
    const models = await storage.customers.usage.sums({
      ...EVERYTHING,
      accountId: OTHER_ACCOUNT,
      groups: ['model'],
    })
    expect(models).toHaveLength(101)
    expect(models.find(({ model }) => model === '(other)')).toMatchObject({ calls: 20, appId: undefined })
  })

  test('what an upstream claims beyond belief breaks no sum', async () => {
    const { storage } = await openForUsage(suite)
    const usage = { ...NO_USAGE, input: 1e300, output: Number.POSITIVE_INFINITY, reasoning: -1 }
    const amount = microCredits(2n ** 62n)
    for (const id of ['one', 'two']) {
      await storage.calls.log({ log: exampleLog(id, { createdAt: BEGIN, usage, amount }) })
    }
    const sums = { input: 2e12, output: 0, reasoning: 0, amount: 2n * 10n ** 15n }
    expect(await storage.customers.usage.sums(EVERYTHING)).toMatchObject([sums])
    await storage.customers.usage.recount({ from: BEGIN, until: END })
    expect(await storage.customers.usage.sums(EVERYTHING)).toMatchObject([sums])
  })
}

async function openForUsage(
  suite: StorageSuite,
): Promise<{ readonly database: DatabaseUnderTest; readonly storage: Storage }> {
  const database = await suite.createDatabase()
  const storage = await database.open({ now: END })
  for (const id of [ACCOUNT, OTHER_ACCOUNT]) await storage.accounts.create({ id, createdAt: BEGIN })
  await storage.keys.create(exampleApiKey())
  const hash = '2'.repeat(64)
  await storage.keys.create(exampleApiKey({ id: OTHER_KEY, accountId: OTHER_ACCOUNT, hash }))
  return { database, storage }
}

const tokens = fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: undefined })
const lineClass = fc.constantFrom<RecipeLine['class']>(
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'output',
  'image',
  'video_second',
  'request',
  'character',
  'audio_second',
)

/** Like a row written by the request pipeline, except that its parts need not be consistent. */
const loggedCall: fc.Arbitrary<CallLogRow> = fc
  .record({
    at: fc.integer({ min: BEGIN, max: END - 1 }),
    holder: fc.constantFrom(
      { accountId: ACCOUNT, keyId: KEY },
      { accountId: ACCOUNT, keyId: keyId('key_3') },
      { accountId: OTHER_ACCOUNT, keyId: OTHER_KEY },
      { accountId: undefined, keyId: undefined },
    ),
    model: fc.constantFrom(modelId('small'), modelId('large'), undefined),
    modelRequested: fc.constantFrom(undefined, modelId('small'), modelId('unknown')),
    appId: fc.constantFrom(undefined, 'shop', "it's", 'ünï\u{1f600}'),
    chain: fc.constantFrom(
      undefined,
      { chainId: CHAIN, vendorCode: vendorCode('openai') },
      { chainId: chainId(2), vendorCode: vendorCode('acme') },
    ),
    httpStatus: fc.constantFrom(200, 200, 429, 502),
    usage: fc.record({
      input: tokens,
      cachedInput: tokens,
      cacheWrite: tokens,
      cacheWrite1h: tokens,
      output: tokens,
      reasoning: tokens,
    }),
    images: fc.integer({ min: 0, max: 3 }),
    secondsDeclared: fc.constantFrom(undefined, undefined, 5, 7.5),
    characters: fc.constantFrom(0, 0, 12),
    audioSeconds: fc.constantFrom(0, 0, 0.5, 7.25),
    amount: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    isFree: fc.boolean(),
    subscriptionCovered: fc.boolean(),
    byok: fc.boolean(),
    recipe: fc.option(
      fc.record({
        creditsPerUnit: fc.constantFrom('1000', '900.5'),
        lines: fc.uniqueArray(fc.tuple(lineClass, fc.integer({ min: 1, max: 5_000 })), {
          selector: ([name]) => name,
          maxLength: 4,
        }),
      }),
      { nil: undefined },
    ),
  })
  .map(({ at, holder, chain, amount, isFree, recipe, usage, ...rest }) =>
    exampleLog('', {
      ...rest,
      ...holder,
      chainId: chain?.chainId,
      vendorCode: chain?.vendorCode,
      createdAt: at,
      usage: { ...NO_USAGE, ...usage },
      amount: microCredits(amount),
      deducted: microCredits(isFree || recipe === undefined ? 0n : amount / 2n),
      recipe: recipe && {
        creditsPerUnit: recipe.creditsPerUnit,
        rateMultiplier: '1',
        userRate: '100',
        amount: amount.toString(),
        lines: recipe.lines.map(([name, quantity]) => ({ class: name, quantity, price: '1', per: 1 })),
      },
    }),
  )

/** One bucket over any period, or buckets of whole half-hours up to any end. */
const question: fc.Arbitrary<UsageQuestion> = fc
  .record({
    half: fc.integer({ min: 0, max: 11 }),
    offset: fc.constantFrom(0, 0, 1, 900_000, 1_799_999),
    lengthMs: fc.constantFrom(1, 60_000, 900_000, HOUR_MS, 2 * HOUR_MS + 77, 6 * HOUR_MS),
    bucket: fc.constantFrom(undefined, HALF_HOUR_MS, HOUR_MS),
    groups: fc.subarray<UsageGroup>([...USAGE_GROUPS]),
    account: fc.constantFrom(undefined, ACCOUNT, OTHER_ACCOUNT, accountId('acc_none')),
    key: fc.constantFrom(undefined, undefined, KEY, OTHER_KEY),
    keys: fc.constantFrom(undefined, undefined, [], [KEY], [KEY, OTHER_KEY]),
  })
  .map(({ half, offset, lengthMs, bucket, groups, account, key, keys }) => {
    const from = BEGIN + half * HALF_HOUR_MS + (bucket === undefined ? offset : 0)
    return {
      accountId: account,
      keyId: key,
      keyIds: keys,
      from,
      until: from + lengthMs,
      groups,
      bucketMs: bucket ?? lengthMs,
      rowsMax: 10_000,
    }
  })

async function readSums(storage: Storage, asked: UsageQuestion): Promise<readonly UsageRow[]> {
  return inOrder(await storage.customers.usage.sums(asked))
}

async function readChains(storage: Storage, period: ChainQuestion): Promise<readonly ChainUsage[]> {
  return inOrder(await storage.customers.usage.chains(period))
}

function inOrder<Row>(rows: readonly Row[]): readonly Row[] {
  const text = (row: Row): string =>
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
  return rows.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}

/** The straightforward way: reads every row. */
function addUp(rows: readonly CallLogRow[], asked: UsageQuestion): readonly UsageRow[] {
  const { accountId: account, keyId: key, keyIds: keys, from, until, groups, bucketMs } = asked
  const sums = new Map<string, UsageRow>()
  for (const row of rows) {
    if (row.createdAt < from || row.createdAt >= until) continue
    if (account !== undefined && row.accountId !== account) continue
    if (key !== undefined && row.keyId !== key) continue
    if (keys !== undefined && (row.keyId === undefined || !keys.includes(row.keyId))) continue
    const shown = {
      at: from + Math.floor((row.createdAt - from) / bucketMs) * bucketMs,
      accountId: groups.includes('account') ? row.accountId : undefined,
      model: groups.includes('model') ? (row.model ?? row.modelRequested) : undefined,
      keyId: groups.includes('key') ? row.keyId : undefined,
      appId: groups.includes('app') ? row.appId : undefined,
    }
    const name = JSON.stringify(shown)
    const one = sums.get(name)
    sums.set(name, {
      ...shown,
      calls: (one?.calls ?? 0) + 1,
      failed: (one?.failed ?? 0) + (row.httpStatus >= 400 ? 1 : 0),
      input: (one?.input ?? 0) + (row.usage.input ?? 0),
      cachedInput: (one?.cachedInput ?? 0) + (row.usage.cachedInput ?? 0),
      cacheWrite: (one?.cacheWrite ?? 0) + (row.usage.cacheWrite ?? 0),
      cacheWrite1h: (one?.cacheWrite1h ?? 0) + (row.usage.cacheWrite1h ?? 0),
      output: (one?.output ?? 0) + (row.usage.output ?? 0),
      reasoning: (one?.reasoning ?? 0) + (row.usage.reasoning ?? 0),
      images: (one?.images ?? 0) + row.images,
      videoSeconds: (one?.videoSeconds ?? 0) + (row.secondsDeclared ?? 0),
      characters: (one?.characters ?? 0) + row.characters,
      audioSeconds: ((one?.audioSeconds ?? 0) * 1000 + row.audioSeconds * 1000) / 1000,
      amount: microCredits((one?.amount ?? 0n) + row.amount),
      deducted: microCredits((one?.deducted ?? 0n) + row.deducted),
      covered: microCredits((one?.covered ?? 0n) + (row.subscriptionCovered ? row.deducted : 0n)),
    })
  }
  return inOrder([...sums.values()])
}

function addUpChains(
  rows: readonly CallLogRow[],
  { from, until, only, except = [] }: ChainQuestion,
): readonly ChainUsage[] {
  const sums = new Map<string, { chain: ChainUsage; models: string[] }>()
  for (const row of rows) {
    if (row.createdAt < from || row.createdAt >= until) continue
    if (row.chainId === undefined || row.recipe === undefined) continue
    const { accountId: owner } = row
    if (only !== undefined && (owner === undefined || !only.includes(owner))) continue
    if (owner !== undefined && except.includes(owner)) continue
    const { lines } = row.recipe
    const account = only === undefined ? undefined : owner
    const name = JSON.stringify([account, row.chainId])
    const before = sums.get(name)
    const one = before?.chain
    const billed = (part: RecipeLine['class']) =>
      (one?.billed[part] ?? 0) + (row.byok ? 0 : (lines.find((line) => line.class === part)?.quantity ?? 0))
    const models = [...(before?.models ?? []), row.model ?? row.modelRequested ?? ''].sort()
    sums.set(name, {
      models,
      chain: {
        accountId: account,
        chainId: row.chainId,
        model: models.at(-1) === '' ? undefined : models.at(-1),
        vendorCode: row.vendorCode,
        calls: (one?.calls ?? 0) + 1,
        byok: (one?.byok ?? 0) + (row.byok ? 1 : 0),
        free: (one?.free ?? 0) + (!row.byok && row.deducted === 0n ? 1 : 0),
        deducted: microCredits((one?.deducted ?? 0n) + row.deducted),
        billed: {
          input: billed('input'),
          cached_input: billed('cached_input'),
          cache_write: billed('cache_write'),
          cache_write_1h: billed('cache_write_1h'),
          output: billed('output'),
          image: billed('image'),
          video_second: billed('video_second'),
          request: billed('request'),
          character: billed('character'),
          audio_second: billed('audio_second'),
        },
      },
    })
  }
  return inOrder([...sums.values()].map(({ chain }) => chain))
}

function payersOf(rows: readonly CallLogRow[], { from, until, limit }: PayersQuestion): Payers {
  const sums = new Map<AccountId, { paid: bigint; calls: number }>()
  for (const { accountId: account, chainId: chain, createdAt: at, deducted, recipe } of rows) {
    if (at < from || at >= until) continue
    if (account === undefined || chain === undefined || recipe === undefined) continue
    const one = sums.get(account) ?? { paid: 0n, calls: 0 }
    sums.set(account, { paid: one.paid + deducted, calls: one.calls + 1 })
  }
  const sorted = [...sums].sort(([id, one], [otherId, other]) => {
    if (one.paid !== other.paid) return one.paid > other.paid ? -1 : 1
    return other.calls - one.calls || (id < otherId ? -1 : 1)
  })
  return { accounts: sorted.slice(0, limit).map(([id]) => id), count: sums.size }
}
