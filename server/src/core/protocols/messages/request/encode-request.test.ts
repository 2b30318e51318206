import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, FunctionTool, Part, Tool, Turn } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import { CAPABLE, CAPABLE_TARGET, PLAIN_REQUEST } from '../../testing/laws.ts'
import type { Capabilities } from '../../protocol.ts'
import { listOf, objectOf } from '../../read-json.ts'
import { messagesProtocol } from '../index.ts'

function encode(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = {}) {
  const encoded = messagesProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, ...capabilities } },
  )
  if (encoded.kind === 'refused') throw new Error(encoded.message)
  return encoded
}

function refusalOf(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = {}) {
  const encoded = messagesProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, ...capabilities } },
  )
  return encoded.kind === 'refused' ? encoded.field : undefined
}

const text = (said: string): Part => ({ type: 'text', text: said })
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts })
const call = (id: string, written = '{}'): Part => ({
  type: 'tool-call',
  id,
  name: 'f',
  namespace: undefined,
  kind: 'function',
  arguments: written,
  signature: undefined,
})
const result = (callId: string, said = 'done'): Turn => ({
  role: 'tool',
  parts: [
    {
      type: 'tool-result',
      callId,
      kind: 'function',
      content: [{ type: 'text', text: said }],
      isError: false,
    },
  ],
})
const tool = (name: string): FunctionTool => ({
  type: 'function',
  name,
  namespace: undefined,
  description: undefined,
  parameters: undefined,
  strict: undefined,
})
const image: Part = {
  type: 'media',
  media: 'image',
  source: { kind: 'url', url: 'https://x/y.png', mediaType: undefined },
  detail: undefined,
  filename: undefined,
}

describe('the cap', () => {
  test('a missing cap becomes the model’s maximum [D-requests-62]', () => {
    expect(encode({}).body.max_tokens).toBe(4096)
  })

  test('a client’s own cap is kept, whatever the model’s maximum', () => {
    expect(encode({ maxOutputTokens: 999_999 }).body.max_tokens).toBe(999_999)
  })
})

describe('thinking', () => {
  const high = { effort: 'high', budgetTokens: undefined, expose: true, summary: undefined } as const

  test.each<[string, Partial<Capabilities>, Partial<CanonicalRequest>, JsonObject]>([
    [
      'adaptive models think by effort',
      { reasoning: 'adaptive', efforts: ['low', 'high'] },
      {},
      {
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'high' },
      },
    ],
    [
      'budget models think for so many tokens',
      { reasoning: 'budget' },
      { maxOutputTokens: 64_000 },
      { thinking: { type: 'enabled', budget_tokens: 16384 }, max_tokens: 64_000 },
    ],
    [
      'a cap is not raised, and a fifth of it is left for the answer',
      { reasoning: 'budget' },
      { maxOutputTokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 3200 }, max_tokens: 4000 },
    ],
    [
      'the model’s own maximum is a cap too',
      { reasoning: 'budget' },
      {},
      { thinking: { type: 'enabled', budget_tokens: 3276 }, max_tokens: 4096 },
    ],
    [
      'a budget of the client’s own may use all but the last token',
      { reasoning: 'budget' },
      {
        maxOutputTokens: 4000,
        reasoning: { effort: undefined, budgetTokens: 31_999, expose: true, summary: undefined },
      },
      { thinking: { type: 'enabled', budget_tokens: 3999 }, max_tokens: 4000 },
    ],
    [
      'xhigh is max where there is no xhigh',
      { reasoning: 'adaptive', efforts: ['low', 'high', 'max'] },
      {
        reasoning: { ...high, effort: 'xhigh' },
      },
      { output_config: { effort: 'max' } },
    ],
    [
      'none turns adaptive thinking off',
      { reasoning: 'adaptive' },
      { reasoning: { ...high, effort: 'none' } },
      {
        thinking: { type: 'disabled' },
      },
    ],
    [
      'a budget becomes an effort',
      { reasoning: 'adaptive' },
      {
        reasoning: { effort: undefined, budgetTokens: 8000, expose: false, summary: undefined },
      },
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'medium' } },
    ],
    [
      'left to the model, no effort is named',
      { reasoning: 'adaptive' },
      {
        reasoning: { effort: undefined, budgetTokens: -1, expose: undefined, summary: undefined },
      },
      { thinking: { type: 'adaptive' } },
    ],
  ])('%s', (_name, capabilities, request, expected) => {
    expect(encode({ reasoning: high, ...request }, capabilities).body).toMatchObject(expected)
  })

  test.each<[string, Partial<Capabilities>, Partial<CanonicalRequest>]>([
    ['a model that cannot think', { reasoning: 'none' }, {}],
    ['a cap with no room for a thought', { reasoning: 'budget' }, { maxOutputTokens: 1000 }],
    [
      'calls behind thoughts of another model',
      { reasoning: 'budget' },
      {
        turns: [
          user(text('x')),
          assistant(
            {
              type: 'reasoning',
              kind: 'summary',
              text: 'hm',
              signature: { issuer: 'openai', id: undefined, data: 'x' },
            },
            call('a'),
          ),
          result('a'),
        ],
      },
    ],
    [
      'calls whose thoughts are lost',
      { reasoning: 'budget' },
      {
        turns: [user(text('x')), assistant(call('a')), result('a')],
      },
    ],
  ])('is dropped for %s', (_name, capabilities, request) => {
    const { body, dropped } = encode({ reasoning: high, ...request }, capabilities)
    expect(body.thinking).toBeUndefined()
    expect(dropped).toContain('reasoning')
  })

  test('a forced tool becomes a free choice where thinking forbids it (docs/protocols.md#trap-32)', () => {
    const forced = { tools: [tool('f')], toolChoice: { kind: 'required' }, reasoning: high } as const
    const { body, dropped } = encode(forced, { reasoning: 'adaptive', forcedToolWithReasoning: false })
    expect(body.tool_choice).toEqual({ type: 'auto' })
    expect(dropped).toContain('toolChoice')
    expect(encode(forced, { reasoning: 'none', forcedToolWithReasoning: false }).body.tool_choice).toEqual({
      type: 'any',
    })
  })
})

