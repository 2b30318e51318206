import { expect, test } from 'vitest'
import { ACCOUNT, credits, exampleLog, exampleReserve, KEY, MODEL } from '../../core/calls/examples.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { chainId, modelId, vendorCode } from '../../core/ids.ts'
import { microCredits } from '../../core/money.ts'
import { InvalidCursor } from '../failures/invalid-cursor.ts'
import type { Storage } from '../storage.ts'
import { OTHER_ACCOUNT, OTHER_KEY, openWithAccount, type StorageSuite, settleTwoCredits } from './suite.ts'
import type { LogFilter } from '../stores/logs.ts'

export function describeLogs(suite: StorageSuite): void {
  const open = async (logs: readonly CallLogRow[]): Promise<Storage> => {
    const storage = await (await suite.createDatabase()).open()
    await Promise.all(logs.map((log) => storage.calls.log({ log })))
    return storage
  }
  const idsOf = async (storage: Storage, filter: LogFilter) => {
    const { rows } = await storage.logs.page(filter, { limit: 100, cursor: undefined })
    return rows.map((row) => row.callId)
  }

  test('a row comes back as it was written, every field', async () => {
    const log = exampleLog('call_1', {
      code: 42902,
      message: 'rpm limit exceeded',
      user: 'user_1',
      appId: 'app_1',
      customId: 'custom_1',
      usage: {
        input: 1,
        cachedInput: 2,
        cacheWrite: 3,
        cacheWrite1h: 4,
        output: 5,
        reasoning: undefined,
      },
      usageSource: 'estimated',
      secondsDeclared: 5,
      secondsProduced: 4.5,
      amount: microCredits(9_007_199_254_740_993n),
      droppedFields: ['$.logprobs'],
      firstByteMs: 12.5,
      attempts: [
        {
          chainId: chainId(3),
          vendorCode: vendorCode('openai'),
          modelId: MODEL,
          why: 'failover',
          skipped: [{ chainId: chainId(2), reason: 'cooling down' }],
          outcome: 'rate limited',
          status: 429,
          startedMs: 0,
          firstByteMs: undefined,
          endedMs: 3,
          cooldownMs: 1000,
        },
      ],
    })
    const storage = await open([log])
    const { rows } = await storage.logs.page({}, { limit: 1, cursor: undefined })
    expect(rows).toEqual([log])
  })

  test('pages are newest first and join without gap or repetition', async () => {
    // Several calls in the same millisecond, more than a page of them.
    const logs = Array.from({ length: 23 }, (_, index) =>
      exampleLog(`call_${String(index).padStart(2, '0')}`, { createdAt: 1000 + Math.floor(index / 6) }),
    )
    const storage = await open(logs)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await storage.logs.page({}, { limit: 5, cursor })
      expect(page.rows.length).toBeLessThanOrEqual(5)
      seen.push(...page.rows.map((row) => row.callId))
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen).toEqual(logs.map((log) => log.callId).reverse())
  })

  test('every filter keeps the rows that match and no other, alone and together', async () => {
    const base = { accountId: ACCOUNT, keyId: KEY }
    const storage = await open([
      exampleLog('a', { ...base, createdAt: 1, user: 'anna', appId: 'web', customId: 'x' }),
      exampleLog('b', { ...base, createdAt: 2, keyId: OTHER_KEY, model: modelId('other'), httpStatus: 429 }),
      exampleLog('c', { ...base, createdAt: 3, accountId: OTHER_ACCOUNT, user: 'bert', httpStatus: 502 }),
      exampleLog('d', { ...base, createdAt: 4, accountId: OTHER_ACCOUNT, model: undefined, user: 'anna' }),
      exampleLog('e', {
        ...base,
        createdAt: 0,
        user: '"usageSuspect":{',
        usageSuspect: { inputReported: 9, inputCharged: 9, outputReported: 9, outputCharged: 1 },
      }),
      exampleLog('f', { ...base, createdAt: -1, droppedFields: ['"usageSuspect":{'] }),
    ])
    const cases: readonly (readonly [LogFilter, string])[] = [
      [{}, 'dcbaef'],
      [{ accountId: ACCOUNT }, 'baef'],
      [{ suspect: true }, 'e'],
      [{ suspect: true, accountId: ACCOUNT, from: 0 }, 'e'],
      [{ suspect: true, accountId: OTHER_ACCOUNT }, ''],
      [{ keyId: OTHER_KEY }, 'b'],
      [{ from: 2, to: 3 }, 'cb'],
      [{ model: MODEL }, 'dcaef'],
      [{ requestId: 'c' }, 'c'],
      [{ appId: 'web' }, 'a'],
      [{ customId: 'x' }, 'a'],
      [{ user: 'anna' }, 'da'],
      [{ status: 429 }, 'b'],
      [{ status: 200 }, 'daef'],
      [{ failed: true }, 'cb'],
      [{ failed: false, accountId: ACCOUNT }, 'aef'],
      [{ failed: true, accountId: ACCOUNT }, 'b'],
      [{ accountId: OTHER_ACCOUNT, user: 'anna', from: 4 }, 'd'],
      [{ accountId: ACCOUNT, user: 'bert' }, ''],
    ]
    for (const [filter, ids] of cases) {
      expect((await idsOf(storage, filter)).join(''), JSON.stringify(filter)).toBe(ids)
    }
  })

  test('a call is found by its request, whether or not that goes by the same id', async () => {
    const storage = await open([
      exampleLog('a', { requestId: 'a', createdAt: 1 }),
      exampleLog('b', { requestId: 'c', createdAt: 2 }),
      exampleLog('c', { requestId: 'c', createdAt: 3 }),
      exampleLog('d', { requestId: 'c', createdAt: 4 }),
      exampleLog('e', { requestId: 'f', createdAt: 5 }),
    ])
    expect(await idsOf(storage, { requestId: 'a' })).toEqual(['a'])
    expect(await idsOf(storage, { requestId: 'c' })).toEqual(['d', 'c', 'b'])
    expect(await idsOf(storage, { requestId: 'c', to: 3, accountId: ACCOUNT })).toEqual(['c', 'b'])
    expect(await idsOf(storage, { requestId: 'e' })).toEqual([])
    const first = await storage.logs.page({ requestId: 'c' }, { limit: 2, cursor: undefined })
    const rest = await storage.logs.page({ requestId: 'c' }, { limit: 2, cursor: first.next })
    expect([...first.rows, ...rest.rows].map(({ callId }) => callId)).toEqual(['d', 'c', 'b'])
  })

  test('the last use of a key is that of its newest row', async () => {
    const { storage } = await openWithAccount(suite)
    const log = (id: string, createdAt: number) =>
      storage.calls.log({ log: exampleLog(id, { keyId: KEY, createdAt }) })
    expect(await storage.logs.lastUses([KEY])).toEqual(new Map())
    await Promise.all([log('a', 7), log('b', 9), log('c', 8)])
    expect(await storage.logs.lastUses([KEY, OTHER_KEY])).toEqual(new Map([[KEY, 9]]))
    expect(await storage.logs.lastUses([])).toEqual(new Map())
  })

  test('text that a client chose is kept whatever it holds, and found by what it was', async () => {
    const strange = 'a\u0000b\ud800"\'\\ ✓ 漢'
    const long = 'x'.repeat(5000)
    const storage = await open([
      exampleLog('strange', { user: strange, modelRequested: strange, model: undefined }),
      exampleLog('long', { user: long, requestId: long }),
      exampleLog('plain'),
    ])
    expect(await idsOf(storage, { user: strange })).toEqual(['strange'])
    expect(await idsOf(storage, { user: long })).toEqual(['long'])
    expect(await idsOf(storage, { requestId: long })).toEqual(['long'])
    expect(await idsOf(storage, {})).toHaveLength(3)
  })

  test('a cursor that no page gave is refused, and a page has a bounded size', async () => {
    const storage = await open([exampleLog('call_1')])
    await expect(storage.logs.page({}, { limit: 1, cursor: 'unreadable' })).rejects.toThrow(InvalidCursor)
    expect((await storage.logs.page({}, { limit: 1e9, cursor: undefined })).rows).toHaveLength(1)
    expect((await storage.logs.page({}, { limit: 0, cursor: undefined })).rows).toHaveLength(1)
  })

  const DAY_MS = 86_400_000
  const JANUARY = Date.UTC(2026, 0, 20)

  test('rows past their retention go, the rest stays whole, and money is untouched', async () => {
    const { storage } = await openWithAccount(suite)
    await storage.logs.keep({ at: JANUARY, keepSince: undefined })
    for (const [id, at] of [
      ['last-year', JANUARY - 40 * DAY_MS],
      ['december', JANUARY - 25 * DAY_MS],
      ['january', JANUARY - DAY_MS],
      ['today', JANUARY],
    ] as const) {
      await storage.calls.reserve(exampleReserve(id, { at }))
      const settle = settleTwoCredits(id, { at })
      await storage.calls.settle({ ...settle, log: { ...settle.log, createdAt: at, endedAt: at } })
    }
    expect(await storage.logs.keep({ at: JANUARY, keepSince: undefined })).toBe(0)
    expect(await storage.logs.keep({ at: JANUARY, keepSince: JANUARY - 30 * DAY_MS })).toBe(1)
    expect(await idsOf(storage, {})).toEqual(['today', 'january', 'december'])
    expect(await storage.logs.keep({ at: JANUARY, keepSince: JANUARY })).toBe(2)
    expect(await idsOf(storage, {})).toEqual(['today'])
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000 - 8) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a new month has its place before it begins, and a call that ended is still known in it', async () => {
    const { storage } = await openWithAccount(suite)
    const february = Date.UTC(2026, 1, 1)
    await storage.logs.keep({ at: JANUARY, keepSince: undefined })
    await storage.logs.keep({ at: february, keepSince: undefined })
    for (const at of [february - 1, february, february + 40 * DAY_MS]) {
      await storage.calls.reserve(exampleReserve(`call_${at}`, { at }))
      const settle = settleTwoCredits(`call_${at}`, { at })
      const operation = { ...settle, log: { ...settle.log, createdAt: at, endedAt: at } }
      expect(await storage.calls.settle(operation)).toMatchObject({ first: true })
      expect(await storage.calls.settle(operation)).toMatchObject({ first: false })
      await expect(storage.calls.reserve(exampleReserve(`call_${at}`, { at }))).rejects.toThrow('has ended')
    }
    // Rows of a month without a table of its own are moved into the new one.
    await storage.logs.keep({ at: february + 40 * DAY_MS, keepSince: undefined })
    expect(await idsOf(storage, {})).toHaveLength(3)
  })
}
