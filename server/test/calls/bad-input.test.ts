/**
 * What no client should send, from every client protocol to every upstream it is converted for: a clear 400 in the
 * client's own error shape where it cannot mean anything, otherwise the upstream's answer; never a crash or a hang.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type ProtocolName as Name, PROTOCOLS } from '../gateway/answers.ts'
import { type EveryUpstream, openEveryUpstream } from '../gateway/every-upstream.ts'
import { type TestGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'

type Fields = Readonly<Record<string, unknown>>

let world: EveryUpstream
let gateway: TestGateway

beforeAll(async () => {
  world = await openEveryUpstream()
  const { upstream } = world
  gateway = world.gateway
  await gateway.catalogue(
    ...putVendor('blind', upstream.url, { kind: 'deepseek' }),
    putModel('blind'),
    putChain({ model: 'blind', vendor: 'blind', forward: 'deepseek-chat' }),
  )
  upstream.answer((request, response) => {
    upstream.requests.length = 0
    return answerJson(answerAt(request.path))(request, response)
  })
})

afterAll(() => world.close())

function answerAt(path: string): unknown {
  if (path.includes('generateContent')) {
    return {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    }
  }
  if (path.endsWith('/messages')) {
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
  }
  if (path.endsWith('/responses')) {
    const content = [{ type: 'output_text', text: 'ok', annotations: [] }]
    return {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
    }
  }
  return {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  }
}

async function ask(client: Name, model: string, body: Fields | string): Promise<Answer> {
  const headers = { authorization: `Bearer ${gateway.key}` }
  const named = (fields: Fields): Fields => ({ model, ...fields })
  switch (client) {
    case 'chat':
      return postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        typeof body === 'string' ? body : named(body),
        headers,
      )
    case 'responses':
      return postJson(
        `${gateway.baseUrl}/v1/responses`,
        typeof body === 'string' ? body : named(body),
        headers,
      )
    case 'messages':
      return postJson(
        `${gateway.baseUrl}/v1/messages`,
        typeof body === 'string' ? body : named({ max_tokens: 100, ...body }),
        headers,
      )
    case 'gemini':
      return postJson(`${gateway.baseUrl}/v1beta/models/${model}:generateContent`, body, headers)
  }
}

/** `refused`: 400/40000 whatever the upstream; `answered`: it has a meaning; `either`: the upstream decides. */
type Wanted = 'refused' | 'answered' | 'either'

interface Bad {
  readonly what: string
  readonly wanted: Wanted
  readonly bodies: Readonly<Partial<Record<Name, Fields>>>
}

const HI = { role: 'user', content: 'hi' }
const chatCall = (id: string, args = '{}'): Fields => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})
const chatTurn = (...calls: readonly Fields[]): Fields => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})
const userParts = (...parts: readonly unknown[]): Fields => ({ contents: [{ role: 'user', parts }] })

let deep: unknown = 'end'
for (let level = 0; level < 2_000; level += 1) deep = level % 2 === 0 ? { a: deep } : [deep]
const MEGABYTES = 'long '.repeat(600_000)
const TURNS = Array.from({ length: 10_000 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `message ${index}`,
}))
const WIDE = Array.from({ length: 130_000 }, () => ({ type: 'text', text: 'x' }))
/** No dialect can say it: a reference to itself without an end, and a type that is none. */
const HOPELESS = { $ref: '#', allOf: [{ $ref: '#' }], type: 'unreadable' }

