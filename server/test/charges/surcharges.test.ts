/** Fields that make a call more expensive at the vendor (docs/decisions/0015-what-costs-extra.md). */
import { beforeEach, describe, expect, test } from 'vitest'
import { get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerOk } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    putModel('priced', {
      surcharges: {
        'service_tier.priority': { kind: 'multiplier', multiplier: '1.75' },
        web_search_call: { kind: 'per-call', perCall: '0.07' },
      },
    }),
    putChain({ model: 'priced', vendor: 'acme' }),
    putModel('strict', { refuse: ['service_tier', 'web_search', 'anthropic-beta.context-1m-2025-08-07'] }),
    putChain({ model: 'strict', vendor: 'acme' }),
    putChain({ model: 'strict', vendor: 'clay', protocol: 'messages' }),
    putModel('open'),
    putChain({ model: 'open', vendor: 'acme' }),
    putModel('over-responses'),
    putChain({ model: 'over-responses', vendor: 'acme', protocol: 'responses' }),
    putModel('over-messages'),
    putChain({ model: 'over-messages', vendor: 'clay', protocol: 'messages' }),
    putModel('over-messages-priced', {
      surcharges: { web_search: { kind: 'per-call', perCall: '0.07' } },
    }),
    putChain({ model: 'over-messages-priced', vendor: 'clay', protocol: 'messages' }),
  ],
})

beforeEach(() => {
  upstream.requests.splice(0)
  upstream.answer(answerOk({ prompt_tokens: 1_000, completion_tokens: 1_000 }))
})

const call = (
  model: string,
  fields: object | string,
  path = 'chat/completions',
  headers: Record<string, string> = {},
) =>
  postJson(
    `${gateway.baseUrl}/v1/${path}`,
    typeof fields === 'string'
      ? fields
      : { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1_000, ...fields },
    { authorization: `Bearer ${gateway.key}`, ...headers },
  )

/** 1 000 × 10 + 1 000 × 30 yuan a million tokens are 40 Credits. */
const PLAIN = 40_000_000n

