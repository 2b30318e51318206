/** What a batch is on the way to the server: two messages, and between them locks that must not outlive their process. */
import { Buffer } from 'node:buffer'
import { Socket } from 'node:net'
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { Cable } from '../../../test/postgres/cable.ts'
import { createMigratedDatabase } from '../../../test/postgres/fresh-database.ts'
import { exampleReserve } from '../../core/calls/examples.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW, settleTwoCredits } from '../conformance/suite.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { openStorage } from '../open.ts'
import type { SqlEngine } from '../sql/engine.ts'
import type { Storage } from '../storage.ts'
import { openPostgres } from './engine.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const log = { warn: () => {} }
const WAIT = { timeout: 60_000, interval: 20 }

interface Opened {
  readonly engine: SqlEngine
  /** Of another instance, whose way to the database is its own. */
  readonly storage: Storage
  /** What the engine's connections go through. */
  readonly cable: Cable
  readonly port: number
  readonly client: pg.Client
}

async function open(): Promise<Opened> {
  const database = await createMigratedDatabase()
  closing.push(() => database.drop())
  const url = new URL(database.url)
  const cable = new Cable({ host: url.hostname, port: Number(url.port || 5432) })
  url.hostname = '127.0.0.1'
  const port = await cable.open()
  url.port = String(port)
  closing.push(() => cable.close())
  const engine = await openPostgres({ databaseUrl: url.href, now: () => NOW, log })
  closing.push(() => engine.close())
  const storage = await openStorage({
    databaseUrl: database.url,
    dataDir: '/nonexistent',
    secretKey: new Uint8Array(32).fill(1),
    instanceId: INSTANCE,
    now: () => NOW,
    log,
  })
  closing.push(() => storage.close())
  await createAccount(storage)
  await storage.keys.create(exampleApiKey())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  closing.push(() => client.end())
  // From here on its connection knows the statements.
  await engine.runHot([exampleReserve('first')])
  return { engine, storage, cable, port, client }
}

/** Counts the messages with statements that go to a port from here on. */
function watchMessages(port: number): () => number {
  const write = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  const isThere = (socket: unknown) => socket instanceof Socket && socket.remotePort === port
  return () =>
    write.mock.calls.filter(
      ([bytes], at) => isThere(write.mock.contexts[at]) && Buffer.isBuffer(bytes) && bytes[0] === BIND,
    ).length
}
const BIND = 'B'.charCodeAt(0)

test('a batch is two messages to the server, however many operations it has', async () => {
  const { engine, storage, port } = await open()
  const messages = watchMessages(port)
  const ids = Array.from({ length: 40 }, (_, index) => `call_${index}`)
  await engine.runHot(ids.map((id) => exampleReserve(id)))
  expect(messages()).toBe(2)
  await engine.runHot(ids.map((id) => settleTwoCredits(id)))
  expect(messages()).toBe(4)
  expect(await storage.ledger.verify()).toEqual([])
})

test('what another instance changed since the last batch is seen by the next one', async () => {
  const { engine, storage } = await open()
  expect(await engine.runHot([exampleReserve('a')])).toMatchObject([{ outcome: { kind: 'reserved' } }])
  await storage.keys.patch(exampleApiKey().id, { status: 'disabled' })
  expect(await engine.runHot([exampleReserve('b')])).toMatchObject([{ outcome: { kind: 'refused' } }])
})

test('a process that freezes between the two messages holds its locks for less time than others wait for them', async () => {
  const { engine, storage, cable, client } = await open()
  cable.holdAnswers()
  const outcome = Promise.allSettled([engine.runHot([exampleReserve('frozen')])])
  await vi.waitFor(async () => {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
    )
    expect(rowCount).toBe(1)
  }, WAIT)
  expect(await storage.calls.reserve(exampleReserve('other'))).toMatchObject({ kind: 'reserved' })
  cable.mend()
  expect(await outcome).toMatchObject([{ status: 'rejected', reason: expect.any(StorageUnavailable) }])
  expect(await engine.runHot([exampleReserve('frozen')])).toMatchObject([{ outcome: { kind: 'reserved' } }])
  expect(await storage.ledger.verify()).toEqual([])
})
