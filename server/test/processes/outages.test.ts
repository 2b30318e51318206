/**
 * The database goes away, or a process is paused, while calls run (docs/operating/outages.md): every answer that a client
 * received whole is charged to the micro-Credit, nothing is held in the end, and the ledger verifies. Here with beats of
 * 500 ms and outages of seconds; `node tools/outages.mjs` runs the same with the product's own periods.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Cable } from '../postgres/cable.ts'
import { createFreshDatabase } from '../postgres/fresh-database.ts'
import { call, expectCharged, type Finished, PAUSE_MS } from './charges.ts'
import { type CountingUpstream, openCountingUpstream } from './counting-upstream.ts'
import { writeGatewayFile } from './gateway-file.ts'
import { eventually, type Launched, launch } from './launch.ts'

const FULL = process.env['SLUICE_OUTAGES'] === 'full'
/** Beside the storage worker, where the built product looks for it. */
const CHILD = fileURLToPath(new URL('../../dist/outage-gateway-child.js', import.meta.url))
const BEAT_MS = 500
const SILENT_MS = 2_000
const OPENING = 100_000_000
/** Everything waits for the beats of the product, or of the test. */
const UNIT_MS = FULL ? 5_000 : BEAT_MS
/** Retries of what the store still has to take, and taking over, each twice. */
const SETTLED_WITHIN_MS = 30_000 + 12 * UNIT_MS

let upstream: CountingUpstream
let directory: string
let environment: Record<string, string>
const closing: (() => Promise<unknown> | void)[] = []

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('gateway-child.ts', import.meta.url))],
    outfile: CHILD,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'error',
  })
})

beforeEach(async () => {
  upstream = await openCountingUpstream()
  directory = mkdtempSync(join(tmpdir(), 'sluice-outage-'))
  environment = {
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: writeGatewayFile(directory, { upstream: upstream.url, credits: OPENING }),
  }
})

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await upstream.close()
  rmSync(directory, { recursive: true })
})

/** Through a cable that a test can cut. */
async function onPostgres(): Promise<Cable> {
  const database = await createFreshDatabase()
  closing.push(() => database.drop())
  const url = new URL(database.url)
  const cable = new Cable({ host: '127.0.0.1', port: Number(url.port || 5432) })
  url.hostname = '127.0.0.1'
  url.port = String(await cable.open())
  closing.push(() => cable.close())
  environment['SLUICE_DATABASE_URL'] = url.href
  environment['SLUICE_SECRET_KEY'] = Buffer.alloc(32, 7).toString('base64')
  return cable
}

/** The first start sets the store up; those that serve come after it. */
async function startInstances(count: number): Promise<readonly Launched[]> {
  await (await launch(environment)).stop()
  return Promise.all(Array.from({ length: count }, () => start()))
}

