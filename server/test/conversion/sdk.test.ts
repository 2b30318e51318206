/** The official SDKs, unchanged, over real sockets: plain and streamed calls, tools, every class of error, aborts. */
import Anthropic from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, cutStream, type ScriptedUpstream, staySilent } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let openai: OpenAI
let anthropic: Anthropic
let google: GoogleGenAI

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('sandbox', 'http://sandbox.invalid', { kind: 'sandbox' }),
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    ...['sandbox-chat', 'sandbox-reasoning'].flatMap((model) => [
      putModel(model),
      ...PROTOCOLS.map((protocol) => putChain({ model, vendor: 'sandbox', protocol, forward: model })),
    ]),
    ...putVendor('hasty', upstream.url, { timeouts: { firstByteMs: 300 } }),
    putModel('silent'),
    putChain({ model: 'silent', vendor: 'hasty' }),
    putModel('real'),
    putChain({ model: 'real', vendor: 'acme', protocol: 'chat' }),
    putChain({ model: 'real', vendor: 'acme', protocol: 'responses' }),
    putChain({ model: 'real', vendor: 'clay', protocol: 'messages' }),
    putChain({ model: 'real', vendor: 'goo', protocol: 'gemini' }),
  ],
})

beforeAll(async () => {
  openai = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: gateway.baseUrl, authToken: gateway.key, apiKey: null, maxRetries: 0 })
  google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.baseUrl } })
})

const USER = [{ role: 'user' as const, content: 'Hello' }]
const WEATHER = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}