describe('sampling', () => {
  const sampling = { ...PLAIN_REQUEST.sampling, temperature: 1.5, topP: 0.5, topK: 7, seed: 3 }

  test.each<[string, Partial<Capabilities>, JsonObject, readonly string[]]>([
    [
      'all of it, up to the model’s heat',
      { temperatureMax: 1 },
      { temperature: 1, top_p: 0.5, top_k: 7 },
      ['seed'],
    ],
    ['one of the two', { sampling: 'one' }, { temperature: 1.5, top_k: 7 }, ['seed', 'topP']],
    ['none on the newest models', { sampling: 'none' }, {}, ['seed', 'temperature', 'topP', 'topK']],
  ])('%s', (_name, capabilities, expected, dropped) => {
    const encoded = encode({ sampling }, capabilities)
    const { temperature, top_p, top_k } = encoded.body
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected)
    expect(encoded.dropped).toEqual(dropped)
  })

  test('stop sequences are kept as far as they go, blank ones are not sent (docs/protocols.md#trap-36)', () => {
    const { body, dropped } = encode({ stop: ['\n\n', 'END', 'STOP', 'HALT'] }, { stopMax: 2 })
    expect(body.stop_sequences).toEqual(['END', 'STOP'])
    expect(dropped).toContain('stop')
  })
})

