/** Signed reasoning on its way back: to a chain of its issuer, and left out once where the issuer cannot read it. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('either'),
    putChain({ model: 'either', vendor: 'acme', protocol: 'responses', forward: 'gpt-5.1', weight: 1_000 }),
    putChain({
      model: 'either',
      vendor: 'clay',
      protocol: 'messages',
      forward: 'claude-opus-4-6',
      weight: 1,
    }),
    putModel('worse'),
    putChain({ model: 'worse', vendor: 'acme', protocol: 'responses', forward: 'gpt-5.1', priority: 1 }),
    putChain({
      model: 'worse',
      vendor: 'clay',
      protocol: 'messages',
      forward: 'claude-opus-4-6',
      priority: 2,
    }),
    putModel('claude'),
    putChain({ model: 'claude', vendor: 'clay', protocol: 'messages', forward: 'claude-opus-4-6' }),
    putModel('gpt'),
    putChain({ model: 'gpt', vendor: 'acme', protocol: 'responses', forward: 'gpt-5.1' }),
    putModel('gemini'),
    putChain({ model: 'gemini', vendor: 'goo', protocol: 'gemini', forward: 'gemini-3-pro' }),
  ],
})

beforeAll(async () => {
  upstream.answer((request, response) => answerJson(answerAt(request.path))(request, response))
})

afterEach(() => gateway.resetHealth())

function answerAt(path: string): unknown {
  if (path.endsWith('/messages')) return CLAUDE
  return path.endsWith('/responses') ? GPT : GEMINI
}

const CLAUDE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [
    { type: 'thinking', thinking: 'deep', signature: 'c2lnbmVk' },
    { type: 'text', text: 'so it is' },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

const GPT = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'so it is', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}

const GEMINI = {
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [{ functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2lnbmVk' }],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

async function responses(model: string, input: readonly unknown[]): Promise<Answer> {
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
  return postJson(
    `${gateway.baseUrl}/v1/responses`,
    { model, input, tools, store: false, reasoning: { effort: 'high' } },
    { authorization: `Bearer ${gateway.key}` },
  )
}

const ASK = { role: 'user', content: 'why?' }

/** A history whose reasoning `model` has signed. */
async function historyOf(model: string): Promise<readonly unknown[]> {
  const { body } = await responses(model, [ASK])
  const output = body['output'] as readonly { type: string; call_id?: string }[]
  const results = output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'seen' }))
  return [ASK, ...output, ...(results.length > 0 ? results : [{ role: 'user', content: 'and?' }])]
}

function paths(from: number): readonly string[] {
  return upstream.requests.slice(from).map(({ path }) => path.split('/').at(-1) ?? '')
}

describe('a conversation with signed reasoning', () => {
  test('prefers a chain of its issuer among equal priorities, whatever weights and protocols say', async () => {
    const history = await historyOf('claude')
    const from = upstream.requests.length
    for (let time = 0; time < 5; time += 1) await responses('either', history)
    expect(paths(from)).toEqual(['messages', 'messages', 'messages', 'messages', 'messages'])
    expect(JSON.stringify(upstream.requests.at(-1)?.json())).toContain('"signature":"c2lnbmVk"')
    await responses('either', [ASK])
    expect(paths(from).at(-1)).toBe('responses')
  })

  test('does not go before a better priority', async () => {
    const history = await historyOf('claude')
    const from = upstream.requests.length
    await responses('worse', history)
    expect(paths(from)).toEqual(['responses'])
  })
})

describe('an upstream that cannot read it', () => {
  test.each([
    [
      'claude',
      'messages',
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
        },
      },
      'signature',
    ],
    [
      'gemini',
      'gemini-3-pro:generateContent',
      {
        error: {
          code: 400,
          message: 'Corrupted thought signature.',
          status: 'INVALID_ARGUMENT',
        },
      },
      'c2lnbmVk',
    ],
  ])('[%s] is asked once more without', async (model, last, refusal, word) => {
    const history = await historyOf(model)
    const from = upstream.requests.length
    upstream.script(answerJson(refusal, 400))
    const answer = await responses(model, history)
    expect(answer.status).toBe(200)
    expect(paths(from)).toEqual([last, last])
    const [first, second] = upstream.requests.slice(from).map(({ body }) => body.toString('utf8'))
    expect(first).toContain(word)
    expect(second).not.toContain(word)
    expect(answer.headers.get('gw-dropped-fields')).toContain('input')
    const log = await gateway.lastLog()
    expect(log.attempts.map(({ why, outcome }) => [why, outcome])).toEqual([
      ['priority', 'request'],
      ['retry', 'answered'],
    ])
  })

  test('[openai] is asked once more without, for a client of another protocol', async () => {
    const ask = { role: 'user', content: 'why?' }
    const chat = (messages: readonly unknown[]): Promise<Answer> =>
      postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        { model: 'gpt', messages },
        { authorization: `Bearer ${gateway.key}` },
      )
    const first = await chat([ask])
    const [choice] = first.body['choices'] as readonly { message: unknown }[]
    const from = upstream.requests.length
    upstream.script(
      answerJson(
        {
          error: {
            message: 'The encrypted content could not be verified.',
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_encrypted_content',
          },
        },
        400,
      ),
    )
    const answer = await chat([ask, choice?.message, { role: 'user', content: 'and?' }])
    expect(answer.status).toBe(200)
    const sent = upstream.requests.slice(from).map(({ body }) => body.toString('utf8'))
    expect(sent.map((body) => body.includes('c2VhbGVk'))).toEqual([true, false])
  })

  test('is asked twice at most, and its second answer is the answer', async () => {
    const history = await historyOf('claude')
    const from = upstream.requests.length
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message: 'bad `signature`' } }
    upstream.script(answerJson(refusal, 400), answerJson(refusal, 400))
    const answer = await responses('claude', history)
    expect([answer.status, answer.body.error?.message]).toEqual([400, 'bad `signature`'])
    expect(paths(from)).toHaveLength(2)
  })

  test('is not asked again where nothing signed was sent, or where it refused something else', async () => {
    const refusal = (message: string) =>
      answerJson({ type: 'error', error: { type: 'invalid_request_error', message } }, 400)
    const from = upstream.requests.length
    upstream.script(refusal('Invalid `signature` in `thinking` block'))
    expect((await responses('claude', [ASK])).status).toBe(400)
    expect(paths(from)).toHaveLength(1)
    const history = await historyOf('claude')
    const then = upstream.requests.length
    upstream.script(refusal('max_tokens is too large'))
    expect((await responses('claude', history)).status).toBe(400)
    expect(paths(then)).toHaveLength(1)
  })
})
