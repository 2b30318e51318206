/** Any model through any protocol: the four clients against upstreams of the other three protocols. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
type ProtocolName = (typeof PROTOCOLS)[number]

let openai: OpenAI
let anthropic: Anthropic
let google: GoogleGenAI

const { gateway } = await withGateway({
  catalogue: () => [
    ...putVendor('sandbox', 'http://sandbox.invalid', { kind: 'sandbox' }),
    ...PROTOCOLS.flatMap((protocol) => [
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: 'sandbox', protocol, forward: 'sandbox-chat' }),
      putModel(`thinks-over-${protocol}`),
      putChain({
        model: `thinks-over-${protocol}`,
        vendor: 'sandbox',
        protocol,
        forward: 'sandbox-reasoning',
      }),
    ]),
  ],
})

beforeAll(async () => {
  openai = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: gateway.baseUrl, authToken: gateway.key, apiKey: null, maxRetries: 0 })
  google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.baseUrl } })
})

const CITY = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}

interface Heard {
  readonly text: string
  readonly tools: readonly string[]
  readonly finish: string | null | undefined
}

/** One client's way to say hello, whole and streamed, and to ask for a tool. */
interface Client {
  whole(model: string): Promise<Heard>
  streamed(model: string): Promise<Heard>
  tool(model: string): Promise<Heard>
  toolStreamed(model: string): Promise<Heard>
}

