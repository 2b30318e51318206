/** A database that goes away refuses quickly, loses nothing that was answered, and is used again when it is back. */
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { Cable } from '../../../test/postgres/cable.ts'
import { createFreshDatabase, type FreshDatabase } from '../../../test/postgres/fresh-database.ts'
import { ACCOUNT, exampleReserve } from '../../core/calls/examples.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW, settleTwoCredits } from '../conformance/suite.ts'
import { openStorage } from '../open.ts'
import type { Storage } from '../storage.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import type { Announcement } from '../announcement.ts'

const WAIT = { timeout: 60_000, interval: 50 }

const opened: { storage: Storage; cable: Cable; database: FreshDatabase }[] = []
afterEach(async () => {
  for (const { storage, cable, database } of opened.splice(0)) {
    cable.mend()
    await storage.close()
    await cable.close()
    await database.drop()
  }
})

async function openOverCable() {
  const database = await createFreshDatabase()
  const url = new URL(database.url)
  const cable = new Cable({ host: url.hostname, port: Number(url.port || 5432) })
  url.hostname = '127.0.0.1'
  url.port = String(await cable.open())
  const storage = await openStorage({
    databaseUrl: url.href,
    dataDir: '/nonexistent',
    secretKey: new Uint8Array(32).fill(1),
    instanceId: INSTANCE,
    now: () => NOW,
    log: { warn: () => {} },
  })
  opened.push({ storage, cable, database })
  await createAccount(storage)
  await storage.keys.create(exampleApiKey())
  return { storage, cable, database }
}

test('calls are refused while the database is away, and served when it is back', async () => {
  const { storage, cable } = await openOverCable()
  await storage.calls.reserve(exampleReserve('before'))
  cable.cut()
  await expect(storage.calls.reserve(exampleReserve('meanwhile'))).rejects.toThrow(StorageUnavailable)
  await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
  await expect(storage.accounts.find(ACCOUNT)).rejects.toThrow(StorageUnavailable)
  cable.mend()
  await vi.waitFor(() => storage.ping(), WAIT)
  expect(await storage.calls.settle(settleTwoCredits('before'))).toMatchObject({ first: true })
  expect(await storage.calls.reserve(exampleReserve('meanwhile'))).toMatchObject({ kind: 'reserved' })
  expect(await storage.ledger.verify()).toEqual([])
})

test('a disk that is full for what calls write, and takes beats still, is known as such until there is room', async () => {
  const { storage, database } = await openOverCable()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(`create function is_full() returns trigger language plpgsql as
      $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on open_calls for each row execute function is_full()`)
    expect(storage.calls.canWrite()).toBe(true)
    await expect(storage.calls.reserve(exampleReserve('call_1'))).rejects.toThrow(StorageUnavailable)
    expect(await storage.calls.heartbeat(INSTANCE, NOW)).toMatchObject({ kind: 'beaten' })
    expect(storage.calls.canWrite()).toBe(false)
    await client.query('drop trigger full_disk on open_calls')
    await storage.calls.tryWriting()
    expect(storage.calls.canWrite()).toBe(true)
    // Nothing of the trial stays.
    const tables = await client.query("select 1 from pg_class where relname = 'written_probe'")
    expect(tables.rows).toEqual([])
  } finally {
    await client.end()
  }
})

test('a cut in the middle of many calls leaves each of them whole or not there, and repeating is safe', async () => {
  const { storage, cable } = await openOverCable()
  const ids = Array.from({ length: 40 }, (_, index) => `call_${index}`)
  const pending = ids.map((id) => storage.calls.reserve(exampleReserve(id)))
  const first = pending[0]
  cable.cut()
  await Promise.allSettled(pending)
  await expect(first).rejects.toThrow(StorageUnavailable)
  cable.mend()
  await vi.waitFor(() => storage.ping(), WAIT)
  for (const id of ids) {
    expect(await storage.calls.reserve(exampleReserve(id))).toMatchObject({ kind: 'reserved' })
  }
  expect(await storage.ledger.verify()).toEqual([])
})

test('after a gap in listening everything may have changed, and that is said', async () => {
  const { storage, cable } = await openOverCable()
  const heard: Announcement[] = []
  storage.subscribe((change) => heard.push(change))
  cable.cut()
  cable.mend()
  await vi.waitFor(() => expect(heard).toEqual([{ kind: 'everything' }]), WAIT)
})

test('a database that is not there at the start is said to be unavailable', async () => {
  const opening = openStorage({
    databaseUrl: 'postgres://sluice@127.0.0.1:1/sluice',
    dataDir: '/nonexistent',
    secretKey: new Uint8Array(32),
    instanceId: INSTANCE,
    now: () => NOW,
    log: { warn: () => {} },
  })
  await expect(opening).rejects.toThrow(StorageUnavailable)
})

test('an address of another kind of database is refused with what is expected', async () => {
  const opening = openStorage({
    databaseUrl: 'mysql://localhost/sluice',
    dataDir: '/nonexistent',
    secretKey: new Uint8Array(32),
    instanceId: INSTANCE,
    now: () => NOW,
    log: { warn: () => {} },
  })
  await expect(opening).rejects.toThrow('postgres://')
})
