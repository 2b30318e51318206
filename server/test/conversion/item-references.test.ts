/** Items that a client names by id instead of sending them again, as OpenAI's own clients do with answers that are kept. */
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { PROTOCOLS, type Protocol } from '../matrix/cells.ts'
import { type Said, says, SIGNATURE } from '../matrix/upstreams.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const VENDORS: Readonly<Record<Protocol, readonly [kind: string, forward: string]>> = {
  chat: ['deepseek', 'deepseek-reasoner'],
  responses: ['openai', 'gpt-5.1'],
  messages: ['anthropic', 'claude-opus-4-1'],
  gemini: ['google', 'gemini-2.5-flash'],
}
const CONVERTED = PROTOCOLS.filter((protocol) => protocol !== 'responses')
const THINKING_CALL: Said = {
  thought: 'It has to be looked up.',
  text: 'One moment.',
  calls: [{ id: 'call_1', name: 'weather', input: { city: 'Oslo' } }],
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
})

beforeAll(async () => {
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = VENDORS[protocol]
    await gateway.catalogue(
      ...putVendor(protocol, upstream.url, { kind }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: protocol, protocol, forward }),
    )
  }
})

function lastBody(): string {
  return upstream.requests.at(-1)?.body.toString('utf8') ?? ''
}

const WEATHER = {
  weather: tool({
    description: 'the weather of a city',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: ({ city }) => Promise.resolve(`21 degrees in ${city}`),
  }),
}

function question(protocol: Protocol) {
  const openai = createOpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1` })
  return {
    model: openai.responses(`over-${protocol}`),
    prompt: 'How warm is it in Oslo?',
    tools: WEATHER,
    stopWhen: stepCountIs(3),
    maxRetries: 0,
  }
}

describe('the responses provider of the Vercel AI SDK, with its own defaults, runs a tool', () => {
  test.each(CONVERTED)('over %s, whole', async (protocol) => {
    upstream.script(says(protocol, THINKING_CALL), says(protocol, { text: 'It is 21 degrees.' }))
    const answer = await generateText(question(protocol))
    expect(answer.text).toBe('It is 21 degrees.')
    expectWholeConversation(protocol)
  })

  test.each(CONVERTED)('over %s, streamed', async (protocol) => {
    upstream.script(says(protocol, THINKING_CALL), says(protocol, { text: 'It is 21 degrees.' }))
    expect(await streamText(question(protocol)).text).toBe('It is 21 degrees.')
    expectWholeConversation(protocol)
  })
})

/** The second request holds what was said in the first, and the result of the tool. */
function expectWholeConversation(protocol: Protocol): void {
  const sent = lastBody()
  for (const said of ['How warm is it', 'One moment.', 'Oslo', '21 degrees in Oslo'])
    expect(sent).toContain(said)
  // What vendors want back with a call comes back with it.
  if (protocol === 'messages' || protocol === 'gemini') expect(sent).toContain(SIGNATURE)
}

function create(protocol: Protocol, body: object, key = gateway.key): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/responses`,
    { model: `over-${protocol}`, ...body },
    { authorization: `Bearer ${key}` },
  )
}

async function made(
  protocol: Protocol = 'chat',
  key = gateway.key,
  body: object = {},
): Promise<readonly string[]> {
  upstream.script(says(protocol, { thought: 'Hm.', text: 'Forty-two.' }))
  const answer = await create(protocol, { input: 'What is it?', ...body }, key)
  expect(answer.status).toBe(200)
  return (answer.body['output'] as { id: string }[]).map(({ id }) => id)
}

function reference(id: string | undefined): object {
  return { type: 'item_reference', id }
}