describe('a surcharge is in the hold, the recipe and the amount', () => {
  test.each<readonly [what: string, fields: object, amount: bigint, surcharges: unknown]>([
    ['nothing asked for', {}, PLAIN, undefined],
    ['another tier', { service_tier: 'auto' }, PLAIN, undefined],
    [
      'the expensive tier',
      { service_tier: 'priority' },
      (PLAIN * 7n) / 4n,
      [{ name: 'service_tier.priority', multiplier: '1.75' }],
    ],
    [
      'a search',
      { web_search_options: {} },
      PLAIN + 70_000_000n,
      [{ name: 'web_search_call', perCall: '0.07', count: 1 }],
    ],
    [
      'both: the fee of a search is not multiplied',
      { service_tier: 'priority', web_search_options: {} },
      (PLAIN * 7n) / 4n + 70_000_000n,
      [
        { name: 'service_tier.priority', multiplier: '1.75' },
        { name: 'web_search_call', perCall: '0.07', count: 1 },
      ],
    ],
  ])('%s', async (_what, fields, amount, surcharges) => {
    expect((await call('priced', fields)).status).toBe(200)
    const row = await gateway.lastLog()
    expect([row.amount, row.recipe?.surcharges]).toEqual([amount, surcharges])
    expect(upstream.requests.at(-1)?.json()).toMatchObject(fields)
  })

  test('the owner reads it in the log, and the books agree', async () => {
    await call('priced', { service_tier: 'priority' })
    await gateway.settled()
    const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/logs?limit=1`, {
      authorization: `Bearer ${gateway.key}`,
    })
    expect(body.data).toMatchObject([
      { recipe: { surcharges: [{ name: 'service_tier.priority', multiplier: '1.75' }] } },
    ])
    expect(await gateway.storage.ledger.verify()).toEqual([])
  })

  test('an account that could pay the plain price alone is refused', async () => {
    const poor = await gateway.newAccount({ credits: 50 })
    const asked = (fields: object) =>
      postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        { model: 'priced', messages: [], max_tokens: 1_000, ...fields },
        { authorization: `Bearer ${poor.key}` },
      )
    expect((await asked({ service_tier: 'priority' })).body.code).toBe(40202)
    expect((await asked({})).status).toBe(200)
  })
})

describe('a refused field is answered with 400 and reaches nobody', () => {
  test.each<readonly [trick: string, fields: object | string]>([
    ['as it is', { service_tier: 'priority' }],
    ['in capitals', { service_tier: 'PRIORITY' }],
    ['as no text', { service_tier: ['priority'] }],
    ['under another name of the same thing', { web_search_options: {} }],
    ['as a tool', { tools: [{ type: 'web_search_preview_2025_03_11' }] }],
    [
      'twice, the harmless one last',
      '{"model":"strict","messages":[],"service_tier":"priority","service_tier":null}',
    ],
    ['with its name escaped', '{"model":"strict","messages":[],"service\\u005ftier":"priority"}'],
  ])('%s', async (_trick, fields) => {
    const answer = await call('strict', fields)
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(answer.body.message).toContain('is not allowed for the model strict')
    expect(upstream.requests).toHaveLength(0)
  })

  test('in a header that is passed on', async () => {
    const answer = await call('strict', {}, 'messages', { 'anthropic-beta': 'a-b, Context-1M-2025-08-07' })
    expect(answer.body.code).toBe(40000)
    expect(upstream.requests).toHaveLength(0)
  })
})

test('without a price it is passed on where nothing is converted, and refused where it would be', async () => {
  expect((await call('open', { service_tier: 'priority' })).status).toBe(200)
  const converted = await call('over-responses', { service_tier: 'priority' })
  expect([converted.status, converted.body.code]).toEqual([400, 40000])
  expect(converted.body.message).toContain('service_tier.priority costs extra')
  upstream.answer(answerJson({ error: { message: 'no', type: 'server_error' } }, 500))
  expect((await call('over-responses', { service_tier: 'auto' })).status).toBe(500)
  await gateway.resetHealth()
})

describe('a tool at the vendor that costs extra, on a converted call', () => {
  const MESSAGE = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1_000, output_tokens: 1_000 },
  }
  const SEARCH = { type: 'web_search' }
  const CODE = { type: 'code_interpreter', container: { type: 'auto' } }
  const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }
  const ask = (model: string, fields: object) =>
    postJson(
      `${gateway.baseUrl}/v1/responses`,
      { model, input: 'hi', max_output_tokens: 1_000, ...fields },
      { authorization: `Bearer ${gateway.key}` },
    )

  beforeEach(() => upstream.answer(answerJson(MESSAGE)))

  test.each<readonly [what: string, fields: object, sent: readonly string[], dropped: string | null]>([
    ['offered beside functions it is left out', { tools: [SEARCH, LOOK] }, ['look'], 'tools[0]'],
    ['offered alone it is left out', { tools: [SEARCH] }, [], 'tools[0]'],
    ['so is each of several', { tools: [CODE, LOOK, SEARCH] }, ['look'], 'tools[0],tools[2]'],
    [
      'a function that must be called is still demanded',
      { tools: [LOOK, SEARCH], tool_choice: { type: 'function', name: 'look' } },
      ['look'],
      'tools[1]',
    ],
    [
      'a call of any tool is the function’s then',
      { tools: [LOOK, SEARCH], tool_choice: 'required' },
      ['look'],
      'tools[1]',
    ],
    [
      'nothing is missing where no tool may be called',
      { tools: [SEARCH], tool_choice: 'none' },
      [],
      'tools[0]',
    ],
  ])('without a price: %s', async (_what, fields, sent, dropped) => {
    const answer = await ask('over-messages', fields)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('gw-dropped-fields')).toBe(dropped)
    const body = upstream.requests.at(-1)?.json() as { tools?: { name: string }[] }
    expect((body.tools ?? []).map(({ name }) => name)).toEqual(sent)
    expect((await gateway.lastLog()).recipe?.surcharges).toBeUndefined()
  })

  test.each<readonly [what: string, fields: object]>([
    ['by its type', { tools: [SEARCH, LOOK], tool_choice: { type: 'web_search' } }],
    ['by an older type', { tools: [SEARCH, LOOK], tool_choice: { type: 'web_search_preview' } }],
    ['as the only tool there is', { tools: [SEARCH, CODE], tool_choice: 'required' }],
    [
      'as the only one that is allowed',
      {
        tools: [SEARCH, LOOK],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] },
      },
    ],
  ])('without a price it cannot be demanded %s', async (_what, fields) => {
    const answer = await ask('over-messages', fields)
    expect([answer.status, answer.body.code]).toEqual([400, 40000])
    expect(JSON.stringify(answer.body)).toContain('field_without_price')
    expect(upstream.requests).toHaveLength(0)
  })

  test('with a price it is sent', async () => {
    const answer = await ask('over-messages-priced', { tools: [SEARCH, LOOK] })
    expect([answer.status, answer.headers.get('gw-dropped-fields')]).toEqual([200, null])
    expect(upstream.requests.at(-1)?.json()).toMatchObject({
      tools: [{ name: 'web_search' }, { name: 'look' }],
    })
  })

  test('refused by its model it stays refused', async () => {
    expect((await ask('strict', { tools: [SEARCH, LOOK] })).status).toBe(400)
    expect(upstream.requests).toHaveLength(0)
  })

  test('a large body is treated alike', async () => {
    const answer = await ask('over-messages', { input: 'word '.repeat(80_000), tools: [SEARCH, LOOK] })
    expect([answer.status, answer.headers.get('gw-dropped-fields')]).toEqual([200, 'tools[0]'])
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ tools: [{ name: 'look' }] })
  })
})
