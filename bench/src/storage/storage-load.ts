/**
 * What `bench/storage.mjs` runs on a core of its own: the hot verbs of one instance with six tiers on the key, ledger
 * and log on, and reads of a large log. Prints one line of JSON.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { credits, exampleReserve, exampleSettle } from '../../../server/src/core/calls/examples.ts'
import { accountId, instanceId, keyId } from '../../../server/src/core/ids.ts'
import type { Policy } from '../../../server/src/core/limits/policy.ts'
import { readMargin } from '../../../server/src/management/admin/margin.ts'
import { readUsage } from '../../../server/src/management/money/usage.ts'
import { createKeyDirectory } from '../../../server/src/pipeline/instance/directory.ts'
import { openStorage } from '../../../server/src/storage/open.ts'
import type { Storage } from '../../../server/src/storage/storage.ts'

const { values: options } = parseArgs({
  options: {
    what: { type: 'string', default: 'pairs' },
    data: { type: 'string', default: '' },
    database: { type: 'string', default: '' },
    instance: { type: 'string', default: 'one' },
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '10000000' },
    keys: { type: 'string', default: '100000' },
    accounts: { type: 'string', default: '8' },
    rate: { type: 'string', default: '1000' },
  },
})

const SECONDS = Number(options.seconds)
/** Calls that run at once, as 64 busy clients make them. */
const LANES = 64
const PACED_PER_SECOND = Number(options.rate)
const ACCOUNTS = Number(options.accounts)

const SIX_TIERS: Policy = {
  concurrency: 10_000,
  windows: [
    { dimension: 'requests', limit: 1e9, seconds: 60 },
    { dimension: 'requests', limit: 1e9, seconds: 86_400 },
    { dimension: 'tokens', limit: 1e12, seconds: 60 },
    { dimension: 'tokens', limit: 1e12, seconds: 86_400 },
    { dimension: 'amount', limit: 1e9, seconds: 3_600 },
    { dimension: 'amount', limit: 1e9, seconds: 2_592_000 },
  ],
}

