/** Equal protocols pass untouched: what the upstream receives is what was sent but for `model`, and back. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Answer, postJson, sendRaw } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream, cutStream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const ANSWERS = {
  chat: {
    id: 'c',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: USAGE,
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: 'up',
    output: [],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'up',
  },
} as const
type Name = keyof typeof ANSWERS
const PATHS: Readonly<Record<Name, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1beta/models/gemini-model:generateContent',
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('chat-model'),
    putChain({ model: 'chat-model', vendor: 'acme', forward: 'up' }),
    putModel('injecting'),
    putChain({ model: 'injecting', vendor: 'acme', forward: 'up', streamUsage: 'inject' }),
    putModel('responses-model'),
    putChain({ model: 'responses-model', vendor: 'acme', protocol: 'responses', forward: 'up' }),
    putModel('messages-model'),
    putChain({ model: 'messages-model', vendor: 'clay', protocol: 'messages', forward: 'up' }),
    putModel('claude-opus-4.8'),
    putChain({ model: 'claude-opus-4.8', vendor: 'clay', protocol: 'messages', forward: 'claude-opus-4-8' }),
    putModel('gemini-model'),
    putChain({ model: 'gemini-model', vendor: 'goo', protocol: 'gemini', forward: 'up' }),
  ],
})

const authorized = (): Record<string, string> => ({
  authorization: `Bearer ${gateway.key}`,
  'content-type': 'application/json',
})
const send = (name: Name, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  postJson(gateway.baseUrl + PATHS[name], body, { ...authorized(), ...headers })
const received = (): string => upstream.requests.at(-1)?.body.toString('utf8') ?? ''

describe('requests', () => {
  const BODIES: readonly [string, string][] = [
    [
      'unknown fields [1-34] [1-33] [1-32]',
      '{"model":"MODEL","x_unknown":{"deep":[1,2,{"y":null}]},"temperature":"unreadable","top_p":[]}',
    ],
    ['key order', '{"z":1,"model":"MODEL","a":2}'],
    ['duplicate keys', '{"a":1,"a":2,"model":"MODEL","a":3}'],
    ['number forms', '{"model":"MODEL","a":1.0,"b":1e5,"c":-0,"d":0.10,"e":1E+2}'],
    ['30-digit integers', '{"model":"MODEL","n":123456789012345678901234567890}'],
    ['escapes', '{"model":"MODEL","s":"\\u00e9\\n\\/\\ud83d\\ude00","t":"é😀"}'],
    ['white space', ' {\n\t"model" :\r\n "MODEL" ,  "a" : [ ] }  \n'],
    [
      'model inside nested objects and strings [D-requests-13]',
      '{"a":{"model":"MODEL"},"b":"\\"model\\":\\"MODEL\\"","c":[{"model":"x"}],"model":"MODEL"}',
    ],
    ['values the upstream has to judge [4.1-40]', '{"model":"MODEL","temperature":9,"top_p":2,"messages":7}'],
  ]

  const cases = (['chat', 'responses', 'messages'] as const).flatMap((name) =>
    BODIES.map(([what, body]) => ({ name, what, body })),
  )

  test.each(cases)(
    '$name: $what [D-requests-10] [D-requests-14] [D-requests-15] [D-requests-16]',
    async ({ name, body }) => {
      upstream.answer(answerJson(ANSWERS[name]))
      const sent = body.replaceAll('MODEL', `${name}-model`)
      const answer = await send(name, sent)
      expect(answer.status).toBe(200)
      const at = topLevelModel(sent, `"${name}-model"`)
      expect(received()).toBe(`${sent.slice(0, at)}"up"${sent.slice(at + name.length + '-model'.length + 2)}`)
    },
  )

  test('duplicate model keys: the last one counts, all are rewritten [D-requests-11] [D-requests-12]', async () => {
    upstream.answer(answerJson(ANSWERS.chat))
    const answer = await send(
      'chat',
      '{"model":"other","messages":[],"mod\\u0065l":"x","model":"chat-model"}',
    )
    expect(answer.body['model']).toBe('chat-model')
    expect(received()).toBe('{"model":"up","messages":[],"mod\\u0065l":"up","model":"up"}')
  })

  test('Gemini keeps the whole body [D-requests-64]', async () => {
    upstream.answer(answerJson(ANSWERS.gemini))
    const body = ' {"contents" :[{"parts":[{"text":"hi"}]}], "model":"stays", "n":1.0}'
    await send('gemini', body)
    expect(received()).toBe(body)
  })

  test('what is missing is the upstream’s to complain about [D-requests-61] [4.3-08] [4.3-14] [4.1-39] [4.2-04]', async () => {
    const refusal =
      '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}'
    upstream.answer(answerJson(refusal, 400))
    const answer = await send('messages', '{"model":"messages-model"}')
    expect([answer.status, answer.text]).toEqual([400, refusal])
    expect(received()).toBe('{"model":"up"}')
    expect((await send('chat', '{"model":"chat-model"}')).text).toBe(refusal)
    expect((await send('responses', '{"model":"responses-model"}')).text).toBe(refusal)
  })

  test('a dotted Claude id reaches the upstream dashed, and the answer is dotted [4.3-05] [4.3-07] [9-08]', async () => {
    upstream.answer(answerJson(ANSWERS.messages))
    const answer = await send('messages', '{"model":"claude-opus-4.8","max_tokens":5,"messages":[]}')
    expect(received()).toContain('"model":"claude-opus-4-8"')
    expect(answer.body['model']).toBe('claude-opus-4.8')
  })

  test('the dashed form is no platform id: 502/50201 [4.3-06]', async () => {
    const answer = await send('messages', '{"model":"claude-opus-4-8","max_tokens":5,"messages":[]}')
    expect([answer.status, answer.body.code]).toEqual([502, 50201])
  })

  test('thousands of generated bodies, cut into packets anywhere, arrive unchanged but for model', async () => {
    upstream.answer(answerJson(ANSWERS.chat))
    const body = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.json(),
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('', ' ', '\n\t '),
      )
      .map(
        ([one, other, text, gap]) =>
          `{${gap}"a":${one},${gap}"model"${gap}:"chat-model",${JSON.stringify(`k${text}`)}:${other}${gap}}`,
      )
    await fc.assert(
      fc.asyncProperty(body, fc.array(fc.nat(), { maxLength: 4 }), async (sent, places) => {
        const bytes = Buffer.from(sent)
        const cuts = [...new Set(places.map((place) => place % bytes.length))].toSorted(
          (one, other) => one - other,
        )
        const pieces = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))
        const answer = await sendRaw(gateway.baseUrl + PATHS.chat, {
          headers: { ...authorized(), 'transfer-encoding': 'chunked' },
          pieces: pieces.filter((piece) => piece.length > 0),
        })
        expect(answer.status).toBe(200)
        expect(received()).toBe(sent.replace(/"model"(\s*):"chat-model"/, '"model"$1:"up"'))
        upstream.requests.length = 0
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 1_000) },
    )
  })
})

describe('headers', () => {
  test('those that change what the protocol means reach the upstream, everything private stays', async () => {
    upstream.answer(answerJson(ANSWERS.messages))
    await send('messages', '{"model":"messages-model","max_tokens":1,"messages":[]}', {
      'anthropic-beta': 'a-2025,b-2026',
      'anthropic-version': '2026-10-21',
      cookie: 'session=1',
      'x-api-key': 'mine',
      'x-forwarded-for': '1.2.3.4',
      'accept-encoding': 'gzip',
      'gw-custom-id': 'order-1',
    })
    const headers = upstream.requests.at(-1)?.headers ?? {}
    expect(headers).toMatchObject({
      'anthropic-beta': 'a-2025,b-2026',
      'anthropic-version': '2026-10-21',
      'x-api-key': 'secret-of-clay-main',
    })
    for (const name of ['cookie', 'x-forwarded-for', 'gw-custom-id']) expect(headers[name]).toBeUndefined()
    expect(JSON.stringify(headers)).not.toContain(gateway.key)
  })

  test('credentials, organisation and cookies of the upstream do not come back [D-requests-38] [D-requests-39] [D-requests-40]', async () => {
    upstream.answer(
      answerJson(ANSWERS.chat, 200, {
        'set-cookie': '__cf=1',
        'openai-organization': 'org-secret',
        'openai-project': 'proj-secret',
        authorization: 'Bearer upstream',
        'x-request-id': 'upstream-id',
      }),
    )
    const answer = await send('chat', '{"model":"chat-model"}')
    for (const name of ['set-cookie', 'openai-organization', 'openai-project', 'authorization']) {
      expect(answer.headers.get(name)).toBeNull()
    }
    expect(answer.headers.get('x-request-id')).not.toBe('upstream-id')
  })

  test('x-request-id is also in the log; Gw-Model names the model; nothing was dropped [D-requests-35] [D-requests-36] [D-requests-37] [D-requests-34]', async () => {
    upstream.answer(answerJson(ANSWERS.chat))
    const answer = await send('chat', '{"model":"chat-model"}')
    expect((await gateway.lastLog()).requestId).toBe(answer.headers.get('x-request-id'))
    expect(answer.headers.get('gw-model')).toBe('chat-model')
    expect(answer.headers.get('gw-dropped-fields')).toBeNull()
  })

  test('Gw-Vendor-Code does not choose a chain on chat-type endpoints [1-44]', async () => {
    upstream.answer(answerJson(ANSWERS.chat))
    expect((await send('chat', '{"model":"chat-model"}', { 'gw-vendor-code': 'clay' })).status).toBe(200)
    expect((await gateway.lastLog()).vendorCode).toBe('acme')
  })
})

describe('answers', () => {
  test.each(['chat', 'responses', 'messages'] as const)(
    'a whole %s answer comes back byte for byte but for model [1-02] [D-requests-41]',
    async (name) => {
      const wire = `  ${JSON.stringify(ANSWERS[name]).replace('"usage"', '"extra":1.0,"nested":{"model":"up"},"usage"')}\n`
      upstream.answer(answerJson(wire))
      expect((await send(name, `{"model":"${name}-model"}`)).text).toBe(
        wire.replace('"model":"up"', `"model":"${name}-model"`),
      )
    },
  )

  test('broken tool arguments are handed on, not repaired [2.3-14]', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
    }
    upstream.answer(
      answerJson({ ...ANSWERS.chat, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    )
    const answer = await send('chat', '{"model":"chat-model"}')
    expect(answer.body['choices']).toMatchObject([
      { message: { tool_calls: [{ function: { arguments: '{"a":' } }] } },
    ])
  })

  test('an answer of several megabytes streams through', async () => {
    const text = 'x'.repeat(5 * 1024 * 1024)
    upstream.answer(
      answerJson({
        ...ANSWERS.chat,
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      }),
    )
    const answer = await send('chat', '{"model":"chat-model"}')
    expect(answer.body['model']).toBe('chat-model')
    expect(answer.text.length).toBeGreaterThan(text.length)
  })
})

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', ...fields })}\n\n`
const ROLE = chunk({
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
})
const TEXT = chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] })
const FINISH = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
const USAGE_CHUNK = chunk({ choices: [], usage: USAGE })
const DONE = 'data: [DONE]\n\n'

describe('streams', () => {
  test('chat: every byte but model, comments and odd framing included [D-requests-42]', async () => {
    const pieces = [
      ': hello\n\n',
      ROLE,
      TEXT.replace('data: ', 'data:'),
      FINISH.replaceAll('\n', '\r\n'),
      DONE,
    ]
    upstream.answer(answerStream(pieces))
    const answer = await send('chat', '{"model":"chat-model","stream":true}')
    expect(answer.text).toBe(pieces.join('').replaceAll('"model":"up"', '"model":"chat-model"'))
  })

  test('chat: [DONE] is added after a clean end when the upstream sent none, never after a cut [4.1-38] [6.1-03]', async () => {
    upstream.answer(answerStream([ROLE, TEXT, FINISH]))
    const whole = await send('chat', '{"model":"chat-model","stream":true}')
    expect(whole.text.endsWith(`}\n\n${DONE}`)).toBe(true)
    upstream.answer(answerStream([ROLE, TEXT]))
    expect((await send('chat', '{"model":"chat-model","stream":true}')).text).not.toContain('[DONE]')
    await gateway.resetHealth()
  })

  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

  test('responses: [DONE] is added when the upstream sent none, model replaced inside response [6.2-03] [6.2-12] [D-requests-46]', async () => {
    const pieces = [
      event('response.created', {
        sequence_number: 0,
        response: { ...ANSWERS.responses, status: 'in_progress' },
      }),
      event('response.output_text.delta', {
        sequence_number: 1,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        delta: 'Hi',
        logprobs: [],
      }),
      event('response.completed', { sequence_number: 2, response: ANSWERS.responses }),
    ]
    upstream.answer(answerStream(pieces))
    const answer = await send('responses', '{"model":"responses-model","stream":true}')
    expect(answer.text).toBe(
      `${pieces.join('').replaceAll('"model":"up"', '"model":"responses-model"')}${DONE}`,
    )
  })

  test('responses: [DONE] follows incomplete, and does not follow failed [D-requests-48] [D-requests-47]', async () => {
    const created = event('response.created', { sequence_number: 0, response: ANSWERS.responses })
    const delta = event('response.output_text.delta', {
      sequence_number: 1,
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: 'Hi',
      logprobs: [],
    })
    upstream.answer(
      answerStream([
        created,
        delta,
        event('response.incomplete', {
          sequence_number: 2,
          response: { ...ANSWERS.responses, status: 'incomplete' },
        }),
      ]),
    )
    expect((await send('responses', '{"model":"responses-model","stream":true}')).text.endsWith(DONE)).toBe(
      true,
    )
    upstream.answer(
      answerStream([
        created,
        delta,
        event('response.failed', {
          sequence_number: 2,
          response: { ...ANSWERS.responses, status: 'failed', error: { code: 'server_error', message: 'x' } },
        }),
      ]),
    )
    const failed = await send('responses', '{"model":"responses-model","stream":true}')
    expect(failed.text).toContain('response.failed')
    expect(failed.text).not.toContain('[DONE]')
    await gateway.resetHealth()
  })

  test('messages: every byte but model inside message_start', async () => {
    const pieces = [
      event('message_start', { message: { ...ANSWERS.messages, content: [] } }),
      'event: ping\ndata: {"type": "ping"}\n\n',
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}      }\n\n',
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 5 },
      }),
      event('message_stop', {}),
    ]
    upstream.answer(answerStream(pieces))
    const answer = await send('messages', '{"model":"messages-model","max_tokens":5,"stream":true}')
    expect(answer.text).toBe(pieces.join('').replace('"model":"up"', '"model":"messages-model"'))
    expect(await gateway.lastLog()).toMatchObject({
      usage: { input: 10, output: 5 },
      usageSource: 'upstream',
    })
  })

  test('forward is the default: the body stays as it is and tokens are counted [D-requests-17] [D-requests-18] [D-requests-19] [D-requests-20]', async () => {
    upstream.answer(answerStream([ROLE, TEXT, FINISH, DONE]))
    const sent =
      '{"model":"chat-model","stream":true,"messages":[{"role":"user","content":"one two three four"}]}'
    await send('chat', sent)
    expect(received()).not.toContain('stream_options')
    const log = await gateway.lastLog()
    expect(log.usageSource).toBe('estimated')
    expect(log.usage.output).toBe(1)
    expect(log.usage.input).toBeGreaterThanOrEqual(4)
    expect(log.usage.input).toBeLessThan(16)
  })

  test('inject asks for usage, bills by it and hides the extra chunk [D-requests-21] [D-requests-23] [D-requests-24]', async () => {
    upstream.answer(answerStream([ROLE, TEXT, FINISH, USAGE_CHUNK, DONE]))
    const answer = await send('chat', '{"model":"injecting","stream":true}')
    expect(JSON.parse(received())).toMatchObject({ stream_options: { include_usage: true } })
    expect(answer.text).not.toContain('"usage"')
    expect(answer.text.endsWith(DONE)).toBe(true)
    expect(await gateway.lastLog()).toMatchObject({
      usageSource: 'upstream',
      usage: { input: 10, output: 5 },
    })
  })

  test('inject leaves the client’s own include_usage as it is [D-requests-22]', async () => {
    upstream.answer(answerStream([ROLE, TEXT, FINISH, USAGE_CHUNK, DONE]))
    const answer = await send(
      'chat',
      '{"model":"injecting","stream":true,"stream_options":{"include_usage":true}}',
    )
    expect(received()).toBe('{"model":"up","stream":true,"stream_options":{"include_usage":true}}')
    expect(answer.text).toContain('"usage"')
  })

  test('a Gemini stream that fails after the first event ends with a data error object [D-requests-65]', async () => {
    upstream.answer(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]}\r\n\r\n',
      )
      await new Promise((resolve) => setImmediate(resolve))
      setImmediate(() => response.destroy())
    })
    const answer = await postJson(
      `${gateway.baseUrl}/v1beta/models/gemini-model:streamGenerateContent?alt=sse`,
      '{"contents":[]}',
      authorized(),
    )
    expect(answer.text).toMatch(/data: \{"error":/)
    expect(answer.text).not.toContain('finishReason')
    await gateway.resetHealth()
  })

  test('a broken responses stream ends in response.failed, a messages stream in event: error [D-errors-34] [D-errors-35] [D-errors-32] [D-errors-33] [2.4-07]', async () => {
    upstream.answer(
      cutStream([
        event('response.created', {
          sequence_number: 0,
          response: { ...ANSWERS.responses, status: 'in_progress' },
        }),
        event('response.output_text.delta', {
          sequence_number: 1,
          item_id: 'm',
          output_index: 0,
          content_index: 0,
          delta: 'Hi',
          logprobs: [],
        }),
      ]),
    )
    const responses = await send('responses', '{"model":"responses-model","stream":true}')
    expect(responses.text).toMatch(
      /event: response.failed\ndata: \{"type":"response.failed".*"status":"failed"/,
    )
    expect(responses.text).not.toContain('[DONE]')
    upstream.answer(
      cutStream([
        event('message_start', { message: ANSWERS.messages }),
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      ]),
    )
    const messages = await send('messages', '{"model":"messages-model","max_tokens":5,"stream":true}')
    expect(messages.text).toContain('event: error\n')
    expect(messages.text).not.toContain('message_stop')
    await gateway.resetHealth()
  })
})

describe('keep-alive', () => {
  const SLOW = {
    chat: { first: TEXT, rest: FINISH + DONE, sign: ': keep-alive\n\n' },
    messages: {
      first:
        'event: message_start\ndata: {"type":"message_start","message":{"model":"up","usage":{"input_tokens":1,"output_tokens":1}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
      rest: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      sign: 'event: ping\n',
    },
    responses: {
      first:
        'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
      rest: 'event: response.completed\ndata: {"type":"response.completed","response":{"model":"up"}}\n\n',
      sign: ': keep-alive\n\n',
    },
  } as const

  test.each(Object.entries(SLOW))(
    '%s: one sign per 15 s of silence, none before the first event [D-requests-49] [D-requests-50] [D-requests-51] [D-requests-52] [D-requests-53]',
    async (name, slow) => {
      let begin: (() => void) | undefined
      let finish: (() => void) | undefined
      const mayBegin = new Promise<void>((resolve) => (begin = resolve))
      const mayFinish = new Promise<void>((resolve) => (finish = resolve))
      upstream.answer(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.flushHeaders()
        await mayBegin
        response.write(slow.first)
        await mayFinish
        response.end(slow.rest)
      })
      const pulse = gateway.running.pipeline.pulse
      const arrived = upstream.requests.length
      const pending = fetch(gateway.baseUrl + PATHS[name as Name], {
        method: 'POST',
        headers: authorized(),
        body: `{"model":"${name}-model","stream":true,"max_tokens":5}`,
      })
      while (upstream.requests.length === arrived) await new Promise((resolve) => setImmediate(resolve))
      pulse.beat(Date.now() + 60_000)
      begin?.()
      const response = await pending
      const reader = response.body?.getReader()
      if (reader === undefined) throw new Error('no body')
      const read = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString()
      expect(await read()).not.toContain(slow.sign)
      const start = Date.now()
      pulse.beat(start + 14_000)
      pulse.beat(start + 16_000)
      expect(await read()).toContain(slow.sign)
      finish?.()
      let rest = ''
      for (let part = await reader.read(); !part.done; part = await reader.read())
        rest += Buffer.from(part.value).toString()
      expect(rest).not.toContain(slow.sign)
    },
  )
})

/** Where the value of the top-level model begins: the one at depth one. */
function topLevelModel(text: string, value: string): number {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at += 1
      else if (character === '"') inString = false
    } else if (character === '"') {
      if (depth === 1 && text.startsWith(value, at) && /"model"\s*:\s*$/.test(text.slice(0, at))) return at
      inString = true
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }
  throw new Error('no top-level model')
}
