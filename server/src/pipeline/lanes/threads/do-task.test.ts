import { describe, expect, test } from 'vitest'
import type { Chain, ProtocolId } from '../../../core/catalogue.ts'
import { chainId, credentialId, forwardModelId, modelId, vendorCode } from '../../../core/ids.ts'
import type { JsonObject } from '../../../core/json.ts'
import { constantText } from '../../../core/protocols/responses/answer/response-object.ts'
import { protocolOf } from '../../../core/protocols/index.ts'
import type { ReplyContext } from '../../../core/protocols/protocol.ts'
import { providerOf } from '../../../providers/index.ts'
import { encodePrepared, prepareConversion, unkept } from '../convert-request.ts'
import { editBody } from '../edit-body.ts'
import { doTask } from './do-task.ts'
import type { RequestTask } from './work.ts'

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
const jsonOf = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'))
const letters = (text: string): Promise<number> => Promise.resolve(text.length)

const TOOL = { name: 'look', description: 'looks', parameters: { type: 'object', properties: { at: {} } } }
const BODIES: Readonly<Record<ProtocolId, JsonObject>> = {
  chat: {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: TOOL }],
    stop: ['END'],
    odd: 1,
  },
  responses: {
    model: 'm',
    input: [{ role: 'user', content: 'hi' }],
    instructions: 'be brief',
    tools: [{ type: 'function', ...TOOL }],
    metadata: { a: 'b' },
    store: false,
  },
  messages: {
    model: 'm',
    max_tokens: 9,
    system: 'be brief',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'look', input_schema: TOOL.parameters }],
  },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { topK: 3 } },
}

function chainTo(protocol: ProtocolId): Chain {
  return {
    id: chainId(1),
    modelId: modelId('m'),
    vendorCode: vendorCode('far'),
    credentialId: credentialId('1'),
    protocol,
    forwardModelId: forwardModelId('far-model'),
    priority: 1,
    weight: 1,
    rateMultiplier: '1',
    streamUsage: 'forward',
    clientGoneGraceMs: 0,
    minBytesPerSecond: 0,
    capabilities: {},
    status: 'enabled',
  }
}

function taskOf(client: ProtocolId, kind: string, upstream: ProtocolId, body = BODIES[client]): RequestTask {
  return {
    kind: 'request',
    body: bytesOf(body),
    client,
    stream: false,
    previousResponseId: undefined,
    past: undefined,
    target: { vendorKind: kind, chain: chainTo(upstream), model: { maxOutputTokens: 100 } },
    sources: undefined,
    keeps: false,
  }
}

const TARGETS = [
  ['anthropic', 'messages'],
  ['openai', 'chat'],
  ['openai', 'responses'],
  ['google', 'gemini'],
] as const
const CELLS = (Object.keys(BODIES) as ProtocolId[]).flatMap((client) =>
  TARGETS.map(([kind, upstream]) => [client, kind, upstream] as const),
)

test.each(CELLS)(
  '%s to %s %s: a thread sends upstream what would be sent from here',
  async (client, kind, upstream) => {
    const task = taskOf(client, kind, upstream)
    const dialect = providerOf(kind)?.dialects[upstream]
    if (dialect === undefined) throw new Error('no such dialect')
    const call = {
      endpoint: { protocol: client },
      body: { chunks: [task.body], memo: {} },
      scan: { previousResponseId: undefined },
      stream: false,
    }
    const prepared = prepareConversion(call, task.target, dialect)
    if (prepared.kind === 'refused') throw new Error(prepared.failure.message)
    const near = encodePrepared(prepared, task.target, dialect, new Map())
    if (near.kind === 'refused') throw new Error(near.failure.message)
    const far = await doTask(task, letters)
    if (far.kind !== 'converted') throw new Error(far.kind)
    expect(jsonOf(far.body)).toEqual(editBody(near.body, dialect))
    expect([far.dropped, far.cutAt, far.issuer]).toEqual([near.dropped, near.cutAt, prepared.issuer])
    // What answers repeat and look up is the same, though schemas and turns stayed behind.
    const context = (request: ReplyContext['request']): ReplyContext => ({
      model: modelId('m'),
      responseId: 'r',
      createdAt: 1,
      request,
      inputTokensEstimate: 5,
      issuer: far.issuer,
    })
    const answer = protocolOf(upstream).decodeResponse(ANSWERS[upstream])
    const encode = (reply: ReplyContext): unknown => protocolOf(client).encodeResponse(answer, reply)
    const asked = client === 'responses' ? unkept(prepared.asked) : prepared.asked
    const echo = far.echo === undefined ? {} : { echo: far.echo }
    expect(encode({ ...context(far.asked), ...echo })).toEqual(encode(context(asked)))
    if (client === 'responses')
      expect(JSON.parse(constantText({ ...context(far.asked), ...echo }))).toEqual(
        JSON.parse(constantText(context(asked))),
      )
  },
)

