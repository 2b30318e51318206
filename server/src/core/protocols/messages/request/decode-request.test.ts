import { describe, expect, test } from 'vitest'
import { sealSignature } from '../../../canonical/envelope.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { messagesProtocol } from '../index.ts'

const user = (content: JsonValue): JsonObject => ({ role: 'user', content })
const assistant = (content: JsonValue): JsonObject => ({ role: 'assistant', content })
const toolUse = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: { x: 1 } })
const toolResult = (id: string, content: JsonValue = 'done'): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})

function decode(body: JsonObject): { readonly value: CanonicalRequest; readonly dropped: readonly string[] } {
  const decoded = messagesProtocol.decodeRequest({
    model: 'm',
    max_tokens: 100,
    messages: [user('hi')],
    ...body,
  })
  if (decoded.kind === 'refused') throw new Error(decoded.message)
  return decoded
}

function refusalOf(body: JsonObject) {
  const decoded = messagesProtocol.decodeRequest({
    model: 'm',
    max_tokens: 100,
    messages: [user('hi')],
    ...body,
  })
  return decoded.kind === 'refused' ? decoded : undefined
}

describe('what cannot mean anything is refused by the name of its field', () => {
  test.each<[string, JsonObject, string]>([
    ['no messages', { messages: null }, 'messages'],
    ['messages that are no list', { messages: 'hi' }, 'messages'],
    ['no message at all', { messages: [] }, 'messages'],
    ['only empty messages', { messages: [user('')] }, 'messages'],
    ['a message that is no object', { messages: ['hi'] }, 'messages[0]'],
    ['an unknown role', { messages: [{ role: 'robot', content: 'hi' }] }, 'messages[0].role'],
    ['content of no kind', { messages: [user(7)] }, 'messages[0].content'],
    ['an unknown block', { messages: [user([{ type: 'smell' }])] }, 'messages[0].content[0].type'],
    ['a block without type', { messages: [user([{ text: 'x' }])] }, 'messages[0].content[0]'],
    ['a text that is none', { messages: [user([{ type: 'text', text: 1 }])] }, 'messages[0].content[0].text'],
    [
      'a result without its call',
      { messages: [user([toolResult('a')])] },
      'messages[0].content[0].tool_use_id',
    ],
    [
      'a second result for a call',
      { messages: [user('x'), assistant([toolUse('a')]), user([toolResult('a'), toolResult('a')])] },
      'messages[2].content[1].tool_use_id',
    ],
    [
      'two open calls of one id',
      { messages: [user('x'), assistant([toolUse('a'), toolUse('a')])] },
      'messages[1].content[1].id',
    ],
    [
      'a call without a name',
      { messages: [user('x'), assistant([{ type: 'tool_use', id: 'a' }])] },
      'messages[1].content[0].name',
    ],
    [
      'an image without data',
      { messages: [user([{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }])] },
      'messages[0].content[0].source.data',
    ],
    [
      'a source of no kind',
      { messages: [user([{ type: 'image', source: { type: 'cloud' } }])] },
      'messages[0].content[0].source.type',
    ],
    [
      'a file of a container',
      { messages: [user([{ type: 'container_upload', file_id: 'f' }])] },
      'messages[0].content[0]',
    ],
    ['a system prompt of pictures', { system: [{ type: 'image' }] }, 'system[0]'],
    ['a cap that is no number', { max_tokens: '100' }, 'max_tokens'],
    ['a cap of nothing', { max_tokens: 0 }, 'max_tokens'],
    ['a temperature in words', { temperature: 'hot' }, 'temperature'],
    ['stop sequences that are no list', { stop_sequences: 'END' }, 'stop_sequences'],
    ['tools that are no list', { tools: {} }, 'tools'],
    ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools[0].name'],
    ['a toolset of members', { tools: [{ type: 'computer_toolset_20260801' }] }, 'tools[0].type'],
    ['a choice of no kind', { tool_choice: { type: 'maybe' } }, 'tool_choice'],
    ['a choice without its tool', { tool_choice: { type: 'tool' } }, 'tool_choice'],
    [
      'a choice of a tool that is not there',
      { tool_choice: { type: 'tool', name: 'f' } },
      'tool_choice.name',
    ],
    ['a schema that is none', { tools: [{ name: 'f', input_schema: true }] }, 'tools[0].input_schema'],
    ['a format of no kind', { output_config: { format: { type: 'xml' } } }, 'output_config.format.type'],
    [
      'a format without schema',
      { output_config: { format: { type: 'json_schema' } } },
      'output_config.format.schema',
    ],
  ])('%s', (_name, body, field) => {
    const refusal = refusalOf(body)
    expect(refusal?.field).toBe(field)
    expect(refusal?.message).toContain(field)
  })

  test('a schema or input nested without end is refused, not written', () => {
    let deep: JsonValue = {}
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect(refusalOf({ tools: [{ name: 'f', input_schema: { default: deep } }] })?.field).toBe('tools[0]')
    const call = { type: 'tool_use', id: 'a', name: 'f', input: { deep } }
    expect(refusalOf({ messages: [user('x'), assistant([call])] })?.field).toBe(
      'messages[1].content[0].input',
    )
    expect(refusalOf({ output_config: { format: { type: 'json_schema', schema: { deep } } } })?.field).toBe(
      'output_config.format.schema',
    )
  })
})

