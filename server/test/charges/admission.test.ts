/**
 * Who may call which model: the levels a model requires, the right to call, and what a refusal leaves behind.
 */
import { HOUR_MS } from '../../src/core/durations.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import {
  type TestGateway,
  type NewAccount,
  openGateway,
  putChain,
  putGroup,
  putModel,
  putVendor,
  TEN_CREDITS,
} from '../gateway/gateway.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { readConfig } from '../../src/config/environment.ts'
import type { AccountRow, Transfer } from '../../src/core/ledger/hot-rows.ts'
import { type AccountId, vendorCode } from '../../src/core/ids.ts'
import { microCredits } from '../../src/core/money.ts'
import { Secret } from '../../src/core/secret.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const VERIFICATIONS = [-1, 0, 1, 2]
const PLANS = [-1, 0, 1, 2, 3]

let gateway: TestGateway
let environment: Readonly<Record<string, string>>
let dataDirectory: string
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  upstream.answer(
    answerJson({
      object: 'chat.completion',
      model: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  )
  dataDirectory = await mkdtemp(join(tmpdir(), 'sluice-admission-'))
  environment = {
    SLUICE_DATA_DIR: dataDirectory,
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: '0',
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_OPS_PORT: '0',
    SLUICE_LOG_LEVEL: 'silent',
  }
  gateway = await openGateway({ environment })
  const fields = { pricing: TEN_CREDITS, subscriptionCovered: true }
  await gateway.catalogue(
    ...putVendor('acme', upstream.url),
    putModel('open', fields),
    putModel('uncovered', { ...fields, subscriptionCovered: false }),
    putModel('both', { ...fields, requiredVerification: 1, requiredPlan: 1 }),
    putModel('hidden', { ...fields, requiredPlan: 3, clientVisible: false }),
    ...VERIFICATIONS.map((level) =>
      putModel(`verification${level}`, { ...fields, requiredVerification: level }),
    ),
    ...PLANS.map((level) => putModel(`plan${level}`, { ...fields, requiredPlan: level })),
    ...[
      'open',
      'uncovered',
      'both',
      'hidden',
      ...VERIFICATIONS.map((level) => `verification${level}`),
      ...PLANS.map((level) => `plan${level}`),
    ].map((model) => putChain({ model, vendor: 'acme' })),
    putGroup({ name: 'bound', protocol: 'messages', models: ['open', 'plan3'] }),
  )
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(dataDirectory, { recursive: true, force: true })
})

beforeEach(() => {
  upstream.requests.length = 0
})

interface Person {
  readonly id: AccountId
  readonly key: string
}

const credits = (amount: number) => microCredits(BigInt(amount) * 1_000_000n)

function subscribe(
  level: number,
  { quota = 1_000, endsInMs = HOUR_MS }: { readonly quota?: number; readonly endsInMs?: number } = {},
): NonNullable<AccountRow['subscription']> {
  return {
    plan: ['', 'PLUS', 'PRO', 'PROMAX'][level] ?? '',
    level,
    expiresAt: Date.now() + endsInMs,
    quota: [{ credits: credits(quota), seconds: 3_600 }],
  }
}

const NOTHING: NewAccount = { credits: 0, apiDeduction: false }

function call(person: Pick<Person, 'key'>, model = 'open'): Promise<Answer> {
  return callAt(gateway.baseUrl, person, model)
}

function callAt(baseUrl: string, person: Pick<Person, 'key'>, model: string): Promise<Answer> {
  return post(`${baseUrl}/v1/chat/completions`, person, model)
}

function callAtGateway(person: Pick<Person, 'key'>, model = 'open'): Promise<Answer> {
  return post(`${gateway.gatewayUrl}/v1/messages`, person, model)
}