const storage = await openStorage({
  databaseUrl: options.database === '' ? undefined : options.database,
  dataDir: options.data,
  secretKey: new Uint8Array(32).fill(1),
  instanceId: instanceId(options.instance),
  now: Date.now,
  log: { warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`) },
})
const figures = await run(options.what)
process.stdout.write(`${JSON.stringify(figures)}\n`)
await storage.close()

function run(what: string): Promise<Record<string, number>> {
  switch (what) {
    case 'prepare':
      return prepare()
    case 'pairs':
      return pairs()
    case 'paced':
      return paced()
    case 'pages':
      return pages()
    case 'usage':
      return usage()
    case 'directory':
      return directory()
  }
  throw new Error(`nothing is called ${what}`)
}

function accountOf(index: number) {
  return accountId(`acc_${index % ACCOUNTS}`)
}

function keyOf(index: number) {
  return keyId(`key_${index % ACCOUNTS}`)
}

async function prepare(): Promise<Record<string, number>> {
  for (let index = 0; index < ACCOUNTS; index++) {
    await storage.accounts.create({ id: accountOf(index), createdAt: 0, apiDeduction: true })
    await storage.ledger.book([
      {
        transactionId: `opening_${index}`,
        sequence: 0,
        at: 0,
        debit: 'platform/grants',
        credit: `${accountOf(index)}/credits`,
        amount: credits(1e9),
        kind: 'grant',
        reference: undefined,
      },
    ])
    await storage.keys.create(keyRow(index, SIX_TIERS))
  }
  return { accounts: ACCOUNTS }
}

function keyRow(index: number, policy: Policy | undefined): Parameters<Storage['keys']['create']>[0] {
  return {
    id: keyOf(index),
    accountId: accountOf(index),
    memberId: undefined,
    sessionId: undefined,
    name: 'bench',
    hash: index.toString(16).padStart(64, '0'),
    hint: 'sk-gateway-abcdef',
    status: 'enabled',
    createdAt: 0,
    expiresAt: undefined,
    group: undefined,
    models: [],
    ipAllow: [],
    policy,
  }
}

interface Took {
  readonly reserveMs: number
  readonly settleMs: number
}

/** One call through both verbs. */
async function pair(index: number): Promise<Took> {
  const id = `${options.instance}-${process.pid}-${index}`
  const at = Date.now()
  const who = { keyId: keyOf(index), accountId: accountOf(index) }
  const started = performance.now()
  const outcome = await storage.calls.reserve(
    exampleReserve(id, { ...who, at, instanceId: instanceId(options.instance) }),
  )
  const reserved = performance.now()
  if (outcome.kind !== 'reserved') throw new Error(`refused: ${JSON.stringify(outcome)}`)
  const settle = exampleSettle(id, { usage: { input: 1_000, output: 100 } }, { ...who, at })
  await storage.calls.settle({ ...settle, log: { ...settle.log, ...who, createdAt: at, endedAt: at } })
  return { reserveMs: reserved - started, settleMs: performance.now() - reserved }
}

async function pairs(): Promise<Record<string, number>> {
  let count = 0
  const took: Took[] = []
  const lanes = async (seconds: number): Promise<number> => {
    const until = performance.now() + seconds * 1_000
    const before = count
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        while (performance.now() < until) took.push(await pair(count++))
      }),
    )
    return count - before
  }
  await lanes(2)
  took.length = 0
  const cpu = process.cpuUsage()
  const started = performance.now()
  const done = await lanes(SECONDS)
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return {
    'pairs a second': done / seconds,
    'CPU µs per pair': (user + system) / done,
    ...percentiles(took),
    pairs: count,
  }
}

/** How long each verb takes at a steady rate. */
async function paced(): Promise<Record<string, number>> {
  const took: Took[] = []
  const running: Promise<void>[] = []
  const started = performance.now()
  const warmed = PACED_PER_SECOND * 2
  let cpu = process.cpuUsage()
  for (let index = 0; index < PACED_PER_SECOND * (SECONDS + 2); ) {
    const due = Math.floor(((performance.now() - started) / 1_000) * PACED_PER_SECOND)
    for (; index < due; index++) {
      const warm = index < warmed
      if (index === warmed) cpu = process.cpuUsage()
      running.push(
        pair(index).then((ms) => {
          if (!warm) took.push(ms)
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(running)
  const { user, system } = process.cpuUsage(cpu)
  return {
    ...percentiles(took),
    'calls a second': PACED_PER_SECOND,
    'CPU µs per pair': (user + system) / took.length,
    pairs: running.length,
  }
}

function percentiles(took: readonly Took[]): Record<string, number> {
  const sorted = (ms: readonly number[]) => [...ms].sort((one, other) => one - other)
  const reserve = sorted(took.map(({ reserveMs }) => reserveMs))
  const settle = sorted(took.map(({ settleMs }) => settleMs))
  const at = (part: number): number => Math.floor(took.length * part)
  return {
    'reserve p50 ms': reserve[at(0.5)] ?? 0,
    'reserve p99 ms': reserve[at(0.99)] ?? 0,
    'reserve slowest ms': reserve.at(-1) ?? 0,
    'settle p50 ms': settle[at(0.5)] ?? 0,
    'settle p99 ms': settle[at(0.99)] ?? 0,
  }
}

/** The slowest of each page and filter over a log of `--rows`, of five tries each. */
async function pages(): Promise<Record<string, number>> {
  const rows = Number(options.rows)
  const middle = Math.floor(rows / 2)
  // As they were filled in: evenly over a month.
  const everyMs = Math.max(1, Math.floor((30 * 86_400_000) / rows))
  const filters = {
    'newest page': {},
    'one account': { accountId: accountOf(3) },
    'one key': { keyId: keyOf(5) },
    'one model': { model: 'model_7' },
    'one request': { requestId: `request_${middle}` },
    'one app': { appId: 'app_17' },
    'one custom id': { customId: 'custom_123' },
    'one end user': { user: 'user_99' },
    failures: { status: 502 },
    'one account, failures': { accountId: accountOf(3), status: 502 },
    'a day in the middle': { from: middle * everyMs, to: middle * everyMs + 86_400_000 },
    'one key, a day in the middle': {
      keyId: keyOf(5),
      from: middle * everyMs,
      to: middle * everyMs + 86_400_000,
    },
  }
  const figures: Record<string, number> = {}
  for (const [name, filter] of Object.entries(filters)) {
    let slowest = 0
    for (let tries = 0; tries < 5; tries++) {
      let cursor: string | undefined
      for (let page = 0; page < 3; page++) {
        const started = performance.now()
        const found = await storage.logs.page(filter, { limit: 50, cursor })
        slowest = Math.max(slowest, performance.now() - started)
        if (found.next === undefined) break
        cursor = found.next
      }
    }
    figures[`${name}, ms`] = slowest
  }
  return figures
}

/** The slowest of five tries of each report over the month of calls; their ends cut half-hours, which costs a look at the log. */
async function usage(): Promise<Record<string, number>> {
  const from = 12_345
  const until = 30 * 86_400_000 - 54_321
  const whose = { accountId: accountOf(3), keyId: undefined }
  const month = { ...whose, from, until, interval: 'day', timezone: 'Asia/Shanghai' } as const
  const questions: Record<string, () => Promise<unknown>> = {
    'one account, a month': () => readUsage(storage, { ...month, interval: 'total', groups: [] }),
    'one account, a month by day and model': () => readUsage(storage, { ...month, groups: ['model'] }),
    'one account, a month by day, model, key, app': () =>
      readUsage(storage, { ...month, groups: ['model', 'key', 'app'] }),
    'one account, a month by hour': () => readUsage(storage, { ...month, interval: 'hour', groups: [] }),
    'one key, a month by day': () =>
      readUsage(storage, { ...month, accountId: undefined, keyId: keyOf(5), groups: [] }),
    'all accounts, a day by hour': () =>
      readUsage(storage, {
        ...month,
        accountId: undefined,
        from: until - 86_400_000,
        interval: 'hour',
        groups: ['model'],
      }),
    'margin of a day': () => readMargin(storage, { from: until - 86_400_000, to: until }),
  }
  const figures: Record<string, number> = {}
  for (const [name, ask] of Object.entries(questions)) {
    let slowest = 0
    for (let tries = 0; tries < 5; tries++) {
      const started = performance.now()
      await ask()
      slowest = Math.max(slowest, performance.now() - started)
    }
    figures[`${name}, ms`] = slowest
  }
  return figures
}

/** What remembering keys costs: resident memory before and after every key was looked up once. */
async function directory(): Promise<Record<string, number>> {
  const count = Number(options.keys)
  const rows = Array.from({ length: count }, (_, index) => ({
    ...keyRow(index, SIX_TIERS),
    id: keyId(`key_x${index}`),
    accountId: accountId(`acc_x${index}`),
    hash: (index + 1_000).toString(16).padStart(64, '0'),
  }))
  const account = await storage.accounts.find(accountOf(0))
  if (account === undefined) throw new Error('prepare first')
  const byHash = new Map(rows.map((row) => [row.hash, row]))
  const cached = createKeyDirectory(
    {
      ...storage,
      keys: { ...storage.keys, findByHash: async (hash) => structuredClone(byHash.get(hash)) },
      accounts: { ...storage.accounts, find: async (id) => ({ ...structuredClone(account), id }) },
    },
    Date.now,
  )
  global.gc?.()
  const before = process.memoryUsage().rss
  for (const { hash } of rows) await cached.find(hash)
  global.gc?.()
  return { keys: count, 'resident MiB': (process.memoryUsage().rss - before) / 2 ** 20 }
}
