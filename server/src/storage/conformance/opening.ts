import { expect, test } from 'vitest'
import { ACCOUNT, exampleReserve } from '../../core/calls/examples.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import { createAccount, openWithAccount, type StorageSuite } from './suite.ts'

export function describeOpening(suite: StorageSuite): void {
  test('several processes may open an empty database at once: it is migrated once and all work on it', async () => {
    const database = await suite.createDatabase('empty')
    const storages = await Promise.all(Array.from({ length: 6 }, () => database.open()))
    const [first, ...others] = storages
    if (first === undefined) throw new Error('nothing was opened')
    await createAccount(first)
    for (const other of others) expect(await other.accounts.find(ACCOUNT)).toMatchObject({ id: ACCOUNT })
  })

  test('what was stored is there when it is opened again', async () => {
    const { database, storage } = await openWithAccount(suite)
    const before = await storage.accounts.find(ACCOUNT)
    await storage.close()
    expect(await (await database.open()).accounts.find(ACCOUNT)).toEqual(before)
  })

  test('a build older than the schema refuses to open and says what to do', async () => {
    const database = await suite.createDatabase()
    await (await database.open()).close()
    await database.execute(
      "insert into schema_migrations (version, name, applied_at) values (999, 'later', 0)",
    )
    await expect(database.open()).rejects.toThrow(/has schema 999.*newer build/s)
  })

  test('another secret key than the one the database was made with is refused at once', async () => {
    const database = await suite.createDatabase()
    await (await database.open({ secretKeyByte: 1 })).close()
    await expect(database.open({ secretKeyByte: 2 })).rejects.toThrow('secret key')
    await expect((await database.open({ secretKeyByte: 1 })).ping()).resolves.toBeUndefined()
  })

  test('closing finishes what was accepted and takes nothing more', async () => {
    const { database, storage } = await openWithAccount(suite)
    const accepted = storage.calls.reserve(exampleReserve('accepted'))
    const closed = storage.close()
    await expect(accepted).resolves.toMatchObject({ kind: 'reserved' })
    await closed
    await expect(storage.calls.reserve(exampleReserve('late'))).rejects.toThrow(StorageUnavailable)
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
    expect((await (await database.open()).accounts.find(ACCOUNT))?.held).toBeGreaterThan(0n)
  })
}
