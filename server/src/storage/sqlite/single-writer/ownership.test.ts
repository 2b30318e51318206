import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { putMigratedDatabase } from '../../../../test/storage/migrated-database.ts'
import { exampleReserve } from '../../../core/calls/examples.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW, settleTwoCredits } from '../../conformance/suite.ts'
import { openStorage, type RunsCalls } from '../../open.ts'
import { Ownership } from './ownership.ts'

const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ownership-'))
  opened.push(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('who runs calls on a database', () => {
  function openTwo(): readonly [Ownership, Ownership] {
    const path = join(openFolder(), 'sluice.db-owner')
    const open = () => {
      const ownership = new Ownership(path)
      opened.push(() => ownership.close())
      return ownership
    }
    return [open(), open()]
  }

  test('the first is alone, and nobody joins it unless it shares', () => {
    const [first, second] = openTwo()
    expect(first.take()).toBe('alone')
    expect(second.take()).toBeUndefined()
    expect(second.share()).toBeUndefined()
    expect(second.hold).toBeUndefined()
    expect(first.hold).toBe('alone')
  })

  test('once it shares, the second runs calls with it', () => {
    const [first, second] = openTwo()
    first.take()
    expect(first.share()).toBe('together')
    expect(second.take()).toBe('together')
    expect(first.hold).toBe('together')
  })

  test('of several that share, none is alone while another one stays', () => {
    const [first, second] = openTwo()
    first.share()
    second.share()
    expect(first.take()).toBe('together')
    second.release()
    expect(first.take()).toBe('alone')
  })

  test('who is alone keeps it when it takes it again', () => {
    const [first] = openTwo()
    first.take()
    expect(first.take()).toBe('alone')
  })

  test('the lock is a file of its own, and nothing beside it', () => {
    const folder = openFolder()
    const ownership = new Ownership(join(folder, 'sluice.db-owner'))
    opened.push(() => ownership.close())
    ownership.take()
    expect(readdirSync(folder)).toEqual(['sluice.db-owner'])
  })

  test('whoever closes leaves it to the others', () => {
    const path = join(openFolder(), 'sluice.db-owner')
    const first = new Ownership(path)
    first.take()
    first.close()
    const second = new Ownership(path)
    opened.push(() => second.close())
    expect(second.take()).toBe('alone')
  })
})

describe('gateways on one database', () => {
  const CONCURRENCY = 5

  async function openDatabase() {
    const dataDir = openFolder()
    await putMigratedDatabase(dataDir)
    const open = async (runsCalls: RunsCalls | undefined) => {
      const storage = await openStorage({
        databaseUrl: undefined,
        dataDir,
        secretKey: new Uint8Array(32).fill(1),
        instanceId: INSTANCE,
        now: () => NOW,
        log: { warn: () => undefined },
        runsCalls,
      })
      opened.push(() => storage.close())
      return storage
    }
    const manager = await open(undefined)
    await createAccount(manager)
    await manager.keys.create(exampleApiKey({ policy: { concurrency: CONCURRENCY, windows: [] } }))
    return open
  }

  test.each<readonly [RunsCalls, RunsCalls]>([
    ['alone', 'alone'],
    ['alone', 'together'],
    ['together', 'alone'],
    ['together', 'together'],
  ])('%s, joined by one that runs calls %s, admit together what one would', async (firstRuns, secondRuns) => {
    const open = await openDatabase()
    const first = await open(firstRuns)
    const reserve = async (storage: typeof first, id: string) =>
      (await storage.calls.reserve(exampleReserve(id, { first: true }))).kind
    // The first one has decided on some when the second one asks to be let in.
    expect(await Promise.all(['a', 'b'].map((id) => reserve(first, id)))).toEqual(['reserved', 'reserved'])
    const [second, during] = await Promise.all([open(secondRuns), reserve(first, 'c')])
    expect(during).toBe('reserved')
    const kinds = await Promise.all([
      ...['d', 'e', 'f'].map((id) => reserve(first, id)),
      ...['g', 'h', 'i'].map((id) => reserve(second, id)),
    ])
    expect(kinds.toSorted()).toEqual([
      ...Array<string>(4).fill('refused'),
      ...Array<string>(2).fill('reserved'),
    ])
    // A call that one of them admitted is ended by the other.
    expect(await second.calls.settle(settleTwoCredits('a'))).toMatchObject({ kind: 'settled' })
    expect(await reserve(second, 'k')).toBe('reserved')
    expect(await reserve(first, 'l')).toBe('refused')
    expect(await first.ledger.verify()).toEqual([])
  })

  test('one that manages only waits for nobody', async () => {
    const open = await openDatabase()
    await open('alone')
    const manager = await open(undefined)
    expect(await manager.ledger.verify()).toEqual([])
  })
})
