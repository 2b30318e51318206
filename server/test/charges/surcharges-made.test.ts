/** What costs extra is charged by what the answer says was made (docs/operating/charges.md, What costs extra). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { playBackground } from '../gateway/background.ts'
import { get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream, cutStream } from '../gateway/scripted-upstream.ts'
import { eventually } from '../gateway/videos.ts'
import { framed } from '../passthrough/sample-answers.ts'
import type { ProtocolId, Surcharge } from '../../src/core/catalogue.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const surcharges: Readonly<Record<string, Surcharge>> = {
  'service_tier.priority': { kind: 'multiplier', multiplier: '2' },
  'service_tier.flex': { kind: 'multiplier', multiplier: '0.5' },
  web_search: { kind: 'per-call', perCall: '0.07' },
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
})

beforeAll(async () => {
  const kinds = { chat: 'openai', responses: 'openai', messages: 'anthropic', gemini: 'google' } as const
  for (const [protocol, kind] of Object.entries(kinds) as [ProtocolId, string][]) {
    await gateway.catalogue(
      ...putVendor(`${kind}-${protocol}`, upstream.url, { kind }),
      putModel(protocol, { surcharges }),
      putChain({
        model: protocol,
        vendor: `${kind}-${protocol}`,
        protocol,
        forward: protocol === 'gemini' ? 'gemini-3-pro' : 'm',
      }),
    )
  }
})

beforeEach(() => {
  upstream.requests.splice(0)
})

const SEARCH = {
  chat: { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }] },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  gemini: { tools: [{ googleSearch: {} }] },
} as const

function ask(client: ProtocolId, model: string, fields: object = {}, key = gateway.key) {
  const words = [{ role: 'user', content: 'hi' }]
  const headers = { authorization: `Bearer ${key}` }
  const { stream = false, ...rest } = fields as { stream?: boolean }
  switch (client) {
    case 'chat':
      return postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        { model, messages: words, max_tokens: 1_000, stream, ...rest },
        headers,
      )
    case 'responses':
      return postJson(
        `${gateway.baseUrl}/v1/responses`,
        { model, input: 'hi', max_output_tokens: 1_000, stream, ...rest },
        headers,
      )
    case 'messages':
      return postJson(
        `${gateway.baseUrl}/v1/messages`,
        { model, messages: words, max_tokens: 1_000, stream, ...rest },
        headers,
      )
    case 'gemini':
      return postJson(
        `${gateway.baseUrl}/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...rest },
        headers,
      )
  }
}

const CHAT = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 1_000 },
}
const RESPONSE = {
  id: 'r',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'msg',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'ok', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1_000, output_tokens: 1_000 },
}
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1_000, output_tokens: 1_000 },
}
const GENERATED = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 1_000, totalTokenCount: 2_000 },
}
const SEARCHED = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search' } }
const OPENED = { type: 'web_search_call', id: 'wo', status: 'completed', action: { type: 'open_page' } }
const TOOL_USE = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }

const searchedResponse = (...items: object[]) => ({ ...RESPONSE, output: [...items, ...RESPONSE.output] })
const searchedMessage = (count: number) => ({
  ...MESSAGE,
  content: [TOOL_USE, ...MESSAGE.content],
  usage: { ...MESSAGE.usage, server_tool_use: { web_search_requests: count } },
})
const grounded = (...webSearchQueries: string[]) => ({
  ...GENERATED,
  candidates: [{ ...GENERATED.candidates[0], groundingMetadata: { webSearchQueries } }],
})

/** 1 000 × 10 + 1 000 × 30 yuan a million tokens are 40 Credits. */
const PLAIN = 40_000_000n
const FEE = 70_000_000n

async function row() {
  const { amount, recipe } = await gateway.lastLog()
  return { amount, surcharges: recipe?.surcharges }
}

const searches = (count: number) =>
  count === 0
    ? { amount: PLAIN, surcharges: undefined }
    : {
        amount: PLAIN + FEE * BigInt(count),
        surcharges: [{ name: 'web_search', perCall: '0.07', count }],
      }