const TABLE: readonly Bad[] = [
  {
    what: 'a tool result without its call',
    wanted: 'refused',
    bodies: {
      chat: { messages: [HI, { role: 'tool', tool_call_id: 'nobody', content: 'x' }] },
      responses: { input: [{ type: 'function_call_output', call_id: 'nobody', output: 'x' }] },
      messages: {
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'nobody', content: 'x' }] }],
      },
    },
  },
  {
    what: 'a call that nobody answered',
    wanted: 'either',
    bodies: {
      chat: { messages: [HI, chatTurn(chatCall('c1')), HI] },
      responses: { input: [HI, { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }, HI] },
      messages: {
        messages: [
          HI,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
          HI,
        ],
      },
      gemini: {
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          { role: 'user', parts: [{ text: 'hi' }] },
        ],
      },
    },
  },
  {
    what: 'two calls of one id',
    wanted: 'refused',
    bodies: {
      chat: { messages: [HI, chatTurn(chatCall('c1'), chatCall('c1'))] },
      responses: {
        input: [
          HI,
          ...['a', 'b'].map((name) => ({ type: 'function_call', call_id: 'c1', name, arguments: '{}' })),
        ],
      },
      messages: {
        messages: [
          HI,
          {
            role: 'assistant',
            content: ['a', 'b'].map((name) => ({ type: 'tool_use', id: 'c1', name, input: {} })),
          },
        ],
      },
    },
  },
  {
    what: 'nothing said at all',
    wanted: 'refused',
    bodies: {
      chat: { messages: [] },
      responses: { input: [] },
      messages: { messages: [] },
      gemini: { contents: [] },
    },
  },
  {
    what: 'empty content',
    wanted: 'either',
    bodies: {
      chat: { messages: [{ role: 'user', content: '' }] },
      responses: { input: [{ role: 'user', content: [] }] },
      messages: { messages: [{ role: 'user', content: [] }] },
      gemini: userParts(),
    },
  },
  {
    what: 'a conversation that is none',
    wanted: 'refused',
    bodies: {
      chat: { messages: 'hi' },
      responses: { input: 7 },
      messages: { messages: { role: 'user' } },
      gemini: { contents: 7 },
    },
  },
  {
    what: 'messages that are no objects',
    wanted: 'refused',
    bodies: {
      chat: { messages: [null, 1, 'x'] },
      responses: { input: [null] },
      messages: { messages: ['hi'] },
      gemini: { contents: [null] },
    },
  },
  {
    what: 'invalid tool arguments',
    wanted: 'answered',
    bodies: {
      chat: {
        messages: [
          HI,
          chatTurn(chatCall('c1', '{not json')),
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      },
      responses: {
        input: [
          HI,
          { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{not json' },
          { type: 'function_call_output', call_id: 'c1', output: 'x' },
        ],
      },
    },
  },
  {
    what: 'an unknown role',
    wanted: 'refused',
    bodies: {
      chat: { messages: [{ role: 'wizard', content: 'hi' }] },
      responses: { input: [{ role: 'wizard', content: 'hi' }] },
      messages: { messages: [{ role: 'wizard', content: 'hi' }] },
      gemini: { contents: [{ role: 'wizard', parts: [{ text: 'hi' }] }] },
    },
  },
  {
    what: 'an unknown part',
    wanted: 'either',
    bodies: {
      chat: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'hologram', x: 1 },
              { type: 'text', text: 'hi' },
            ],
          },
        ],
      },
      responses: {
        input: [{ role: 'user', content: [{ type: 'input_hologram' }, { type: 'input_text', text: 'hi' }] }],
      },
      messages: {
        messages: [{ role: 'user', content: [{ type: 'hologram' }, { type: 'text', text: 'hi' }] }],
      },
      gemini: userParts({ hologram: {} }, { text: 'hi' }),
    },
  },
  {
    what: '10 000 messages',
    wanted: 'answered',
    bodies: {
      chat: { messages: [...TURNS, HI] },
      responses: { input: [...TURNS, HI] },
      messages: { messages: [...TURNS, HI] },
      gemini: {
        contents: [...TURNS, HI].map(({ role, content }) => ({
          role: role === 'user' ? 'user' : 'model',
          parts: [{ text: content }],
        })),
      },
    },
  },
  {
    what: '130 000 parts of one message',
    wanted: 'answered',
    bodies: {
      chat: { messages: [{ role: 'user', content: WIDE }] },
      responses: { input: [{ role: 'user', content: WIDE.map(() => ({ type: 'input_text', text: 'x' })) }] },
      messages: { messages: [{ role: 'user', content: WIDE }] },
      gemini: userParts(...WIDE.map(() => ({ text: 'x' }))),
    },
  },
  {
    what: 'deep nesting in a place that is read',
    wanted: 'either',
    bodies: {
      chat: { messages: [HI], tools: [{ type: 'function', function: { name: 'f', parameters: deep } }] },
      responses: { input: 'hi', tools: [{ type: 'function', name: 'f', parameters: deep }] },
      messages: { messages: [HI], tools: [{ name: 'f', input_schema: deep }] },
      gemini: {
        ...userParts({ text: 'hi' }),
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: deep }] }],
      },
    },
  },
  {
    what: 'deep nesting in tool input and results',
    wanted: 'either',
    bodies: {
      messages: {
        messages: [
          HI,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: { deep } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: deep }] },
        ],
      },
      gemini: {
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ functionCall: { name: 'f', args: { deep } } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'f', response: { deep } } }] },
        ],
      },
    },
  },
  {
    what: 'lone surrogates and control characters',
    wanted: 'answered',
    bodies: {
      chat: { messages: [{ role: 'user', content: '\ud83d \udc00 \u0000 \ufffe' }] },
      responses: { input: '\ud83d \udc00 \u0000 \ufffe' },
      messages: { messages: [{ role: 'user', content: '\ud83d \udc00 \u0000 \ufffe' }] },
      gemini: userParts({ text: '\ud83d \udc00 \u0000 \ufffe' }),
    },
  },
  {
    what: 'three megabytes in one string',
    wanted: 'answered',
    bodies: {
      chat: { messages: [{ role: 'user', content: MEGABYTES }] },
      responses: { input: MEGABYTES },
      messages: { messages: [{ role: 'user', content: MEGABYTES }] },
      gemini: userParts({ text: MEGABYTES }),
    },
  },
  {
    what: 'a schema no dialect accepts',
    wanted: 'either',
    bodies: {
      chat: {
        messages: [HI],
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: HOPELESS } },
        tools: [{ type: 'function', function: { name: 'f', parameters: HOPELESS } }],
      },
      responses: {
        input: 'hi',
        text: { format: { type: 'json_schema', name: 'x', schema: HOPELESS } },
        tools: [{ type: 'function', name: 'f', parameters: HOPELESS }],
      },
      messages: {
        messages: [HI],
        output_config: { format: { type: 'json_schema', schema: HOPELESS } },
        tools: [{ name: 'f', input_schema: HOPELESS }],
      },
      gemini: {
        ...userParts({ text: 'hi' }),
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: HOPELESS },
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: HOPELESS }] }],
      },
    },
  },
  {
    what: 'a schema that is no schema',
    wanted: 'refused',
    bodies: {
      chat: {
        messages: [HI],
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: 'no' } },
      },
      responses: { input: 'hi', text: { format: { type: 'json_schema', name: 'x', schema: 7 } } },
    },
  },
  {
    what: 'settings of a wrong type',
    wanted: 'refused',
    bodies: {
      chat: { messages: [HI], temperature: 'hot' },
      responses: { input: 'hi', max_output_tokens: 'many' },
      messages: { messages: [HI], temperature: {} },
      gemini: { ...userParts({ text: 'hi' }), generationConfig: { stopSequences: 'END' } },
    },
  },
  {
    what: 'a tool without a name',
    wanted: 'refused',
    bodies: {
      chat: { messages: [HI], tools: [{ type: 'function', function: {} }] },
      responses: { input: 'hi', tools: [{ type: 'function' }] },
      messages: { messages: [HI], tools: [{ input_schema: {} }] },
      gemini: { ...userParts({ text: 'hi' }), tools: [{ functionDeclarations: [{}] }] },
    },
  },
  {
    what: 'a choice of a tool that is not there',
    wanted: 'refused',
    bodies: {
      chat: { messages: [HI], tool_choice: { type: 'function', function: { name: 'ghost' } } },
      responses: { input: 'hi', tool_choice: { type: 'function', name: 'ghost' } },
      messages: { messages: [HI], tool_choice: { type: 'tool', name: 'ghost' } },
    },
  },
]