const ANSWERS: Readonly<Record<ProtocolId, JsonObject>> = {
  chat: {
    id: 'c',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'ok',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  },
  responses: {
    id: 'r',
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [] }] },
    ],
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  messages: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
  },
}

describe('what a thread refuses', () => {
  test.each([
    ['no JSON object', [1], 'must be a JSON object'],
    [
      'more tools than any vendor takes',
      {
        ...BODIES.chat,
        tools: Array.from({ length: 4_097 }, (_, at) => ({ type: 'function', function: { name: `t${at}` } })),
      },
      'at most 4096 tools',
    ],
  ])('%s', async (_what, body, message) => {
    const result = await doTask(taskOf('chat', 'google', 'gemini', body as JsonObject), letters)
    expect(result).toMatchObject({ kind: 'refused', message: expect.stringContaining(message) as string })
  })
})

test('addresses of pictures are returned first and replaced when they were fetched', async () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/x.png' } }] },
    ],
  }
  const task = taskOf('chat', 'google', 'gemini', body)
  expect(await doTask(task, letters)).toEqual({
    kind: 'media',
    remote: [{ url: 'https://a.example/x.png', media: 'image' }],
  })
  const sources = new Map([
    ['https://a.example/x.png', { kind: 'base64', mediaType: 'image/png', data: 'QUJD' } as const],
  ])
  const result = await doTask({ ...task, sources }, letters)
  expect(result.kind === 'converted' && JSON.stringify(jsonOf(result.body))).toContain('QUJD')
})

describe('answers', () => {
  const task = {
    kind: 'answer' as const,
    client: 'chat' as const,
    upstream: 'messages' as const,
    cutAt: [],
    inputTokensEstimate: 7,
    context: {
      model: modelId('m'),
      responseId: 'r',
      createdAt: 1,
      request: protocolRequest(),
      inputTokensEstimate: 7,
      issuer: 'far',
    },
  }
  function protocolRequest(): ReplyContext['request'] {
    const decoded = protocolOf('chat').decodeRequest(BODIES.chat)
    if (decoded.kind === 'refused') throw new Error(decoded.message)
    return decoded.value
  }

  test('come with the usage that the upstream reported', async () => {
    const result = await doTask({ ...task, body: bytesOf(ANSWERS.messages) }, letters)
    expect(result).toMatchObject({ kind: 'answered', usage: { input: 3, output: 4 }, outputTokens: 0 })
  })

  test('without usage are counted: exactly at first, the remainder in proportion', async () => {
    const text = 'x'.repeat(1_000_000)
    const { usage: _none, ...rest } = ANSWERS.messages
    const body = bytesOf({ ...rest, content: [{ type: 'text', text }] })
    let counted = 0
    const count = (piece: string): Promise<number> => {
      counted += piece.length
      return Promise.resolve(Math.ceil(piece.length / 4))
    }
    const result = await doTask({ ...task, body }, count)
    expect(result).toMatchObject({ kind: 'answered', usage: undefined, outputTokens: 250_000 })
    expect(counted).toBe(262_144)
    expect(result.kind === 'answered' && jsonOf(result.body)).toMatchObject({
      usage: { prompt_tokens: 7, completion_tokens: 250_000 },
    })
  })

  test.each([
    ['no JSON', Buffer.from('{"id":'), 'unreadable'],
    [
      'an error inside of a success',
      bytesOf({ type: 'error', error: { type: 'overloaded_error', message: 'no' } }),
      'upstream-error',
    ],
  ])('%s', async (_what, body, kind) => {
    expect((await doTask({ ...task, body }, letters)).kind).toBe(kind)
  })
})

test('a kept conversation is read into the items of a request', async () => {
  const bodies = ['{"input":[{"role":"user","content":"hi"}],"response":{"output":[{"type":"message"}]}}']
  const result = await doTask({ kind: 'past', bodies }, letters)
  expect(result).toMatchObject({ kind: 'past', mediaCount: 0 })
  // It goes on to the thread that converts the request: in memory of its own it would be copied on the way.
  expect(result.kind === 'past' && result.items.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect(result.kind === 'past' && jsonOf(result.items)).toEqual([
    { role: 'user', content: 'hi' },
    { type: 'message' },
  ])
})
