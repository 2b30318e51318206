/**
 * The database goes away, or a process is paused or killed, while calls run (docs/operating/outages.md): every answer that
 * a client received whole is charged to the micro-Credit, nothing is charged above its price or twice, nothing is held in
 * the end, and the ledger verifies. Here with beats of 500 ms and outages of seconds, all at once, since they mostly wait;
 * `node tools/outages.mjs` runs the same, and more instances, with the product's own periods.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { TOOK_OVER, WAS_TAKEN_OVER } from '../../src/app/rounds/instance-rounds.ts'
import { Cable } from '../postgres/cable.ts'
import { createMigratedDatabase } from '../postgres/fresh-database.ts'
import { sluice } from '../video/processes.ts'
import { call, type Charged, expectCharged, type Finished, PAUSE_MS } from './charges.ts'
import { childrenOf } from './children.ts'
import { type CountingUpstream, openCountingUpstream } from './counting-upstream.ts'
import { writeGatewayFile } from './gateway-file.ts'
import { eventually, type Launched, launch } from './launch.ts'
import { buildPrograms, programPath } from './programs.ts'

const FULL = process.env['SLUICE_OUTAGES'] === 'full'
/** Beside the storage worker, where the built product looks for it. */
const CHILD = programPath('gateway')
const BEAT_MS = 500
/** More beats than the product waits for, since the suite keeps the machine, and its database, busy. */
const SILENT_MS = 8 * BEAT_MS
const OPENING = 100_000_000
/** Everything waits for the beats of the product, or of the test. */
const UNIT_MS = FULL ? 5_000 : BEAT_MS
/** Long enough for whoever would take over wrongly. */
const SETTLED_MS = FULL ? 8 * UNIT_MS : SILENT_MS + 4 * BEAT_MS

beforeAll(buildPrograms)

/** A gateway's surroundings of a test's own. */
class World {
  readonly environment: Record<string, string>
  readonly directory: string
  readonly #upstream: CountingUpstream
  readonly #closing: (() => Promise<unknown> | void)[] = []

  constructor(upstream: CountingUpstream) {
    this.#upstream = upstream
    this.directory = mkdtempSync(join(tmpdir(), 'sluice-outage-'))
    this.environment = {
      SLUICE_DATA_DIR: join(this.directory, 'data'),
      SLUICE_CONFIG: writeGatewayFile(this.directory, { upstream: upstream.url, credits: OPENING }),
    }
  }

  /** Through a cable that a test can cut. */
  async onPostgres(): Promise<Cable> {
    const database = await createMigratedDatabase()
    this.#closing.push(() => database.drop())
    const url = new URL(database.url)
    const cable = new Cable({ host: '127.0.0.1', port: Number(url.port || 5432) })
    url.hostname = '127.0.0.1'
    url.port = String(await cable.open())
    this.#closing.push(() => cable.close())
    this.environment['SLUICE_DATABASE_URL'] = url.href
    this.environment['SLUICE_SECRET_KEY'] = Buffer.alloc(32, 7).toString('base64')
    return cable
  }

  /** The store is set up before those that serve it start. */
  async startInstances(count: number): Promise<readonly Launched[]> {
    await sluice(this.environment, ['apply', '-f', this.environment['SLUICE_CONFIG'] ?? ''])
    return Promise.all(Array.from({ length: count }, () => this.start()))
  }

  async start(more: Readonly<Record<string, string>> = {}): Promise<Launched> {
    const program = FULL ? undefined : [CHILD, String(BEAT_MS), String(SILENT_MS)]
    const started = await launch({ ...this.environment, ...more }, undefined, program)
    this.#closing.push(() => (started.process.exitCode === null ? started.kill() : undefined))
    return started
  }

  expectCharged(running: readonly Launched[], charged: Charged): Promise<void> {
    return expectCharged(running, charged, { environment: this.environment, credits: OPENING })
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close()
    await this.#upstream.close()
    rmSync(this.directory, { recursive: true })
  }
}

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  const world = new World(await openCountingUpstream())
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Clients that call without a pause: short calls, and streams that are shorter and longer than the outage. */
class Load {
  readonly #sent: Finished[] = []
  readonly #finished: (Finished & { readonly instance: number })[] = []
  readonly #instances: number
  #running: Promise<void>[] = []
  #stopped = false

  constructor(instances: readonly Launched[], outageMs: number) {
    this.#instances = instances.length
    for (const index of instances.keys()) {
      for (const share of [0.1, 0.4, 0.8, 1.2, 1.5]) {
        const tokens = Math.ceil((outageMs * share) / PAUSE_MS)
        this.#running.push(this.#loop(instances, index, { tokens, stream: true }))
      }
      this.#running.push(this.#loop(instances, index, { tokens: 5, stream: false }))
    }
  }

