/** Rows of the contract that hold over every upstream protocol: statuses of a response, addresses, the stop parameter. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putGroup, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream, cutStream } from '../gateway/scripted-upstream.ts'
import { PROTOCOLS, type Protocol } from '../matrix/cells.ts'
import { type Said, says } from '../matrix/upstreams.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const UPSTREAMS: Readonly<Record<Protocol, readonly [kind: string, forward: string]>> = {
  chat: ['openai', 'gpt-4.1'],
  responses: ['openai', 'gpt-4.1'],
  messages: ['anthropic', 'claude-opus-4-1'],
  gemini: ['google', 'gemini-2.5-flash'],
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: () => [
    putGroup({ name: 'claude', protocol: 'messages', models: ['over-messages', 'over-chat'] }),
  ],
})

beforeAll(async () => {
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = UPSTREAMS[protocol]
    await gateway.catalogue(
      ...putVendor(protocol, upstream.url, { kind }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: protocol, protocol, forward }),
    )
  }
})

function post(path: string, body: object, at = gateway.baseUrl, key = gateway.key): Promise<Answer> {
  return postJson(`${at}${path}`, body, { authorization: `Bearer ${key}` })
}

function sent(): Readonly<Record<string, unknown>> {
  return upstream.requests.at(-1)?.json() as Readonly<Record<string, unknown>>
}

describe('the status of a response', () => {
  const ENDS: readonly (readonly [what: string, said: Said, status: string])[] = [
    ['an ordinary end', { text: 'ok' }, 'completed'],
    ['a call', { calls: [{ id: 'c', name: 'f', input: {} }] }, 'completed'],
    ['a limit', { text: 'ok', end: 'length' }, 'incomplete'],
  ]
  const CASES = PROTOCOLS.flatMap((over) =>
    ENDS.map(([what, said, status]) => ({ over, what, said, status })),
  )

  test.each(CASES)(
    'over $over: $what is $status, and before it in_progress [3-01]',
    async ({ over, said, status }) => {
      upstream.script(says(over, said))
      const whole = await post('/v1/responses', { model: `over-${over}`, input: 'hi' })
      expect(whole.body['status']).toBe(status)
      upstream.script(says(over, said))
      const streamed = await post('/v1/responses', { model: `over-${over}`, input: 'hi', stream: true })
      const told = [...streamed.text.matchAll(/"object":"response".*?"status":"(\w+)"/g)].map(
        ([, word]) => word,
      )
      expect(told).toEqual(['in_progress', 'in_progress', status])
    },
  )

  test.each(PROTOCOLS)('over %s: a stream that breaks is failed [3-01]', async (over) => {
    upstream.script(says(over, { text: 'Hello there', error: 'broken' }))
    const { text } = await post('/v1/responses', { model: `over-${over}`, input: 'hi', stream: true })
    const told = [...text.matchAll(/"object":"response".*?"status":"(\w+)"/g)].map(([, word]) => word)
    expect(told.at(-1)).toBe('failed')
    expect(new Set(told)).toEqual(new Set(['in_progress', 'failed']))
    await gateway.resetHealth()
  })

  test('an upstream that breaks off midway leaves a failed response, too [3-01]', async () => {
    upstream.script(cutStream([`data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n`]))
    const { text } = await post('/v1/responses', { model: 'over-chat', input: 'hi', stream: true })
    expect(text).toContain('"status":"failed"')
    await gateway.resetHealth()
  })
})

describe('tools that lie flat', () => {
  const TOOL = {
    type: 'function',
    name: 'get_weather',
    description: 'Tells the weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: false,
  }

  /** Name and description as each protocol has them. */
  const PLACES: Readonly<Record<Protocol, unknown>> = {
    chat: { type: 'function', function: { name: TOOL.name, description: TOOL.description } },
    responses: { type: 'function', name: TOOL.name, description: TOOL.description },
    messages: { name: TOOL.name, description: TOOL.description },
    gemini: { functionDeclarations: [{ name: TOOL.name, description: TOOL.description }] },
  }

  test.each(PROTOCOLS)(
    'over %s: the upstream is told the tool, and its call comes back flat [4.2-12]',
    async (over) => {
      upstream.script(says(over, { calls: [{ id: 'call_1', name: TOOL.name, input: { city: 'Bern' } }] }))
      const body = { model: `over-${over}`, input: 'Use the tool', tools: [TOOL] }
      const answer = await post('/v1/responses', body)
      expect(answer.status).toBe(200)
      expect(sent()['tools']).toMatchObject([PLACES[over]])
      expect(JSON.stringify(sent()['tools'])).toContain('"city"')
      const items = answer.body['output'] as readonly Readonly<Record<string, unknown>>[]
      const call = items.find(({ type }) => type === 'function_call')
      expect(call).toMatchObject({ name: TOOL.name, call_id: expect.stringMatching(/./) })
      expect(JSON.parse(String(call?.['arguments']))).toEqual({ city: 'Bern' })
    },
  )
})