const CELLS = TABLE.flatMap((row) =>
  PROTOCOLS.flatMap((client) =>
    row.bodies[client] === undefined
      ? []
      : PROTOCOLS.filter((over) => over !== client).map((over) => ({ client, over, ...row })),
  ),
)

describe('bad input', () => {
  test.each(CELLS)('$client → $over: $what ($wanted)', async ({ client, over, wanted, bodies }) => {
    const answer = await ask(client, `over-${over}`, bodies[client] ?? {})
    if (wanted === 'refused') expect(answer.status).toBe(400)
    if (wanted === 'answered') expect(answer.status).toBe(200)
    expect([200, 400]).toContain(answer.status)
    if (answer.status === 400) {
      expect(answer.body).toMatchObject({
        code: 40000,
        error: { type: 'gateway_error', code: '40000', message: expect.stringMatching(/\w/) },
      })
      if (client === 'messages') expect(answer.body['type']).toBe('error')
      expect(answer.text.length).toBeLessThan(2_000)
    }
  })

  test.each([
    ['chat', { messages: [{ role: 'user', content: [picture()] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PIXEL() }] }] }],
    ['messages', { messages: [{ role: 'user', content: [messagesPicture()] }] }],
    ['gemini', userParts({ inlineData: { mimeType: 'image/png', data: 'aGk=' } })],
  ] as const)('%s: an image to a model without eyes', async (client, body) => {
    const answer = await ask(client, 'blind', body)
    // The same protocol passes: the upstream's own answer then.
    expect(answer.status).toBe(client === 'chat' ? 200 : 400)
    if (client !== 'chat') expect(answer.body.error?.message).toMatch(/images/)
  })

  test.each(PROTOCOLS)('%s: what is no JSON is refused before anything else', async (client) => {
    for (const text of ['', '[]', '"x"', '{', '{"a":1}}', '\ufeff{}']) {
      const answer = await ask(client, 'over-chat', text)
      expect([answer.status, ['40000', '40002'].includes(answer.body.error?.code ?? '')]).toEqual([400, true])
    }
  })

  test('everything works as before', async () => {
    for (const client of PROTOCOLS) {
      const body = { messages: [HI], input: 'hi', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
      expect((await ask(client, 'over-messages', body)).status).toBe(200)
    }
  })
})

function PIXEL(): string {
  return 'data:image/png;base64,aGk='
}

function picture(): Fields {
  return { type: 'image_url', image_url: { url: PIXEL() } }
}

function messagesPicture(): Fields {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
}
