import { DAY_MS } from '../../core/durations.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { modelId } from '../../core/ids.ts'
import { microCredits } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'
import { type ApplyOptions, type ApplyResult, applyGatewayFile } from './apply-gateway-file.ts'
import { exportGatewayFile } from './export-gateway-file.ts'
import type { Difference } from './difference.ts'
import { deleteKey, hashKeySecret, setKeyStatus } from '../keys/keys.ts'
import { verifyPassword } from '../accounts/passwords.ts'
import { EXAMPLE_ENVIRONMENT, EXAMPLE_FILE, EXAMPLE_KINDS } from '../../../test/management/example-file.ts'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import { Secret } from '../../core/secret.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

let store: TestStore
beforeEach(async () => {
  store = await openTestStore()
})
afterEach(() => store.close())

function apply(text: string, change: Partial<ApplyOptions> = {}): Promise<ApplyResult> {
  return applyGatewayFile(store.storage, {
    text,
    environment: EXAMPLE_ENVIRONMENT,
    kinds: EXAMPLE_KINDS,
    missing: 'stays',
    mode: 'apply',
    at: TEST_TIME,
    ...change,
  })
}

async function differences(text: string, change: Partial<ApplyOptions> = {}): Promise<readonly Difference[]> {
  const result = await apply(text, change)
  if (result.kind === 'mistakes') throw new Error(JSON.stringify(result.mistakes))
  return result.differences
}

async function ownerOf(storage: Storage): Promise<Account> {
  const owner = await storage.accounts.findByLogin({ email: 'owner@example.com' })
  if (owner === undefined) throw new Error('the owner is missing')
  return owner
}

async function keyNamed(storage: Storage, name: string): Promise<Key> {
  const key = (await storage.keys.list((await ownerOf(storage)).id)).find((one) => one.name === name)
  if (key === undefined) throw new Error(`the key ${name} is missing`)
  return key
}

