import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProtocolId } from '../../core/catalogue.ts'
import { forwardModelId } from '../../core/ids.ts'
import type { OfflineAnswer } from '../../core/offline-answer.ts'
import type { Operation } from '../provider.ts'
import { sandbox } from './index.ts'

const AT = Date.UTC(2026, 10, 21)
const QUESTION = 'How far is the moon?'

function ask(
  protocol: ProtocolId,
  operation: Operation,
  body: object | string,
  model = 'sandbox-chat',
): OfflineAnswer {
  const answer = sandbox.dialects[protocol]?.respond?.({
    operation,
    forwardModelId: forwardModelId(model),
    body: [Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))],
    id: '0199-abcd',
    at: AT,
  })
  if (answer === undefined) throw new Error('the sandbox does not speak this protocol')
  return answer
}

function textOf(answer: OfflineAnswer): string {
  return [...answer.chunks].map((chunk) => chunk.data).join('')
}

/** Names of events in a stream, repeated ones once. */
function eventOrder(answer: OfflineAnswer): readonly string[] {
  const names = [...textOf(answer).matchAll(/^event: (.*)$/gm)].map(([, name]) => name ?? '')
  return names.filter((name, index) => name !== names[index - 1])
}

/** The gateway's part is left out: paths lead straight to the sandbox, so that the official SDKs judge its words. */
let server: Server
let base = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => serve(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function serve(request: IncomingMessage, response: ServerResponse, body: string): void {
  const path = request.url ?? ''
  const gemini = /\/models\/([^:]+):(\w+)/.exec(path)
  const streamed = gemini?.[2] === 'streamGenerateContent' || /"stream":true/.test(body)
  const counted =
    path.endsWith('count_tokens') || path.endsWith('input_tokens') || gemini?.[2] === 'countTokens'
  const operation = counted ? 'count-tokens' : streamed ? 'stream' : 'generate'
  const protocol: ProtocolId =
    gemini !== null
      ? 'gemini'
      : path.includes('/responses')
        ? 'responses'
        : path.includes('/messages')
          ? 'messages'
          : 'chat'
  const named = gemini?.[1] ?? /"model":"([^"]+)"/.exec(body)?.[1] ?? ''
  const answer = ask(protocol, operation, body, named)
  response.writeHead(answer.status, answer.headers)
  for (const chunk of answer.chunks) response.write(chunk.data)
  response.end()
}

const openai = (): OpenAI => new OpenAI({ apiKey: 'none', baseURL: `${base}/v1`, maxRetries: 0 })
const anthropic = (): Anthropic => new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0 })
const google = (): GoogleGenAI => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } })

const WEATHER = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer' },
  },
  required: ['city', 'unit'],
}
const CHAT_TOOL = { type: 'function', function: { name: 'get_weather', parameters: WEATHER } } as const
const RESPONSES_TOOL = { type: 'function', name: 'get_weather', parameters: WEATHER, strict: false } as const
const MESSAGES_TOOL = { name: 'get_weather', input_schema: { ...WEATHER, type: 'object' as const } }

describe('chat', () => {
  const messages = [{ role: 'user' as const, content: QUESTION }]

  test('a whole answer says it is the sandbox, quotes the question and reports usage', async () => {
    const answer = await openai().chat.completions.create({ model: 'sandbox-chat', messages })
    expect(answer.choices[0]?.message.content).toContain('offline sandbox model')
    expect(answer.choices[0]?.message.content).toContain(QUESTION)
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
    )
  })

  test('a stream folds to the whole answer, with the same usage', async () => {
    const whole = await openai().chat.completions.create({ model: 'sandbox-reasoning', messages })
    const stream = openai().chat.completions.stream({
      model: 'sandbox-reasoning',
      messages,
      stream_options: { include_usage: true },
    })
    const folded = await stream.finalChatCompletion()
    expect(folded.choices[0]?.message.content).toBe(whole.choices[0]?.message.content)
    expect(folded.usage).toEqual(whole.usage)
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0)
    expect(whole.choices[0]?.message).toHaveProperty('reasoning_content')
  })

  test('the usage chunk comes only when it was asked for', () => {
    const plain = textOf(ask('chat', 'stream', { model: 'm', messages, stream: true }))
    expect(plain).not.toContain('usage')
    expect(plain.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('a tool that the question names is called, in a stream too, and its result told', async () => {
    const asked = [{ role: 'user' as const, content: 'Please get weather for Paris' }]
    const stream = openai().chat.completions.stream({
      model: 'sandbox-chat',
      messages: asked,
      tools: [CHAT_TOOL],
    })
    const message = (await stream.finalChatCompletion()).choices[0]?.message
    const call = message?.tool_calls?.[0]
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } })
    const given: unknown = JSON.parse(call?.type === 'function' ? call.function.arguments : '')
    expect(given).toEqual({ city: 'Please get weather for Paris', unit: 'celsius' })
    const after = await openai().chat.completions.create({
      model: 'sandbox-chat',
      tools: [CHAT_TOOL],
      messages: [
        ...asked,
        { role: 'assistant', content: null, tool_calls: message?.tool_calls ?? [] },
        { role: 'tool', tool_call_id: call?.id ?? '', content: '12 degrees' },
      ],
    })
    expect(after.choices[0]?.message.content).toContain('get_weather answered: 12 degrees')
    expect(after.choices[0]?.finish_reason).toBe('stop')
  })

  test.each([
    [{ tool_choice: 'required' }, 'tool_calls'],
    [{ tool_choice: { type: 'function', function: { name: 'get_weather' } } }, 'tool_calls'],
    [{ tool_choice: 'none' }, 'stop'],
    [{}, 'stop'],
  ])('with %j it ends with %s', (choice, finish) => {
    const body = { model: 'm', messages, tools: [CHAT_TOOL], ...choice }
    expect(JSON.parse(textOf(ask('chat', 'generate', body)))).toMatchObject({
      choices: [{ finish_reason: finish }],
    })
  })

  test('output is cut at the cap and at a stop sequence', () => {
    const capped = JSON.parse(textOf(ask('chat', 'generate', { model: 'm', messages, max_tokens: 5 })))
    expect(capped).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 5 } })
    const stopped = JSON.parse(textOf(ask('chat', 'generate', { model: 'm', messages, stop: [' sandbox'] })))
    expect(stopped).toMatchObject({
      choices: [{ finish_reason: 'stop', message: { content: 'This is' } }],
    })
  })

  test('a JSON schema is answered with a value of it', () => {
    const format = { type: 'json_schema', json_schema: { name: 'weather', schema: WEATHER } }
    const body = { model: 'm', messages, response_format: format }
    const answer = JSON.parse(textOf(ask('chat', 'generate', body))) as {
      choices: [{ message: { content: string } }]
    }
    expect(JSON.parse(answer.choices[0].message.content)).toEqual({ city: 'sandbox', unit: 'celsius' })
  })

  test('an unknown model raises the typed error of the SDK', async () => {
    const calling = openai().chat.completions.create({ model: 'gpt-5', messages })
    await expect(calling).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })
})