test('a message thread is refused the way the client recovers from', () => {
  expect(refusalOf({ thread: { type: 'create' } })).toEqual({
    kind: 'refused',
    field: 'thread',
    message: expect.stringContaining('thread'),
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
  expect(refusalOf({ thread: null })).toBeUndefined()
})

describe('the conversation', () => {
  test('a system message may be anywhere, one before all others belongs to the instructions', () => {
    const { value } = decode({
      system: 'be brief',
      messages: [
        { role: 'system', content: 'be kind' },
        user('hi'),
        { role: 'system', content: [{ type: 'text', text: 'use tools' }] },
        assistant('ok'),
      ],
    })
    expect(value.system).toEqual([{ text: 'be brief' }, { text: 'be kind' }])
    expect(value.turns.map(({ role }) => role)).toEqual(['user', 'system', 'assistant'])
  })

  test('results come first and in a row, whatever the client said between them (docs/protocols.md#trap-28)', () => {
    const { value } = decode({
      messages: [
        user('x'),
        assistant([toolUse('a'), toolUse('b')]),
        user([{ type: 'text', text: 'while you wait' }, toolResult('a'), toolResult('b')]),
      ],
    })
    expect(value.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(value.turns[2]?.parts).toHaveLength(2)
  })

  test('results in a later message still come directly after their calls', () => {
    const { value } = decode({
      messages: [
        user('x'),
        assistant([toolUse('a'), toolUse('b')]),
        user([toolResult('a')]),
        { role: 'system', content: 'note' },
        user([{ type: 'text', text: 'and' }, toolResult('b')]),
      ],
    })
    expect(value.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system', 'user'])
    expect(value.turns[2]?.parts).toHaveLength(2)
  })

  test('messages of one role in a row are one turn', () => {
    const { value } = decode({ messages: [user('a'), user('b'), assistant('c'), assistant('d')] })
    expect(value.turns.map(({ parts }) => parts.length)).toEqual([2, 2])
  })

  test('empty texts are nothing, an empty assistant message neither (docs/protocols.md#trap-30)', () => {
    const { value } = decode({
      messages: [
        user([
          { type: 'text', text: '' },
          { type: 'text', text: 'x' },
        ]),
        assistant(''),
      ],
    })
    expect(value.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'x' }] }])
  })

  test('an id may come again once its call was answered', () => {
    const round = [assistant([toolUse('a')]), user([toolResult('a')])]
    expect(decode({ messages: [user('x'), ...round, ...round] }).value.turns).toHaveLength(5)
  })

  test('deferred tools: a tool reference in a result is kept, the flag on the tool is named as dropped', () => {
    const { value, dropped } = decode({
      tools: [{ name: 'Found', defer_loading: true, input_schema: { type: 'object' } }],
      messages: [
        user('x'),
        assistant([toolUse('a')]),
        user([toolResult('a', [{ type: 'tool_reference', tool_name: 'Found' }])]),
      ],
    })
    expect(value.turns[2]?.parts[0]).toMatchObject({
      content: [{ type: 'tool-reference', toolName: 'Found' }],
    })
    expect(dropped).toEqual(['tools[].defer_loading'])
  })

  test('documents become files, their title the name; search results become text', () => {
    const { value } = decode({
      messages: [
        user([
          {
            type: 'document',
            title: 'a.pdf',
            source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
          {
            type: 'document',
            title: 'T',
            source: { type: 'content', content: [{ type: 'text', text: 'in' }] },
          },
          {
            type: 'search_result',
            title: 'S',
            source: 'https://s',
            content: [{ type: 'text', text: 'found' }],
          },
        ]),
      ],
    })
    expect(value.turns[0]?.parts).toMatchObject([
      { type: 'media', media: 'file', filename: 'a.pdf', source: { kind: 'base64' } },
      { type: 'media', media: 'file', source: { kind: 'text', text: 'plain' } },
      { type: 'text', text: 'T' },
      { type: 'text', text: 'in' },
      { type: 'text', text: 'S\nhttps://s\nfound' },
    ])
  })

  test('the accounting line of Claude Code is not sent to anyone else', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=abc;' },
      { type: 'text', text: 'You are helpful.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]
    expect(decode({ system }).value.system).toEqual([{ text: 'You are helpful.', cache: { ttl: '1h' } }])
  })

  test('a signature in our envelope is opened, a bare one is known to be of this protocol (docs/protocols.md#trap-20)', () => {
    const sealed = sealSignature({ issuer: 'openai', id: 'rs_1', data: 'blob' }, 'raw', 'unused')
    const { value } = decode({
      messages: [
        user('x'),
        assistant([
          { type: 'thinking', thinking: 'a', signature: sealed },
          { type: 'thinking', thinking: 'b', signature: 'native' },
          { type: 'redacted_thinking', data: 'native too' },
        ]),
      ],
    })
    expect(value.turns[1]?.parts).toEqual([
      {
        type: 'reasoning',
        kind: 'raw',
        text: 'a',
        signature: { issuer: 'openai', id: 'rs_1', data: 'blob' },
      },
      {
        type: 'reasoning',
        kind: 'summary',
        text: 'b',
        signature: { issuer: undefined, id: undefined, data: 'native', protocol: 'messages' },
      },
      {
        type: 'reasoning',
        kind: 'redacted',
        text: '',
        signature: { issuer: undefined, id: undefined, data: 'native too', protocol: 'messages' },
      },
    ])
  })
})

describe('settings', () => {
  test.each<[string, JsonObject, Partial<CanonicalRequest>]>([
    [
      'thinking with a budget',
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      {
        reasoning: { effort: undefined, budgetTokens: 4000, expose: true, summary: undefined },
      },
    ],
    [
      'adaptive thinking',
      { thinking: { type: 'adaptive' } },
      {
        reasoning: { effort: undefined, budgetTokens: -1, expose: true, summary: undefined },
      },
    ],
    [
      'adaptive thinking with an effort',
      {
        thinking: { type: 'adaptive', display: 'omitted' },
        output_config: { effort: 'xhigh' },
      },
      { reasoning: { effort: 'xhigh', budgetTokens: undefined, expose: false, summary: undefined } },
    ],
    [
      'an effort alone',
      { output_config: { effort: 'low' } },
      {
        reasoning: { effort: 'low', budgetTokens: undefined, expose: undefined, summary: undefined },
      },
    ],
    [
      'no thinking',
      { thinking: { type: 'disabled' } },
      {
        reasoning: { effort: 'none', budgetTokens: undefined, expose: false, summary: undefined },
      },
    ],
    [
      'one tool at a time',
      { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
      {
        toolChoice: { kind: 'required' },
        parallelToolCalls: false,
      },
    ],
    [
      'a named tool',
      { tools: [{ name: 'f' }], tool_choice: { type: 'tool', name: 'f' } },
      { toolChoice: { kind: 'tool', name: 'f' } },
    ],
    ['the standard tier', { service_tier: 'standard_only' }, { serviceTier: 'default' }],
    ['the user', { metadata: { user_id: '{"device":"x"}' } }, { user: '{"device":"x"}' }],
    ['a cached prefix', { cache_control: { type: 'ephemeral' } }, { cacheAll: { ttl: '5m' } }],
    ['a stream', { stream: true }, { stream: true }],
    [
      'the older place of the format',
      { output_format: { type: 'json_schema', schema: { type: 'object' } } },
      {
        output: {
          kind: 'json-schema',
          name: undefined,
          description: undefined,
          schema: { type: 'object' },
          strict: undefined,
        },
      },
    ],
  ])('%s', (_name, body, expected) => {
    expect(decode(body).value).toMatchObject(expected)
  })

  test.each([
    ['bash_20250124', 'bash', 'command'],
    ['text_editor_20250728', 'str_replace_based_edit_tool', 'old_str'],
    ['memory_20250818', 'memory', 'file_text'],
    ['computer_20251124', 'computer', 'coordinate'],
  ])('a typed tool the client runs, %s, is a function with the documented schema', (type, name, property) => {
    const { value } = decode({ tools: [{ type, name }] })
    expect(value.tools[0]).toMatchObject({
      type: 'function',
      name,
      parameters: { type: 'object', properties: { [property]: expect.anything() } },
      native: { protocol: 'messages', json: { type, name } },
    })
  })

  test.each([
    ['web_search_20250305', 'web-search'],
    ['code_execution_20250825', 'code-interpreter'],
    ['web_fetch_20250910', 'url-context'],
    ['tool_search_tool_bm25_20251119', 'other'],
  ])('a server tool, %s, is hosted', (type, name) => {
    expect(decode({ tools: [{ type, name: 'x' }] }).value.tools[0]).toMatchObject({ type: 'hosted', name })
  })

  test('members without a counterpart are named once, invented names only when they are plain', () => {
    const { dropped } = decode({
      container: 'c',
      context_management: {},
      'evil\r\nheader': 1,
      metadata: { user_id: 'u', session: 's' },
      tools: [
        { name: 'a', input_schema: {}, eager_input_streaming: true },
        { name: 'b', input_schema: {}, eager_input_streaming: true },
      ],
    })
    expect(dropped).toEqual([
      'container',
      'context_management',
      'tools[].eager_input_streaming',
      'metadata.session',
    ])
  })
})

test('ten thousand messages and a megabyte of broken text are read like any other', () => {
  const lone = '\ud800'.repeat(500_000)
  const messages = Array.from({ length: 10_000 }, (_, index) =>
    index % 2 === 0 ? user(`question ${index}`) : assistant(`answer ${index}`),
  )
  const { value } = decode({ messages: [...messages, user(lone)] })
  expect(value.turns).toHaveLength(10_001)
})
