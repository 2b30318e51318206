import fc from 'fast-check'
import { parse } from 'yaml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApplyResult, applyGatewayFile } from './apply-gateway-file.ts'
import { exportGatewayFile } from './export-gateway-file.ts'
import { EXAMPLE_ENVIRONMENT, EXAMPLE_FILE, EXAMPLE_KINDS } from '../../../test/management/example-file.ts'
import { sampleKind } from '../../../test/management/sample-catalogue.ts'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'

/** Each has an address of its own. */
const KINDS = EXAMPLE_KINDS.map(({ kind }) => sampleKind(kind))

let store: TestStore
beforeEach(async () => {
  store = await openTestStore()
})
afterEach(() => store.close())

async function apply(target: TestStore, text: string): Promise<ApplyResult> {
  const result = await applyGatewayFile(target.storage, {
    text,
    environment: EXAMPLE_ENVIRONMENT,
    kinds: KINDS,
    missing: 'prune',
    mode: 'apply',
    at: TEST_TIME,
  })
  if (result.kind === 'mistakes') throw new Error(JSON.stringify(result.mistakes, undefined, 1))
  return result
}

const exported = (from: TestStore, format: 'yaml' | 'json') =>
  exportGatewayFile(from.storage, { format, at: TEST_TIME })

describe('the export of everything there is', () => {
  beforeEach(async () => {
    await apply(store, EXAMPLE_FILE)
  })

  test.each(['yaml', 'json'] as const)(
    'as %s, applied where it came from, changes nothing',
    async (format) => {
      expect(await apply(store, await exported(store, format))).toEqual({
        kind: 'applied',
        differences: [],
        warnings: [],
        newKeys: [],
      })
    },
  )

  test('holds no secret: no key, no password, no credential [2.6-06]', async () => {
    for (const text of [await exported(store, 'yaml'), await exported(store, 'json')]) {
      for (const secret of ['upstream-', 'customer-openai', 'correct horse', 'argon2', 'laptop-0123456789']) {
        expect(text).not.toContain(secret)
      }
    }
  })

  test('says in its comments where a secret belongs', async () => {
    const text = await exported(store, 'yaml')
    expect(text).toContain('- name: main\n        # secret: ${OPENAI_MAIN}\n')
    expect(text).toContain(
      '# fields: {access_key: ${KLING_SIGNING_ACCESS_KEY}, secret_key: ${KLING_SIGNING_SECRET_KEY}}',
    )
    expect(text).toContain('# secret: stored as a hash, begins with sk-gateway-laptop')
    expect(text).toContain('# password: stored as a hash')
  })

  test('is the same in both forms', async () => {
    expect(parse(await exported(store, 'yaml'))).toEqual(JSON.parse(await exported(store, 'json')))
  })

  test('leaves out what a file could not name again, and says so', async () => {
    await store.storage.catalogue.apply([
      { kind: 'remove-group', name: 'claude-code' },
      { kind: 'remove-plan', code: 'PRO' },
    ])
    const text = await exported(store, 'yaml')
    expect(text).toContain('# group: claude-code, which no longer exists')
    expect(text).toContain('# subscription: to PRO, which is no longer sold')
    expect(await apply(store, text)).toMatchObject({ differences: [] })
  })
})

test('text that looks like a variable survives the way out and in', async () => {
  await apply(
    store,
    'models: [{model_id: m, name: "costs $${5} and $$", pricing: {input_price: 1, output_price: 1}}]',
  )
  const text = await exported(store, 'yaml')
  expect(text).toContain('name: costs $${5} and $$')
  expect(await apply(store, text)).toMatchObject({ differences: [] })
})