describe('everything the file says is stored', () => {
  beforeEach(async () => {
    await apply(EXAMPLE_FILE)
  })

  test('settings, vendors, credentials', async () => {
    const { settings, vendors, credentials } = await store.storage.catalogue.read()
    expect(settings).toMatchObject({
      creditsPerUnit: '1000',
      keyPrefix: 'sk-gateway-',
      limits: { concurrency: 50 },
    })
    expect([...vendors.values()].map(({ code, name, kind, baseUrl }) => [code, name, kind, baseUrl])).toEqual(
      [
        ['kling', 'kling', 'kling', undefined],
        ['local', 'local', 'openai-compatible', 'http://127.0.0.1:11434/v1'],
        ['openai', 'OpenAI', 'openai', 'https://api.openai.com/v1'],
      ],
    )
    const secrets = [...credentials.values()].map(({ vendorCode, name, secret }) => [
      `${vendorCode}/${name}`,
      secret.secret?.unwrap() ?? Object.values(secret.fields).map((field) => field.unwrap()),
    ])
    expect(Object.fromEntries(secrets)).toEqual({
      'openai/main': 'upstream-openai',
      'openai/spare': 'upstream-spare',
      'kling/signing': ['upstream-access', 'upstream-secret'],
      'local/main': [],
    })
  })

  test('models with prices exact to the last digit, chains with their defaults', async () => {
    const { models } = await store.storage.catalogue.read()
    expect([...models.keys()]).toEqual(['gpt-5', 'claude-sonnet-4.5', 'video-1'])
    expect(models.get(modelId('claude-sonnet-4.5'))).toMatchObject({
      name: 'claude-sonnet-4.5',
      clientVisible: false,
      supportFeatures: ['text'],
      pricing: { billingModes: ['token'], inputPrice: '0.000001', outputPrice: '123456789012345678.123456' },
    })
    const stored = [...models.values()].flatMap(({ pricing }) => Object.keys(pricing))
    expect(stored.filter((name) => name.endsWith('Place'))).toEqual([])
    expect(models.get(modelId('gpt-5'))).toMatchObject({
      surcharges: {
        'service_tier.priority': { kind: 'multiplier', multiplier: '1.75' },
        web_search_call: { kind: 'per-call', perCall: '0.07' },
      },
      refuse: ['speed.fast'],
    })
    expect(models.get(modelId('gpt-5'))?.chains).toMatchObject([
      {
        vendorCode: 'openai',
        protocol: 'chat',
        priority: 1,
        rateMultiplier: '1',
        clientGoneGraceMs: 0,
        minBytesPerSecond: 20,
        capabilities: { reasoning: 'effort', sampling: 'none', tools: true, images: 'url', stopMax: 4 },
      },
      { vendorCode: 'openai', protocol: 'responses', priority: 2, weight: 100, rateMultiplier: '1.05' },
      {
        vendorCode: 'local',
        protocol: 'chat',
        forwardModelId: 'gpt-5',
        streamUsage: 'forward',
        clientGoneGraceMs: 3_000,
        minBytesPerSecond: 10,
        capabilities: {},
        status: 'enabled',
      },
    ])
  })

  test('the account with its opening amounts, subscription and own credentials', async () => {
    const owner = await ownerOf(store.storage)
    expect(owner).toMatchObject({
      role: 'admin',
      credits: 100_000_000_000n,
      balance: 12_500_000_000n,
      autoExchange: { enabled: true, belowCredits: 1_000_000_000n, step: 10_000_000_000n },
      subscription: { plan: 'PRO', level: 2, expiresAt: TEST_TIME + 30 * DAY_MS },
      fallbackModel: 'gpt-5',
      byokVendors: ['openai'],
    })
    expect(owner.passwordHash).toMatch(/^\$argon2id\$/)
    expect(await verifyPassword(owner.passwordHash ?? '', new Secret('correct horse'))).toBe(true)
    const phone = await store.storage.accounts.findByLogin({ phone: '+8613800000000' })
    expect(phone).toMatchObject({
      status: 'suspended',
      verification: 2,
      userRate: '87.5',
      apiDeduction: true,
    })
    expect(await store.storage.ledger.verify()).toEqual([])
  })

  test('a fixed key as its hash, with everything that restricts it', async () => {
    const key = await keyNamed(store.storage, 'laptop')
    expect(key).toMatchObject({
      hash: hashKeySecret(new Secret('sk-gateway-laptop-0123456789')),
      hint: 'sk-gateway-laptop',
      group: 'claude-code',
      models: ['claude-sonnet-4.5'],
      ipAllow: ['10.0.0.0/8', '::1'],
      expiresAt: Date.parse('2030-01-31T12:00:00Z'),
      policy: { concurrency: 10 },
    })
    expect(key.policy?.windows).toHaveLength(7)
  })
})

test('a key without a secret is created, shown once, and kept by the next application', async () => {
  const first = await apply(EXAMPLE_FILE)
  const made = first.kind === 'applied' ? first.newKeys : []
  expect(made.map(({ account, name }) => [account, name])).toEqual([['owner@example.com', 'plain']])
  const hash = hashKeySecret(made[0]?.plaintext ?? new Secret(''))
  expect((await keyNamed(store.storage, 'plain')).hash).toBe(hash)
  const second = await apply(EXAMPLE_FILE)
  expect(second).toMatchObject({ kind: 'applied', newKeys: [] })
  expect((await keyNamed(store.storage, 'plain')).hash).toBe(hash)
})

test('a key that was deleted is made anew when the file is applied again', async () => {
  await apply(EXAMPLE_FILE)
  for (const name of ['plain', 'laptop']) {
    await deleteKey(store.storage, (await keyNamed(store.storage, name)).id)
  }
  const again = await apply(EXAMPLE_FILE)
  expect(again.kind === 'applied' && again.newKeys.map((key) => key.name)).toEqual(['plain'])
  expect((await keyNamed(store.storage, 'laptop')).hint).toBe('sk-gateway-laptop')
})