  /** Calls run on every instance, and of each enough have ended to say something, whatever becomes of the others. */
  async begun(): Promise<void> {
    await eventually('calls run', () => {
      const ended = (index: number) => this.#finished.filter(({ instance }) => instance === index).length
      return Promise.resolve([...Array(this.#instances).keys()].every((index) => ended(index) > 4))
    })
    await wait(1_000)
  }

  /** No call begins any more; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  /** @param killed the instance whose memory was lost: what waited in it is charged at what was written of it, at most. */
  charged(killed?: number): Charged {
    const exactly = this.#finished.filter(({ instance }) => instance !== killed)
    const known = new Set(exactly.map(({ user }) => user))
    return { exactly, atMost: this.#sent.filter(({ user }) => !known.has(user)) }
  }

  async #loop(
    instances: readonly Launched[],
    instance: number,
    how: { readonly tokens: number; readonly stream: boolean },
  ): Promise<void> {
    for (let count = 0; !this.#stopped; count++) {
      const user = `i${instance}-${how.stream ? `stream${how.tokens}` : 'short'}-${count}`
      this.#sent.push({ user, tokens: how.tokens })
      const isWhole = await call(instances[instance]?.baseUrl ?? '', { user, ...how })
      if (isWhole) this.#finished.push({ user, tokens: how.tokens, instance })
      if (!isWhole || !how.stream) await wait(100)
    }
  }
}

async function stopAll(running: readonly Launched[]): Promise<void> {
  await Promise.all(running.map((instance) => instance.stop()))
}

/**
 * Whoever gets no time from the machine for as long as others wait is taken over rightly: the test's own program says when
 * that was so (`gateway-child.ts`), and then only the money is judged.
 * @param pausedMs for how long the test itself has stopped each of them
 */
function expectNobodyTakenOver(running: readonly Launched[], pausedMs = 0): void {
  const starved = running.some(({ errors }) =>
    [...errors().matchAll(/"event":"late","ms":(\d+)/g)].some(
      ([, ms]) => Number(ms) > pausedMs + SILENT_MS / 4,
    ),
  )
  if (starved) {
    process.stdout.write('the machine was too busy to tell who takes over\n')
    return
  }
  const warnings = running.flatMap(({ errors }) =>
    errors()
      .split('\n')
      .filter((line) => line.includes(WAS_TAKEN_OVER)),
  )
  expect(warnings).toEqual([])
}

const OUTAGES = FULL
  ? [
      { outageMs: 24_000, instances: 2 },
      { outageMs: 70_000, instances: 3 },
      { outageMs: 130_000, instances: 2 },
    ]
  : [{ outageMs: 5_000, instances: 2 }]
const PAUSED_MS = FULL ? 34_000 : SILENT_MS + 2 * BEAT_MS
/** Of several in a row. */
const OUTAGES_MS = FULL ? 30_000 : 5_000
/** The suite pauses one process on the one engine and both on the other; who may take over is decided by the same code. */
const ENGINES = {
  one: FULL ? ['SQLite', 'PostgreSQL'] : ['PostgreSQL'],
  both: FULL ? ['SQLite', 'PostgreSQL'] : ['SQLite'],
}
const PATIENT = { timeout: 1_800_000 }

describe.concurrent('PostgreSQL', () => {
  test.each(OUTAGES)(
    'the database is away for $outageMs ms: $instances instances bill every answer that was delivered',
    PATIENT,
    ({ outageMs, instances }) =>
      inWorld(async (world) => {
        const cable = await world.onPostgres()
        const running = await world.startInstances(instances)
        const load = new Load(running, outageMs)
        await load.begun()
        cable.cut()
        await wait(outageMs)
        cable.mend()
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged(running, load.charged())
        expectNobodyTakenOver(running)
        await stopAll(running)
      }),
  )

  test('the database is back for two seconds and away again, three times: nobody takes over', PATIENT, () =>
    inWorld(async (world) => {
      const cable = await world.onPostgres()
      const running = await world.startInstances(2)
      const load = new Load(running, 2_000)
      for (let count = 0; count < 3; count++) {
        await load.begun()
        cable.cut()
        await wait(OUTAGES_MS)
        cable.mend()
      }
      await wait(SETTLED_MS)
      await load.stop()
      await world.expectCharged(running, load.charged())
      expectNobodyTakenOver(running)
      await stopAll(running)
    }),
  )

  test('a process that stops while the database is away leaves what it knows for the next one', PATIENT, () =>
    inWorld(async (world) => {
      const cable = await world.onPostgres()
      const running = await world.startInstances(1)
      const load = new Load(running, 2_000)
      await load.begun()
      cable.cut()
      await load.stop()
      await Promise.all(running.map((instance) => instance.stop().catch(() => undefined)))
      const unsettled = join(world.directory, 'data', 'unsettled')
      expect(readdirSync(unsettled)).toHaveLength(1)
      await expect(launch(world.environment)).rejects.toThrow('before it was ready')
      cable.mend()
      const next = await world.start()
      expect(readdirSync(unsettled)).toEqual([])
      await world.expectCharged([next], load.charged())
      await next.stop()
    }),
  )

  test(
    'a process that is killed while the database is away loses only what waited in its memory',
    PATIENT,
    () =>
      inWorld(async (world) => {
        const cable = await world.onPostgres()
        const running = [...(await world.startInstances(2))]
        const load = new Load(running, 4 * UNIT_MS)
        await load.begun()
        cable.cut()
        await wait(2 * UNIT_MS)
        await running[0]?.kill()
        await wait(2 * UNIT_MS)
        cable.mend()
        running[0] = await world.start()
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged(running, load.charged(0))
        await stopAll(running)
      }),
  )
})

describe.concurrent('a pause', () => {
  test.each(ENGINES.one)(
    '%s: one of two instances is paused and taken over: what it delivers afterwards is billed in full, and it warns',
    PATIENT,
    (engine) =>
      inWorld(async (world) => {
        if (engine === 'PostgreSQL') await world.onPostgres()
        const running = await world.startInstances(2)
        const load = new Load(running, PAUSED_MS)
        const [sleeper, other] = await takeOver(running, load)
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged(running, load.charged())
        await eventually('it warns', () => Promise.resolve(sleeper.errors().includes(WAS_TAKEN_OVER)))
        expectNobodyTakenOver([other])
        await stopAll(running)
      }),
  )

  test.each(ENGINES.one)(
    '%s: one that was taken over goes on and is killed: what either delivered whole is billed in full',
    PATIENT,
    (engine) =>
      inWorld(async (world) => {
        if (engine === 'PostgreSQL') await world.onPostgres()
        const running = [...(await world.startInstances(2))]
        const load = new Load(running, PAUSED_MS)
        await takeOver(running, load)
        await wait(2 * UNIT_MS * Math.random())
        await running[0]?.kill()
        running[0] = await world.start()
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged(running, load.charged())
        await stopAll(running)
      }),
  )

  test.each(ENGINES.both)(
    '%s: both instances are paused: neither takes over from the other, and what they deliver afterwards is billed in full',
    PATIENT,
    (engine) =>
      inWorld(async (world) => {
        if (engine === 'PostgreSQL') await world.onPostgres()
        const running = await world.startInstances(2)
        const load = new Load(running, PAUSED_MS)
        await load.begun()
        for (const { process: sleeper } of running) sleeper.kill('SIGSTOP')
        await wait(PAUSED_MS)
        for (const { process: sleeper } of running) sleeper.kill('SIGCONT')
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged(running, load.charged())
        expectNobodyTakenOver(running, PAUSED_MS)
        await stopAll(running)
      }),
  )

  // The short periods are those of a program of the test, which is one process.
  test.each(FULL ? ['SQLite', 'PostgreSQL'] : [])(
    '%s: one of two workers of an instance is paused and taken over: what it delivers afterwards is billed in full',
    PATIENT,
    (engine) =>
      inWorld(async (world) => {
        if (engine === 'PostgreSQL') await world.onPostgres()
        const instance = await world.start({ SLUICE_WORKERS: '2' })
        const [sleeper = 0] = childrenOf(instance.process.pid ?? 0)
        const load = new Load([instance, instance], PAUSED_MS)
        await load.begun()
        process.kill(sleeper, 'SIGSTOP')
        await wait(PAUSED_MS)
        await eventually('the other one takes over', () => hasTakenOver(instance))
        process.kill(sleeper, 'SIGCONT')
        await wait(SETTLED_MS)
        await load.stop()
        await world.expectCharged([instance], load.charged())
        await eventually('it warns', () => Promise.resolve(instance.errors().includes(WAS_TAKEN_OVER)))
        await instance.stop()
      }),
  )
})

const hasTakenOver = (instance: Launched) => Promise.resolve(instance.errors().includes(TOOK_OVER))

/** The first of two sleeps until the second has ended its calls; then it goes on. */
async function takeOver(
  [sleeper, other]: readonly Launched[],
  load: Load,
): Promise<readonly [sleeper: Launched, other: Launched]> {
  if (sleeper === undefined || other === undefined) throw new Error('two instances run')
  await load.begun()
  sleeper.process.kill('SIGSTOP')
  await wait(PAUSED_MS)
  await eventually('the other one takes over', () => hasTakenOver(other))
  sleeper.process.kill('SIGCONT')
  return [sleeper, other]
}