describe('a search is charged as often as the answer says, whole', () => {
  test.each<readonly [what: string, client: ProtocolId, upstream: ProtocolId, answer: object, count: number]>(
    [
      ['only offered', 'responses', 'responses', RESPONSE, 0],
      [
        'two, and a page that was opened',
        'responses',
        'responses',
        searchedResponse(SEARCHED, SEARCHED, OPENED),
        2,
      ],
      ['only offered', 'messages', 'messages', MESSAGE, 0],
      ['three that the vendor counts', 'messages', 'messages', searchedMessage(3), 3],
      ['one that failed, which the vendor does not bill', 'messages', 'messages', searchedMessage(0), 0],
      ['only offered', 'gemini', 'gemini', GENERATED, 0],
      ['two queries', 'gemini', 'gemini', grounded('a', 'b', 'a', ''), 2],
      ['an answer that does not tell', 'chat', 'chat', CHAT, 1],
      [
        'an answer whose usage tells',
        'chat',
        'chat',
        { ...CHAT, usage: { ...CHAT.usage, server_tool_use: { web_search_requests: 0 } } },
        0,
      ],
      ['only offered', 'responses', 'messages', MESSAGE, 0],
      ['two that the vendor counts', 'responses', 'messages', searchedMessage(2), 2],
      ['two queries', 'responses', 'gemini', grounded('a', 'b'), 2],
      ['one', 'messages', 'responses', searchedResponse(SEARCHED), 1],
      ['left out where the vendor has none', 'responses', 'chat', CHAT, 0],
    ],
  )('%s: %s over %s', async (_what, client, over, answer, count) => {
    upstream.answer(answerJson(answer))
    expect((await ask(client, over, SEARCH[client])).status).toBe(200)
    expect(await row()).toEqual(searches(count))
  })
})

const begun = (type: string, item: object) => ({ type, output_index: 0, item })
const RESPONSES_STREAM = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } },
  begun('response.output_item.added', { ...SEARCHED, status: 'in_progress' }),
  begun('response.output_item.done', SEARCHED),
  begun('response.output_item.added', { ...SEARCHED, status: 'in_progress' }),
]
const RESPONSES_END = [
  begun('response.output_item.done', SEARCHED),
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, item_id: 'msg', delta: 'ok' },
  { type: 'response.completed', response: searchedResponse(SEARCHED, SEARCHED) },
]
const MESSAGES_STREAM = [
  {
    type: 'message_start',
    message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 1_000, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: TOOL_USE },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { ...TOOL_USE, id: 'srv2' } },
  { type: 'content_block_stop', index: 1 },
]
const MESSAGES_END = [
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'ok' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 1_000, output_tokens: 1_000, server_tool_use: { web_search_requests: 2 } },
  },
  { type: 'message_stop' },
]

describe('streamed', () => {
  test.each<readonly [client: ProtocolId, upstream: ProtocolId, events: readonly object[]]>([
    ['responses', 'responses', [...RESPONSES_STREAM, ...RESPONSES_END]],
    ['messages', 'messages', [...MESSAGES_STREAM, ...MESSAGES_END]],
    ['responses', 'messages', [...MESSAGES_STREAM, ...MESSAGES_END]],
    ['messages', 'responses', [...RESPONSES_STREAM, ...RESPONSES_END]],
    ['gemini', 'gemini', [grounded('a', 'b')]],
    ['responses', 'gemini', [grounded('a', 'b')]],
  ])('two searches: %s over %s', async (client, over, events) => {
    upstream.answer(answerStream([framed(over, events)]))
    expect((await ask(client, over, { ...SEARCH[client], stream: true })).status).toBe(200)
    expect(await row()).toEqual(searches(2))
  })

  test.each<readonly [client: ProtocolId, upstream: ProtocolId, events: readonly object[]]>([
    ['responses', 'responses', RESPONSES_STREAM],
    ['messages', 'messages', MESSAGES_STREAM],
  ])('%s: what was seen of one that the vendor broke', async (client, over, events) => {
    upstream.answer(cutStream([framed(over, events)]))
    await ask(client, over, { ...SEARCH[client], stream: true })
    const { surcharges: charged } = await row()
    expect(charged).toEqual([{ name: 'web_search', perCall: '0.07', count: 2 }])
    await gateway.resetHealth()
  })
})

