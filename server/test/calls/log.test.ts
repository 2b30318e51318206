/** The call log as a key reads it: every field, every filter, pages. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, get, postJson } from '../gateway/client.ts'
import { type TestGateway, putChain, putModel, putVendor, TOKEN_PRICES } from '../gateway/gateway.ts'
import { answerJson, hangUp } from '../gateway/scripted-upstream.ts'
import { modelId, vendorCode } from '../../src/core/ids.ts'
import { microCredits } from '../../src/core/money.ts'
import { Secret } from '../../src/core/secret.ts'
import { withGateway } from '../gateway/with-gateway.ts'

interface LogRow {
  readonly [field: string]: unknown
  readonly request_id: string
  readonly created_at: string
  readonly ended_at: string
  readonly amount: string
  readonly duration_ms: number
  readonly recipe: Recipe | null
}

interface Recipe {
  readonly lines: readonly {
    readonly class: string
    readonly quantity: number
    readonly price: string
    readonly per: number
  }[]
  readonly credits_per_unit: string
  readonly rate_multiplier: string
  readonly user_rate: string
}

const completion = (usage: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage,
})
const HELLO = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] })}\n\n`
const USAGE = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
const CACHED_USAGE = {
  ...USAGE,
  prompt_tokens_details: { cached_tokens: 400 },
  completion_tokens_details: { reasoning_tokens: 200 },
}
const MESSAGE = {
  id: 'a',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: {
    input_tokens: 70,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 300,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
    output_tokens: 50,
  },
}
const RESPONSE = {
  id: 'r',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'x',
  output: [],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
}
const GEMINI = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
}

/** How far the gateway's clock is ahead of the machine's. */
let aheadMs = 0
const now = (): number => Date.now() + aheadMs

const { gateway, upstream, second } = await withGateway({
  upstreams: ['upstream', 'second'],
  now,
  catalogue: ({ upstream, second }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('other', second.url),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme', rateMultiplier: '1.5' }),
    putModel('n'),
    putChain({ model: 'n', vendor: 'acme' }),
    putModel('twin'),
    putChain({ model: 'twin', vendor: 'acme', priority: 1 }),
    putChain({ model: 'twin', vendor: 'other', priority: 2 }),
    putModel('r'),
    putChain({ model: 'r', vendor: 'acme', protocol: 'responses' }),
    putModel('claude', { pricing: { ...TOKEN_PRICES, cacheWritePrice: '12.5', cacheWrite1hPrice: '20' } }),
    putChain({ model: 'claude', vendor: 'clay', protocol: 'messages' }),
    putModel('gemini'),
    putChain({ model: 'gemini', vendor: 'goo', protocol: 'gemini' }),
    putModel('covered', { subscriptionCovered: true }),
    putChain({ model: 'covered', vendor: 'acme' }),
    putModel('picture', { pricing: { ...TOKEN_PRICES, billingModes: ['image'], imagePrice: '0.1' } }),
    putChain({ model: 'picture', vendor: 'acme' }),
  ],
})

beforeEach(async () => {
  upstream.answer(answerJson(completion(USAGE)))
  second.answer(answerJson(completion(USAGE)))
  await gateway.resetHealth()
})

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

