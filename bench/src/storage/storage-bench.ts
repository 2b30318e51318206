/** Drives `storage-load.ts`: fills databases, starts instances on cores of their own, prints figures and goals. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { fillUsage } from '../../../server/src/storage/sql/migrations/usage-half-hours.ts'
import { loadSqlite } from '../../../server/src/storage/sqlite/library.ts'
import { openOwnServer } from '../../../server/test/postgres/server.ts'
import { tell } from '../goals.ts'
import { LOG_COLUMNS, logDetail } from '../log-rows.ts'
import { cpuSeconds } from '../processes.mjs'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    load: { type: 'string', default: '' },
    seconds: { type: 'string', default: '8' },
    rows: { type: 'string', default: '10000000' },
    'delay-ms': { type: 'string', default: '0' },
    smoke: { type: 'boolean', default: false },
  },
})
const wanted = positionals.length === 0 ? ['sqlite', 'postgres', 'logs', 'keys'] : positionals
const seconds = options.smoke ? '1' : options.seconds
const delayMs = Number(options['delay-ms'])
const rows = options.smoke ? 20_000 : Number(options.rows)
const folder = mkdtempSync(join(tmpdir(), 'sluice-storage-bench-'))
const DETAIL = logDetail()

async function bench(name: string): Promise<void> {
  switch (name) {
    case 'sqlite':
      return onSqlite()
    case 'postgres':
      return onPostgres()
    case 'logs':
      return largeLog()
    case 'keys':
      return manyKeys()
  }
  throw new Error(`no such bench: ${name} (sqlite, postgres, logs, keys)`)
}

async function onSqlite(): Promise<void> {
  const data = join(folder, 'sqlite')
  await load('0', ['--what', 'prepare', '--data', data])
  tell(
    'SQLite: reserve and settle',
    await load('0', ['--what', 'pairs', '--data', data, '--seconds', seconds]),
    {
      'pairs a second': { atLeast: 4_000 },
    },
  )
  tell(
    'SQLite: 1 000 calls a second',
    await load('0', ['--what', 'paced', '--data', data, '--seconds', seconds]),
    {
      'reserve p99 ms': { atMost: 5 },
    },
  )
}

/** Two instances and the server share all cores. */
async function onPostgres(): Promise<void> {
  const server = await openOwnServer('bench', { durable: true })
  const near = `postgres://sluice@127.0.0.1:${server.port}/postgres`
  const way = delayMs > 0 ? await openSlowWay(server.port, delayMs) : undefined
  const database = way === undefined ? near : `postgres://sluice@127.0.0.1:${way.port}/postgres`
  try {
    await load('0', ['--what', 'prepare', '--database', near])
    const [both, serverSeconds] = await withServerCpu(server, () =>
      Promise.all(
        ['one', 'two'].map((instance) =>
          load('0,1', [
            '--what',
            'pairs',
            '--database',
            database,
            '--instance',
            instance,
            '--seconds',
            seconds,
          ]),
        ),
      ),
    )
    const sum = (name: string) => both.reduce((total, figures) => total + (figures[name] ?? 0), 0)
    const mean = (name: string) => sum(name) / both.length
    tell(
      'PostgreSQL, two instances: reserve and settle',
      {
        'pairs a second': sum('pairs a second'),
        'CPU µs per pair, of an instance': mean('CPU µs per pair'),
        'CPU µs per pair, of the server': (serverSeconds * 1e6) / sum('pairs'),
        'reserve p50 ms': mean('reserve p50 ms'),
        'reserve p99 ms': mean('reserve p99 ms'),
        'settle p50 ms': mean('settle p50 ms'),
        'settle p99 ms': mean('settle p99 ms'),
        'pairs of the slower instance, of the faster one’s':
          Math.min(...both.map((figures) => figures['pairs'] ?? 0)) /
          Math.max(...both.map((figures) => figures['pairs'] ?? 0)),
      },
      {
        'pairs a second': { atLeast: 8_000 },
      },
    )
    const [paced, pacedSeconds] = await withServerCpu(server, () =>
      load('0,1', ['--what', 'paced', '--database', database, '--seconds', seconds]),
    )
    tell(
      'PostgreSQL, one instance: 1 000 calls a second',
      { ...paced, 'CPU µs per pair, of the server': (pacedSeconds * 1e6) / (paced['pairs'] ?? 1) },
      { 'reserve p50 ms': { atMost: 4 } },
    )
  } finally {
    way?.close()
    server.close()
  }
}

/** With the CPU seconds that the server and those who serve its connections used meanwhile. */
async function withServerCpu<Value>(
  { pid }: { readonly pid: number | undefined },
  work: () => Promise<Value>,
): Promise<readonly [value: Value, seconds: number]> {
  const before = cpuSeconds(pid)
  const value = await work()
  return [value, cpuSeconds(pid) - before]
}