async function start(): Promise<Launched> {
  const program = FULL ? undefined : [CHILD, String(BEAT_MS), String(SILENT_MS)]
  const started = await launch(environment, undefined, program)
  closing.push(() => (started.process.exitCode === null ? started.kill() : undefined))
  return started
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Clients that call without a pause: short calls, and streams that are shorter and longer than the outage. */
class Load {
  readonly finished: Finished[] = []
  #running: Promise<void>[] = []
  #stopped = false
  #next = 0

  constructor(instances: readonly Launched[], outageMs: number) {
    for (const [index, instance] of instances.entries()) {
      for (const share of [0.1, 0.4, 0.8, 1.2, 1.5]) {
        const tokens = Math.ceil((outageMs * share) / PAUSE_MS)
        this.#running.push(this.#loop(instance, `i${index}-stream`, { tokens, stream: true }))
      }
      this.#running.push(this.#loop(instance, `i${index}-short`, { tokens: 5, stream: false }))
    }
  }

  /** No call begins any more; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #loop(
    instance: Launched,
    name: string,
    how: { readonly tokens: number; readonly stream: boolean },
  ): Promise<void> {
    while (!this.#stopped) {
      const user = `${name}-${this.#next++}`
      const isWhole = await call(instance.baseUrl, { user, ...how })
      if (isWhole) this.finished.push({ user, tokens: how.tokens })
      else await wait(100)
    }
  }
}

const known = () => ({ environment, credits: OPENING, withinMs: SETTLED_WITHIN_MS })

async function stopAll(running: readonly Launched[]): Promise<void> {
  await Promise.all(running.map((instance) => instance.stop()))
}

const OUTAGES_MS = FULL ? [24_000, 70_000, 130_000] : [5_000]
const PAUSED_MS = FULL ? 34_000 : 3_000
/** The suite pauses one process on the one engine and both on the other; who may take over is decided by the same code. */
const ENGINES = {
  one: FULL ? ['SQLite', 'PostgreSQL'] : ['PostgreSQL'],
  both: FULL ? ['SQLite', 'PostgreSQL'] : ['SQLite'],
}
const timeout = (outageMs: number) => 180_000 + 6 * outageMs + SETTLED_WITHIN_MS

describe('PostgreSQL', () => {
  test.each(OUTAGES_MS)(
    'the database is away for %i ms: two instances bill every answer that was delivered',
    async (outageMs) => {
      const cable = await onPostgres()
      const running = await startInstances(2)
      const load = new Load(running, outageMs)
      await wait(1_500)
      cable.cut()
      await wait(outageMs)
      cable.mend()
      // Long enough for whoever would take over wrongly.
      await wait(8 * UNIT_MS)
      await load.stop()
      await expectCharged(running, load.finished, known())
      expect(running.map(({ errors }) => errors()).join('')).not.toContain('was taken over')
      await stopAll(running)
    },
    timeout(Math.max(...OUTAGES_MS)),
  )

  test(
    'the database is back for two seconds and away again, three times: nobody takes over',
    async () => {
      const cable = await onPostgres()
      const running = await startInstances(2)
      const load = new Load(running, 2_000)
      for (let count = 0; count < 3; count++) {
        await wait(2_000)
        cable.cut()
        await wait(6 * UNIT_MS)
        cable.mend()
      }
      await wait(8 * UNIT_MS)
      await load.stop()
      await expectCharged(running, load.finished, known())
      await stopAll(running)
    },
    timeout(30 * UNIT_MS),
  )

  test(
    'a process that stops while the database is away leaves what it knows for the next one',
    async () => {
      const cable = await onPostgres()
      const running = await startInstances(1)
      const load = new Load(running, 2_000)
      await wait(1_500)
      cable.cut()
      await load.stop()
      await Promise.all(running.map((instance) => instance.stop().catch(() => undefined)))
      expect(readdirSync(join(directory, 'data', 'unsettled'))).toHaveLength(1)
      await expect(launch(environment)).rejects.toThrow('before it was ready')
      cable.mend()
      const next = await start()
      expect(readdirSync(join(directory, 'data', 'unsettled'))).toEqual([])
      await expectCharged([next], load.finished, known())
      await next.stop()
    },
    timeout(40 * UNIT_MS),
  )
})

describe('a pause', () => {
  test.each(ENGINES.one)(
    '%s: one of two instances is paused and taken over: what it delivers afterwards is billed in full, and it warns',
    async (engine) => {
      if (engine === 'PostgreSQL') await onPostgres()
      const running = await startInstances(2)
      const [sleeper, other] = running
      if (sleeper === undefined || other === undefined) throw new Error('two instances run')
      const load = new Load(running, PAUSED_MS)
      await wait(1_500)
      sleeper.process.kill('SIGSTOP')
      await wait(PAUSED_MS)
      const isTakenOver = () => Promise.resolve(other.errors().includes('or that nobody hears of'))
      await eventually('the other one takes over', isTakenOver)
      sleeper.process.kill('SIGCONT')
      await wait(8 * UNIT_MS)
      await load.stop()
      await expectCharged(running, load.finished, known())
      expect(sleeper.errors()).toContain('this process was taken over')
      expect(other.errors()).not.toContain('this process was taken over')
      await stopAll(running)
    },
    timeout(PAUSED_MS),
  )

  test.each(ENGINES.both)(
    '%s: both instances are paused: neither takes over from the other, and what they deliver afterwards is billed in full',
    async (engine) => {
      if (engine === 'PostgreSQL') await onPostgres()
      const running = await startInstances(2)
      const load = new Load(running, PAUSED_MS)
      await wait(1_500)
      for (const { process: sleeper } of running) sleeper.kill('SIGSTOP')
      await wait(PAUSED_MS)
      for (const { process: sleeper } of running) sleeper.kill('SIGCONT')
      await wait(8 * UNIT_MS)
      await load.stop()
      await expectCharged(running, load.finished, known())
      expect(running.map(({ errors }) => errors()).join('')).not.toContain('was taken over')
      await stopAll(running)
    },
    timeout(PAUSED_MS),
  )
})
