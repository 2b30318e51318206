/** What would become of a call, without making it. */
import { describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'goo', protocol: 'gemini', forward: 'gemini-2.5-flash', priority: 2 }),
    putChain({ model: 'm', vendor: 'acme', forward: 'gpt-4.1', priority: 1 }),
    putChain({ model: 'm', vendor: 'acme', forward: 'gpt-off', priority: 1, status: 'disabled' }),
    putModel('second'),
    putChain({ model: 'second', vendor: 'acme', forward: 'gpt-4.1' }),
    putModel('plus', { requiredPlan: 1 }),
    putChain({ model: 'plus', vendor: 'acme', forward: 'gpt-4.1' }),
    putGroup({ name: 'codex', protocol: 'responses', models: ['m'] }),
  ],
})

interface Explained {
  readonly refusal: { readonly status: number; readonly code: number; readonly message: string } | null
  readonly model: string | null
  readonly estimate: { readonly input_tokens: number; readonly output_tokens: number } | null
  readonly hold: {
    readonly credits: string
    readonly paid_by: string
    readonly windows: readonly { dimension: string; limit: number; remaining: number }[]
  } | null
  readonly rules: readonly { rule: string; required: string; found: string }[]
  readonly routes: readonly {
    readonly model: string
    readonly role: string
    readonly chains: readonly {
      readonly vendor_code: string
      readonly protocol: string
      readonly why: string
      readonly conversion: {
        readonly kind: string
        readonly dropped: readonly string[]
        readonly cut_at: readonly string[]
        readonly fetched: readonly string[]
        readonly message: string | null
      }
    }[]
    readonly skipped: readonly { reason: string }[]
  }[]
}

async function explain(question: object, key = gateway.key): Promise<{ answer: Answer; data: Explained }> {
  const answer = await postJson(`${gateway.baseUrl}/api/v1/user/user/explain`, question, {
    authorization: `Bearer ${key}`,
  })
  return { answer, data: answer.body.data as Explained }
}

const ASK = [{ role: 'user', content: 'hello' }]

test('chains stand in order, each with its conversion and what it would drop; nobody is asked', async () => {
  const before = upstream.requests.length
  const { answer, data } = await explain({
    protocol: 'chat',
    body: { model: 'm', messages: ASK, max_tokens: 100, logit_bias: { '1': 2 }, seed: 1, user: 'u' },
  })
  expect(answer.status).toBe(200)
  expect(data.refusal).toBeNull()
  const [route] = data.routes
  expect(route?.chains.map(({ vendor_code, conversion }) => [vendor_code, conversion.kind])).toEqual([
    ['acme', 'passthrough'],
    ['goo', 'converted'],
  ])
  expect(route?.chains[1]?.conversion.dropped).toEqual(expect.arrayContaining(['logit_bias', 'user']))
  expect(route?.skipped).toEqual([expect.objectContaining({ reason: 'disabled' })])
  expect(upstream.requests.length).toBe(before)
  expect((await gateway.account()).held).toBe(0n)
})

test('the hold is the one the call takes, and the windows are those after it', async () => {
  const policy = { concurrency: 5, windows: [{ dimension: 'requests' as const, limit: 10, seconds: 60 }] }
  const { key } = await gateway.newKey(gateway.accountId, { policy })
  const body = { model: 'm', messages: ASK, max_tokens: 1000 }
  const { data } = await explain({ body }, key)
  expect(data.hold?.paid_by).toBe('credits')
  expect(data.hold?.windows).toEqual([
    expect.objectContaining({ dimension: 'requests', limit: 10, remaining: 9 }),
  ])
  let held = 0n
  upstream.script(async (request, response) => {
    held = (await gateway.account()).held
    await answerJson({ error: { message: 'x' } }, 400)(request, response)
  })
  await postJson(`${gateway.baseUrl}/v1/chat/completions`, body, { authorization: `Bearer ${key}` })
  expect(Number(data.hold?.credits)).toBe(Number(held) / 1_000_000)
  await gateway.resetHealth()
})

test('a fallback model is shown with its chains', async () => {
  const { key, id } = await gateway.newAccount()
  await gateway.storage.accounts.patch(id, { fallbackModel: 'second' as never })
  const { data } = await explain({ body: { model: 'm', messages: ASK } }, key)
  expect(data.routes.map(({ model, role }) => [model, role])).toEqual([
    ['m', 'requested'],
    ['second', 'fallback'],
  ])
})

describe('a refusal is shown with its status and code', () => {
  test.each([
    ['no model', { body: { messages: ASK } }, 40002],
    ['an unknown model', { body: { model: 'nobody', messages: ASK } }, 50201],
    ['a model of a plan', { body: { model: 'plus', messages: ASK } }, 40203],
    [
      'an unbound key at the gateway address',
      { body: { model: 'm', messages: ASK }, address: 'gateway' },
      40301,
    ],
    [
      'an unknown previous response',
      { protocol: 'responses', body: { model: 'm', input: 'x', previous_response_id: 'resp_x' } },
      40000,
    ],
  ])('%s', async (_what, question, code) => {
    const { answer, data } = await explain(question)
    expect(answer.status).toBe(200)
    expect(data.refusal?.code).toBe(code)
  })

  test('an account without funds', async () => {
    const { key } = await gateway.newAccount({ credits: 0 })
    const { data } = await explain({ body: { model: 'm', messages: ASK } }, key)
    expect(data.refusal).toMatchObject({ status: 403, code: 40202 })
    // The chains are told all the same.
    expect(data.routes[0]?.chains).toHaveLength(2)
  })
})

test('what a chain cannot say is told beside it, as are addresses to fetch and stops to cut at', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const { data } = await explain({
    body: { model: 'm', messages: [{ role: 'user', content: [image] }], stop: ['END'] },
  })
  expect(data.routes[0]?.chains[1]?.conversion.fetched).toEqual(['https://example.com/a.png'])
  const impossible = await explain({ body: { model: 'm', messages: [] } })
  expect(impossible.data.routes[0]?.chains[1]?.conversion).toMatchObject({ kind: 'refused' })
})

test('the other protocols are explained as well', async () => {
  const questions = [
    { protocol: 'responses', body: { model: 'm', input: 'x' } },
    { protocol: 'messages', body: { model: 'm', max_tokens: 5, messages: ASK } },
    { protocol: 'gemini', model: 'm', body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] } },
  ]
  for (const question of questions) {
    const { data } = await explain(question)
    expect(data.refusal).toBeNull()
    const kinds = data.routes[0]?.chains.map(({ conversion }) => conversion.kind)
    expect(kinds).toEqual(['converted', question.protocol === 'gemini' ? 'passthrough' : 'converted'])
  }
})

test('a call is explained at the path it would go to, and at no other [D-images-34]', async () => {
  const at = (path: string) => explain({ protocol: 'rerank', path, body: { model: 'm', query: 'x' } })
  const known = await at('/v2/rerank')
  expect(known.data.refusal).toMatchObject({ code: 40403, message: expect.stringContaining('/v2/rerank') })
  const unknown = await at('/v3/rerank')
  expect([unknown.answer.status, unknown.answer.body.error?.code]).toEqual([400, '40000'])
})

test('a key explains its own calls only, and unknown fields are refused', async () => {
  const other = await gateway.newKey(gateway.accountId)
  const { answer } = await explain({ key_id: other.keyId, body: { model: 'm', messages: ASK } })
  expect([answer.status, answer.body.error?.code]).toEqual([403, '40304'])
  const wrong = await explain({ body: { model: 'm' }, unreadable: 1 })
  expect(wrong.answer.status).toBe(400)
})
