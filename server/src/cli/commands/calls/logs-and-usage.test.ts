/** `logs --follow` and `usage` beside a store that is in use. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'
import { createMigratedDatabase } from '../../../../test/postgres/fresh-database.ts'
import { putModel } from '../../../../test/gateway/gateway.ts'
import { chainId, modelId, vendorCode } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import { ACCOUNT, exampleLog, exampleReserve } from '../../../core/calls/examples.ts'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { createAccount, exampleApiKey, NOW, settleTwoCredits } from '../../../storage/conformance/suite.ts'
import type { Storage } from '../../../storage/storage.ts'

const exampleAttempt = {
  chainId: chainId(7),
  vendorCode: vendorCode('acme'),
  modelId: modelId('m'),
  why: 'priority',
  skipped: [],
  startedMs: 0,
  firstByteMs: undefined,
  endedMs: 5,
  cooldownMs: undefined,
} as const

describe.each(['SQLite', 'PostgreSQL'])('on %s', (engine) => {
  let line: CommandLine
  let storage: Storage
  let drop: (() => Promise<void>) | undefined

  beforeEach(async () => {
    const database = engine === 'SQLite' ? undefined : await createMigratedDatabase()
    drop = database?.drop
    line = await openCommandLine(database === undefined ? {} : { SLUICE_DATABASE_URL: database.url })
    storage = await line.openStore({ now: () => NOW, databaseUrl: database?.url })
    await createAccount(storage, { email: 'owner@example.com' })
    await storage.keys.create(exampleApiKey())
  })
  afterEach(async () => {
    await storage.close()
    await line.remove()
    await drop?.()
  })

  async function call(id: string, changes: { readonly appId?: string; readonly endedAt?: number } = {}) {
    await storage.calls.reserve(exampleReserve(id))
    const settle = settleTwoCredits(id)
    await storage.calls.settle({ ...settle, log: { ...settle.log, requestId: `request_${id}`, ...changes } })
  }

  test('a row says why it was free, and what each vendor that was tried failed of', async () => {
    const attempts = [
      { ...exampleAttempt, outcome: 'auth', status: 401, said: 'Incorrect API key provided' },
      { ...exampleAttempt, outcome: 'connect', status: undefined, said: 'connect ECONNREFUSED 127.0.0.1:1' },
    ]
    await storage.calls.reserve(exampleReserve('f'))
    const settle = settleTwoCredits('f')
    const amount = microCredits(999_999n)
    const log = { ...settle.log, vendorCode: undefined, amount, attempts }
    await storage.calls.settle({ ...settle, amount, log })
    const { out } = await line.sluice(['logs'])
    expect(out).toMatch(/^TIME .* REQUEST +WHY\n/)
    expect(out).toMatch(
      / acme .*free: below 1 Credit; acme: 401 Incorrect API key provided; acme: connect ECONNREFUSED 127\.0\.0\.1:1\n/,
    )
    const { out: row } = await line.sluice(['logs', '--json'])
    expect(JSON.parse(row)).toMatchObject({
      free_reason: 'below-one-credit',
      attempts: [{ said: 'Incorrect API key provided' }, { said: 'connect ECONNREFUSED 127.0.0.1:1' }],
    })
  })

  test('a row says why a call was refused, and which model a mistyped name probably meant', async () => {
    await storage.catalogue.apply([putModel('sandbox-chat'), putModel('old', { status: 'disabled' })])
    const refused = (id: string, changes: Partial<CallLogRow>) =>
      storage.calls.log({
        log: exampleLog(id, {
          requestId: `request_${id}`,
          model: undefined,
          vendorCode: undefined,
          chainId: undefined,
          attempts: [],
          httpStatus: 502,
          code: 50201,
          ending: 'refused',
          ...changes,
        }),
      })
    await refused('a', { modelRequested: 'sandbox-chta', createdAt: NOW })
    await refused('b', { modelRequested: 'nothing-like-it', createdAt: NOW - 1 })
    await refused('c', { modelRequested: 'old', createdAt: NOW - 2 })
    await refused('d', { modelRequested: 'sandbox-chat', createdAt: NOW - 3 })
    await refused('e', { modelRequested: undefined, httpStatus: 401, code: 40103, createdAt: NOW - 4 })
    const message = 'the model sandbox-chat is not served at /v1/embeddings: call it at /v1/chat/completions'
    await refused('f', {
      modelRequested: 'sandbox-chat',
      httpStatus: 404,
      code: 40403,
      message,
      createdAt: NOW - 5,
    })
    const answered = { ...exampleAttempt, outcome: 'answered', status: 200 }
    await refused('g', {
      modelRequested: 'sandbox-chat',
      model: modelId('sandbox-chat'),
      attempts: [answered],
      httpStatus: 200,
      code: 50301,
      message: 'the gateway is shutting down',
      ending: 'stopped',
      createdAt: NOW - 6,
    })
    const { out } = await line.sluice(['logs'])
    const why = out.trimEnd().split('\n').slice(1)
    expect(why.map((text) => text.split(/ request_\S+ +/)[1])).toEqual([
      'there is no such model; did you mean sandbox-chat?',
      'there is no such model',
      'the model is disabled',
      'no available upstream for this model',
      'this API key has expired',
      message,
      'the gateway is shutting down',
    ])
  })

  test('logs keep to what a call cost, both ends included', async () => {
    for (const [id, deducted] of [
      ['a', 1_500_000n],
      ['b', 2_000_000n],
      ['c', 2_000_001n],
    ] as const) {
      await storage.calls.reserve(exampleReserve(id))
      const settle = settleTwoCredits(id)
      const amount = microCredits(deducted)
      const log = { ...settle.log, requestId: `request_${id}`, amount, deducted: amount }
      await storage.calls.settle({ ...settle, amount, log })
    }
    const found = async (...flags: readonly string[]) => {
      const { code, out } = await line.sluice(['logs', '--json', ...flags])
      expect(code).toBe(0)
      const rows = out.split('\n').filter((text) => text !== '')
      return rows.map((text) => String(JSON.parse(text).request_id)).sort()
    }
    expect(await found('--cost-from', '2')).toEqual(['request_b', 'request_c'])
    expect(await found('--cost-to', '2')).toEqual(['request_a', 'request_b'])
    expect(await found('--cost-from=1.5', '--cost-to=1.999999')).toEqual(['request_a'])
    expect(await found('--cost-from=2.000002')).toEqual([])
    expect(await found('--suspect')).toEqual([])
    for (const wrong of [['--cost-from', 'much'], ['--cost-to=0.0000001']])
      expect(await line.sluice(['logs', ...wrong])).toMatchObject({
        code: 3,
        err: expect.stringContaining('--cost-'),
      })
  })

  test('--follow shows each call once, when it ends, and those before it oldest first', async () => {
    await call('a')
    await call('b')
    const steps: (() => Promise<void>)[] = [
      () => call('c', { endedAt: NOW + 2_000 }),
      () => Promise.resolve(),
      () => call('d', { endedAt: NOW + 3_000 }),
    ]
    let step = 0
    const { code, out } = await line.sluice(['logs', '-F', '--limit', '1'], {
      now: () => NOW + 1_000,
      meanwhile: async () => {
        const work = steps[step++]
        await work?.()
        return work === undefined ? 'stop' : 'go on'
      },
    })
    expect(code).toBe(0)
    expect(out.split('\n').map((text) => text.split(/ +/).at(-1))).toEqual([
      'WHY',
      'request_b',
      'request_c',
      'request_d',
      '',
    ])
  })

  test('--follow keeps to its filters, prints a JSON object a line, and takes no end', async () => {
    let step = 0
    const { out } = await line.sluice(['logs', '--follow', '--json', '--app', 'mine'], {
      now: () => NOW,
      meanwhile: async () => {
        if (step++ > 0) return 'stop'
        await call('a', { appId: 'mine' })
        await call('b', { appId: 'other' })
        return 'go on'
      },
    })
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text)),
    ).toMatchObject([{ request_id: 'request_a' }])
    expect(await line.sluice(['logs', '-F', '--cursor', 'x'])).toMatchObject({ code: 3 })
  })

  test('usage sums calls by day and by what is asked for', async () => {
    await call('a', { appId: 'mine' })
    await call('b', { appId: 'mine' })
    await call('c', { appId: 'other' })
    const at = { now: () => NOW }
    const { out } = await line.sluice(['usage', '--by', 'model', 'app', '--time-zone', 'UTC'], at)
    expect(out).toMatch(
      /^FROM +MODEL +APP +CALLS +FAILED +TOKENS IN\/OUT +IMAGES +SECONDS +CHARACTERS +SOUND +CREDITS +BY SUBSCRIPTION\n/,
    )
    expect(out).toMatch(/ example-model +mine +2 +0 +2000\/200 +0 +0 +0 +0 +4 +0\n/)
    expect(out).toMatch(/ example-model +other +1 +0 +1000\/100 +0 +0 +0 +0 +2 +0\n/)
    expect(out).toMatch(/\nall +- +- +3 +0 +3000\/300 +0 +0 +0 +0 +6 +0\n$/)
    const asked = [
      'usage',
      '--account',
      'owner@example.com',
      '--key',
      'key_1',
      '--interval',
      'hour',
      '--json',
    ]
    expect(JSON.parse((await line.sluice(asked, at)).out)).toMatchObject({
      interval: 'hour',
      rows: [{ calls: 3, deducted: '6', model: null }],
      totals: { calls: 3, usage: { input: 3000, output: 300 } },
    })
    expect(await storage.accounts.find(ACCOUNT)).toBeDefined()
  })

  test('usage --recount mends sums that do not fit the log', async () => {
    await call('a')
    const at = { now: () => NOW }
    const period = ['--from', new Date(NOW - (NOW % 1_800_000)).toISOString(), '--recount']
    expect(await line.sluice(['usage', ...period], at)).toMatchObject({
      out: 'counted 1 half-hour again from the log\n',
    })
    expect(JSON.parse((await line.sluice(['usage', '--json'], at)).out)).toMatchObject({
      totals: { calls: 1, deducted: '2' },
    })
    expect(await line.sluice(['usage', '--recount', '--key', 'key_1'], at)).toMatchObject({ code: 3 })
  })

  test.each([
    [['--by', 'colour'], '--by must be some of model, key, app, account'],
    [['--interval', 'year'], '--interval must be one of hour, day, total'],
    [['--time-zone', 'Mars'], '--time-zone'],
    [['--from', '2020-01-01', '--to', '2026-01-01'], '--from must lie at most 366 days before to'],
    [['--from', '2027-01-02', '--to', '2027-01-01'], '--to must not lie before from'],
  ])('usage refuses %j', async (flags, message) => {
    expect(await line.sluice(['usage', ...flags])).toMatchObject({
      code: 3,
      err: expect.stringContaining(message),
    })
  })
})