const CLIENTS: Readonly<Record<ProtocolName, Client>> = {
  chat: {
    whole: async (model) =>
      heardChat(
        await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      ),
    streamed: async (model) =>
      heardChat(
        await openai.chat.completions
          .stream({ model, messages: [{ role: 'user', content: 'Hello' }] })
          .finalChatCompletion(),
      ),
    tool: async (model) => heardChat(await openai.chat.completions.create(chatTool(model))),
    toolStreamed: async (model) =>
      heardChat(await openai.chat.completions.stream(chatTool(model)).finalChatCompletion()),
  },
  responses: {
    whole: async (model) => heardResponse(await openai.responses.create({ model, input: 'Hello' })),
    streamed: async (model) =>
      heardResponse(await openai.responses.stream({ model, input: 'Hello' }).finalResponse()),
    tool: async (model) => heardResponse(await openai.responses.create(responsesTool(model))),
    toolStreamed: async (model) =>
      heardResponse(await openai.responses.stream(responsesTool(model)).finalResponse()),
  },
  messages: {
    whole: async (model) =>
      heardMessage(
        await anthropic.messages.create({
          model,
          max_tokens: 2_000,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      ),
    streamed: async (model) =>
      heardMessage(
        await anthropic.messages
          .stream({ model, max_tokens: 2_000, messages: [{ role: 'user', content: 'Hello' }] })
          .finalMessage(),
      ),
    tool: async (model) => heardMessage(await anthropic.messages.create(messagesTool(model))),
    toolStreamed: async (model) =>
      heardMessage(await anthropic.messages.stream(messagesTool(model)).finalMessage()),
  },
  gemini: {
    whole: async (model) => heardGemini([await google.models.generateContent({ model, contents: 'Hello' })]),
    streamed: async (model) =>
      heardGemini(await collect(await google.models.generateContentStream({ model, contents: 'Hello' }))),
    tool: async (model) => heardGemini([await google.models.generateContent(geminiTool(model))]),
    toolStreamed: async (model) =>
      heardGemini(await collect(await google.models.generateContentStream(geminiTool(model)))),
  },
}

const ROWS: Readonly<Record<ProtocolName, Readonly<Record<ProtocolName, string>>>> = {
  chat: { chat: '[1-11]', responses: '[1-12]', messages: '[1-13]', gemini: '[1-14]' },
  responses: { chat: '[1-15]', responses: '[1-16]', messages: '[1-17]', gemini: '[1-18]' },
  messages: { chat: '[1-19]', responses: '[1-20]', messages: '[1-21]', gemini: '[1-22]' },
  gemini: {
    chat: '[D-addresses-34]',
    responses: '[D-addresses-35]',
    messages: '[D-addresses-36]',
    gemini: '[D-addresses-37]',
  },
}

const CELLS = PROTOCOLS.flatMap((client) =>
  PROTOCOLS.map((upstream) => ({ client, upstream, row: ROWS[client][upstream] })),
)

describe.each(CELLS)('$row a $client client of a $upstream upstream', ({ client, upstream }) => {
  const caller = CLIENTS[client]
  const model = `over-${upstream}`

  test('gets the whole answer', async () => {
    const heard = await caller.whole(model)
    expect(heard.text).toContain('You wrote: "Hello"')
    expect(await gateway.lastLog()).toMatchObject({
      clientProtocol: client,
      upstreamProtocol: upstream,
      usageSource: 'upstream',
      ending: 'complete',
    })
  })

  test('gets the stream in its own protocol [1-23]', async () => {
    const heard = await caller.streamed(model)
    expect(heard.text).toContain('You wrote: "Hello"')
    expect((await gateway.lastLog()).ending).toBe('complete')
  })

  test('calls a tool, whole and streamed', async () => {
    expect((await caller.tool(model)).tools).toEqual(['get_weather'])
    expect((await caller.toolStreamed(model)).tools).toEqual(['get_weather'])
  })

  test('sees the answer of a reasoning model', async () => {
    expect((await caller.whole(`thinks-${model}`)).text).toContain('You wrote')
    expect((await caller.streamed(`thinks-${model}`)).text).toContain('You wrote')
  })

  test('is billed what the upstream counted, whichever protocol it speaks', async () => {
    await CLIENTS[upstream].whole(model)
    const direct = await gateway.lastLog()
    await caller.whole(model)
    const converted = await gateway.lastLog()
    expect([converted.usage.output, converted.usage.reasoning ?? 0]).toEqual([
      direct.usage.output,
      direct.usage.reasoning ?? 0,
    ])
  })
})

test('the gateway cuts at a stop sequence that cannot be sent upstream, whole and streamed', async () => {
  const request = {
    model: 'over-responses',
    messages: [{ role: 'user' as const, content: 'Hello' }],
    stop: ['offline'],
  }
  const whole = await openai.chat.completions.create(request)
  expect(whole.choices[0]).toMatchObject({
    finish_reason: 'stop',
    message: { content: 'This is sandbox-chat, an ' },
  })
  const streamed = await openai.chat.completions
    .stream({ ...request, stream_options: { include_usage: true } })
    .finalChatCompletion()
  expect(streamed.choices[0]).toMatchObject({
    finish_reason: 'stop',
    message: { content: 'This is sandbox-chat, an ' },
  })
  expect(streamed.usage?.completion_tokens).toBeGreaterThan(0)
  expect(await gateway.lastLog()).toMatchObject({ ending: 'complete', droppedFields: [] })
})

function chatTool(model: string): OpenAI.ChatCompletionCreateParamsNonStreaming & { stream?: never } {
  return {
    model,
    messages: [{ role: 'user', content: 'Use the tool' }],
    tools: [
      { type: 'function', function: { name: 'get_weather', description: 'weather', parameters: CITY } },
    ],
    tool_choice: 'required',
  }
}

function responsesTool(
  model: string,
): OpenAI.Responses.ResponseCreateParamsNonStreaming & { stream?: never } {
  return {
    model,
    input: 'Use the tool',
    tools: [
      { type: 'function', name: 'get_weather', description: 'weather', parameters: CITY, strict: false },
    ],
    tool_choice: 'required',
  }
}

function messagesTool(model: string): Anthropic.MessageCreateParamsNonStreaming {
  return {
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Use the tool' }],
    tools: [{ name: 'get_weather', description: 'weather', input_schema: CITY }],
    tool_choice: { type: 'any' },
  }
}

function geminiTool(model: string): Parameters<typeof google.models.generateContent>[0] {
  return {
    model,
    contents: 'Use the tool',
    config: {
      tools: [
        {
          functionDeclarations: [{ name: 'get_weather', description: 'weather', parametersJsonSchema: CITY }],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' as never } },
    },
  }
}

function heardChat(answer: OpenAI.ChatCompletion): Heard {
  const [choice] = answer.choices
  const tools = (choice?.message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function' ? [call.function.name] : [],
  )
  return { text: choice?.message.content ?? '', tools, finish: choice?.finish_reason }
}

function heardResponse(answer: OpenAI.Responses.Response): Heard {
  const tools = answer.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : []))
  const text = answer.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
  return { text, tools, finish: answer.status }
}

function heardMessage(answer: Anthropic.Message): Heard {
  return {
    text: answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    tools: answer.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
    finish: answer.stop_reason,
  }
}

type GeminiAnswer = Awaited<ReturnType<typeof google.models.generateContent>>

function heardGemini(fragments: readonly GeminiAnswer[]): Heard {
  const parts = fragments.flatMap((fragment) => fragment.candidates?.[0]?.content?.parts ?? [])
  return {
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    tools: parts.flatMap((part) => (part.functionCall?.name === undefined ? [] : [part.functionCall.name])),
    finish: fragments.at(-1)?.candidates?.[0]?.finishReason,
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