describe('the conversation', () => {
  test('results come first, then the user’s text (docs/protocols.md#trap-28)', () => {
    const turns = [
      user(text('x')),
      assistant(call('a'), call('b')),
      result('a'),
      result('b'),
      user(text('and')),
    ]
    expect(encode({ turns }).body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use' }, { type: 'tool_use' }] },
      {
        role: 'user',
        content: [{ type: 'tool_result' }, { type: 'tool_result' }, { type: 'text', text: 'and' }],
      },
    ])
  })

  test('a system message keeps its role where the model knows it, else the user says it', () => {
    const turns: readonly Turn[] = [
      user(text('x')),
      assistant(call('a')),
      { role: 'system', parts: [text('hurry')] },
      result('a'),
    ]
    expect(encode({ turns }).body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'tool_result' }] },
      { role: 'system', content: [{ type: 'text', text: 'hurry' }] },
    ])
    expect(encode({ turns }, { midSystem: false }).body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      {
        role: 'user',
        content: [{ type: 'tool_result' }, { type: 'text', text: '<system>\nhurry\n</system>' }],
      },
    ])
  })

  test('blank texts are left out, a message of nothing else too (docs/protocols.md#trap-30)', () => {
    const turns = [user(text('x'), text(' \n')), assistant(text('')), user(text('y'))]
    expect(encode({ turns }).body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'y' },
        ],
      },
    ])
    expect(refusalOf({ turns: [user(text(' '))] })).toBe('turns')
  })

  test('arguments of nothing are an empty object, broken ones are kept under a name (docs/protocols.md#trap-9)', () => {
    const turns = [user(text('x')), assistant(call('a', ''), call('b', '{"x":'), call('c', '[1]'))]
    expect(encode({ turns }).body.messages).toMatchObject([
      {},
      { content: [{ input: {} }, { input: { arguments: '{"x":' } }, { input: { arguments: '[1]' } }] },
    ])
  })

  test('ids and names are brought within limits, the same for call, result and tool (docs/protocols.md#trap-34)', () => {
    const odd = 'functions.get weather:0'
    const turns = [user(text('x')), assistant(call(odd)), result(odd)]
    const { messages, tools } = encode({ turns, tools: [tool('a'.repeat(90))] }, { toolNameMax: 64 }).body
    const written = JSON.stringify(messages)
    const [id = ''] = /[a-zA-Z0-9_-]*(?=","name":"f")/.exec(written) ?? []
    expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(written.split(`"${id}"`)).toHaveLength(3)
    expect(JSON.stringify(tools)).toMatch(/"name":"[a-zA-Z0-9_-]{1,64}"/)
  })

  test('an answer that was begun is continued where the model can, refused where it cannot', () => {
    const turns = [user(text('x')), assistant(text('Once upon \n'))]
    expect(encode({ turns }).body.messages).toMatchObject([{}, { content: [{ text: 'Once upon' }] }])
    expect(refusalOf({ turns }, { prefill: false })).toBe('turns')
  })

  test('a conversation the assistant began gets a user to answer', () => {
    const { messages } = encode({ turns: [assistant(text('Welcome!')), user(text('hi'))] }).body
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })

  test('images stay images, in what the user says and in results (docs/protocols.md#trap-31)', () => {
    const turns: readonly Turn[] = [
      user(image),
      assistant(call('a')),
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'a', kind: 'function', content: [image], isError: true }],
      },
    ]
    const source = { type: 'url', url: 'https://x/y.png' }
    expect(encode({ turns }).body.messages).toMatchObject([
      { content: [{ type: 'image', source }] },
      {},
      { content: [{ type: 'tool_result', content: [{ type: 'image', source }], is_error: true }] },
    ])
    expect(refusalOf({ turns }, { images: 'none' })).toBe('turns')
    expect(refusalOf({ turns }, { images: 'inline' })).toBe('turns')
  })

  test('audio, several answers and files of another provider are refused', () => {
    const file: Part = { ...image, media: 'file', source: { kind: 'file-id', id: 'file_1' } }
    const sound: Part = {
      ...image,
      media: 'audio',
      source: { kind: 'base64', mediaType: 'audio/wav', data: 'AA' },
    }
    expect(refusalOf({ turns: [user(file)] })).toBe('turns')
    expect(refusalOf({ turns: [user(sound)] })).toBe('turns')
    expect(refusalOf({ candidates: 2 })).toBe('candidates')
  })

  test('thoughts go back only to who signed them (docs/protocols.md#trap-23)', () => {
    const thought = (issuer: string | undefined, kind: 'summary' | 'redacted'): Part => ({
      type: 'reasoning',
      kind,
      text: kind === 'redacted' ? '' : 'hm',
      signature: { issuer, id: undefined, data: 'blob' },
    })
    const turns = [
      user(text('x')),
      assistant(thought(CAPABLE_TARGET.issuer, 'summary'), thought('openai', 'summary'), text('y')),
      user(text('z')),
    ]
    const { body, dropped } = encode({ turns })
    expect(body.messages).toMatchObject([
      {},
      { content: [{ type: 'thinking', thinking: 'hm', signature: 'blob' }, { type: 'text' }] },
      {},
    ])
    expect(dropped).toEqual(['reasoningHistory'])
  })

  test('every block of thought comes back as it was, in its order (docs/protocols.md#trap-21)', () => {
    const blocks: readonly Part[] = ['one', 'two', 'three'].map((said) => ({
      type: 'reasoning',
      kind: 'summary',
      text: said,
      signature: { issuer: CAPABLE_TARGET.issuer, id: undefined, data: `sig ${said}` },
    }))
    const [, answer] = encode({ turns: [user(text('x')), assistant(...blocks, text('y')), user(text('z'))] })
      .body.messages as readonly JsonObject[]
    expect(answer?.content).toEqual([
      { type: 'thinking', thinking: 'one', signature: 'sig one' },
      { type: 'thinking', thinking: 'two', signature: 'sig two' },
      { type: 'thinking', thinking: 'three', signature: 'sig three' },
      { type: 'text', text: 'y' },
    ])
  })
})