describe('responses', () => {
  test('a stream folds to the whole answer', async () => {
    const request = { model: 'sandbox-reasoning', input: QUESTION }
    const whole = await openai().responses.create(request)
    const folded = await openai().responses.stream(request).finalResponse()
    expect(folded.output_text).toBe(whole.output_text)
    expect(folded.usage).toEqual(whole.usage)
    expect(whole.usage?.input_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: 0 })
    expect(whole.output.map((item) => item.type)).toEqual(['reasoning', 'message'])
    expect(whole.output_text).toContain(QUESTION)
  })

  test('the events come in the order clients cannot do without', () => {
    const answer = ask(
      'responses',
      'stream',
      { model: 'm', input: QUESTION, stream: true },
      'sandbox-reasoning',
    )
    expect(eventOrder(answer)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const numbers = [...textOf(answer).matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
      Number(number),
    )
    expect(numbers).toEqual(numbers.map((_, index) => index))
  })

  test('functions and custom tools are called and followed up', async () => {
    const stream = openai().responses.stream({
      model: 'sandbox-chat',
      input: 'Use get_weather',
      tools: [RESPONSES_TOOL],
    })
    const first = await stream.finalResponse()
    const call = first.output[0]
    expect(call).toMatchObject({ type: 'function_call', name: 'get_weather', status: 'completed' })
    const second = await openai().responses.create({
      model: 'sandbox-chat',
      input: [
        { role: 'user', content: 'Use get_weather' },
        ...(call?.type === 'function_call' ? [call] : []),
        {
          type: 'function_call_output',
          call_id: call?.type === 'function_call' ? call.call_id : '',
          output: '12 degrees',
        },
      ],
      tools: [RESPONSES_TOOL],
    })
    expect(second.output_text).toContain('get_weather answered: 12 degrees')
    const custom = ask('responses', 'stream', {
      input: 'use a tool',
      tools: [{ type: 'custom', name: 'apply_patch' }],
      stream: true,
    })
    expect(eventOrder(custom)).toContain('response.custom_tool_call_input.delta')
  })

  test('a capped answer is incomplete', async () => {
    const answer = await openai().responses.create({
      model: 'sandbox-chat',
      input: QUESTION,
      max_output_tokens: 16,
    })
    expect(answer).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 16 },
    })
  })

  test('input tokens are counted as they are billed', () => {
    const body = { model: 'm', input: QUESTION }
    const counted = JSON.parse(textOf(ask('responses', 'count-tokens', body))) as { input_tokens: number }
    const answer = JSON.parse(textOf(ask('responses', 'generate', body))) as {
      usage: { input_tokens: number }
    }
    expect(counted.input_tokens).toBe(answer.usage.input_tokens)
  })
})