test('whatever is applied, exporting and applying again changes nothing, and a new instance becomes the same', async () => {
  await fc.assert(
    fc.asyncProperty(gatewayFiles(), async (file) => {
      const first = await openTestStore()
      const second = await openTestStore()
      try {
        await apply(first, JSON.stringify(file))
        const yaml = await exported(first, 'yaml')
        expect(await apply(first, yaml)).toMatchObject({ differences: [] })
        await apply(second, yaml)
        expect(JSON.parse(await exported(second, 'json'))).toEqual(JSON.parse(await exported(first, 'json')))
      } finally {
        await first.close()
        await second.close()
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
})

/** Files over few names, so that rows meet and refer to each other. */
function gatewayFiles(): fc.Arbitrary<object> {
  const price = fc.oneof(
    fc.constant(null),
    fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => Number(value.toFixed(9))),
    fc.bigInt({ min: 0n, max: 10n ** 18n }).map((value) => `${value}.25`),
  )
  const given = price.filter((value) => value !== null)
  const window = fc.record({
    dimension: fc.constantFrom('requests', 'tokens', 'images', 'videos', 'amount', 'video_seconds'),
    limit: fc.integer({ min: 0, max: 1_000_000 }),
    seconds: fc.integer({ min: 1, max: 100_000 }),
  })
  const policy = fc.record(
    {
      concurrency: fc.integer({ min: 1, max: 100 }),
      windows: fc.uniqueArray(window, { maxLength: 3, selector: (one) => `${one.dimension}:${one.seconds}` }),
    },
    { requiredKeys: [] },
  )
  const name = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((text) => text.trim() !== '' && !text.includes('${'))
  const status = fc.constantFrom('enabled', 'disabled', 'maintenance')
  const chain = fc.record(
    {
      vendor: fc.constantFrom('alpha', 'beta'),
      credential: fc.constantFrom('main', 'spare'),
      protocol: fc.constantFrom('chat', 'responses', 'messages', 'gemini', 'video'),
      forward_model_id: fc.constantFrom('up-1', '4.0', 'true'),
      priority: fc.integer({ min: 0, max: 9 }),
      weight: fc.integer({ min: 0, max: 9 }),
      rate_multiplier: given,
      stream_usage: fc.constantFrom('forward', 'inject'),
      client_gone_grace_ms: fc.integer({ min: 0, max: 60_000 }),
      min_bytes_per_second: fc.integer({ min: 0, max: 1_000_000 }),
      capabilities: fc.record(
        {
          reasoning: fc.constantFrom('effort', 'budget', 'none'),
          sampling: fc.constantFrom('all', 'one', 'none'),
          tools: fc.boolean(),
          images: fc.constantFrom('url', 'inline', 'none'),
          max_stop: fc.integer({ min: 0, max: 64 }),
        },
        { requiredKeys: [] },
      ),
      status,
    },
    { requiredKeys: ['vendor', 'credential', 'protocol', 'forward_model_id'] },
  )
  const model = (id: string) =>
    fc.record(
      {
        model_id: fc.constant(id),
        name,
        status,
        client_visible: fc.boolean(),
        support_features: fc.uniqueArray(fc.constantFrom('text', 'image', 'audio', 'video')),
        required_verification: fc.integer({ min: -1, max: 2 }),
        required_plan: fc.integer({ min: -1, max: 3 }),
        context_tokens: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
        subscription_covered: fc.boolean(),
        surcharges: fc.dictionary(
          fc.constantFrom('service_tier.priority', 'speed.fast', 'web_search_call'),
          fc.oneof(fc.constantFrom('1.75', '0.5'), fc.record({ per_call: fc.constantFrom('0.07', 12) })),
        ),
        refuse: fc.uniqueArray(fc.constantFrom('service_tier.flex', 'inference_geo')),
        pricing: fc.record({
          billing_modes: fc.constantFrom(['token'], ['token', 'request'], ['token', 'image', 'video_second']),
          input_price: given,
          output_price: given,
          cache_input_price: price,
          cache_write_1h_price: price,
          request_price: given,
          image_price: given,
          video_price: given,
        }),
        chains: fc.uniqueArray(chain, {
          maxLength: 3,
          selector: (one) => [one.vendor, one.credential, one.protocol, one.forward_model_id].join(),
        }),
      },
      { requiredKeys: ['model_id', 'pricing'] },
    )
  const vendor = (code: string) =>
    fc.record(
      {
        code: fc.constant(code),
        name,
        kind: fc.constantFrom(...KINDS.map(({ kind }) => kind)),
        base_url: fc.constantFrom('http://127.0.0.1:1', 'https://api.example.com/v1/'),
        status,
        credentials: fc.constant([{ name: 'main' }, { name: 'spare', limits: { concurrency: 2 } }]),
      },
      { requiredKeys: ['code', 'kind', 'credentials'] },
    )
  const key = fc.record(
    {
      name: fc.constantFrom('one', 'two', 'three'),
      status: fc.constantFrom('enabled', 'disabled'),
      expires_at: fc.option(fc.constantFrom('2030-01-31', '2027-06-01T08:30:00+08:00')),
      group: fc.option(fc.constant('set')),
      models: fc.constantFrom([], ['m-1']),
      ip_allow: fc.constantFrom([], ['10.0.0.0/8']),
      policy: fc.option(policy),
    },
    { requiredKeys: ['name'] },
  )
  const account = (email: string) =>
    fc.record(
      {
        email: fc.constant(email),
        role: fc.constantFrom('admin', 'user'),
        status: fc.constantFrom('active', 'suspended'),
        verification: fc.constantFrom('none', 'personal', 'enterprise'),
        user_rate: fc.integer({ min: 0, max: 20_000 }).map((value) => value / 100),
        credits: fc.integer({ min: 0, max: 1_000_000 }).map((value) => value / 1000),
        balance: fc.integer({ min: 0, max: 1_000_000 }).map((value) => value / 1000),
        api_deduction: fc.boolean(),
        monthly_cap_yuan: fc.integer({ min: 0, max: 1000 }),
        auto_exchange: fc.record({ enabled: fc.boolean(), step_yuan: fc.integer({ min: 0, max: 99 }) }),
        subscription: fc.option(
          fc.record({ plan: fc.constant('PRO'), days: fc.integer({ min: 1, max: 90 }) }),
        ),
        fallback_model: fc.option(fc.constant('m-1')),
        limits: policy,
        keys: fc.uniqueArray(key, { maxLength: 2, selector: (one) => one.name }),
      },
      { requiredKeys: ['email'] },
    )
  return fc.record({
    settings: fc.record({ credits_per_yuan: fc.constantFrom(1000, 3, 0.7), limits: policy }),
    vendors: fc.tuple(vendor('alpha'), vendor('beta')),
    models: fc.tuple(model('m-1'), model('claude-4.5')),
    groups: fc.constant([{ name: 'set', protocol: 'messages', models: ['m-1'] }]),
    plans: fc.constant([{ code: 'PRO', level: 2, price: 199.5, quota: [{ credits: 0.5, seconds: 60 }] }]),
    accounts: fc.tuple(account('a@example.com'), account('b@example.com')),
  })
}
