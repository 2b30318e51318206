/** Responses that are kept: continued, read again, listed and deleted, wherever they were made. */
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { TURN_BYTES_MAX } from '../../src/pipeline/instance/turn-keeper.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream, elsewhere } = await withGateway({
  upstreams: ['upstream', 'elsewhere'],
  catalogue: ({ upstream, elsewhere }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('other', elsewhere.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    putModel('talks-chat'),
    putChain({ model: 'talks-chat', vendor: 'acme', forward: 'gpt-4.1' }),
    putModel('talks-messages'),
    putChain({ model: 'talks-messages', vendor: 'clay', protocol: 'messages', forward: 'claude-opus-4-6' }),
    putModel('native'),
    putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1', priority: 2 }),
    putChain({ model: 'native', vendor: 'other', protocol: 'responses', forward: 'gpt-4.1' }),
    putModel('native-too'),
    putChain({ model: 'native-too', vendor: 'other', protocol: 'responses', forward: 'gpt-5.1' }),
    putGroup({ name: 'codex', protocol: 'responses', models: ['talks-chat'] }),
    putGroup({ name: 'claude', protocol: 'messages', models: ['talks-chat'] }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerByPath)
  elsewhere.answer(answerByPath)
})

let answers = 0

const answerByPath: Parameters<ScriptedUpstream['answer']>[0] = (request, response) => {
  answers += 1
  const { stream = false } = request.body.length === 0 ? {} : (request.json() as { stream?: boolean })
  if (request.path.endsWith('/messages')) return answerJson(messagesAnswer())(request, response)
  if (request.path.includes('/responses')) return answerJson(nativeAnswer())(request, response)
  return (stream ? answerStream(chatChunks()) : answerJson(chatAnswer()))(request, response)
}

function chatAnswer() {
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [
      { index: 0, message: { role: 'assistant', content: `answer ${answers}` }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }
}

function chatChunks(): readonly string[] {
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, ...choice }], ...more })}\n\n`
  return [
    chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
    chunk({ delta: { content: `answer ${answers}` }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ]
}

function messagesAnswer() {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [
      { type: 'thinking', thinking: 'deep', signature: 'c2lnbmVk' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}

function nativeAnswer() {
  return {
    id: `resp_up_${answers}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-4.1',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'native', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }
}

function bearer(key = gateway.key): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}

