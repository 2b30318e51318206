import { expect, test } from 'vitest'
import { MODEL, NO_PRICES } from '../../core/calls/examples.ts'
import type { Chain, ModelFields, Vendor } from '../../core/catalogue.ts'
import { forwardModelId, modelId, vendorCode } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../failures/conflict.ts'
import type { CatalogueChange } from '../stores/records.ts'
import type { Announcement } from '../announcement.ts'
import { NOW, type StorageSuite } from './suite.ts'

const VENDOR: Vendor = {
  code: vendorCode('openai'),
  name: 'OpenAI',
  kind: 'openai',
  baseUrl: undefined,
  timeouts: { connectMs: 1, firstByteMs: 2, idleMs: 3 },
  status: 'enabled',
}
const EXAMPLE_MODEL: ModelFields = {
  modelId: MODEL,
  name: 'Example',
  status: 'enabled',
  clientVisible: true,
  supportFeatures: ['text', 'image'],
  requiredVerification: 1,
  requiredPlan: 2,
  contextTokens: undefined,
  maxOutputTokens: 1000,
  subscriptionCovered: true,
  pricing: { ...NO_PRICES, inputPrice: '0.000001' },
  surcharges: {
    'service_tier.priority': { kind: 'multiplier', multiplier: '1.75' },
    web_search_call: { kind: 'per-call', perCall: '0.07' },
  },
  refuse: ['speed.fast'],
}
const CHAIN: Omit<Chain, 'id' | 'credentialId'> = {
  modelId: MODEL,
  vendorCode: VENDOR.code,
  protocol: 'chat',
  forwardModelId: forwardModelId('upstream-name'),
  priority: 1,
  weight: 100,
  rateMultiplier: '1.5',
  streamUsage: 'inject',
  clientGoneGraceMs: 0,
  minBytesPerSecond: 25,
  capabilities: { reasoning: 'budget', tools: false, stopMax: 2 },
  status: 'enabled',
}
const SECRET = 'sk-upstream-very-secret'
const FIELD = 'field-very-secret'
const PUT_CREDENTIAL: Extract<CatalogueChange, { kind: 'put-credential' }> = {
  kind: 'put-credential',
  vendorCode: VENDOR.code,
  name: 'main',
  secret: { secret: new Secret(SECRET), fields: { access_key: new Secret(FIELD) } },
  limits: { concurrency: 5, windows: [] },
  status: 'enabled',
}
const EVERYTHING: readonly CatalogueChange[] = [
  {
    kind: 'put-settings',
    settings: {
      currency: 'CNY',
      creditsPerUnit: '100',
      otherCurrencies: { USD: '7200' },
      timezone: 'Europe/Berlin',
      keyPrefix: 'sk-x-',
      limits: UNLIMITED,
    },
  },
  { kind: 'put-vendor', vendor: VENDOR },
  PUT_CREDENTIAL,
  { kind: 'put-model', model: EXAMPLE_MODEL },
  { kind: 'put-chain', chain: CHAIN, credentialName: 'main' },
  { kind: 'put-group', group: { name: 'claude-code', protocol: 'messages', models: [MODEL] } },
  {
    kind: 'put-plan',
    plan: {
      code: 'PRO',
      level: 2,
      price: '199',
      currency: 'CNY',
      periodDays: 30,
      quota: [{ credits: '50000', seconds: 18000 }],
    },
  },
]