describe('a reference', () => {
  test('stands for the item wherever it is put, as often as it is put there', async () => {
    const [, message] = await made()
    upstream.script(says('gemini', { text: 'Yes.' }))
    const answer = await create('gemini', {
      input: [
        { role: 'user', content: 'You said twice:' },
        reference(message),
        { role: 'user', content: 'and' },
        reference(message),
        { role: 'user', content: 'Right?' },
      ],
    })
    expect(answer.status).toBe(200)
    expect(lastBody().match(/Forty-two\./g)).toHaveLength(2)
  })

  test('may come without its type', async () => {
    const [, message] = await made()
    upstream.script(says('chat', { text: 'Yes.' }))
    const answer = await create('chat', {
      input: [{ role: 'user', content: 'x' }, { id: message }, { role: 'user', content: 'y' }],
    })
    expect(answer.status).toBe(200)
    expect(lastBody()).toContain('Forty-two.')
  })

  test('is kept as what it stands for, so that a conversation goes on from it', async () => {
    const [, message] = await made()
    upstream.script(says('chat', { text: 'Yes.' }), says('chat', { text: 'Still.' }))
    const answer = await create('chat', { input: [reference(message), { role: 'user', content: 'Sure?' }] })
    const on = await create('chat', { input: 'And now?', previous_response_id: answer.body['id'] })
    expect(on.status).toBe(200)
    for (const said of ['Forty-two.', 'Sure?', 'Yes.', 'And now?']) expect(lastBody()).toContain(said)
  })

  test('goes with a conversation that is continued', async () => {
    const [, message] = await made()
    upstream.script(says('chat', { text: 'First.' }), says('chat', { text: 'Second.' }))
    const first = await create('chat', { input: 'Begin.' })
    const answer = await create('chat', {
      input: [reference(message), { role: 'user', content: 'On.' }],
      previous_response_id: first.body['id'],
    })
    expect(answer.status).toBe(200)
    for (const said of ['Begin.', 'First.', 'Forty-two.', 'On.']) expect(lastBody()).toContain(said)
  })

  test('to an item made here is spelled out to an upstream of the same protocol, which does not know it', async () => {
    const [, message] = await made('gemini')
    upstream.script(says('responses', { text: 'Yes.' }))
    const answer = await create('responses', {
      input: [reference(message), { role: 'user', content: 'Sure?' }],
    })
    expect(answer.status).toBe(200)
    expect(lastBody()).toContain('Forty-two.')
    expect(lastBody()).not.toContain('item_reference')
  })

  test('to an item an upstream keeps goes to it as it came', async () => {
    upstream.script(says('responses', { text: 'Yes.' }))
    const body = {
      model: 'over-responses',
      input: [reference('msg_68ab'), { role: 'user', content: 'Sure?' }],
    }
    const answer = await create('responses', body)
    expect(answer.status).toBe(200)
    expect(upstream.requests.at(-1)?.json()).toEqual({ ...body, model: 'gpt-5.1' })
  })

  test('counts as what it stands for where tokens are counted', async () => {
    upstream.script(says('chat', { text: 'word '.repeat(2_000) }))
    const long = await create('chat', { input: 'x' })
    const [item] = long.body['output'] as { id: string }[]
    const counted = await postJson(
      `${gateway.baseUrl}/v1/responses/input_tokens`,
      { model: 'over-chat', input: [reference(item?.id), { role: 'user', content: 'x' }] },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(Number(counted.body['input_tokens'])).toBeGreaterThan(1_500)
  })

  test('to a very long item is read and spelled out', async () => {
    const long = `${'x'.repeat(400_000)} end`
    upstream.script(says('chat', { text: long }), says('chat', { text: 'Yes.' }))
    const first = await create('chat', { input: 'x' })
    const [item] = first.body['output'] as { id: string }[]
    const answer = await create('chat', { input: [reference(item?.id), { role: 'user', content: 'y' }] })
    expect(answer.status).toBe(200)
    expect(lastBody()).toContain(long)
  })
})

describe('an unknown item is refused with OpenAI’s own message', () => {
  test.each<[string, () => Promise<string>]>([
    ['an id nobody gave', () => Promise.resolve('rs_nobody')],
    ['an id in the form of those given here', () => Promise.resolve('msg_0198f0aa11_0')],
    [
      'one of an answer with store false',
      async () => (await made('chat', gateway.key, { store: false })).at(-1) ?? '',
    ],
    [
      "one of another key's answer",
      async () => {
        const other = await gateway.newKey(gateway.accountId)
        return (await made('chat', other.key)).at(-1) ?? ''
      },
    ],
    [
      'a place in a kept answer where no item is',
      async () => ((await made()).at(-1) ?? '').replace(/\d+$/, '9'),
    ],
  ])('%s', async (_what, id) => {
    const named = await id()
    const before = upstream.requests.length
    const answer = await create('messages', { input: [reference(named), { role: 'user', content: 'x' }] })
    expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
    expect(answer.body.error?.message).toContain(`Item with id '${named}' not found.`)
    expect(answer.body.error).toMatchObject({ details: { param: 'input', reason: 'item_not_found' } })
    expect(upstream.requests.length).toBe(before)
  })

  test('the upstream answers for what only it can know', async () => {
    const told = {
      error: {
        message: "Item with id 'rs_1' not found.",
        type: 'invalid_request_error',
        param: 'input',
        code: null,
      },
    }
    const notFound: Answerer = answerJson(told, 404)
    upstream.script(notFound)
    const answer = await create('responses', { input: [reference('rs_1')] })
    expect([answer.status, answer.body]).toEqual([404, told])
  })
})

test('what references stand for is bounded: a short request cannot become an endless one', async () => {
  upstream.script(says('chat', { text: 'x'.repeat(1_000_000) }))
  const first = await create('chat', { input: 'x' })
  const [item] = first.body['output'] as { id: string }[]
  const before = upstream.requests.length
  const answer = await create('chat', { input: Array.from({ length: 100 }, () => reference(item?.id)) })
  expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
  expect(answer.body.error?.message).toContain('too long')
  expect(upstream.requests.length).toBe(before)
})
