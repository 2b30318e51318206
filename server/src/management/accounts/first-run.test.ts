import { sampleKind } from '../../../test/management/sample-catalogue.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../config/environment.ts'
import { vendorCode } from '../../core/ids.ts'
import { createAccount } from './accounts.ts'
import { type FirstRunSetup, OWNER_EMAIL, prepareFirstRun } from './first-run.ts'
import { hashKeySecret } from '../keys/keys.ts'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import { sampleVendor } from '../../../test/management/sample-catalogue.ts'

let store: TestStore
beforeEach(async () => {
  store = await openTestStore()
})
afterEach(() => store.close())

function setup(change: Partial<FirstRunSetup> = {}): FirstRunSetup {
  return {
    storage: store.storage,
    config: { gatewayFile: undefined },
    environment: {},
    workingDirectory: store.directory,
    kinds: [sampleKind('openai-compatible')],
    offer: [{ kind: 'put-vendor', vendor: sampleVendor('sandbox') }],
    at: TEST_TIME,
    ...change,
  }
}

describe('an empty database without a gateway file', () => {
  test('gets the offered catalogue, an owner with Credits, and a key that is shown once', async () => {
    const first = await prepareFirstRun(setup())
    expect(first).toMatchObject({ kind: 'first', gatewayFile: undefined })
    const [key] = first.kind === 'first' ? first.newKeys : []
    const stored = await store.storage.keys.findByHash(hashKeySecret(key?.plaintext ?? neverMade()))
    const owner = await store.storage.accounts.findByLogin({ email: OWNER_EMAIL })
    expect(stored?.accountId).toBe(owner?.id)
    expect(owner).toMatchObject({ role: 'admin', apiDeduction: true, credits: 100_000_000_000n })
    expect((await store.storage.catalogue.read()).vendors.has(vendorCode('sandbox'))).toBe(true)
    expect(await store.storage.ledger.verify()).toEqual([])
  })

  test('is no longer empty at the second start, which shows no key', async () => {
    await prepareFirstRun(setup())
    expect(await prepareFirstRun(setup())).toEqual({ kind: 'not-first', unread: [] })
  })

  test('a later start reports settings that apply only to the first one', async () => {
    await prepareFirstRun(setup())
    await writeFile(join(store.directory, 'gateway.yaml'), 'vendors: []')
    const later = await prepareFirstRun(
      setup({ offer: [{ kind: 'put-vendor', vendor: sampleVendor('late') }] }),
    )
    expect(later).toMatchObject({
      kind: 'not-first',
      unread: [
        expect.stringMatching(/LATE.*sluice vendors add/),
        expect.stringMatching(/gateway\.yaml.*sluice apply -f/),
      ],
    })
  })

  test('gets one owner and one key when several instances start at once', async () => {
    const runs = await Promise.all([
      prepareFirstRun(setup()),
      prepareFirstRun(setup()),
      prepareFirstRun(setup()),
    ])
    const keys = runs.flatMap((run) => (run.kind === 'first' ? run.newKeys : []))
    const accounts = await store.storage.accounts.list({ limit: 10, after: undefined })
    expect(accounts).toHaveLength(1)
    expect(keys).toHaveLength(1)
    expect(
      await store.storage.keys.findByHash(hashKeySecret(keys[0]?.plaintext ?? neverMade())),
    ).toBeDefined()
    expect(accounts[0]?.credits).toBe(100_000_000_000n)
  })

  test('is finished by the next start when a crash kept the key from being made', async () => {
    await createAccount(store.storage, { email: OWNER_EMAIL, role: 'admin' }, TEST_TIME)
    const again = await prepareFirstRun(setup())
    expect(again.kind === 'first' && again.newKeys).toHaveLength(1)
    expect((await store.storage.accounts.list({ limit: 1, after: undefined }))[0]?.credits).toBe(
      100_000_000_000n,
    )
  })

  test('stays without a key when the owner deleted the first one', async () => {
    await prepareFirstRun(setup())
    const owner = await store.storage.accounts.findByLogin({ email: OWNER_EMAIL })
    for (const key of await store.storage.keys.list(owner?.id ?? neverMade())) {
      await store.storage.keys.patch(key.id, { status: 'deleted' })
    }
    expect(await prepareFirstRun(setup())).toEqual({ kind: 'not-first', unread: [] })
  })
})