describe.each(['SQLite', 'PostgreSQL'] as const)('applying is idempotent on %s', (engine) => {
  beforeEach(async () => {
    await store.close()
    store = await openTestStore(engine)
  })

  test('the same file a second time changes nothing', async () => {
    expect((await differences(EXAMPLE_FILE)).length).toBeGreaterThan(10)
    const before = await exportGatewayFile(store.storage, { format: 'json', at: TEST_TIME })
    expect(await differences(EXAMPLE_FILE)).toEqual([])
    expect(await differences(EXAMPLE_FILE, { missing: 'prune' })).toEqual([])
    expect(await exportGatewayFile(store.storage, { format: 'json', at: TEST_TIME })).toBe(before)
  })

  test('a day later it still prolongs and grants nothing', async () => {
    await apply(EXAMPLE_FILE)
    expect(await differences(EXAMPLE_FILE, { at: TEST_TIME + DAY_MS })).toEqual([])
  })

  test('numbers written another way are the same numbers', async () => {
    await apply(EXAMPLE_FILE)
    const rewritten = EXAMPLE_FILE.replace('input_price: 9\n', 'input_price: "9.000"\n').replace(
      '1.05',
      '105e-2',
    )
    expect(await differences(rewritten)).toEqual([])
  })
})

describe('a dry run', () => {
  test('says what would change and changes nothing', async () => {
    const planned = await apply(EXAMPLE_FILE, { mode: 'dry-run' })
    const applied = await apply(EXAMPLE_FILE, { mode: 'apply' })
    expect(planned.kind).toBe('planned')
    expect(planned.kind === 'planned' && applied.kind === 'applied' && planned.differences).toEqual(
      applied.kind === 'applied' && applied.differences,
    )
  })

  test('names the field, what it was and what it would be', async () => {
    await apply(EXAMPLE_FILE)
    const changed = EXAMPLE_FILE.replace('priority: 2', 'priority: 7').replace(
      'user_rate: 87.5',
      'user_rate: 90',
    )
    expect(await differences(changed, { mode: 'dry-run' })).toEqual([
      {
        action: 'change',
        what: 'chain',
        name: 'gpt-5 / openai spare responses gpt-5-2025-08-07',
        fields: [{ field: 'priority', from: 2, to: 7 }],
      },
      {
        action: 'change',
        what: 'account',
        name: '+8613800000000',
        fields: [{ field: 'user_rate', from: 87.5, to: 90 }],
      },
    ])
    expect(await differences(changed, { mode: 'dry-run' })).toHaveLength(2)
  })

  test('never shows a secret', async () => {
    const shown = JSON.stringify(await apply(EXAMPLE_FILE, { mode: 'dry-run' }))
    for (const secret of ['upstream-', 'customer-openai', 'correct horse', 'laptop-0123']) {
      expect(shown).not.toContain(secret)
    }
  })
})

describe('what the file does not say', () => {
  beforeEach(async () => {
    await apply(EXAMPLE_FILE)
  })

  test('rows that are not mentioned stay', async () => {
    expect(await differences('accounts: []')).toEqual([])
    expect((await store.storage.catalogue.read()).models.size).toBe(3)
  })

  test('a member that is not written keeps what is stored, null takes it away', async () => {
    const fields = await differences(
      'accounts: [{email: owner@example.com, fallback_model: null, keys: [{name: laptop, group: null, expires_at: null, policy: null}]}]',
    )
    expect(fields.map((one) => [one.what, one.fields.map((field) => field.field)])).toEqual([
      ['account', ['fallback_model']],
      ['key', ['expires_at', 'group', 'policy']],
    ])
    expect(await ownerOf(store.storage)).toMatchObject({ fallbackModel: undefined, role: 'admin' })
    expect(await keyNamed(store.storage, 'laptop')).toMatchObject({
      group: undefined,
      policy: undefined,
      models: ['claude-sonnet-4.5'],
    })
  })

  test('an account suspended in the management API stays so', async () => {
    await apply('accounts: [{email: second@example.com, role: admin}]')
    const owner = await ownerOf(store.storage)
    await store.storage.accounts.patch(owner.id, { status: 'suspended' })
    await setKeyStatus(store.storage, (await keyNamed(store.storage, 'plain')).id, 'disabled')
    expect(await differences('accounts: [{email: owner@example.com, keys: [{name: plain}]}]')).toEqual([])
  })

  test('opening amounts are granted once, whatever the file says later', async () => {
    await apply(EXAMPLE_FILE.replace('credits: 100000\n', 'credits: 999999\n'))
    expect((await ownerOf(store.storage)).credits).toBe(100_000_000_000n)
  })

  test('a subscription that has run out begins again, null ends a running one', async () => {
    const later = TEST_TIME + 31 * DAY_MS
    await apply(EXAMPLE_FILE, { at: later })
    expect((await ownerOf(store.storage)).subscription?.expiresAt).toBe(later + 30 * DAY_MS)
    await apply('accounts: [{email: owner@example.com, subscription: null}]', { at: later })
    expect((await ownerOf(store.storage)).subscription).toBeUndefined()
  })

  test('a key is found by its secret when the file gives it another name', async () => {
    const { id } = await keyNamed(store.storage, 'laptop')
    await apply(EXAMPLE_FILE.replace('name: laptop', 'name: workstation'))
    expect((await keyNamed(store.storage, 'workstation')).id).toBe(id)
  })

  test('a changed secret replaces the stored one', async () => {
    await apply(EXAMPLE_FILE.replace('laptop-0123456789', 'laptop-new'), {
      environment: {
        ...EXAMPLE_ENVIRONMENT,
        OPENAI_API_KEY: 'rotated',
        OWNER_PASSWORD: 'other',
        MY_OPENAI_KEY: 'mine',
      },
    })
    expect((await keyNamed(store.storage, 'laptop')).hash).toBe(
      hashKeySecret(new Secret('sk-gateway-laptop-new')),
    )
    const owner = await ownerOf(store.storage)
    expect(await verifyPassword(owner.passwordHash ?? '', new Secret('other'))).toBe(true)
    const byok = [...(await store.storage.accounts.readByok(owner.id)).values()]
    expect(byok.map((one) => one.secret?.unwrap())).toEqual(['mine'])
  })
})