/** A way to the server that takes so long in each direction, as from another machine. */
async function openSlowWay(port: number, eachWayMs: number): Promise<{ port: number; close: () => void }> {
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from.setNoDelay())
      from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), eachWayMs))
      from.on('error', () => to.destroy())
      from.on('close', () => setTimeout(() => to.destroy(), eachWayMs))
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the slow way has no port')
  return {
    port: address.port,
    close: () => {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function largeLog(): Promise<void> {
  const data = join(folder, 'logs')
  await load('0', ['--what', 'prepare', '--data', data])
  fillSqlite(join(data, 'sluice.db'))
  slowest(
    `SQLite: ${rows} log rows`,
    await load('0', ['--what', 'pages', '--data', data, '--rows', String(rows)]),
  )
  slowest(`SQLite: usage of ${rows} calls`, await load('0', ['--what', 'usage', '--data', data]))
  const server = await openOwnServer('bench-logs', { durable: true })
  const database = `postgres://sluice@127.0.0.1:${server.port}/postgres`
  try {
    await load('0', ['--what', 'prepare', '--database', database])
    await fillPostgres(database)
    slowest(
      `PostgreSQL: ${rows} log rows`,
      await load('0', ['--what', 'pages', '--database', database, '--rows', String(rows)]),
    )
    slowest(
      `PostgreSQL: usage of ${rows} calls`,
      await load('0', ['--what', 'usage', '--database', database]),
    )
  } finally {
    server.close()
  }
}

async function manyKeys(): Promise<void> {
  const data = join(folder, 'keys')
  await load('0', ['--what', 'prepare', '--data', data])
  const figures = await load('0', ['--what', 'directory', '--data', data])
  tell('Remembered keys, each with an account of its own', figures, { 'resident MiB': { atMost: 200 } })
}

/** The calls of a month, evenly. */
const MONTH_MS = 30 * 86_400_000
const EVERY_MS = Math.max(1, Math.floor(MONTH_MS / rows))

/** One row in forty failed; apps, custom ids and end users stand on part of the rows, as in life. */
function valuesOf(text: (expression: string) => string): string {
  return `'call_' || ${text('i')}, 'request_' || ${text('i')}, i * ${EVERY_MS}, i * ${EVERY_MS} + 2000, 'acc_' || ${text('i % 8')},
    'key_' || ${text('i % 8')}, 'model_' || ${text('i % 40')}, case when i % 40 = 0 then 502 else 200 end,
    case when i % 3 = 0 then 'app_' || ${text('i % 50')} end, case when i % 10 = 0 then 'custom_' || ${text('i % 5000')} end,
    case when i % 2 = 0 then 'user_' || ${text('i % 20000')} end, 2000000, 2000000, '${DETAIL}'`
}

function fillSqlite(path: string): void {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec('pragma synchronous = off; pragma cache_size = -1000000')
  const step = 500_000
  for (let from = 0; from < rows; from += step) {
    const until = Math.min(from + step, rows)
    database.exec(`insert into call_logs (${LOG_COLUMNS})
      with recursive n (i) as (select ${from} union all select i + 1 from n where i + 1 < ${until})
      select ${valuesOf((expression) => `(${expression})`)} from n`)
    process.stderr.write(`filled ${until}\n`)
  }
  database.exec('analyze')
  const started = performance.now()
  database.exec(fillUsage('sqlite', ''))
  process.stderr.write(`summed in ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
  database.close()
}

async function fillPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const step = 1_000_000
  for (let from = 0; from < rows; from += step) {
    const until = Math.min(from + step, rows)
    await client.query(`insert into call_logs (${LOG_COLUMNS})
      select ${valuesOf((expression) => `(${expression})::text`)} from generate_series(${from}::bigint, ${until - 1}::bigint) i`)
    process.stderr.write(`filled ${until}\n`)
  }
  await client.query('analyze call_logs')
  const started = performance.now()
  await client.query(fillUsage('postgres', ''))
  process.stderr.write(`summed in ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
  await client.query('analyze usage_half_hours')
  await client.end()
}

function slowest(title: string, figures: Record<string, number>): void {
  tell(title, figures, Object.fromEntries(Object.keys(figures).map((name) => [name, { atMost: 100 }])))
}

/** Runs the load on these cores; its last line is its figures. */
function load(cores: string, args: readonly string[]): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', cores, process.execPath, '--expose-gc', options.load, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8')
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(printed) as Record<string, number>)
      else reject(new Error(`the load ended with ${String(code)}`))
    })
  })
}

if (execFileSync('sh', ['-c', 'command -v taskset || true'], { encoding: 'utf8' }) === '')
  throw new Error('taskset is missing; on Debian: apt-get install util-linux')

try {
  for (const name of wanted) await bench(name)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