describe('the openai package, chat completions', () => {
  test('a plain call [4.1-04] [4.1-11] [2.3-01] [2.3-02] [2.3-03] [2.3-04] [2.3-06] [2.3-07] [2.3-08] [2.3-09] [2.3-19] [2.3-20] [2.3-21]', async () => {
    const answer = await openai.chat.completions.create({ model: 'sandbox-chat', messages: USER })
    expect(answer.object).toBe('chat.completion')
    expect(answer.id).not.toBe('')
    expect(String(answer.created)).toMatch(/^\d{10}$/)
    expect(answer.model).toBe('sandbox-chat')
    const [choice] = answer.choices
    expect(choice?.index).toBe(0)
    expect(choice?.message.role).toBe('assistant')
    expect(choice?.message.content).toContain('Hello')
    expect(choice?.message.tool_calls).toBeUndefined()
    const { usage } = answer
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
    // [2.3-22] usage matches what the gateway bills
    const log = await gateway.lastLog()
    expect([log.usage.input, log.usage.output]).toEqual([usage?.prompt_tokens, usage?.completion_tokens])
  })

  test('streamed, through the SDK’s own accumulator [1-62] [4.1-12] [4.1-37] [2.3-23] [2.3-24] [2.3-25] [6.1-02]', async () => {
    const stream = openai.chat.completions.stream({ model: 'sandbox-chat', messages: USER })
    const kinds = new Set<string>()
    for await (const chunk of stream) {
      kinds.add(chunk.object)
      expect(chunk.model).toBe('sandbox-chat')
    }
    expect([...kinds]).toEqual(['chat.completion.chunk'])
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content).toContain('Hello')
    expect(final.choices[0]?.finish_reason).toBe('stop')
  })

  test('a tool is called, its result is answered [4.1-20] [4.1-34] [4.1-35] [2.3-10] [2.3-11] [2.3-12] [2.3-13] [2.3-18]', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'get_weather', description: 'weather', parameters: WEATHER },
      },
    ]
    const first = await openai.chat.completions.create({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Use the tool' }],
      tools,
      tool_choice: 'required',
    })
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    const message = first.choices[0]?.message
    const call = message?.tool_calls?.[0]
    if (message === undefined || call?.type !== 'function') throw new Error('no tool call came')
    expect(call.id).not.toBe('')
    expect(call.function.name).toBe('get_weather')
    expect(typeof call.function.arguments).toBe('string')
    const second = await openai.chat.completions.create({
      model: 'sandbox-chat',
      messages: [
        { role: 'user', content: 'Use the tool' },
        message,
        { role: 'tool', tool_call_id: call.id, content: 'sunny' },
      ],
      tools,
    })
    expect(second.choices[0]?.message.content).not.toBe('')
  })

  test.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('an upstream %i raises the SDK’s own typed error', async (status, kind) => {
    upstream.answer(
      answerJson(
        { error: { message: 'upstream says no', type: 'some_error', code: null, param: null } },
        status,
      ),
    )
    const error = await openai.chat.completions
      .create({ model: 'real', messages: USER })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(kind)
    expect(String(error)).toContain('upstream says no')
    await gateway.resetHealth()
  })

  test('the gateway’s own refusals raise typed errors with the request id', async () => {
    const stranger = new OpenAI({
      baseURL: `${gateway.baseUrl}/v1`,
      apiKey: 'sk-gateway-nobody',
      maxRetries: 0,
    })
    const error = await stranger.chat.completions
      .create({ model: 'real', messages: USER })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    if (!(error instanceof OpenAI.APIError)) throw new Error('not an API error')
    expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/)
    const denied = await gateway.newKey(gateway.accountId, { expiresAt: undefined, ipAllow: ['10.0.0.0/8'] })
    const elsewhere = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: denied.key, maxRetries: 0 })
    await expect(elsewhere.chat.completions.create({ model: 'real', messages: USER })).rejects.toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    )
  })

  test('a broken stream raises, it never ends as if it were whole', async () => {
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta }] })}\n\n`
    upstream.answer(cutStream([chunk({ role: 'assistant' }), chunk({ content: 'Hel' })]))
    const stream = await openai.chat.completions.create({ model: 'real', messages: USER, stream: true })
    const read = async (): Promise<void> => {
      for await (const part of stream) expect(part.object).toBe('chat.completion.chunk')
    }
    await expect(read()).rejects.toThrow()
    await gateway.resetHealth()
  })

  test('an aborted stream stops the upstream and charges what was produced [8-38]', async () => {
    const { upstreamClosed } = streamForever(upstream)
    const stream = await openai.chat.completions.create({ model: 'real', messages: USER, stream: true })
    for await (const part of stream) {
      if (part.choices[0]?.delta.content !== undefined) break
    }
    stream.controller.abort()
    await upstreamClosed
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ clientGone: true, ending: 'client-gone', usageSource: 'estimated' })
    expect((log.usage.output ?? 0) > 0 && log.amount > 0n).toBe(true)
  })

  test('a time-out is a 504 the SDK knows as a server error', async () => {
    upstream.answer(staySilent)
    const error = await openai.chat.completions
      .create({ model: 'silent', messages: USER })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    await gateway.resetHealth()
  })

  test('models.list shows what the key may call [D-addresses-22] [D-addresses-24]', async () => {
    const ids: string[] = []
    for await (const model of openai.models.list()) ids.push(model.id)
    expect(ids).toEqual(expect.arrayContaining(['sandbox-chat', 'real']))
  })
})

describe('the openai package, responses', () => {
  test('a plain call [1-05] [1-16] [4.2-02] [4.2-09] [4.2-18] [2.4-01] [2.4-02] [2.4-03] [2.4-04] [2.4-08] [2.4-09] [2.4-10] [2.4-13] [2.4-14] [2.4-15] [2.4-16] [2.4-17] [2.4-18]', async () => {
    const answer = await openai.responses.create({ model: 'sandbox-chat', input: 'Hello' })
    expect(answer).toMatchObject({ object: 'response', status: 'completed', model: 'sandbox-chat' })
    expect(answer.id).toMatch(/^resp_[\w-]+$/)
    expect(String(answer.created_at)).toMatch(/^\d{10}$/)
    expect(answer.output_text).toContain('Hello')
    const message = answer.output.find((item) => item.type === 'message')
    expect(message).toMatchObject({ role: 'assistant', content: [{ type: 'output_text' }] })
    expect(message?.id).toMatch(/^msg_/)
    const { usage } = answer
    expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0))
  })

  test('streamed, through the SDK’s own accumulator [1-63] [4.2-10] [2.4-05] [2.4-12] [2.4-20] [6.2-01] [6.2-02] [6.2-04] [6.2-05] [6.2-07] [6.2-08] [6.2-09] [6.2-11] [D-requests-43] [D-requests-44] [D-requests-45]', async () => {
    const stream = openai.responses.stream({ model: 'sandbox-reasoning', input: 'Hello' })
    const types: string[] = []
    const sequence: number[] = []
    for await (const event of stream) {
      types.push(event.type)
      sequence.push(event.sequence_number)
    }
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    for (const type of [
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ]) {
      expect(types).toContain(type)
    }
    expect(sequence).toEqual(sequence.toSorted((one, other) => one - other))
    expect(new Set(sequence).size).toBe(sequence.length)
    const final = await stream.finalResponse()
    expect(final.output[0]?.type).toBe('reasoning')
    expect(final.output_text).toContain('Hello')
  })

  test('a tool call [2.4-11] [6.2-06] [6.2-10]', async () => {
    const answer = await openai.responses.create({
      model: 'sandbox-chat',
      input: 'Use the tool',
      tools: [{ type: 'function', name: 'get_weather', parameters: WEATHER, strict: false }],
      tool_choice: 'required',
    })
    const call = answer.output.find((item) => item.type === 'function_call')
    expect(call).toMatchObject({ name: 'get_weather' })
  })

  test.each([
    [400, OpenAI.BadRequestError],
    [429, OpenAI.RateLimitError],
    [503, OpenAI.InternalServerError],
  ])('an upstream %i raises the SDK’s own typed error', async (status, kind) => {
    upstream.answer(answerJson({ error: { message: 'no', type: 'x', code: null, param: null } }, status))
    await expect(openai.responses.create({ model: 'real', input: 'x' })).rejects.toBeInstanceOf(kind)
    await gateway.resetHealth()
  })
})

describe('the Anthropic package', () => {
  test('a plain call with the auth token option [1-06] [1-21] [4.3-03] [4.3-12] [5-10] [4-11]', async () => {
    const answer = await anthropic.messages.create({ model: 'sandbox-chat', max_tokens: 200, messages: USER })
    expect(answer).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'sandbox-chat',
      stop_reason: 'end_turn',
    })
    expect(answer.content[0]).toMatchObject({ type: 'text' })
    const log = await gateway.lastLog()
    expect([log.usage.input, log.usage.output]).toEqual([
      answer.usage.input_tokens,
      answer.usage.output_tokens,
    ])
  })

  test('streamed, through the SDK’s own accumulator [1-64] [4.3-10] [4.3-11] [6.3-01] [6.3-02]', async () => {
    const stream = anthropic.messages.stream({
      model: 'sandbox-reasoning',
      max_tokens: 2_000,
      messages: USER,
    })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types.at(-1)).toBe('message_stop')
    const final = await stream.finalMessage()
    expect(final.content.map((block) => block.type)).toEqual(['thinking', 'text'])
  })

  test('a tool call', async () => {
    const answer = await anthropic.messages.create({
      model: 'sandbox-chat',
      max_tokens: 200,
      messages: [{ role: 'user', content: 'Use the tool' }],
      tools: [{ name: 'get_weather', input_schema: WEATHER }],
      tool_choice: { type: 'any' },
    })
    expect(answer.stop_reason).toBe('tool_use')
    expect(answer.content.find((block) => block.type === 'tool_use')).toMatchObject({ name: 'get_weather' })
  })

  test('countTokens [D-addresses-32]', async () => {
    const counted = await anthropic.messages.countTokens({ model: 'sandbox-chat', messages: USER })
    expect(counted.input_tokens).toBeGreaterThan(0)
  })

  test('models.list answers in this protocol’s shape [D-addresses-25]', async () => {
    const page = await anthropic.models.list()
    expect(page.data.map((model) => model.id)).toContain('sandbox-chat')
    expect(page.data[0]).toMatchObject({ type: 'model' })
  })

  test.each([
    [400, 'invalid_request_error', Anthropic.BadRequestError],
    [404, 'not_found_error', Anthropic.NotFoundError],
    [429, 'rate_limit_error', Anthropic.RateLimitError],
    [529, 'overloaded_error', Anthropic.InternalServerError],
  ])('an upstream %i raises the SDK’s own typed error', async (status, type, kind) => {
    upstream.answer(answerJson({ type: 'error', error: { type, message: 'upstream says no' } }, status))
    await expect(
      anthropic.messages.create({ model: 'real', max_tokens: 5, messages: USER }),
    ).rejects.toBeInstanceOf(kind)
    await gateway.resetHealth()
  })

  test('the gateway’s own refusal raises a typed error', async () => {
    const stranger = new Anthropic({
      baseURL: gateway.baseUrl,
      authToken: 'sk-gateway-nobody',
      apiKey: null,
      maxRetries: 0,
    })
    await expect(
      stranger.messages.create({ model: 'real', max_tokens: 5, messages: USER }),
    ).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })
})

describe('the Google package', () => {
  test('a plain call [D-addresses-27] [D-addresses-37]', async () => {
    const answer = await google.models.generateContent({ model: 'sandbox-chat', contents: 'Hello' })
    expect(answer.text).toContain('Hello')
    expect(answer.usageMetadata?.totalTokenCount).toBeGreaterThan(0)
  })

  test('streamed: the last fragment carries finishReason [6.3-03]', async () => {
    const fragments = []
    for await (const fragment of await google.models.generateContentStream({
      model: 'sandbox-chat',
      contents: 'Hello',
    }))
      fragments.push(fragment)
    expect(fragments.map((fragment) => fragment.text ?? '').join('')).toContain('Hello')
    expect(fragments.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
  })

  test('countTokens [D-addresses-29]', async () => {
    expect(
      (await google.models.countTokens({ model: 'sandbox-chat', contents: 'Hello there' })).totalTokens,
    ).toBeGreaterThan(0)
  })

  test('the path names the platform model, the upstream gets its own [D-addresses-38]', async () => {
    upstream.answer(
      answerJson({
        candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
      }),
    )
    await google.models.generateContent({ model: 'real', contents: 'Hello' })
    expect(upstream.requests.at(-1)?.path).toContain('/models/real-upstream:generateContent')
    expect(upstream.requests.at(-1)?.headers['x-goog-api-key']).toBe('secret-of-goo-main')
  })

  test.each([400, 429, 503])('an upstream %i raises the SDK’s own error', async (status) => {
    upstream.answer(answerJson({ error: { code: status, message: 'no', status: 'X' } }, status))
    const error = await google.models
      .generateContent({ model: 'real', contents: 'x' })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).status).toBe(status)
    await gateway.resetHealth()
  })
})

/** Sends a chunk every turn until the connection goes. */
function streamForever(target: ScriptedUpstream): { readonly upstreamClosed: Promise<void> } {
  let closed: (() => void) | undefined
  const upstreamClosed = new Promise<void>((resolve) => (closed = resolve))
  target.answer(async (_request, response) => {
    let open = true
    response.on('close', () => {
      open = false
      closed?.()
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta }] })}\n\n`
    response.write(chunk({ role: 'assistant' }))
    while (open) {
      response.write(chunk({ content: 'word ' }))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  return { upstreamClosed }
}