describe('pruning', () => {
  const shorter = `
vendors: [{code: openai, credentials: [{name: main}]}]
models:
  - {model_id: gpt-5, chains: [{vendor: openai, protocol: chat, forward_model_id: gpt-5-2025-08-07}]}
groups: []
accounts: [{email: owner@example.com, keys: [{name: laptop, group: null, models: []}]}]
`

  test('disables or removes what the sections of the file leave out, and nothing else', async () => {
    await apply(EXAMPLE_FILE)
    const gone = (await differences(shorter, { missing: 'prune' })).filter((one) =>
      ['disable', 'remove'].includes(one.action),
    )
    expect(gone.map(({ action, what, name }) => `${action} ${what} ${name}`).toSorted()).toEqual([
      'disable chain gpt-5 / local main chat gpt-5',
      'disable chain gpt-5 / openai spare responses gpt-5-2025-08-07',
      'disable credential openai / spare',
      'disable key owner@example.com / plain',
      'disable model claude-sonnet-4.5',
      'disable model video-1',
      'disable vendor kling',
      'disable vendor local',
      'remove group claude-code',
    ])
    const { models, plans, groups } = await store.storage.catalogue.read()
    expect(models.get(modelId('video-1'))?.status).toBe('disabled')
    expect([groups.size, plans.size]).toEqual([0, 1])
    expect(await differences(shorter, { missing: 'prune' })).toEqual([])
  })

  test('suspends accounts that are left out, but never an admin', async () => {
    await apply(EXAMPLE_FILE)
    await apply('accounts: [{email: new@example.com}, {phone: "+8613800000000", status: active}]')
    const gone = await differences('accounts: [{email: new@example.com}]', { missing: 'prune' })
    expect(gone.map((one) => [one.action, one.name])).toEqual([['disable', '+8613800000000']])
    expect((await ownerOf(store.storage)).status).toBe('active')
  })

  test('what is put back into the file comes back on', async () => {
    await apply(EXAMPLE_FILE)
    await apply(shorter, { missing: 'prune' })
    await apply(EXAMPLE_FILE)
    const { models, vendors } = await store.storage.catalogue.read()
    expect([...models.values()].map((model) => model.status)).toEqual(['enabled', 'enabled', 'enabled'])
    expect(models.get(modelId('gpt-5'))?.chains.map((chain) => chain.status)).toEqual([
      'enabled',
      'enabled',
      'enabled',
    ])
    expect([...vendors.values()].map((vendor) => vendor.status)).toEqual(['enabled', 'enabled', 'enabled'])
  })
})