function post(url: string, { key }: Pick<Person, 'key'>, model: string): Promise<Answer> {
  return postJson(
    url,
    { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
    { authorization: `Bearer ${key}` },
  )
}

const said = (answer: Answer) => [answer.status, answer.body.code]

function transfers(id: AccountId): Promise<readonly Transfer[]> {
  return gateway.storage.ledger.transfers({ accountId: id, limit: 500, after: undefined })
}

function putOwnCredential(id: AccountId): Promise<void> {
  return gateway.storage.accounts.putByok(
    id,
    vendorCode('acme'),
    { secret: new Secret('own'), fields: {} },
    { enabled: true },
  )
}

describe('the right to call', () => {
  test('an active subscription alone is enough [5-22]', async () => {
    const person = await gateway.newAccount({ ...NOTHING, subscription: subscribe(1) })
    expect((await call(person)).status).toBe(200)
  })

  test('API deduction access with enough Credits is enough [5-23]', async () => {
    const person = await gateway.newAccount({ credits: 10, apiDeduction: true })
    expect((await call(person)).status).toBe(200)
  })

  test('an own credential alone is enough [5-24]', async () => {
    const person = await gateway.newAccount(NOTHING)
    await putOwnCredential(person.id)
    expect((await call(person)).status).toBe(200)
    expect(upstream.requests.map((request) => request.headers.authorization)).toEqual(['Bearer own'])
  })

  test.each<[string, NewAccount]>([
    ['none of the three [5-25]', { credits: 0, apiDeduction: false }],
    ['no subscription and deduction access off [7.1-12]', { credits: 1_000, apiDeduction: false }],
    ['no billing set up [7.1-13]', { credits: 0 }],
    ['deduction access on, Credits one below the price [5-26]', { credits: 9, apiDeduction: true }],
    ['enough Credits, deduction access off [5-27]', { credits: 10, apiDeduction: false }],
    ['an expired subscription [5-28]', { ...NOTHING, subscription: subscribe(3, { endsInMs: -1 }) }],
  ])('%s: 403/40202', async (_name, fields) => {
    const answer = await call(await gateway.newAccount(fields))
    expect(said(answer)).toEqual([403, 40202])
    expect(upstream.requests).toHaveLength(0)
  })

  test('the message tells an unverified account to verify, and only that one [5-29]', async () => {
    const unverified = await call(await gateway.newAccount({ ...NOTHING, verification: 0 }))
    expect(unverified.body.message).toContain('complete identity verification first')
    const verified = await call(await gateway.newAccount({ ...NOTHING, verification: 1 }))
    expect(said(verified)).toEqual([403, 40202])
    expect(verified.body.message).not.toContain('verification')
  })

  test('a plan that does not cover the model pays for nothing: 403/40202 [D-money-23]', async () => {
    const person = await gateway.newAccount({ credits: 0, subscription: subscribe(3) })
    expect(said(await call(person, 'uncovered'))).toEqual([403, 40202])
    expect((await call(person, 'open')).status).toBe(200)
  })

  test('at gateway_base_url too few Credits are 403 [7.2-02]', async () => {
    const person = await gateway.newAccount({ credits: 9, keyFields: { group: 'bound' } })
    expect(said(await callAtGateway(person, 'open'))).toEqual([403, 40202])
    expect(upstream.requests).toHaveLength(0)
  })
})

describe('verification', () => {
  test.each<[string, number, number, boolean]>([
    ['a requirement of 0 lets any account pass [5-38] [5-47]', 0, 0, true],
    ['a negative requirement lets any account pass [5-48]', 0, -1, true],
    ['none is below personal [5-30] [5-39] [7.1-14]', 0, 1, false],
    ['personal reaches personal [5-30] [5-39]', 1, 1, true],
    ['personal is below enterprise [5-40]', 1, 2, false],
    ['enterprise reaches enterprise [5-40]', 2, 2, true],
    ['enterprise passes a requirement of personal [5-45]', 2, 1, true],
  ])('%s', async (_name, verification, required, passes) => {
    const answer = await call(await gateway.newAccount({ verification }), `verification${required}`)
    expect(said(answer)).toEqual(passes ? [200, undefined] : [403, 40203])
    expect(upstream.requests).toHaveLength(passes ? 1 : 0)
  })

  test('0, 1 and 2 each take effect [D-admission-25]', async () => {
    const passed: unknown[] = []
    for (const verification of [0, 1, 2]) {
      const person = await gateway.newAccount({ verification })
      const statuses: number[] = []
      for (const required of [0, 1, 2]) statuses.push((await call(person, `verification${required}`)).status)
      passed.push(statuses)
    }
    expect(passed).toEqual([
      [200, 403, 403],
      [200, 200, 403],
      [200, 200, 200],
    ])
  })

  test('a verification counts from the very next call on, on every instance [5-49]', async () => {
    const second = await startGateway(readConfig(environment), () => Promise.resolve())
    try {
      const person = await gateway.newAccount({ verification: 0 })
      const onBoth = async () => [
        said(await call(person, 'verification2')),
        said(await callAt(second.baseUrl, person, 'verification2')),
      ]
      const [refused, passed] = [
        [403, 40203],
        [200, undefined],
      ]
      expect(await onBoth()).toEqual([refused, refused])
      await gateway.storage.accounts.patch(person.id, { verification: 2 })
      expect(await onBoth()).toEqual([passed, passed])
      await gateway.storage.accounts.patch(person.id, { verification: 1 })
      expect(await onBoth()).toEqual([refused, refused])
    } finally {
      await second.stop()
    }
  })
})

describe('plans', () => {
  test.each<[string, number, number, boolean]>([
    ['a requirement of 0 lets an account without a plan pass [5-38] [5-47]', 0, 0, true],
    ['a negative requirement lets an account without a plan pass [5-48]', 0, -1, true],
    ['none is below PLUS [5-31] [5-41] [7.1-14]', 0, 1, false],
    ['PLUS reaches PLUS [5-31] [5-41]', 1, 1, true],
    ['PLUS is below PRO [5-42]', 1, 2, false],
    ['PRO reaches PRO [5-42] [5-46]', 2, 2, true],
    ['PRO is below PROMAX [5-43]', 2, 3, false],
    ['PROMAX reaches PROMAX [5-43]', 3, 3, true],
    ['PROMAX passes a requirement of PLUS [5-45]', 3, 1, true],
  ])('%s', async (_name, level, required, passes) => {
    const subscription = level === 0 ? undefined : subscribe(level)
    const answer = await call(await gateway.newAccount({ subscription }), `plan${required}`)
    expect(said(answer)).toEqual(passes ? [200, undefined] : [403, 40203])
    expect(upstream.requests).toHaveLength(passes ? 1 : 0)
  })

  test('an expired PRO counts as none [5-44]', async () => {
    const person = await gateway.newAccount({ subscription: subscribe(2) })
    expect((await call(person, 'plan1')).status).toBe(200)
    await gateway.storage.accounts.patch(person.id, { subscription: subscribe(2, { endsInMs: -1 }) })
    expect(said(await call(person, 'plan1'))).toEqual([403, 40203])
  })

  test('0, 1, 2 and 3 each take effect [D-admission-26]', async () => {
    const passed: unknown[] = []
    for (const level of [0, 1, 2, 3]) {
      const subscription = level === 0 ? undefined : subscribe(level)
      const person = await gateway.newAccount({ subscription })
      const statuses: number[] = []
      for (const required of [0, 1, 2, 3]) statuses.push((await call(person, `plan${required}`)).status)
      passed.push(statuses)
    }
    expect(passed).toEqual([
      [200, 403, 403, 403],
      [200, 200, 403, 403],
      [200, 200, 200, 403],
      [200, 200, 200, 200],
    ])
  })
})

describe('what a refusal says', () => {
  test.each([
    ['[7.1-35]', 'verification1', /real-name verification/, /enterprise/],
    ['[7.1-36]', 'verification2', /enterprise verification/, /real-name/],
    ['[7.1-37]', 'plan1', /\bPLUS\b/, /PRO/],
    ['[7.1-38]', 'plan2', /\bPRO\b/, /PLUS|PROMAX/],
    ['[7.1-39]', 'plan3', /\bPROMAX\b/, /PLUS|\bPRO\b/],
  ])('%s %s', async (_ids, model, names, omits) => {
    const answer = await call({ key: gateway.key }, model)
    expect(said(answer)).toEqual([403, 40203])
    expect(answer.body.message).toMatch(names)
    expect(answer.body.message).not.toMatch(omits)
    expect(answer.body.error?.message).toBe(answer.body.message)
  })
})

describe('the order of checks', () => {
  test('an unknown key and an inadmissible model together are 401 [1-57]', async () => {
    expect(said(await call({ key: 'sk-gateway-unknown' }, 'plan3'))).toEqual([401, 40101])
  })

  test('admission comes before routing and billing: nothing sent, held or booked [1-58] [1-59]', async () => {
    const person = await gateway.newAccount()
    const before = await transfers(person.id)
    expect(said(await call(person, 'plan3'))).toEqual([403, 40203])
    await gateway.settled()
    expect(upstream.requests).toHaveLength(0)
    expect(await transfers(person.id)).toEqual(before)
    expect((await gateway.account(person.id)).held).toBe(0n)
  })

  test('a low level and no payment together are 40203, not 40202 [D-admission-06]', async () => {
    expect(said(await call(await gateway.newAccount(NOTHING), 'plan1'))).toEqual([403, 40203])
  })

  test('an own credential is no exemption [5-32]', async () => {
    const person = await gateway.newAccount(NOTHING)
    await putOwnCredential(person.id)
    expect(said(await call(person, 'plan1'))).toEqual([403, 40203])
    expect(said(await call(person, 'verification1'))).toEqual([403, 40203])
    expect(upstream.requests).toHaveLength(0)
  })

  test('a hidden model is refused with the code of a visible one [2.1-09]', async () => {
    const [hidden, visible] = [await call(gateway, 'hidden'), await call(gateway, 'plan3')]
    expect(said(hidden)).toEqual([403, 40203])
    expect([hidden.body.code, hidden.body.message]).toEqual([visible.body.code, visible.body.message])
  })

  test('at gateway_base_url a requirement not met is 403 [7.2-03]', async () => {
    const person = await gateway.newAccount({ keyFields: { group: 'bound' } })
    expect(said(await callAtGateway(person, 'plan3'))).toEqual([403, 40203])
    expect((await callAtGateway(person, 'open')).status).toBe(200)
  })

  test('a group of name, protocol and models bounds the keys tied to it [D-addresses-09]', async () => {
    const group = (await gateway.storage.catalogue.read()).groups.get('bound')
    expect(group).toEqual({ name: 'bound', protocol: 'messages', models: ['open', 'plan3'] })
    const { key } = await gateway.newKey(gateway.accountId, { group: 'bound' })
    expect((await callAtGateway({ key }, 'open')).status).toBe(200)
    expect(said(await callAtGateway({ key }, 'uncovered'))).toEqual([403, 40301])
  })
})

describe('a refused call costs nothing', () => {
  /** Room for one call in every respect, so that anything a refusal took shows in the next two calls. */
  const roomForOne = () =>
    gateway.newAccount({
      credits: 10,
      apiDeduction: false,
      subscription: subscribe(1, { quota: 10 }),
      keyFields: {
        policy: { concurrency: 1, windows: [{ dimension: 'requests', limit: 1, seconds: 3_600 }] },
      },
    })

  async function expectUntouched(person: Person, before: readonly Transfer[]): Promise<void> {
    await gateway.settled()
    expect(await transfers(person.id)).toEqual(before)
    expect(await gateway.account(person.id)).toMatchObject({ credits: credits(10), held: 0n })
    expect((await call(person)).status).toBe(200)
    await gateway.settled()
    expect(said(await call(person))).toEqual([429, 42902])
  }

  test('by admission [1-60] [7.3-07]', async () => {
    const person = await roomForOne()
    const before = await transfers(person.id)
    for (const model of ['plan3', 'verification2']) {
      expect(said(await call(person, model))).toEqual([403, 40203])
    }
    await expectUntouched(person, before)
  })

  test('by authentication [7.3-05]', async () => {
    const { keyId, ...person } = await roomForOne()
    const before = await transfers(person.id)
    await gateway.storage.keys.patch(keyId, { status: 'disabled' })
    expect(said(await call(person))).toEqual([401, 40102])
    await gateway.storage.keys.patch(keyId, { status: 'enabled' })
    await expectUntouched(person, before)
  })

  test('by a rate limit [7.3-06]', async () => {
    const requests = { dimension: 'requests', limit: 1, seconds: 3_600 } as const
    const person = await gateway.newAccount({
      ...NOTHING,
      subscription: subscribe(1, { quota: 20 }),
      keyFields: { policy: { concurrency: undefined, windows: [requests] } },
    })
    expect((await call(person)).status).toBe(200)
    await gateway.settled()
    const before = await transfers(person.id)
    for (let round = 0; round < 3; round++) expect(said(await call(person))).toEqual([429, 42902])
    await gateway.settled()
    expect(await transfers(person.id)).toEqual(before)
    const other = await gateway.newKey(person.id)
    expect((await call(other)).status).toBe(200)
    await gateway.settled()
    expect(said(await call(other))).toEqual([429, 42905])
  })
})

describe('the catalogue and its prices', () => {
  const rows = async (path: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await get(gateway.baseUrl + path)).body.data as readonly Readonly<Record<string, unknown>>[]

  test('a row appears only while the model is enabled and visible [2.1-18] [3-05]', async () => {
    const shown = async (): Promise<boolean> =>
      (await rows('/api/v1/user/user/models')).some((row) => row['model_id'] === 'comes-and-goes')
    const seen: boolean[] = []
    for (const fields of [
      {},
      { status: 'disabled' },
      { status: 'maintenance' },
      { clientVisible: false },
      {},
    ] as const) {
      await gateway.catalogue(
        putModel('comes-and-goes', fields),
        putChain({ model: 'comes-and-goes', vendor: 'acme' }),
      )
      seen.push(await shown())
    }
    expect(seen).toEqual([true, false, false, false, true])
  })

  test('a pricing entry has the extra fields [2.2-12]', async () => {
    const [entry] = await rows('/api/v1/user/user/pricing?model_id=open')
    for (const name of [
      'model_id',
      'name',
      'vendor_code',
      'vendor_name',
      'currency',
      'cache_write_price',
      'cache_write_1h_price',
      'rate_multiplier',
    ]) {
      expect(entry).toHaveProperty(name)
    }
  })

  test('pricing filters by model_id and by vendor_code [4.5-08]', async () => {
    const ofModel = await rows('/api/v1/user/user/pricing?model_id=open')
    expect(ofModel.map((row) => row['model_id'])).toEqual(['open'])
    expect(await rows('/api/v1/user/user/pricing?vendor_code=nobody')).toEqual([])
    const ofVendor = await rows('/api/v1/user/user/pricing?vendor_code=acme')
    expect(ofVendor.length).toBeGreaterThan(5)
  })
})