describe('a stream of Gemini fragments', () => {
  interface Fragment {
    readonly candidates?: readonly {
      readonly content?: { readonly role?: string; readonly parts?: readonly { readonly text?: string }[] }
      readonly finishReason?: string
    }[]
    readonly usageMetadata?: { readonly totalTokenCount?: number }
  }
  const textOf = (fragments: readonly Fragment[]): string =>
    fragments
      .flatMap(({ candidates = [] }) => candidates[0]?.content?.parts ?? [])
      .map(({ text = '' }) => text)
      .join('')

  test.each(PROTOCOLS)('over %s, as events and as one list [D-addresses-28]', async (over) => {
    const path = `/v1beta/models/over-${over}:streamGenerateContent`
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
    upstream.script(says(over, { text: 'Hello there' }))
    const events = await post(`${path}?alt=sse`, body)
    expect([events.status, events.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
    ])
    const told = [...events.text.matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as Fragment,
    )
    // A Gemini upstream is asked for its own list, which is passed on.
    upstream.script(over === 'gemini' ? answerJson(told) : says(over, { text: 'Hello there' }))
    const list = await post(path, body)
    for (const fragments of [told, JSON.parse(list.text) as readonly Fragment[]]) {
      expect(textOf(fragments)).toBe('Hello there')
      const ends = fragments.flatMap(({ candidates }) => candidates?.[0]?.finishReason ?? [])
      expect(ends).toEqual(['STOP'])
      expect(fragments.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
      expect(fragments.at(-1)?.usageMetadata?.totalTokenCount).toBeGreaterThan(0)
    }
  })
})

describe('addresses', () => {
  test.each(PROTOCOLS)('POST /v1/responses answers at base_url over %s [4-07]', async (over) => {
    upstream.script(says(over, { text: 'ok' }))
    const answer = await post('/v1/responses', { model: `over-${over}`, input: 'hi' })
    expect([answer.status, answer.body['object']]).toEqual([200, 'response'])
  })

  test('POST /v1/messages/count_tokens answers at gateway_base_url [D-addresses-05]', async () => {
    const { key } = await gateway.newKey(gateway.accountId, { group: 'claude' })
    const body = { messages: [{ role: 'user', content: 'How many tokens are these?' }] }
    upstream.script(answerJson({ input_tokens: 42 }))
    const forwarded = await post(
      '/v1/messages/count_tokens',
      { model: 'over-messages', ...body },
      gateway.gatewayUrl,
      key,
    )
    expect([forwarded.status, forwarded.body['input_tokens']]).toEqual([200, 42])
    const counted = await post(
      '/v1/messages/count_tokens',
      { model: 'over-chat', ...body },
      gateway.gatewayUrl,
      key,
    )
    expect(counted.status).toBe(200)
    expect(Number(counted.body['input_tokens'])).toBeGreaterThan(4)
  })
})

describe('the stop parameter of chat', () => {
  const FOUR = ['ONE', 'TWO', 'THREE', 'FOUR']
  const PLACES: Readonly<
    Record<Exclude<Protocol, 'responses'>, (body: Readonly<Record<string, unknown>>) => unknown>
  > = {
    chat: (body) => body['stop'],
    messages: (body) => body['stop_sequences'],
    gemini: (body) => (body['generationConfig'] as { stopSequences?: unknown }).stopSequences,
  }

  async function ask(over: Protocol, stop: unknown, more: object = {}): Promise<Answer> {
    const messages = [{ role: 'user', content: 'count' }]
    return post('/v1/chat/completions', { model: `over-${over}`, messages, stop, ...more })
  }

  test.each(['chat', 'messages', 'gemini'] as const)(
    'a string reaches a %s upstream [4.1-19] [D-requests-25]',
    async (over) => {
      upstream.script(says(over, { text: 'ok' }))
      const answer = await ask(over, 'END')
      expect(answer.status).toBe(200)
      expect(PLACES[over](sent())).toEqual(over === 'chat' ? 'END' : ['END'])
      expect(answer.headers.get('gw-dropped-fields')).toBeNull()
    },
  )

  test.each(['chat', 'messages', 'gemini'] as const)(
    'a list of four reaches a %s upstream [4.1-19] [D-requests-26]',
    async (over) => {
      upstream.script(says(over, { text: 'ok' }))
      await ask(over, FOUR)
      expect(PLACES[over](sent())).toEqual(FOUR)
    },
  )

  test.each([
    ['a string [4.1-19] [D-requests-25]', 'END'],
    ['a list of four [4.1-19] [D-requests-26]', ['ONE', 'TWO', 'END', 'FOUR']],
  ])(
    '%s takes effect over a responses upstream, which has no such parameter: the gateway cuts',
    async (_what, stop) => {
      const said = { text: 'so far END and beyond' }
      upstream.script(says('responses', said))
      const whole = await ask('responses', stop)
      const [choice] = whole.body['choices'] as readonly {
        message: { content: string }
        finish_reason: string
      }[]
      expect([choice?.message.content, choice?.finish_reason]).toEqual(['so far ', 'stop'])
      expect(sent()).not.toHaveProperty('stop')
      expect(whole.headers.get('gw-dropped-fields')).toBeNull()
      upstream.script(says('responses', said))
      const streamed = await ask('responses', stop, { stream: true })
      const words = [...streamed.text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join('')
      expect(words).toBe('so far ')
      expect(streamed.text).toMatch(/"finish_reason":"stop"[^]*data: \[DONE\]\s*$/)
    },
  )

  test('a stream is cut although the words of the stop come in pieces [4.1-19]', async () => {
    const delta = (text: string): string =>
      `data: ${JSON.stringify({ type: 'response.output_text.delta', output_index: 0, item_id: 'm', content_index: 0, delta: text })}\n\n`
    upstream.script(answerStream(['so', ' E', 'N', 'D beyond'].map(delta)))
    const { text } = await ask('responses', 'END', { stream: true })
    const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join('')
    expect(words).toBe('so ')
    expect(text).toContain('data: [DONE]')
  })
})