describe('a conflict with stored data is reported with its line, and nothing is applied', () => {
  beforeEach(async () => {
    await apply(EXAMPLE_FILE)
  })

  test.each([
    [
      'a secret that another key holds',
      'accounts:\n  - email: other@example.com\n    keys:\n      - {name: k, secret: sk-gateway-laptop-0123456789}',
      [4, 'is already the secret of another key: laptop (sk-gateway-laptop…)'],
    ],
    [
      'email and phone of two accounts',
      'accounts:\n  - {email: owner@example.com, phone: "+8613800000000"}',
      [2, 'email and phone belong to two different accounts'],
    ],
    [
      'an own credential that was never given',
      'accounts:\n  - email: owner@example.com\n    byok: [{vendor: kling}]',
      [3, 'is missing: none is stored for this account'],
    ],
  ] as const)('%s', async (_sentence, text, [line, message]) => {
    const result = await apply(`models: [{model_id: gpt-5, status: disabled}]\n${text}`)
    expect(result.kind === 'mistakes' && result.mistakes).toMatchObject([
      { place: { line: line + 1 }, message: { text: message } },
    ])
    expect((await store.storage.catalogue.read()).models.get(modelId('gpt-5'))?.status).toBe('enabled')
  })
})

describe('another rate of the own currency', () => {
  const FILE = 'accounts: [{email: owner@example.com, monthly_cap_yuan: 100, balance: 0}]'
  const RATE = 'settings:\n  credits_per_yuan: 2500\n'

  test('keeps what caps are worth, and says nothing of them', async () => {
    await apply(FILE)
    expect(await differences(`${RATE}${FILE}`)).toMatchObject([
      {
        what: 'settings',
        fields: [{ field: 'currencies', from: { CNY: 1000, USD: 7200 }, to: { CNY: 2500, USD: 7200 } }],
      },
    ])
    expect((await ownerOf(store.storage)).monthlyCap).toBe(250_000_000_000n)
    expect(await differences(`${RATE}${FILE}`)).toEqual([])
  })

  test.each(['apply', 'dry-run'] as const)('is a mistake once there is a balance: %s', async (mode) => {
    await apply('accounts: [{email: owner@example.com, balance: 5}]')
    expect(await apply(RATE, { mode })).toMatchObject({
      kind: 'mistakes',
      mistakes: [{ place: { line: 2, path: 'settings.credits_per_yuan' } }],
    })
    expect((await store.storage.catalogue.read()).settings.creditsPerUnit).toBe('1000')
  })

  test('opening amounts beyond what one booking may be are mistakes with their place', async () => {
    const result = await apply(
      `settings: {credits_per_yuan: 1000000}\naccounts: [{email: owner@example.com, balance: 1001}]`,
      { mode: 'dry-run' },
    )
    expect(result).toMatchObject({ kind: 'mistakes', mistakes: [{ place: { path: 'accounts[0].balance' } }] })
  })
})

