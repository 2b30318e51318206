/** Claude over Bedrock's InvokeModel: signed, the model in the path, streams in AWS's binary frames (its API reference). */
import { beforeEach, describe, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson } from '../gateway/scripted-upstream.ts'
import { vendorCode } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { Secret } from '../../src/core/secret.ts'
import { eventStreamFrame } from '../../src/upstream/testing/event-stream-frame.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const FORWARD = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const PATH = '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('aws', upstream.url, { kind: 'bedrock-invoke' }),
    // Its own credential takes the place of the one that comes with every vendor.
    {
      kind: 'put-credential',
      vendorCode: vendorCode('aws'),
      name: 'main',
      secret: {
        secret: undefined,
        fields: {
          access_key: new Secret('AKIDEXAMPLE'),
          secret_key: new Secret('a secret of AWS'),
          region: new Secret('eu-west-1'),
        },
      },
      limits: UNLIMITED,
      status: 'enabled',
    },
    putModel('claude-sonnet-4.5'),
    putChain({ model: 'claude-sonnet-4.5', vendor: 'aws', protocol: 'messages', forward: FORWARD }),
  ],
})

beforeEach(async () => {
  upstream.requests.length = 0
  await gateway.resetHealth()
})

const usage = { input_tokens: 12, output_tokens: 7 }
const message = {
  id: 'msg_bdrk_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'Hello there' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
}
const EVENTS = [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  },
  { type: 'message_stop' },
]

const chunk = (event: object): Buffer =>
  eventStreamFrame(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' }),
  )

/** Frames cut where the network likes. */
function answerFrames(...frames: readonly Buffer[]): Answerer {
  return (_request, response) => {
    const bytes = Buffer.concat(frames)
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    for (let at = 0; at < bytes.length; at += 50) response.write(bytes.subarray(at, at + 50))
    response.end()
  }
}

const auth = () => ({ authorization: `Bearer ${gateway.key}` })
const QUESTION = {
  model: 'claude-sonnet-4.5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
}

function expectSigned(verb: string): Record<string, unknown> {
  const [request, ...others] = upstream.requests
  expect(others).toEqual([])
  expect(request?.path).toBe(`${PATH}/${verb}`)
  expect(request?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
  return request?.json() as Record<string, unknown>
}

describe('a messages client', () => {
  test('has the whole answer, with the platform’s model', async () => {
    upstream.answer(answerJson(message))
    const answer = await postJson(`${gateway.baseUrl}/v1/messages`, { ...QUESTION, top_k: 5 }, auth())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ ...message, model: 'claude-sonnet-4.5' })
    expect(expectSigned('invoke')).toEqual({
      max_tokens: 100,
      messages: QUESTION.messages,
      top_k: 5,
      anthropic_version: 'bedrock-2023-05-31',
    })
    expect(await gateway.lastLog()).toMatchObject({ httpStatus: 200, usage: { input: 12, output: 7 } })
  })

  test('has the stream as SSE, each event as the vendor wrote it', async () => {
    upstream.answer(answerFrames(...EVENTS.map(chunk)))
    const answer = await postJson(`${gateway.baseUrl}/v1/messages`, { ...QUESTION, stream: true }, auth())
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const expected = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(
      '',
    )
    expect(answer.text).toBe(expected.replace('claude-sonnet-4-5-20250929', 'claude-sonnet-4.5'))
    expect(expectSigned('invoke-with-response-stream')).not.toHaveProperty('stream')
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 12, output: 7 },
      usageSource: 'upstream',
    })
  })

  test('is told in the stream when it breaks with an exception', async () => {
    const exception = eventStreamFrame(
      { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' },
      '{"message":"the model stumbled"}',
    )
    upstream.answer(answerFrames(...EVENTS.slice(0, 3).map(chunk), exception))
    const answer = await postJson(`${gateway.baseUrl}/v1/messages`, { ...QUESTION, stream: true }, auth())
    expect(answer.text).toContain('Hello there')
    expect(answer.text).toMatch(/event: error\ndata: .*the model stumbled/)
    expect(answer.text).not.toContain('message_stop')
  })
})

describe('a chat client', () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    },
  ]
  const CALL = [
    EVENTS[0] ?? {},
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"city":"Paris"}' },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ]

  test('has its tools converted and the call streamed back', async () => {
    upstream.answer(answerFrames(...CALL.map(chunk)))
    const body = { model: 'claude-sonnet-4.5', messages: QUESTION.messages, tools, stream: true }
    const answer = await postJson(`${gateway.baseUrl}/v1/chat/completions`, body, auth())
    expect(answer.text).toContain('"name":"weather"')
    expect(answer.text).toContain('{\\"city\\":\\"Paris\\"}')
    expect(answer.text).toContain('"finish_reason":"tool_calls"')
    expect(answer.text.trimEnd()).toMatch(/data: \[DONE\]$/)
    expect(expectSigned('invoke-with-response-stream')).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      tools: [{ name: 'weather' }],
    })
  })
})

describe('a failure', () => {
  const refuse = (status: number, type: string, headers: Readonly<Record<string, string>> = {}) =>
    answerJson({ message: 'no' }, status, {
      'x-amzn-errortype': `${type}:http://internal.amazon.com/`,
      ...headers,
    })
  const ask = () => postJson(`${gateway.baseUrl}/v1/messages`, QUESTION, auth())

  test('of the request is the vendor’s own, unchanged, and moves nowhere', async () => {
    upstream.answer(refuse(400, 'ValidationException'))
    expect(await ask()).toMatchObject({ status: 400, body: { message: 'no' } })
  })

  test.each([
    ['is too fast, whatever its status', 400, 'ThrottlingException'],
    ['is too fast', 429, 'ThrottlingException'],
  ])('that %s, for so long as it says, rests the chain', async (_sentence, status, type) => {
    upstream.answer(refuse(status, type, { 'retry-after': '5' }))
    expect((await ask()).status).toBe(status)
    expect((await ask()).body.code).toBe(42904)
  })

  test('of our credential is 502/50201', async () => {
    upstream.answer(refuse(403, 'AccessDeniedException'))
    expect(await ask()).toMatchObject({
      status: 502,
      body: { code: 50201, upstream_body: { message: 'no' } },
    })
  })
})