function create(body: object, key = gateway.key): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/responses`, { model: 'talks-chat', ...body }, bearer(key))
}

function read(id: unknown, below = '', key = gateway.key): Promise<Answer> {
  return get(`${gateway.baseUrl}/v1/responses/${String(id)}${below}`, bearer(key))
}

function remove(id: unknown, key = gateway.key): Promise<Answer> {
  return sendRaw(`${gateway.baseUrl}/v1/responses/${String(id)}`, { method: 'DELETE', headers: bearer(key) })
}

function sent(): { readonly messages?: readonly { role: string; content: unknown }[] } & Record<
  string,
  unknown
> {
  return upstream.requests.at(-1)?.json() as never
}

describe('a conversation over an upstream of another protocol', () => {
  test('goes on from the id of the answer, with everything said before', async () => {
    const first = await create({ input: 'one', instructions: 'be brief' })
    const second = await create({ input: 'two', previous_response_id: first.body['id'] })
    const third = await create({
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'three' }] }],
      instructions: 'be long',
      previous_response_id: second.body['id'],
    })
    expect(third.body['previous_response_id']).toBe(second.body['id'])
    expect(sent().messages?.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    const said = JSON.stringify(sent().messages)
    // The instructions of an earlier response do not carry over.
    expect(said).not.toContain('be brief')
    for (const word of ['be long', 'one', 'two', 'three']) expect(said).toContain(word)
    expect(sent()).not.toHaveProperty('previous_response_id')
  })

  test('may fork: two answers go on from one', async () => {
    const first = await create({ input: 'trunk' })
    for (const branch of ['left', 'right']) {
      await create({ input: branch, previous_response_id: first.body['id'] })
      expect(JSON.stringify(sent().messages)).toContain('trunk')
      expect(sent().messages).toHaveLength(3)
    }
  })

  test('goes on with the result of a call and the reasoning that led to it', async () => {
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
    const first = await create({ model: 'talks-messages', input: 'look at it', tools })
    await create({
      model: 'talks-messages',
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'seen' }],
      tools,
      previous_response_id: first.body['id'],
    })
    const { messages = [] } = sent()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'deep', signature: 'c2lnbmVk' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
    ])
    expect(JSON.stringify(messages[2])).toContain('seen')
  })

  test('goes over to a model of another protocol, and to one of its own', async () => {
    const first = await create({ input: 'begun in chat' })
    await create({ model: 'talks-messages', input: 'on', previous_response_id: first.body['id'] })
    expect(upstream.requests.at(-1)?.path).toMatch(/messages$/)
    expect(JSON.stringify(sent().messages)).toContain('begun in chat')
    const native = await create({ model: 'native', input: 'on', previous_response_id: first.body['id'] })
    const body = elsewhere.requests.at(-1)?.json() as { input: unknown; previous_response_id?: string }
    expect(JSON.stringify(body.input)).toContain('begun in chat')
    expect(body).toMatchObject({ store: false })
    expect(body.previous_response_id).toBeUndefined()
    // The answer is the gateway's to keep then.
    expect((await read(native.body['id'])).body['id']).toBe(native.body['id'])
  })

  test('a stream is kept when it has ended', async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const stream = client.responses.stream({ model: 'talks-chat', input: 'streamed' })
    const final = await stream.finalResponse()
    const again = await client.responses.retrieve(final.id)
    expect(again.output_text).toBe(final.output_text)
    const next = await client.responses.create({
      model: 'talks-chat',
      input: 'next',
      previous_response_id: final.id,
    })
    expect(next.previous_response_id).toBe(final.id)
    expect(JSON.stringify(sent().messages)).toContain('streamed')
    await client.responses.delete(final.id)
    await expect(client.responses.retrieve(final.id)).rejects.toMatchObject({ status: 404 })
  })

  test('what is continued counts as input: it is held, and counted by input_tokens', async () => {
    const first = await create({ input: 'word '.repeat(2_000) })
    const asked = { model: 'talks-chat', input: 'on', previous_response_id: first.body['id'] }
    const counted = await postJson(`${gateway.baseUrl}/v1/responses/input_tokens`, asked, bearer())
    expect(Number(counted.body['input_tokens'])).toBeGreaterThan(1_500)
  })
})

describe('what is not there', () => {
  test.each([
    ['an id nobody gave', async () => 'resp_nobody'],
    ['an answer with store false', async () => (await create({ input: 'x', store: false })).body['id']],
    [
      'an answer that was deleted',
      async () => {
        const { body } = await create({ input: 'x' })
        expect((await remove(body['id'])).body).toEqual({ id: body['id'], object: 'response', deleted: true })
        return body['id']
      },
    ],
    [
      "another key's answer",
      async () => {
        const other = await gateway.newKey(gateway.accountId)
        return (await create({ input: 'x' }, other.key)).body['id']
      },
    ],
  ])('%s: 404 when read, listed or deleted, 400 when continued', async (_what, make) => {
    const id = await make()
    for (const answer of [await read(id), await read(id, '/input_items'), await remove(id)]) {
      expect([answer.status, answer.body.error?.code]).toEqual([404, '40400'])
      expect(answer.body.error?.message).toContain(String(id))
    }
    const before = upstream.requests.length
    const continued = await create({ input: 'on', previous_response_id: id })
    expect([continued.status, continued.body.error?.code]).toEqual([400, '40000'])
    expect(continued.body.error).toMatchObject({ details: { param: 'previous_response_id' } })
    expect(upstream.requests.length).toBe(before)
  })

  test('a conversation one of whose turns was deleted says which', async () => {
    const first = await create({ input: 'one' })
    const second = await create({ input: 'two', previous_response_id: first.body['id'] })
    await remove(first.body['id'])
    const third = await create({ input: 'three', previous_response_id: second.body['id'] })
    expect(third.status).toBe(400)
    expect(third.body.error?.message).toContain(String(first.body['id']))
  })

  test('an answer that failed or was cut is not kept', async () => {
    upstream.script(answerStream(chatChunks().slice(0, 2)))
    const answer = await create({ input: 'cut', stream: true })
    const [, id] = /"id":"(resp_[^"]+)"/.exec(answer.text) ?? []
    expect(answer.text).toContain('response.failed')
    expect((await read(id)).status).toBe(404)
  })

  test('a request too large to keep is answered, and says that it is not kept', async () => {
    const big = 'x'.repeat(TURN_BYTES_MAX)
    const answer = await create({ input: big })
    expect(answer.status).toBe(200)
    expect(answer.body['store']).toBe(false)
    expect((await read(answer.body['id'])).status).toBe(404)
  })
})

describe('a kept response', () => {
  test('comes back as it was given', async () => {
    const made = await create({ input: 'hello', metadata: { a: 'b' } })
    const again = await read(made.body['id'])
    expect(again.status).toBe(200)
    expect(again.body).toEqual(made.body)
  })

  test('its input is listed in pages, either way', async () => {
    const input = ['a', 'b', 'c', 'd', 'e'].map((text) => ({ role: 'user', content: text }))
    const made = await create({ input })
    const texts = (answer: Answer) =>
      (answer.body.data as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text)
    const first = await read(made.body['id'], '/input_items?limit=2&order=asc')
    expect(first.body).toMatchObject({ object: 'list', has_more: true })
    expect(texts(first)).toEqual(['a', 'b'])
    const rest = await read(
      made.body['id'],
      `/input_items?limit=10&order=asc&after=${String(first.body['last_id'])}`,
    )
    expect(rest.body['has_more']).toBe(false)
    expect(texts(rest)).toEqual(['c', 'd', 'e'])
    expect(texts(await read(made.body['id'], '/input_items'))).toEqual(['e', 'd', 'c', 'b', 'a'])
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
    const all: string[] = []
    for await (const item of client.responses.inputItems.list(String(made.body['id']), { limit: 2 })) {
      if (item.type === 'message') all.push(item.role)
    }
    expect(all).toHaveLength(5)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['order=sideways', 'order'],
    ['after=nobody', 'after'],
  ])('a page of %s is refused by name', async (query, name) => {
    const made = await create({ input: 'x' })
    const answer = await read(made.body['id'], `/input_items?${query}`)
    expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
    expect(answer.body.error?.message).toContain(name)
  })

  test('wrong methods are 405 and name the right ones', async () => {
    const answer = await postJson(`${gateway.baseUrl}/v1/responses/resp_1`, {}, bearer())
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, DELETE'])
  })

  test('needs a key, as every call does', async () => {
    const made = await create({ input: 'x' })
    expect((await get(`${gateway.baseUrl}/v1/responses/${String(made.body['id'])}`)).status).toBe(401)
  })
})

describe('at the gateway address', () => {
  test('a key bound to a responses group creates, continues, reads, lists and deletes', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { group: 'codex' })
    const url = `${gateway.gatewayUrl}/v1/responses`
    const made = await postJson(url, { model: 'talks-chat', input: 'x' }, bearer(key))
    const id = String(made.body['id'])
    const next = await postJson(
      url,
      { model: 'talks-chat', input: 'y', previous_response_id: id },
      bearer(key),
    )
    expect(next.status).toBe(200)
    expect((await get(`${url}/${id}`, bearer(key))).status).toBe(200)
    expect((await get(`${url}/${id}/input_items`, bearer(key))).status).toBe(200)
    expect((await sendRaw(`${url}/${id}`, { method: 'DELETE', headers: bearer(key) })).status).toBe(200)
  })

  test.each([undefined, 'claude'])('a key of the group %s is refused', async (group) => {
    const { key } = await gateway.newKey(gateway.accountId, { group })
    const answer = await get(`${gateway.gatewayUrl}/v1/responses/resp_1`, bearer(key))
    expect([answer.status, answer.body.error?.code]).toEqual([403, '40301'])
  })
})

describe('over a responses upstream', () => {
  test('the id goes up untouched, and only to the account that gave it', async () => {
    const first = await create({ model: 'native', input: 'one' })
    expect(first.body['id']).toMatch(/^resp_up_/)
    // The account that answered has become the worse choice.
    await gateway.catalogue(
      putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1', priority: 1 }),
      putChain({ model: 'native', vendor: 'other', protocol: 'responses', forward: 'gpt-4.1', priority: 2 }),
    )
    const before = upstream.requests.length
    const second = await create({ model: 'native', input: 'two', previous_response_id: first.body['id'] })
    expect(second.status).toBe(200)
    expect(upstream.requests.length).toBe(before)
    expect(elsewhere.requests.at(-1)?.json()).toEqual({
      model: 'gpt-4.1',
      input: 'two',
      previous_response_id: first.body['id'],
    })
    const log = await gateway.lastLog()
    expect(log.attempts[0]?.skipped).toEqual([expect.objectContaining({ reason: 'kept-elsewhere' })])
    // Another model of the same account may go on, one of another account cannot.
    const third = await create({
      model: 'native-too',
      input: 'three',
      previous_response_id: second.body['id'],
    })
    expect(third.status).toBe(200)
    const lost = await create({ input: 'four', previous_response_id: second.body['id'] })
    expect([lost.status, lost.body.error?.code]).toEqual([400, '40000'])
  })

  test('a failing account is not replaced by one that knows nothing of it', async () => {
    const first = await create({ model: 'native-too', input: 'one' })
    elsewhere.script(answerJson({ error: { message: 'busy', type: 'server_error' } }, 503))
    const second = await create({ model: 'native', input: 'two', previous_response_id: first.body['id'] })
    expect([second.status, second.body.error?.message]).toEqual([503, 'busy'])
    await gateway.resetHealth()
  })

  test('reading, listing and deleting are asked there, with its credential', async () => {
    const made = await create({ model: 'native-too', input: 'one' })
    const id = String(made.body['id'])
    const again = await read(id, '?include=reasoning.encrypted_content')
    expect(again.status).toBe(200)
    expect(again.body['model']).toBe('native-too')
    const asked = elsewhere.requests.at(-1)
    expect([asked?.method, asked?.path, asked?.query]).toEqual([
      'GET',
      `/responses/${id}`,
      'include=reasoning.encrypted_content',
    ])
    expect(asked?.headers.authorization).toBe('Bearer secret-of-other-main')
    await read(id, '/input_items?limit=3')
    expect(elsewhere.requests.at(-1)?.path).toBe(`/responses/${id}/input_items`)
    const stranger = await gateway.newKey(gateway.accountId)
    expect((await read(id, '', stranger.key)).status).toBe(404)
    expect((await remove(id)).status).toBe(200)
    expect(elsewhere.requests.at(-1)?.method).toBe('DELETE')
    const count = elsewhere.requests.length
    expect((await read(id)).status).toBe(404)
    expect(elsewhere.requests.length).toBe(count)
  })

  test("the upstream's own error comes through, a refused credential does not", async () => {
    const made = await create({ model: 'native-too', input: 'one' })
    elsewhere.script(answerJson({ error: { message: 'gone', type: 'invalid_request_error' } }, 404))
    const gone = await read(made.body['id'])
    expect([gone.status, gone.body.error?.message]).toEqual([404, 'gone'])
    elsewhere.script(answerJson({ error: { message: 'bad key' } }, 401))
    const refused = await read(made.body['id'])
    expect([refused.status, refused.body.error?.code]).toEqual([502, '50201'])
  })

  test('store false leaves no pin', async () => {
    const made = await create({ model: 'native', input: 'one', store: false })
    expect((await read(made.body['id'])).status).toBe(404)
  })
})