describe('cache marks (docs/protocols.md#trap-35)', () => {
  const marked = (said: string, ttl: '5m' | '1h' | '30m'): Part => ({
    type: 'text',
    text: said,
    cache: { ttl },
  })

  test('the last four are kept, all of one life, and none is added', () => {
    const parts = [
      marked('a', '5m'),
      marked('b', '5m'),
      marked('c', '1h'),
      marked('d', '30m'),
      marked('e', '5m'),
    ]
    const { body, dropped } = encode({ turns: [user(...parts)] })
    const content = listOf(objectOf(listOf(body.messages)[0])?.content)
    const controls = content.map((block) => objectOf(block)?.cache_control)
    expect(controls).toEqual([undefined, ...Array.from({ length: 4 }, () => ({ type: 'ephemeral' }))])
    expect(dropped).toContain('cache')
  })

  test('a mark for the whole prefix counts as one of the four', () => {
    const parts = ['a', 'b', 'c', 'd'].map((said) => marked(said, '1h'))
    const { body } = encode({ turns: [user(...parts)], cacheAll: { ttl: '1h' } })
    expect(body.cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
    expect(JSON.stringify(body.messages).match(/cache_control/g)).toHaveLength(3)
  })

  test('none reach an upstream that knows none', () => {
    const { body, dropped } = encode({ turns: [user(marked('a', '5m'))] }, { cacheMarks: 'none' })
    expect(JSON.stringify(body)).not.toContain('cache_control')
    expect(dropped).toEqual(['cache'])
  })
})

describe('tools', () => {
  test('a native tool goes back as the client wrote it', () => {
    const native = { protocol: 'messages', json: { type: 'bash_20250124', name: 'bash' } } as const
    expect(encode({ tools: [{ ...tool('bash'), native }] }).body.tools).toEqual([native.json])
  })

  test('a schema gets an object at the top and loses what is refused there (docs/protocols.md#trap-33)', () => {
    const parameters = { $schema: 'x', anyOf: [{ type: 'object', properties: { a: {} }, required: ['a'] }] }
    expect(encode({ tools: [{ ...tool('f'), parameters }] }).body.tools).toMatchObject([
      { input_schema: { type: 'object', properties: { a: {} } } },
    ])
    expect(JSON.stringify(encode({ tools: [{ ...tool('f'), parameters }] }).body)).not.toContain('anyOf')
  })

  test('a choice among some tools sends only those', () => {
    const { body } = encode({
      tools: [tool('a'), tool('b')],
      toolChoice: { kind: 'allowed', mode: 'required', names: ['b'] },
    })
    expect(body.tools).toMatchObject([{ name: 'b' }])
    expect(body.tool_choice).toEqual({ type: 'any' })
  })

  test('hosted tools are translated where the model has them and dropped where it has not', () => {
    const search: Tool = {
      type: 'hosted',
      name: 'web-search',
      protocol: 'responses',
      json: { type: 'web_search', user_location: { type: 'approximate', country: 'DE' } },
    }
    expect(encode({ tools: [search] }).body.tools).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        user_location: { type: 'approximate', country: 'DE' },
      },
    ])
    const without = encode({ tools: [search] }, { hostedTools: [] })
    expect(without.body.tools).toBeUndefined()
    expect(without.dropped).toEqual(['tools[0]'])
  })
})

describe('structured output', () => {
  const output = {
    kind: 'json-schema',
    name: 'answer',
    description: undefined,
    schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
    strict: true,
  } as const

  test('a model that has it is held to the schema in its own dialect', () => {
    expect(objectOf(encode({ output }).body.output_config)?.format).toEqual({
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { n: { type: 'integer', description: '(minimum: 1)' } },
        additionalProperties: false,
      },
    })
  })

  test('a model without it is made to call a tool, whose arguments are the answer', () => {
    const { body } = encode({ output }, { jsonSchema: false })
    const [only] = body.tools as readonly JsonObject[]
    expect(body.tool_choice).toEqual({
      type: 'tool',
      name: only?.name,
      disable_parallel_tool_use: true,
    })
    const response = messagesProtocol.decodeResponse({
      id: 'msg',
      content: [{ type: 'tool_use', id: 'a', name: only?.name, input: { n: 2 } }],
      stop_reason: 'tool_use',
    })
    expect(response.candidates[0]).toMatchObject({
      blocks: [{ type: 'text', text: '{"n":2}' }],
      finish: { reason: 'stop' },
    })
  })

  test('with the client’s own tools it is sent as text', () => {
    const { body } = encode({ output, tools: [tool('f')] }, { jsonSchema: false })
    expect(JSON.stringify(body.system)).toContain('JSON Schema')
    expect(body.tool_choice).toBeUndefined()
  })
})