describe('currencies', () => {
  const DOLLAR = `
vendors: [{code: own, kind: openai}]
models: [{model_id: m, pricing: {currency: USD, input_price: 1.25, output_price: 10}, chains: [{vendor: own, protocol: chat}]}]
`
  const mistakesOf = async (text: string) => {
    const result = await apply(text, { mode: 'dry-run' })
    return result.kind === 'mistakes'
      ? result.mistakes.map(({ place, message }) => `${place.path} ${message.text}`)
      : []
  }
  const pricingOf = async () => (await store.storage.catalogue.read()).models.get(modelId('m'))?.pricing

  test('a price keeps the currency it is written in, and one that names none is in the platform’s own', async () => {
    await apply(
      DOLLAR.replace('currency: USD, ', '').replace('vendors:', 'settings: {currency: USD}\nvendors:'),
    )
    expect(await pricingOf()).toMatchObject({ currency: 'USD', inputPrice: '1.25' })
    expect((await store.storage.catalogue.read()).settings).toMatchObject({
      currency: 'USD',
      creditsPerUnit: '7200',
      otherCurrencies: { CNY: '1000' },
    })
  })

  test('another currency of the platform leaves every stored price as it is', async () => {
    await apply(DOLLAR.replace('USD', 'CNY'))
    await apply('settings: {currency: USD, currencies: {USD: 7300}}')
    expect(await pricingOf()).toMatchObject({ currency: 'CNY', inputPrice: '1.25' })
    expect(await differences('settings: {currency: USD}')).toEqual([])
  })

  test.each([
    [
      'prices would be relabelled by the settings',
      'settings: {currency: USD}\nmodels: [{model_id: m, pricing: {input_price: 1.25, output_price: 10}}]',
      'CNY',
      /models\[0\]\.pricing\.currency must be named: the price so far is in CNY, and settings\.currency is USD/,
    ],
    [
      'a price of a preset would be taken for the own currency',
      'models: [{model_id: m, pricing: {input_price: 9, output_price: 72}}]',
      'USD',
      /models\[0\]\.pricing\.currency must be named: the price so far is in USD/,
    ],
    [
      'a fee for each use would stay in the former currency',
      'models: [{model_id: m, pricing: {currency: CNY, input_price: 9, output_price: 72}}]',
      'USD',
      /models\[0\]\.pricing\.currency is another than that of the surcharges per call, USD/,
    ],
    [
      'there is no rate for a price',
      'models: [{model_id: m, pricing: {currency: EUR, input_price: 9, output_price: 72}, surcharges: {}}]',
      'USD',
      /models\[0\]\.pricing\.currency EUR has no rate: .* it has CNY, USD/,
    ],
    [
      'there is no rate for the own currency',
      'settings: {currency: EUR}',
      'USD',
      /settings\.currency is EUR, which has no rate/,
    ],
    [
      'the rate of yuan is told twice',
      'settings: {credits_per_yuan: 900, currencies: {CNY: 1000}}',
      'USD',
      /settings\.credits_per_yuan is 900, and currencies\.CNY is 1000/,
    ],
    [
      'a rate is none',
      'settings: {currencies: {USD: 0}}',
      'USD',
      /settings\.currencies\.USD must be above 0/,
    ],
    [
      'a currency is none',
      'settings: {currencies: {dollars: 7}}',
      'USD',
      /settings\.currencies\.dollars must be a currency like CNY/,
    ],
    [
      'a plan would be relabelled',
      'plans: [{code: PRO, price: 20}]',
      'USD',
      /plans\[0\]\.currency must be named: the price so far is in USD/,
    ],
  ])('is a mistake where %s', async (_why, text, currency, message) => {
    await apply(
      `${DOLLAR.replace('USD', currency).replace(', chains', ', surcharges: {web_search: {per_call: 0.01}}, chains')}plans: [{code: PRO, price: 10, currency: USD}]`,
    )
    expect(await mistakesOf(text)).toEqual([expect.stringMatching(message)])
  })

  test('the own currency stays once a balance was booked or packages are offered', async () => {
    await store.storage.topUps.packages.put({
      code: 'p',
      name: 'P',
      price: '1',
      status: 'enabled',
      pool: 'credits',
      amount: microCredits(1n),
    })
    expect(await mistakesOf('settings: {currency: USD}')).toEqual([
      expect.stringMatching(/settings\.currency cannot change any more: packages are priced in it/),
    ])
    expect(await mistakesOf('settings: {currencies: {CNY: 2000}}')).toEqual([])
    await apply('accounts: [{email: owner@example.com, balance: 5}]')
    expect(await mistakesOf('settings: {currency: USD}')).toEqual([
      expect.stringMatching(/a balance has been booked/),
    ])
    expect(await mistakesOf('settings: {currencies: {USD: 7300}}')).toEqual([])
  })
})

describe('the last admin', () => {
  const ADMIN = 'accounts: [{email: owner@example.com, role: admin}]'
  const OTHERS = 'accounts: [{email: owner@example.com, role: user}, {email: other@example.com, role: admin}]'

  test.each(['role: user', 'status: suspended'])('is not taken away: %s', async (change) => {
    await apply(ADMIN)
    const text = `accounts: [{email: owner@example.com, ${change}}]`
    for (const mode of ['dry-run', 'apply'] as const) {
      const result = await apply(text, { mode })
      expect(result).toMatchObject({ kind: 'mistakes', mistakes: [{ place: { path: 'accounts[0]' } }] })
    }
    expect(await ownerOf(store.storage)).toMatchObject({ role: 'admin', status: 'active' })
  })

  test('steps back once there is another one', async () => {
    await apply(ADMIN)
    await apply('accounts: [{email: other@example.com, role: admin}]')
    expect((await apply(OTHERS)).kind).toBe('applied')
    expect(await ownerOf(store.storage)).toMatchObject({ role: 'user' })
  })
})