function send(
  key: string,
  body: object,
  { path = '/v1/chat/completions', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}${path}`,
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body },
    { ...bearer(key), ...headers },
  )
}

interface Page {
  readonly rows: readonly LogRow[]
  readonly next: string | null
}

async function readPage(key: string, query: Record<string, string> = {}): Promise<Page> {
  await gateway.settled()
  const answer = await get(
    `${gateway.baseUrl}/api/v1/user/user/logs?${new URLSearchParams(query).toString()}`,
    bearer(key),
  )
  expect([answer.status, answer.body.code]).toEqual([200, 0])
  return { rows: answer.body.data as readonly LogRow[], next: answer.body['next_cursor'] as string | null }
}

async function newestRow(key: string): Promise<LogRow> {
  const [row] = (await readPage(key, { limit: '1' })).rows
  if (row === undefined) throw new Error('the log of the key is empty')
  return row
}

/** The formula written down again, from what the row says: quantity × price, × rate, × multiplier, × user rate. */
function recompute({ lines, credits_per_unit, rate_multiplier, user_rate }: Recipe): number {
  const cost = lines.reduce((sum, line) => sum + (line.quantity * Number(line.price)) / line.per, 0)
  return (cost * Number(credits_per_unit) * Number(rate_multiplier) * Number(user_rate)) / 100
}

test.each(['/logs', '/logs/export'])(
  '%s refuses a filter it does not know, rather than show everything',
  async (path) => {
    const answer = await get(`${gateway.baseUrl}/api/v1/user/user${path}?modle=x`, bearer(gateway.key))
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toContain('modle')
  },
)

describe('a row of a call that went well', () => {
  let account: Awaited<ReturnType<TestGateway['newAccount']>>
  let row: LogRow
  let answer: Answer
  let before: number
  let after: number
  let settledBy: number

  beforeAll(async () => {
    account = await gateway.newAccount({ userRate: '80' })
    upstream.answer(answerJson(completion(CACHED_USAGE)))
    before = now()
    answer = await send(
      account.key,
      { user: 'alice' },
      { headers: { 'gw-app-id': 'my-app', 'gw-custom-id': 'order 7', 'user-agent': 'agent/1' } },
    )
    after = now()
    row = await newestRow(account.key)
    settledBy = now()
  })

  test('request_id is the x-request-id of the answer [D-accounts-70]', () => {
    expect(row.request_id).toBe(answer.headers.get('x-request-id'))
  })

  test('created_at and ended_at are when it came and ended [D-accounts-71] [D-accounts-72]', () => {
    const [created, ended] = [Date.parse(row.created_at), Date.parse(row.ended_at)]
    expect(created).toBeGreaterThanOrEqual(before)
    expect(ended).toBeGreaterThanOrEqual(created)
    expect(created).toBeLessThanOrEqual(after)
    expect(ended).toBeLessThanOrEqual(settledBy)
  })

  test('model, vendor and chain used [D-accounts-76] [D-accounts-77] [D-accounts-78] [D-accounts-79]', async () => {
    const [chain] = (await gateway.storage.catalogue.read()).models.get(modelId('m'))?.chains ?? []
    expect(row).toMatchObject({
      model_requested: 'm',
      model: 'm',
      vendor_code: 'acme',
      chain_id: chain?.id,
    })
  })

  test('key_id, http_status, and no code [D-accounts-80] [D-accounts-82] [D-accounts-83]', () => {
    expect(row).toMatchObject({ key_id: account.keyId, http_status: 200, code: null })
  })

  test('user, app_id and custom_id as sent [1-67] [1-68] [1-69] [4.1-29] [D-accounts-84] [D-accounts-85] [D-accounts-86]', () => {
    expect(row).toMatchObject({ user: 'alice', app_id: 'my-app', custom_id: 'order 7' })
  })

  test('usage in disjoint classes, as the upstream said [D-accounts-87] [D-accounts-88] [D-accounts-91] [D-accounts-92] [D-accounts-93]', () => {
    expect(row['usage']).toMatchObject({ input: 600, cached_input: 400, output: 500, reasoning: 200 })
    expect(row['usage_source']).toBe('upstream')
  })

  test('amount is the exact amount of the formula, deducted what the ledger took [1-70] [D-accounts-99] [D-accounts-100]', async () => {
    // (600 × 10 + 400 × 1 + 500 × 30) / 10^6 yuan × 1000 Credits × 1.5 × 80 %
    expect(row).toMatchObject({ amount: '25.68', deducted: '25.68' })
    const booked = await gateway.storage.ledger.transfers({
      accountId: account.id,
      limit: 20,
      after: undefined,
    })
    expect(booked.filter(({ kind }) => kind === 'charge').map(({ amount }) => amount)).toEqual([25_680_000n])
    expect((await gateway.account(account.id)).credits).toBe(1_000_000_000_000n - 25_680_000n)
  })

  test('the prices and multipliers of recipe reproduce amount [D-accounts-101]', () => {
    if (row.recipe === null) throw new Error('no recipe')
    expect(row.recipe).toMatchObject({ credits_per_unit: '1000', rate_multiplier: '1.5', user_rate: '80' })
    expect(recompute(row.recipe)).toBeCloseTo(25.68, 6)
  })

  test('nothing special: not covered, not byok, nothing dropped, client there [1-71]', () => {
    expect(row).toMatchObject({
      subscription_covered: false,
      byok: false,
      dropped_fields: [],
      client_gone: false,
      images: 0,
    })
  })
})

describe('fields that other calls fill', () => {
  test.each([
    ['/v1/chat/completions', 'm', 'chat', completion(USAGE)],
    ['/v1/responses', 'r', 'responses', RESPONSE],
    ['/v1/messages', 'claude', 'messages', MESSAGE],
    ['/v1beta/models/gemini:generateContent', undefined, 'gemini', GEMINI],
  ])(
    '%s: endpoint and both protocols [D-accounts-73] [D-accounts-74] [D-accounts-75]',
    async (path, model, protocol, body) => {
      const { key } = await gateway.newKey(gateway.accountId)
      upstream.answer(answerJson(body))
      const fields =
        model === undefined ? { contents: [{ parts: [{ text: 'Hi' }] }] } : { model, input: 'Hi' }
      expect((await send(key, { ...fields, max_tokens: 9 }, { path })).status).toBe(200)
      const row = await newestRow(key)
      expect(row).toMatchObject({ client_protocol: protocol, upstream_protocol: protocol })
      if (model !== undefined) expect(row['endpoint']).toBe(path)
    },
  )

  test('a converted call: both protocols, and dropped_fields as Gw-Dropped-Fields says [D-accounts-74] [D-accounts-75] [D-accounts-104]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const answer = await send(key, { max_tokens: 9, top_k: 3 }, { path: '/v1/messages' })
    const row = await newestRow(key)
    expect(row).toMatchObject({ client_protocol: 'messages', upstream_protocol: 'chat' })
    const dropped = answer.headers.get('gw-dropped-fields')
    expect(dropped).toContain('top_k')
    expect(row['dropped_fields']).toEqual(dropped?.split(','))
  })

  test('user of a responses call [4.2-17]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    upstream.answer(answerJson(RESPONSE))
    await send(key, { model: 'r', input: 'Hi', user: 'bob' }, { path: '/v1/responses' })
    expect((await newestRow(key))['user']).toBe('bob')
  })

  test('app_id is inferred where the header is missing [D-accounts-85]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    await send(key, {}, { headers: { 'user-agent': 'my-tool/1.2 (linux)' } })
    expect((await newestRow(key))['app_id']).toBe('my-tool')
  })

  test('cache reads and writes of both lives [D-accounts-88] [D-accounts-89] [D-accounts-90] [D-accounts-101]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    upstream.answer(answerJson(MESSAGE))
    await send(key, { model: 'claude', max_tokens: 9 }, { path: '/v1/messages' })
    const row = await newestRow(key)
    expect(row['usage']).toMatchObject({
      input: 70,
      cached_input: 30,
      cache_write: 100,
      cache_write_1h: 200,
      output: 50,
    })
    // (70 × 10 + 30 × 1 + 100 × 12.5 + 200 × 20 + 50 × 30) / 1000 Credits
    expect(row.amount).toBe('7.48')
    if (row.recipe === null) throw new Error('no recipe')
    expect(recompute(row.recipe)).toBeCloseTo(7.48, 6)
  })

  test('a stream without usage: estimated, with the time to the first byte and of the whole call [D-accounts-81] [D-accounts-94] [D-accounts-106] [D-accounts-107] [D-requests-19] [D-requests-20]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const words = 'one two three four five six seven eight nine ten'
    let read = (): void => undefined
    const wasRead = new Promise<void>((resolve) => (read = resolve))
    upstream.answer(async (_request, response) => {
      aheadMs += 80
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ role: 'assistant', content: words }, null))
      await wasRead
      aheadMs += 80
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(key),
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
    })
    for await (const _part of answer.body ?? []) read()
    const row = await newestRow(key)
    expect(row).toMatchObject({ stream: true, usage_source: 'estimated' })
    const usage = row['usage'] as { readonly input: number; readonly output: number }
    expect(usage.output).toBeGreaterThanOrEqual(9)
    expect(usage.output).toBeLessThanOrEqual(12)
    expect(usage.input).toBeGreaterThanOrEqual(1)
    expect(usage.input).toBeLessThanOrEqual(20)
    const firstByteMs = Number(row['first_byte_ms'])
    expect(firstByteMs).toBeGreaterThanOrEqual(80)
    expect(row.duration_ms).toBeGreaterThanOrEqual(firstByteMs + 80)
    expect(row.duration_ms).toBe(Date.parse(row.ended_at) - Date.parse(row.created_at))

    upstream.answer(answerJson(completion(USAGE)))
    await send(key, {})
    expect(await newestRow(key)).toMatchObject({ stream: false, usage_source: 'upstream' })
  })

  test('images is their number [D-accounts-98]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const message = { role: 'assistant', content: '', images: [image, image] }
    upstream.answer(
      answerJson({ ...completion(USAGE), choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    )
    await send(key, { model: 'picture' })
    expect(await newestRow(key)).toMatchObject({ images: 2, amount: '200' })
  })

  test('deducted is nothing of an amount below one Credit [D-accounts-100]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    upstream.answer(answerJson(completion({ prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 })))
    await send(key, { model: 'n' })
    expect(await newestRow(key)).toMatchObject({ amount: '0.6', deducted: '0' })
  })

  test('subscription_covered is true when the quota paid, false when Credits did [8-36] [1-71] [D-accounts-102]', async () => {
    const { id, key } = await gateway.newAccount()
    const quota = [{ credits: microCredits(1_000_000_000n), seconds: 3_600 }]
    await gateway.storage.accounts.patch(id, {
      subscription: { plan: 'pro', level: 2, expiresAt: Date.now() + 86_400_000, quota },
    })
    const { credits } = await gateway.account(id)
    await send(key, { model: 'covered' })
    expect(await newestRow(key)).toMatchObject({ subscription_covered: true, amount: '25', deducted: '25' })
    expect((await gateway.account(id)).credits).toBe(credits)
    await send(key, { model: 'n' })
    expect(await newestRow(key)).toMatchObject({ subscription_covered: false, amount: '25' })
    expect((await gateway.account(id)).credits).toBe(credits - 25_000_000n)
  })

  test('byok is true when an own credential was used [D-accounts-103]', async () => {
    const { id, key } = await gateway.newAccount()
    const own = { secret: new Secret('own-secret'), fields: {} }
    await gateway.storage.accounts.putByok(id, vendorCode('acme'), own, { enabled: true })
    await send(key, { model: 'n' })
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer own-secret')
    expect(await newestRow(key)).toMatchObject({ byok: true, deducted: '0', free_reason: 'own-credential' })
  })

  test('the fallback answered: both models, and every chain tried, in order [D-accounts-76] [D-accounts-77] [D-accounts-105]', async () => {
    const { key } = await gateway.newAccount({ fallbackModel: modelId('n') })
    const broken = answerJson({ error: { message: 'broke', type: 'server_error' } }, 500)
    upstream.script(broken)
    second.script(broken)
    expect((await send(key, { model: 'twin' })).status).toBe(200)
    const row = await newestRow(key)
    expect(row).toMatchObject({ model_requested: 'twin', model: 'n', vendor_code: 'acme' })
    expect(row['attempts']).toMatchObject([
      { vendor_code: 'acme', model: 'twin', why: 'priority', status: 500 },
      { vendor_code: 'other', model: 'twin', why: 'failover', status: 500 },
      { vendor_code: 'acme', model: 'n', why: 'fallback', status: 200, outcome: 'answered' },
    ])
    // What vendors say is the operator's to read; an account sees what its client saw.
    expect(JSON.stringify(row)).not.toContain('broke')
    expect((await gateway.lastLog()).attempts.map(({ said }) => said)).toEqual(['broke', 'broke', undefined])
  })

  test.each([
    {
      name: 'was cut',
      rest: undefined,
      row: { code: 50201, message: 'the upstream broke off its answer', ending: 'upstream-cut' },
      attempt: { outcome: 'cut', status: 200, said: expect.stringMatching(/\w/) },
    },
    {
      name: 'ended in an error of its own',
      rest: 'data: {"error":{"message":"busy inside","type":"server_error"}}\n\n',
      row: { code: null, message: null, ending: 'upstream-error' },
      attempt: { outcome: 'overloaded', status: 200, said: 'busy inside' },
    },
  ])(
    'of an answer that $name the account reads what its client was told, operators what the vendor failed of',
    async ({ rest, row, attempt }) => {
      const { key } = await gateway.newKey(gateway.accountId)
      let goOn = (): void => undefined
      const reached = new Promise<void>((resolve) => (goOn = resolve))
      upstream.script(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(HELLO)
        // What fails before its client has anything goes to another chain.
        await reached
        if (rest === undefined) response.destroy()
        else response.end(rest)
      })
      const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: bearer(key),
        body: JSON.stringify({ model: 'm', messages: [], stream: true }),
      })
      const reader = response.body?.getReader()
      await reader?.read()
      goOn()
      while ((await reader?.read())?.done === false);
      const seen = await newestRow(key)
      expect(seen).toMatchObject({ http_status: 200, ...row, attempts: [{ outcome: attempt.outcome }] })
      expect(JSON.stringify(seen)).not.toContain('busy inside')
      const log = await gateway.lastLog()
      expect(log.attempts).toMatchObject([attempt])
      expect(log.attempts[0]?.endedMs).toBe(log.durationMs)
    },
  )

  test('client_gone is true when the client disconnected [D-accounts-108]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    let closed = (): void => undefined
    const wasClosed = new Promise<void>((resolve) => (closed = resolve))
    upstream.answer((_request, response) => {
      response.on('close', () => closed())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(HELLO)
    })
    const controller = new AbortController()
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(key),
      body: JSON.stringify({ model: 'm', messages: [], stream: true }),
      signal: controller.signal,
    })
    await response.body?.getReader().read()
    controller.abort()
    await wasClosed
    expect(await newestRow(key)).toMatchObject({ client_gone: true, usage_source: 'estimated' })
  })
})

describe('calls that were refused', () => {
  test('each has a row with status and code, as does the one that went well [1-66] [D-accounts-82] [D-accounts-83]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, {
      models: [modelId('m')],
      policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 1, seconds: 3_600 }] },
    })
    const ids: (string | null)[] = []
    for (const model of ['m', 'm', 'n']) {
      ids.unshift((await send(key, { model, user: 'eve' })).headers.get('x-request-id'))
    }
    ids.unshift((await send(key, { model: 7 })).headers.get('x-request-id'))
    const { rows } = await readPage(key)
    expect(rows.map((row) => [row['model_requested'], row['user'], row['http_status'], row['code']])).toEqual(
      [
        [null, null, 400, expect.any(Number)],
        ['n', 'eve', 403, 40302],
        ['m', 'eve', 429, 42902],
        ['m', 'eve', 200, null],
      ],
    )
    expect(rows.map((row) => row.request_id)).toEqual(ids)
    expect(rows.slice(0, 3).every((row) => row.amount === '0')).toBe(true)
  })

  test('a call without a valid key has a row too, which no key sees [1-66]', async () => {
    const answer = await send('sk-gateway-nobody', {})
    expect(await gateway.lastLog()).toMatchObject({
      requestId: answer.headers.get('x-request-id'),
      httpStatus: 401,
      code: 40101,
      keyId: undefined,
    })
  })

  test('a row tells what the client was told, not only its code', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    const authorization = { authorization: `Bearer ${key}` }
    const { body } = await postJson(
      `${gateway.baseUrl}/v1/embeddings`,
      { model: 'm', input: 'x' },
      authorization,
    )
    expect(body.message).toContain('call it at /v1/chat/completions')
    expect(await newestRow(key)).toMatchObject({ http_status: 404, code: 40403, message: body.message })
    upstream.answer(hangUp)
    const failed = await send(key, {})
    expect(await newestRow(key)).toMatchObject({ code: 50201, message: failed.body.message })
  })

  test('an error of the upstream: its status, no code of ours [D-accounts-82]', async () => {
    const { key } = await gateway.newKey(gateway.accountId)
    upstream.answer(answerJson({ error: { message: 'bad', type: 'invalid_request_error' } }, 422))
    await send(key, {})
    expect(await newestRow(key)).toMatchObject({ http_status: 422, code: null, amount: '0' })
  })
})

describe('what a key reads of the log', () => {
  let key: string
  let keyId: string
  let sibling: Awaited<ReturnType<TestGateway['newKey']>>
  let ids: readonly string[]
  let betweenFirstAndSecond: number
  let betweenSecondAndThird: number

  beforeAll(async () => {
    const account = await gateway.newAccount()
    key = account.key
    keyId = account.keyId
    sibling = await gateway.newKey(account.id)
    const calls: [object, Record<string, string>][] = [
      [
        { model: 'm', user: 'alice' },
        { 'gw-app-id': 'one', 'gw-custom-id': 'c-1' },
      ],
      [
        { model: 'n', user: 'bob' },
        { 'gw-app-id': 'two', 'gw-custom-id': 'c-2' },
      ],
      [
        { model: 'no-such-model', user: 'bob' },
        { 'gw-app-id': 'two', 'gw-custom-id': 'c-3' },
      ],
    ]
    const times: number[] = []
    const answered: string[] = []
    upstream.answer(answerJson(completion(USAGE)))
    for (const [body, headers] of calls) {
      aheadMs += 3
      times.push(now())
      aheadMs += 3
      answered.push((await send(key, body, { headers })).headers.get('x-request-id') ?? '')
    }
    await send(sibling.key, { user: 'bob' }, { headers: { 'gw-app-id': 'two' } })
    ids = answered
    betweenFirstAndSecond = times[1] ?? 0
    betweenSecondAndThird = times[2] ?? 0
  })

  const read = async (query: Record<string, string>) =>
    (await readPage(key, query)).rows.map((row) => ids.indexOf(row.request_id) + 1)

  test('its own calls only, newest first [D-accounts-57] [D-accounts-58]', async () => {
    expect(await read({})).toEqual([3, 2, 1])
    expect((await readPage(sibling.key)).rows).toHaveLength(1)
  })

  test.each([
    ['limit [D-accounts-59]', () => ({ limit: '2' }), [3, 2]],
    ['from [D-accounts-61]', () => ({ from: String(betweenFirstAndSecond) }), [3, 2]],
    [
      'from, in ISO 8601 [D-accounts-61]',
      () => ({ from: new Date(betweenSecondAndThird).toISOString() }),
      [3],
    ],
    ['to [D-accounts-62]', () => ({ to: String(betweenSecondAndThird) }), [2, 1]],
    ['to, in ISO 8601 [D-accounts-62]', () => ({ to: new Date(betweenFirstAndSecond).toISOString() }), [1]],
    [
      'both [D-accounts-61] [D-accounts-62]',
      () => ({ from: String(betweenFirstAndSecond), to: String(betweenSecondAndThird) }),
      [2],
    ],
    ['model [D-accounts-63]', () => ({ model: 'n' }), [2]],
    ['key_id, its own [D-accounts-64]', () => ({ key_id: keyId }), [3, 2, 1]],
    ['key_id of another key [D-accounts-64]', () => ({ key_id: sibling.keyId }), []],
    ['request_id [D-accounts-65]', () => ({ request_id: ids[1] ?? '' }), [2]],
    ['app_id [D-accounts-66]', () => ({ app_id: 'two' }), [3, 2]],
    ['custom_id [D-accounts-67]', () => ({ custom_id: 'c-1' }), [1]],
    ['user [D-accounts-68]', () => ({ user: 'bob' }), [3, 2]],
    ['status [D-accounts-69]', () => ({ status: '502' }), [3]],
    ['two filters at once', () => ({ user: 'bob', status: '200' }), [2]],
  ] as const)('%s', async (_name, query, expected) => {
    expect(await read(query())).toEqual(expected)
  })

  test('pages join without gap or repetition, also where calls came at the same time and while more come [D-accounts-60]', async () => {
    const { key: busy } = await gateway.newKey(gateway.accountId)
    await Promise.all(Array.from({ length: 11 }, () => send(busy, {})))
    const all = (await readPage(busy, { limit: '200' })).rows.map((row) => row.request_id)
    expect(all).toHaveLength(11)
    const joined: string[] = []
    let pages = 0
    for (let cursor: string | null = null; pages < 20; pages += 1) {
      const page: Page = await readPage(busy, { limit: '2', ...(cursor === null ? {} : { cursor }) })
      expect(page.rows.length).toBeLessThanOrEqual(2)
      joined.push(...page.rows.map((row) => row.request_id))
      if (pages === 1) await send(busy, {})
      cursor = page.next
      if (cursor === null) break
    }
    expect(joined).toEqual(all)
  })

  test('without a key there is no log', async () => {
    expect((await get(`${gateway.baseUrl}/api/v1/user/user/logs`)).status).toBe(401)
  })
})
