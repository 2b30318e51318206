/** Batches that follow each other share a message: each of them stands or falls by itself all the same. */
import { Buffer } from 'node:buffer'
import { Socket } from 'node:net'
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { Cable } from '../../../test/postgres/cable.ts'
import { createMigratedDatabase } from '../../../test/postgres/fresh-database.ts'
import { exampleReserve } from '../../core/calls/examples.ts'
import { keyId } from '../../core/ids.ts'
import type { HotOperation } from '../../core/ledger/operations.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW, settleTwoCredits } from '../conformance/suite.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { openStorage } from '../open.ts'
import type { HotResult } from '../sql/calls/hot-batch.ts'
import type { FollowingBatch, SqlEngine } from '../sql/engine.ts'
import type { Storage } from '../storage.ts'
import { openPostgres } from './engine.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Opened {
  readonly engine: SqlEngine
  readonly storage: Storage
  /** What the engine's connections go through. */
  readonly cable: Cable
  readonly port: number
  readonly query: (text: string) => Promise<unknown>
}

/** An engine over a cable, and a storage beside it. */
async function open(): Promise<Opened> {
  const database = await createMigratedDatabase()
  closing.push(() => database.drop())
  const url = new URL(database.url)
  const cable = new Cable({ host: url.hostname, port: Number(url.port || 5432) })
  url.hostname = '127.0.0.1'
  const port = await cable.open()
  url.port = String(port)
  closing.push(() => cable.close())
  const log = { warn: () => {} }
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
  return { engine, storage, cable, port, query: (text) => client.query(text) }
}

type Batch = readonly HotOperation[]
type Outcome = PromiseSettledResult<readonly HotResult[]>

/** Each batch as the one that follows the one before it; behind one that failed a chain begins anew. */
async function runInChain(engine: SqlEngine, batches: readonly Batch[]): Promise<readonly Outcome[]> {
  const waiting = [...batches]
  const answers: Promise<readonly HotResult[]>[] = []
  const following = (): FollowingBatch | undefined => {
    const operations = waiting.shift()
    return operations === undefined
      ? undefined
      : { operations, answer: (results) => void answers.push(results) }
  }
  const outcomes: Outcome[] = []
  while (outcomes.length < batches.length) {
    const answer = answers[outcomes.length] ?? engine.runHot(waiting.shift() ?? [], following)
    answers[outcomes.length] = answer
    outcomes.push(...(await Promise.allSettled([answer])))
  }
  return outcomes
}

const kindsOf = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) =>
    outcome.status === 'rejected'
      ? 'failed'
      : outcome.value
          .map((result) => (result.kind === 'outcome' ? result.outcome.kind : result.kind))
          .join(' '),
  )

const reserve = (id: string) => exampleReserve(id)

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

test('a batch that follows begins with the commit of the one before it: one message each, and one to begin with', async () => {
  const { engine, storage, port } = await open()
  await runInChain(engine, [[reserve('first')]])
  const messages = watchMessages(port)
  const outcomes = await runInChain(engine, [
    [reserve('a')],
    [reserve('b'), settleTwoCredits('a')],
    [settleTwoCredits('b')],
  ])
  expect(messages()).toBe(4)
  expect(kindsOf(outcomes)).toEqual(['reserved', 'reserved settled', 'settled'])
  expect(await storage.ledger.verify()).toEqual([])
})

test('a batch that cannot be written fails alone: the one begun behind it is done', async () => {
  const { engine, storage, query } = await open()
  await query(`create function refuse() returns trigger language plpgsql as
    $$ begin if new.call_id = 'bad' then raise exception 'not this one'; end if; return new; end $$;
    create trigger refuse before insert on open_calls for each row execute function refuse()`)
  const outcomes = await runInChain(engine, [[reserve('bad')], [reserve('good')], [settleTwoCredits('good')]])
  expect(kindsOf(outcomes)).toEqual(['failed', 'reserved', 'settled'])
  const again = await runInChain(engine, [[reserve('a')], [reserve('bad')], [reserve('b')]])
  expect(kindsOf(again)).toEqual(['reserved', 'failed', 'reserved'])
  expect(await storage.ledger.verify()).toEqual([])
})

test('a batch that cannot even be read for fails alone, and the one before it stands', async () => {
  const { engine, storage } = await open()
  const broken = { ...exampleReserve('broken'), keyId: keyId('key_\0') }
  const outcomes = await runInChain(engine, [[reserve('a')], [broken], [reserve('b')]])
  expect(kindsOf(outcomes)).toEqual(['reserved', 'failed', 'reserved'])
  expect(await storage.ledger.verify()).toEqual([])
})

test('a batch that meets another one’s row is run again, wherever in the chain it stands', async () => {
  const { engine, storage, query } = await open()
  // The row appears between the lock and the write, as if another instance had been quicker.
  await query(`create table met (call_id text primary key);
    create function meet() returns trigger language plpgsql as
    $$ begin
      if exists (select from met where call_id = new.call_id) then return new; end if;
      raise exception 'somebody was quicker' using errcode = '40001';
    end $$;
    create trigger meet before insert on open_calls for each row execute function meet()`)
  await query(`insert into met values ('a'), ('c')`)
  const running = runInChain(engine, [[reserve('a')], [reserve('b')], [reserve('c')]])
  const outcomes = await running
  expect(kindsOf(outcomes)).toEqual(['reserved', 'failed', 'reserved'])
  expect(outcomes[1]).toMatchObject({ reason: { message: 'the database is too contended' } })
  await query(`insert into met values ('b')`)
  expect(kindsOf(await runInChain(engine, [[reserve('b')], [settleTwoCredits('b')]]))).toEqual([
    'reserved',
    'settled',
  ])
  expect(await storage.ledger.verify()).toEqual([])
})

test('a connection that is lost fails what was under way, and nothing is done by halves', async () => {
  const { engine, storage, cable } = await open()
  await runInChain(engine, [[reserve('first')]])
  let behind: Promise<readonly HotResult[]> | undefined
  const outcome = await Promise.allSettled([
    engine.runHot([reserve('a')], () => {
      if (behind !== undefined) return undefined
      cable.cut()
      return { operations: [reserve('b')], answer: (results) => void (behind = results) }
    }),
  ])
  expect(outcome).toMatchObject([{ status: 'rejected', reason: expect.any(StorageUnavailable) }])
  await expect(behind).rejects.toThrow(StorageUnavailable)
  cable.mend()
  for (const id of ['a', 'b']) {
    expect(kindsOf(await runInChain(engine, [[reserve(id)], [settleTwoCredits(id)]]))).toEqual([
      'reserved',
      'settled',
    ])
  }
  expect(await storage.ledger.verify()).toEqual([])
})

test('a chain gives its connection back: as many as there are can follow each other', async () => {
  const { engine } = await open()
  for (let round = 0; round < 4; round++) {
    const chains = Array.from({ length: 4 }, (_, at) =>
      runInChain(engine, [[reserve(`${round}-${at}`)], [settleTwoCredits(`${round}-${at}`)]]),
    )
    for (const outcomes of await Promise.all(chains))
      expect(kindsOf(outcomes)).toEqual(['reserved', 'settled'])
  }
})