describe('an empty database with a gateway file', () => {
  const vendor = 'vendors: [{code: own, kind: openai-compatible, base_url: "http://127.0.0.1:1/v1"}]\n'

  test('named by SLUICE_CONFIG: gets what the file says, and no catalogue of the environment', async () => {
    const path = join(store.directory, 'file.yaml')
    await writeFile(path, `${vendor}accounts: [{email: a@example.com, keys: [{name: laptop}]}]\n`)
    const first = await prepareFirstRun(setup({ config: { gatewayFile: path } }))
    expect(first).toMatchObject({
      kind: 'first',
      gatewayFile: path,
      newKeys: [{ account: 'a@example.com', name: 'laptop' }],
    })
    const catalogue = await store.storage.catalogue.read()
    expect([...catalogue.vendors.keys()]).toEqual(['own'])
    expect(await store.storage.accounts.findByLogin({ email: OWNER_EMAIL })).toBeUndefined()
  })

  test('is applied by several instances at once as by one', async () => {
    const file = `${vendor}accounts: [{email: a@example.com, credits: 5, keys: [{name: k, secret: sk-gateway-1}, {name: made}]}, {email: b@example.com}]\n`
    await writeFile(join(store.directory, 'gateway.yaml'), file)
    const runs = await Promise.all([
      prepareFirstRun(setup()),
      prepareFirstRun(setup()),
      prepareFirstRun(setup()),
    ])
    const shown = runs.flatMap((run) => (run.kind === 'first' ? run.newKeys : []))
    expect(shown.map((key) => key.name)).toEqual(['made'])
    const [first, second, none] = await store.storage.accounts.list({ limit: 3, after: undefined })
    expect([first?.email, second?.email, none]).toEqual(['a@example.com', 'b@example.com', undefined])
    expect(first?.credits).toBe(5_000_000n)
    expect(await store.storage.keys.list(first?.id ?? neverMade())).toHaveLength(2)
  })

  test('is no mistake where another instance applies it between the look at accounts and the look at keys', async () => {
    const file = `${vendor}accounts: [{email: a@example.com, keys: [{name: k, secret: sk-gateway-1}]}]\n`
    await writeFile(join(store.directory, 'gateway.yaml'), file)
    const { storage } = store
    let others = 0
    const keys: typeof storage.keys = {
      ...storage.keys,
      async findByHash(hash) {
        others += 1
        if (others === 1) await prepareFirstRun(setup())
        return storage.keys.findByHash(hash)
      },
    }
    const run = await prepareFirstRun(setup({ storage: { ...storage, keys } }))
    expect(run).toMatchObject({ kind: 'first', newKeys: [] })
    const [only, none] = await storage.accounts.list({ limit: 2, after: undefined })
    expect([only?.email, none]).toEqual(['a@example.com', undefined])
    expect(await storage.keys.list(only?.id ?? neverMade())).toHaveLength(1)
  })

  test('in the working directory: is found as gateway.yaml', async () => {
    await writeFile(join(store.directory, 'gateway.yaml'), vendor)
    const first = await prepareFirstRun(setup())
    expect(first).toMatchObject({ gatewayFile: join(store.directory, 'gateway.yaml') })
  })

  test('that names no account: gets an owner with a key all the same', async () => {
    await writeFile(join(store.directory, 'gateway.yaml'), vendor)
    const first = await prepareFirstRun(setup())
    expect(first).toMatchObject({ newKeys: [{ account: OWNER_EMAIL }] })
  })

  test('with errors: all are reported with file and line, and nothing is stored', async () => {
    const path = join(store.directory, 'gateway.yaml')
    await writeFile(path, `${vendor}models: [{model_id: m}]\naccounts: [{name: x}]\n`)
    const failure = await prepareFirstRun(setup()).catch((error: unknown) => error)
    expect(failure instanceof ConfigError && failure.mistakes).toEqual([
      `${path}:2:10 models[0].pricing: is missing`,
      `${path}:3:12 accounts[0]: must have an email or a phone`,
      `${path}:3:13 accounts[0].name: is an unknown field; known here: email, phone, password, role, status, verification, user_rate, credits, balance, api_deduction, monthly_cap_yuan, auto_exchange, subscription, fallback_model, limits, byok, keys`,
    ])
    expect((await store.storage.catalogue.read()).vendors.size).toBe(0)
    expect(await store.storage.accounts.list({ limit: 1, after: undefined })).toEqual([])
  })

  test('that cannot be read: names SLUICE_CONFIG', async () => {
    const missing = setup({ config: { gatewayFile: join(store.directory, 'none.yaml') } })
    await expect(prepareFirstRun(missing)).rejects.toThrow(/SLUICE_CONFIG must name a file that can be read/)
  })
})

function neverMade(): never {
  throw new Error('no key was made')
}