describe('a tier is charged as the answer says', () => {
  const tier = (service_tier: string) => ({ ...CHAT, service_tier })
  test.each<
    readonly [what: string, fields: object, answer: object, amount: bigint, name: string | undefined]
  >([
    ['confirmed', { service_tier: 'priority' }, tier('priority'), PLAIN * 2n, 'service_tier.priority'],
    ['renamed', { service_tier: 'fast' }, tier('priority'), PLAIN * 2n, 'service_tier.priority'],
    ['fallen back', { service_tier: 'priority' }, tier('default'), PLAIN, undefined],
    ['not told', { service_tier: 'priority' }, CHAT, PLAIN * 2n, 'service_tier.priority'],
    ['the vendor’s own setting', {}, tier('priority'), PLAIN * 2n, 'service_tier.priority'],
    ['a discount that is confirmed', { service_tier: 'flex' }, tier('flex'), PLAIN / 2n, 'service_tier.flex'],
    ['a discount that is not told', { service_tier: 'flex' }, CHAT, PLAIN, undefined],
  ])('%s', async (_what, fields, answer, amount, name) => {
    upstream.answer(answerJson(answer))
    expect((await ask('chat', 'chat', fields)).status).toBe(200)
    const charged = await row()
    expect([charged.amount, charged.surcharges?.[0]?.name]).toEqual([amount, name])
  })

  test('by the end of a stream, not by the repeated question', async () => {
    const created = {
      type: 'response.created',
      response: { ...RESPONSE, service_tier: 'priority', output: [] },
    }
    const completed = { type: 'response.completed', response: { ...RESPONSE, service_tier: 'default' } }
    upstream.answer(answerStream([framed('responses', [created, completed])]))
    await ask('responses', 'responses', { stream: true, service_tier: 'priority' })
    expect(await row()).toEqual({ amount: PLAIN, surcharges: undefined })
  })

  test.each([
    ['standard', PLAIN],
    ['priority', PLAIN * 2n],
  ])('by a header of the vendor’s: %s', async (told, amount) => {
    upstream.answer(answerJson(GENERATED, 200, { 'x-gemini-service-tier': told }))
    await ask('gemini', 'gemini', { serviceTier: 'SERVICE_TIER_PRIORITY' })
    expect((await row()).amount).toBe(amount)
  })

  test('not where conversion left it out', async () => {
    upstream.answer(answerJson(MESSAGE))
    const answer = await ask('chat', 'messages', { service_tier: 'priority' })
    expect([answer.status, answer.headers.get('gw-dropped-fields')]).toEqual([200, 'service_tier'])
    expect(await row()).toEqual({ amount: PLAIN, surcharges: undefined })
  })
})

describe('what is held before', () => {
  test('the expensive tier, and one search; a discount is not', async () => {
    const poor = await gateway.newAccount({ credits: 100 })
    upstream.answer(answerJson(CHAT))
    const code = async (fields: object) => (await ask('chat', 'chat', fields, poor.key)).body.code
    expect(await code({ max_tokens: 3_000, service_tier: 'priority' })).toBe(40202)
    expect(await code({ max_tokens: 3_000, service_tier: 'fast' })).toBe(40202)
    expect(await code({ max_tokens: 1_200, ...SEARCH.chat })).toBe(40202)
    expect(await code({ max_tokens: 4_000, service_tier: 'flex' })).toBe(40202)
    expect(await code({ max_tokens: 3_000, service_tier: 'flex' })).toBeUndefined()
  })

  test.each([
    ['a bound of the client’s', 2],
    ['none', 10],
  ])('as many searches as there may be: %s', async (what, uses) => {
    const rich = await gateway.newAccount({ credits: 1_000_000 })
    const held = new Promise<bigint>((resolve, reject) => {
      upstream.answer(async (request, response) => {
        try {
          resolve((await gateway.account(rich.id)).held)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
        await answerJson(MESSAGE)(request, response)
      })
    })
    const [tool] = SEARCH.messages.tools
    const bound = what === 'none' ? {} : { max_uses: uses }
    await ask('messages', 'messages', { tools: [{ ...tool, ...bound }] }, rich.key)
    const withSearch = await held
    expect(withSearch).toBeGreaterThanOrEqual(FEE * BigInt(uses))
    expect(await row()).toEqual(searches(0))
  })
})

test('a response in the background is charged for what its final object shows', async () => {
  const vendor = playBackground(upstream)
  const created = await ask('responses', 'responses', {
    ...SEARCH.responses,
    background: true,
    max_output_tokens: undefined,
  })
  expect(created.status).toBe(200)
  const answer = searchedResponse(SEARCHED, SEARCHED, OPENED)
  vendor.readWith.push(answerJson({ ...answer, id: vendor.made.at(-1)?.id, background: true }))
  await eventually(async () => {
    const read = await get(`${gateway.baseUrl}/v1/responses/${String(created.body['id'])}`, {
      authorization: `Bearer ${gateway.key}`,
    })
    return read.body['status'] === 'completed'
  })
  expect(await row()).toEqual(searches(2))
})

test('the owner reads the count in the log, and the books agree', async () => {
  upstream.answer(answerJson(searchedMessage(3)))
  await ask('messages', 'messages', SEARCH.messages)
  await gateway.settled()
  const { body } = await get(`${gateway.baseUrl}/api/v1/user/user/logs?limit=1`, {
    authorization: `Bearer ${gateway.key}`,
  })
  expect(body.data).toMatchObject([
    { recipe: { surcharges: [{ name: 'web_search', per_call: '0.07', count: 3 }] } },
  ])
  expect(await gateway.storage.ledger.verify()).toEqual([])
})