describe('messages', () => {
  const request = {
    model: 'sandbox-reasoning',
    max_tokens: 1_000,
    messages: [{ role: 'user' as const, content: QUESTION }],
  }

  test('a stream folds to the whole answer', async () => {
    const whole = await anthropic().messages.create(request)
    const folded = await anthropic().messages.stream(request).finalMessage()
    expect(folded.content).toEqual(whole.content)
    expect(folded.usage.output_tokens).toBe(whole.usage.output_tokens)
    expect(whole.content.map((block) => block.type)).toEqual(['thinking', 'text'])
    expect(whole.stop_reason).toBe('end_turn')
  })

  test('thinking can be switched off', async () => {
    const answer = await anthropic().messages.create({ ...request, thinking: { type: 'disabled' } })
    expect(answer.content.map((block) => block.type)).toEqual(['text'])
  })

  test('tools are called and followed up', async () => {
    const asked = { role: 'user' as const, content: 'Use get_weather' }
    const first = await anthropic()
      .messages.stream({ ...request, model: 'sandbox-chat', messages: [asked], tools: [MESSAGES_TOOL] })
      .finalMessage()
    expect(first.stop_reason).toBe('tool_use')
    const use = first.content.find((block) => block.type === 'tool_use')
    expect(use).toMatchObject({ name: 'get_weather', input: { unit: 'celsius' } })
    const second = await anthropic().messages.create({
      ...request,
      tools: [MESSAGES_TOOL],
      messages: [
        asked,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: '12 degrees' }],
        },
      ],
    })
    expect(JSON.stringify(second.content)).toContain('get_weather answered: 12 degrees')
  })

  test('a stop sequence is named', async () => {
    const answer = await anthropic().messages.create({
      ...request,
      model: 'sandbox-chat',
      stop_sequences: [' sandbox'],
    })
    expect(answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: ' sandbox' })
  })

  test('tokens are counted, errors typed', async () => {
    const { max_tokens: _cap, ...counted } = request
    const count = await anthropic().messages.countTokens(counted)
    expect(count.input_tokens).toBeGreaterThan(3)
    const unknown = anthropic().messages.create({ ...request, model: 'claude-sonnet-4-5' })
    await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })
})

describe('gemini', () => {
  test('a stream joins to the whole answer', async () => {
    const request = {
      model: 'sandbox-reasoning',
      contents: QUESTION,
      config: { thinkingConfig: { includeThoughts: true } },
    }
    const whole = await google().models.generateContent(request)
    let text = ''
    let thoughts = ''
    let last = whole
    for await (const chunk of await google().models.generateContentStream(request)) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought === true) thoughts += part.text ?? ''
        else text += part.text ?? ''
      }
      last = chunk
    }
    expect(text).toBe(whole.text)
    expect(thoughts).toBe(whole.candidates?.[0]?.content?.parts?.[0]?.text)
    expect(last.usageMetadata).toEqual(whole.usageMetadata)
    expect(last.candidates?.[0]?.finishReason).toBe('STOP')
    const usage = whole.usageMetadata
    expect(usage?.totalTokenCount).toBe(
      (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    )
  })

  test('functions are called and followed up', async () => {
    const config = {
      tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: WEATHER }] }],
    }
    const chat = google().chats.create({ model: 'sandbox-reasoning', config })
    const first = await chat.sendMessage({ message: 'Use get_weather' })
    expect(first.functionCalls).toMatchObject([{ name: 'get_weather', args: { unit: 'celsius' } }])
    expect(JSON.stringify(first.candidates)).toContain('thoughtSignature')
    const second = await chat.sendMessage({
      message: { functionResponse: { name: 'get_weather', response: { output: '12 degrees' } } },
    })
    expect(second.text).toContain('get_weather answered: 12 degrees')
  })

  test('streams end their events with CRLF and have no terminator', () => {
    const text = textOf(
      ask('gemini', 'stream', { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] }),
    )
    expect(text.endsWith('\r\n\r\n')).toBe(true)
    expect(text).not.toContain('[DONE]')
  })

  test('tokens are counted', async () => {
    const counted = await google().models.countTokens({ model: 'sandbox-chat', contents: QUESTION })
    expect(counted.totalTokens).toBeGreaterThan(3)
  })
})

describe('whatever the protocol', () => {
  const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const

  test.each(PROTOCOLS)('%s: the same request, id and time give the same bytes', (protocol) => {
    const body = { messages: [], input: QUESTION, contents: [], stream: true }
    expect(textOf(ask(protocol, 'stream', body))).toBe(textOf(ask(protocol, 'stream', body)))
  })

  test.each(PROTOCOLS)(
    '%s: a body that is no object, or too large, is refused in its own shape',
    (protocol) => {
      expect(ask(protocol, 'generate', '[]')).toMatchObject({ status: 400 })
      expect(ask(protocol, 'generate', `{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`)).toMatchObject({
        status: 413,
      })
      expect(JSON.parse(textOf(ask(protocol, 'generate', '{')))).toHaveProperty('error.message')
    },
  )

  test.each(PROTOCOLS)(
    '%s: an empty conversation, and members of any other type, are answered',
    (protocol) => {
      for (const odd of [
        {},
        { messages: 'x', input: 7, contents: null, tools: {}, stop: {}, tool_choice: 1 },
      ]) {
        expect(ask(protocol, 'generate', odd)).toMatchObject({ status: 200 })
      }
    },
  )
})