export function describeCatalogue(suite: StorageSuite): void {
  const openFull = async () => {
    const database = await suite.createDatabase()
    const storage = await database.open()
    await storage.catalogue.apply(EVERYTHING)
    return { database, storage }
  }

  test('an empty database reads as an empty catalogue with the standard settings', async () => {
    const catalogue = await (await (await suite.createDatabase()).open()).catalogue.read()
    expect(catalogue.models.size).toBe(0)
    expect(catalogue.settings).toMatchObject({ creditsPerUnit: '1000', keyPrefix: 'sk-gateway-' })
  })

  test('what was put is read back whole', async () => {
    const { storage } = await openFull()
    const catalogue = await storage.catalogue.read()
    expect(catalogue.settings.timezone).toBe('Europe/Berlin')
    expect(catalogue.vendors.get(VENDOR.code)).toEqual(VENDOR)
    const [credential] = catalogue.credentials.values()
    expect(credential).toMatchObject({ name: 'main', limits: { concurrency: 5 }, status: 'enabled' })
    expect(credential?.secret.secret?.unwrap()).toBe(SECRET)
    expect(credential?.secret.fields['access_key']?.unwrap()).toBe(FIELD)
    const model = catalogue.models.get(MODEL)
    expect(model).toMatchObject({ ...EXAMPLE_MODEL, createdAt: NOW })
    expect(model?.chains).toMatchObject([{ ...CHAIN, credentialId: credential?.id }])
    expect(Number.isInteger(model?.chains[0]?.id)).toBe(true)
    expect(catalogue.groups.get('claude-code')?.models).toEqual([MODEL])
    expect(catalogue.plans.get('PRO')?.quota).toEqual([{ credits: '50000', seconds: 18000 }])
  })

  test('rows are matched by natural key: putting again changes them and keeps their ids', async () => {
    const { storage } = await openFull()
    const before = await storage.catalogue.read()
    await storage.catalogue.apply([
      ...EVERYTHING,
      { kind: 'put-chain', chain: { ...CHAIN, priority: 9 }, credentialName: 'main' },
      { kind: 'put-chain', chain: { ...CHAIN, protocol: 'responses' }, credentialName: 'main' },
    ])
    const after = await storage.catalogue.read()
    expect([...after.credentials.keys()]).toEqual([...before.credentials.keys()])
    const chains = after.models.get(MODEL)?.chains ?? []
    expect(chains.map(({ protocol, priority }) => [protocol, priority])).toEqual([
      ['chat', 9],
      ['responses', 1],
    ])
    expect(chains[0]?.id).toBe(before.models.get(MODEL)?.chains[0]?.id)
    expect(after.models.get(MODEL)?.createdAt).toBe(before.models.get(MODEL)?.createdAt)
  })

  test('a chain is moved with its id, once, and not onto another', async () => {
    const { storage } = await openFull()
    const chains = async () => (await storage.catalogue.read()).models.get(MODEL)?.chains ?? []
    await storage.catalogue.apply([
      {
        kind: 'put-chain',
        chain: { ...CHAIN, forwardModelId: forwardModelId('taken') },
        credentialName: 'main',
      },
    ])
    const [before] = await chains()
    if (before === undefined) throw new Error('no chain was put')
    const heard: Announcement[] = []
    storage.subscribe((change) => heard.push(change))
    const from = { credentialName: 'main', forwardModelId: CHAIN.forwardModelId }
    const move = (forwardModelId: string) =>
      storage.catalogue.apply([
        {
          kind: 'move-chain',
          id: before.id,
          vendorCode: VENDOR.code,
          from,
          to: { ...from, forwardModelId },
        },
      ])
    await expect(move('taken')).rejects.toThrow(StorageConflict)
    await move(from.forwardModelId)
    expect(await chains()).toContainEqual(before)
    expect(heard).not.toContainEqual({ kind: 'chain', chainId: before.id })
    await move('newer')
    expect(await chains()).toContainEqual({ ...before, forwardModelId: 'newer' })
    expect(heard).toContainEqual({ kind: 'chain', chainId: before.id })
    await expect(move('newest')).rejects.toThrow(StorageConflict)
    expect(await chains()).toHaveLength(2)
  })

  test('a credential put without a secret keeps the one it has', async () => {
    const { storage } = await openFull()
    await storage.catalogue.apply([{ ...PUT_CREDENTIAL, secret: undefined, status: 'disabled' }])
    const [credential] = (await storage.catalogue.read()).credentials.values()
    expect(credential?.status).toBe('disabled')
    expect(credential?.secret.secret?.unwrap()).toBe(SECRET)
  })

  test('rows are switched off, groups and plans are removed', async () => {
    const { storage } = await openFull()
    const id = (await storage.catalogue.read()).models.get(MODEL)?.chains[0]?.id
    if (id === undefined) throw new Error('no chain was put')
    await storage.catalogue.apply([
      { kind: 'disable-vendor', code: VENDOR.code },
      { kind: 'disable-credential', vendorCode: VENDOR.code, name: 'main' },
      { kind: 'disable-model', modelId: MODEL },
      { kind: 'disable-chain', id },
      { kind: 'remove-group', name: 'claude-code' },
      { kind: 'remove-plan', code: 'PRO' },
    ])
    const catalogue = await storage.catalogue.read()
    expect(catalogue.vendors.get(VENDOR.code)?.status).toBe('disabled')
    expect([...catalogue.credentials.values()].map(({ status }) => status)).toEqual(['disabled'])
    expect(catalogue.models.get(MODEL)).toMatchObject({
      status: 'disabled',
      chains: [{ status: 'disabled' }],
    })
    expect(catalogue.groups.size + catalogue.plans.size).toBe(0)
  })

  test('changes are applied all together or not at all', async () => {
    const { storage } = await openFull()
    const before = await storage.catalogue.read()
    const changes: readonly CatalogueChange[] = [
      { kind: 'put-model', model: { ...EXAMPLE_MODEL, modelId: modelId('new') } },
      { kind: 'put-chain', chain: { ...CHAIN, modelId: modelId('new') }, credentialName: 'unknown' },
    ]
    await expect(storage.catalogue.apply(changes)).rejects.toThrow('no credential unknown')
    expect(await storage.catalogue.read()).toEqual(before)
  })

  test('what was seen of a chain is kept: the latest rate, and the latest broken cap', async () => {
    const { database, storage } = await openFull()
    const id = (await storage.catalogue.read()).models.get(MODEL)?.chains[0]?.id
    if (id === undefined) throw new Error('no chain was put')
    const write = (tokens: number, capBrokenAt: number | undefined) =>
      storage.catalogue.writeObservations([{ chainId: id, observation: { tokens, ms: 10, capBrokenAt } }], 1)
    expect(await storage.catalogue.readObservations()).toEqual([])
    await storage.catalogue.writeObservations([], 1)
    await write(1.4, undefined)
    await write(2, 7)
    await write(3, 5)
    await write(4, undefined)
    const other = await database.open()
    expect(await other.catalogue.readObservations()).toEqual([
      { chainId: id, observation: { tokens: 4, ms: 10, capBrokenAt: 7 } },
    ])
  })

  test('models keep the order they came in', async () => {
    const storage = await (await suite.createDatabase()).open()
    const names = ['zebra', 'apple', 'mango'].map(modelId)
    await storage.catalogue.apply(
      names.map((id) => ({ kind: 'put-model', model: { ...EXAMPLE_MODEL, modelId: id } }) as const),
    )
    await storage.catalogue.apply([
      { kind: 'put-model', model: { ...EXAMPLE_MODEL, modelId: names[0] ?? MODEL } },
    ])
    expect([...(await storage.catalogue.read()).models.keys()]).toEqual(names)
  })

  test('secrets of upstream credentials are found nowhere in the database', async () => {
    const { database, storage } = await openFull()
    await storage.close()
    const dump = await database.dump()
    expect(dump).toContain('upstream-name')
    expect(dump).not.toContain(SECRET)
    expect(dump).not.toContain(FIELD)
  })
}
