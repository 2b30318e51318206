import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, Part, Turn } from '../../../canonical/request.ts'
import { clientPath, clientPaths } from '../../client-fields.ts'
import { sealSignature } from '../../../canonical/envelope.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { CAPABLE, PLAIN_REQUEST } from '../../testing/laws.ts'
import type { Capabilities, Encoded } from '../../protocol.ts'
import { chatProtocol } from '../index.ts'

const user = { role: 'user', content: 'hello' }

function decode(body: JsonObject): CanonicalRequest {
  const decoded = chatProtocol.decodeRequest({ model: 'm', ...body })
  if (decoded.kind === 'refused') throw new Error(decoded.message)
  return decoded.value
}

function droppedOf(body: JsonObject): readonly string[] {
  const decoded = chatProtocol.decodeRequest({ model: 'm', messages: [user], ...body })
  return decoded.kind === 'decoded' ? decoded.dropped : []
}

function partsOf(content: JsonValue, role = 'user'): readonly Part[] {
  return decode({ messages: [{ role, content }] }).turns.flatMap((turn) => turn.parts)
}

/** What a server that calls itself compatible takes. */
const PLAIN: Capabilities = {
  ...CAPABLE,
  topK: false,
  reasoning: 'none',
  efforts: [],
  replayReasoning: false,
  strictTools: false,
  customTools: false,
  toolNameMax: 64,
  toolIdMax: 64,
  documents: 'none',
  audio: false,
  imagesInToolResults: false,
  cacheMarks: 'none',
  hostedTools: [],
  verbosity: false,
  serviceTier: false,
  metadata: false,
  promptCacheKey: false,
}

function encode(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = {}): Encoded {
  const encoded = chatProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    {
      forwardModelId: 'forward',
      maxOutputTokens: 99,
      capabilities: { ...PLAIN, ...capabilities },
      issuer: 'vendor',
    },
  )
  if (encoded.kind === 'refused') throw new Error(encoded.message)
  return encoded
}

function messagesOf(turns: readonly Turn[], capabilities: Partial<Capabilities> = {}): JsonValue | undefined {
  return encode({ turns }, capabilities).body.messages
}

const call = (id: string, name = 'look'): Part => ({
  type: 'tool-call',
  id,
  name,
  namespace: undefined,
  kind: 'function',
  arguments: '{"at":1}',
  signature: undefined,
})
const text = (said: string): Part => ({ type: 'text', text: said })
const image: Part = {
  type: 'media',
  media: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: 'QUJD' },
  detail: undefined,
  filename: undefined,
}
const resultOf = (callId: string, content: readonly Part[]): Part => ({
  type: 'tool-result',
  callId,
  kind: 'function',
  content: content.filter((part) => part.type === 'text' || part.type === 'media'),
  isError: false,
})

describe('what a chat client sends', () => {
  test('the order of turns is kept, leading instructions are separate', () => {
    const request = decode({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'developer', content: [{ type: 'text', text: 'in French' }] },
        user,
        { role: 'assistant', content: 'hi' },
        { role: 'system', content: 'now in German' },
        { role: 'user', content: 'and now?' },
      ],
    })
    expect(request.system).toEqual([{ text: 'be brief' }, { text: 'in French' }])
    expect(request.turns.map(({ role, parts }) => [role, parts])).toEqual([
      ['user', [text('hello')]],
      ['assistant', [text('hi')]],
      ['system', [text('now in German')]],
      ['user', [text('and now?')]],
    ])
  })

  test.each<[string, JsonValue, unknown]>([
    [
      'a web address',
      { type: 'image_url', image_url: { url: 'https://x/i.png', detail: 'low' } },
      { source: { kind: 'url', url: 'https://x/i.png' }, detail: 'low' },
    ],
    [
      'a data: address',
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,QUJD' } },
      { source: { kind: 'base64', mediaType: 'image/jpeg', data: 'QUJD' } },
    ],
    [
      'an address without its object',
      { type: 'image_url', image_url: 'https://x/i.png' },
      { source: { kind: 'url' } },
    ],
    [
      'a sound',
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { media: 'audio', source: { mediaType: 'audio/wav' } },
    ],
    [
      'a file',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
      { media: 'file', filename: 'a.pdf', source: { mediaType: 'application/pdf' } },
    ],
    [
      'a file as bare base64',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'QUJD' } },
      { source: { kind: 'base64', mediaType: 'application/pdf', data: 'QUJD' } },
    ],
    [
      'an uploaded file',
      { type: 'file', file: { file_id: 'file-1' } },
      { source: { kind: 'file-id', id: 'file-1' } },
    ],
    [
      'a video',
      { type: 'video_url', video_url: { url: 'https://x/v.mp4' } },
      { media: 'file', source: { mediaType: 'video/mp4' } },
    ],
    [
      'a text with a cache mark',
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { text: 'x', cache: { ttl: '1h' } },
    ],
    [
      'a breakpoint',
      { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      { cache: { ttl: '30m' } },
    ],
    ['a text of the responses protocol', { type: 'input_text', text: 'x' }, { type: 'text', text: 'x' }],
  ])('content part: %s', (_name, part, expected) => {
    expect(partsOf([part])).toMatchObject([expected])
  })

  test('empty texts are nothing, also beside tool calls (docs/protocols.md#trap-30)', () => {
    expect(partsOf(['', { type: 'text', text: '' }, { type: 'text', text: 'x' }])).toEqual([text('x')])
    const request = decode({
      messages: [
        user,
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '' },
      ],
    })
    expect(request.turns[1]?.parts).toMatchObject([{ type: 'tool-call', arguments: '' }])
    expect(request.turns[2]?.parts).toMatchObject([{ type: 'tool-result', content: [] }])
  })

  test('an assistant message holds reasoning, text, a refusal and calls, arguments as they are', () => {
    const request = decode({
      messages: [
        user,
        {
          role: 'assistant',
          reasoning_content: 'hm',
          content: [
            { type: 'text', text: 'so' },
            { type: 'refusal', refusal: 'no' },
          ],
          tool_calls: [
            { id: 'c1', function: { name: 'look', arguments: '{broken' } },
            { id: 'c2', type: 'custom', custom: { name: 'patch', input: '*** x' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
          cache_control: { type: 'ephemeral' },
        },
        { role: 'tool', tool_call_id: 'c2', content: 'done' },
      ],
    })
    expect(request.turns[1]?.parts).toMatchObject([
      { type: 'reasoning', kind: 'raw', text: 'hm' },
      { type: 'text', text: 'so' },
      { type: 'refusal', text: 'no' },
      { type: 'tool-call', id: 'c1', kind: 'function', arguments: '{broken' },
      { type: 'tool-call', id: 'c2', kind: 'custom', arguments: '*** x' },
    ])
    expect(request.turns[2]?.parts[0]).toMatchObject({
      content: [text('a'), text('b')],
      cache: { ttl: '5m' },
    })
  })

  test('the deprecated function form is tools, its answers by position', () => {
    const request = decode({
      functions: [{ name: 'look', parameters: { type: 'object', properties: {} } }],
      function_call: { name: 'look' },
      messages: [
        user,
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'seen' },
      ],
    })
    const [made] = request.turns[1]?.parts ?? []
    const [answer] = request.turns[2]?.parts ?? []
    expect(made?.type === 'tool-call' && answer?.type === 'tool-result' && made.id === answer.callId).toBe(
      true,
    )
    expect(request.tools).toMatchObject([{ type: 'function', name: 'look' }])
    expect(request.toolChoice).toEqual({ kind: 'tool', name: 'look' })
  })

  test('our envelope comes back out of reasoning_details and extra_content (docs/protocols.md#trap-20)', () => {
    const sealed = sealSignature({ issuer: undefined, id: 'rs_1', data: 'blob' }, 'summary', 'openai')
    const ofCall = sealSignature({ issuer: undefined, id: undefined, data: 'thought' }, 'call', 'google')
    const request = decode({
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'told',
          reasoning_details: [{ type: 'reasoning.summary', index: 0, summary: 'told', signature: sealed }],
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'look', arguments: '{}' },
              extra_content: { gateway: { sig: ofCall } },
            },
            {
              id: 'c2',
              type: 'function',
              function: { name: 'look', arguments: '{}' },
              extra_content: { google: { thought_signature: 'bare' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
        { role: 'tool', tool_call_id: 'c2', content: 'y' },
      ],
    })
    expect(request.turns[1]?.parts).toMatchObject([
      { kind: 'summary', text: 'told', signature: { issuer: 'openai', id: 'rs_1', data: 'blob' } },
      { signature: { issuer: 'google', data: 'thought' } },
      { signature: { issuer: undefined, data: 'bare', protocol: 'chat' } },
    ])
  })

  test.each<[string, JsonObject, Partial<CanonicalRequest>]>([
    ['stop is a text', { stop: 'END' }, { stop: ['END'] }],
    ['stop is a list', { stop: ['a', 'b', '', 'd'] }, { stop: ['a', 'b', 'd'] }],
    [
      'max_completion_tokens before max_tokens',
      { max_tokens: 5, max_completion_tokens: 7 },
      { maxOutputTokens: 7 },
    ],
    ['a cap above any limit stays', { max_tokens: 10_000_000 }, { maxOutputTokens: 10_000_000 }],
    [
      'null is absent',
      { temperature: null, stop: null, tools: null, response_format: null },
      { stop: [], tools: [] },
    ],
    ['json_object', { response_format: { type: 'json_object' } }, { output: { kind: 'json' } }],
    [
      'reasoning_effort',
      { reasoning_effort: 'high' },
      { reasoning: { effort: 'high', budgetTokens: undefined, expose: true, summary: undefined } },
    ],
    [
      'OpenRouter’s reasoning',
      { reasoning: { effort: 'low', exclude: true } },
      { reasoning: { effort: 'low', budgetTokens: undefined, expose: false, summary: undefined } },
    ],
    [
      'thinking off',
      { thinking: { type: 'disabled' } },
      { reasoning: { effort: 'none', budgetTokens: undefined, expose: undefined, summary: undefined } },
    ],
    [
      'Qwen’s budget',
      { enable_thinking: true, thinking_budget: 2000 },
      { reasoning: { effort: undefined, budgetTokens: 2000, expose: true, summary: undefined } },
    ],
    [
      'usage in streams',
      { stream: true, stream_options: { include_usage: true } },
      { stream: true, includeUsage: true },
    ],
    ['safety_identifier is a user', { safety_identifier: 'u1' }, { user: 'u1' }],
    ['logprobs', { logprobs: true, top_logprobs: 3 }, { logprobs: { top: 3 } }],
    [
      'Mistral’s any',
      { tools: [{ type: 'function', function: { name: 'a' } }], tool_choice: 'any' },
      { toolChoice: { kind: 'required' } },
    ],
  ])('settings: %s', (_name, body, expected) => {
    expect(decode({ messages: [user], ...body })).toMatchObject(expected)
  })

  test('fields without room are dropped by name, each once', () => {
    expect(
      droppedOf({
        logit_bias: { 5: 1 },
        prediction: {},
        seed: 1,
        moderation: null,
        made_up: 1,
        messages: [
          { ...user, name: 'a' },
          { ...user, name: 'b' },
        ],
      }),
    ).toEqual(['logit_bias', 'prediction', 'made_up', 'messages[].name'])
  })

  test('tools of odd clients: strict null, flat form, a vendor’s own', () => {
    const body = {
      messages: [user],
      tools: [
        {
          type: 'function',
          function: { name: 'a', strict: null, parameters: { $schema: 'x', type: 'object' } },
          cache_control: { type: 'ephemeral' },
        },
        { type: 'function', name: 'b', parameters: {} },
        { type: 'web_search', web_search: {} },
        {
          type: 'custom',
          custom: {
            name: 'c',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } },
          },
        },
      ],
      web_search_options: { search_context_size: 'low' },
    }
    expect(decode(body).tools).toMatchObject([
      { type: 'function', name: 'a', strict: undefined, cache: { ttl: '5m' } },
      { type: 'function', name: 'b' },
      { type: 'custom', name: 'c', grammar: { syntax: 'lark', definition: 'start: "x"' } },
      { type: 'hosted', name: 'web-search' },
    ])
    expect(droppedOf(body)).toEqual(['tools[2]'])
  })
})

describe('what cannot mean anything is refused by its field', () => {
  const calls = (ids: readonly string[]): JsonObject => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
  })
  let deep: JsonValue = {}
  for (let level = 0; level < 100_000; level += 1) deep = { items: deep }

  test.each<[string, JsonObject]>([
    ['messages', {}],
    ['messages', { messages: 'hello' }],
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'user', content: '' }] }],
    ['messages[0]', { messages: ['hello'] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
    [
      'messages[0].content[1].type',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'smell' }] }] },
    ],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text', text: 7 }] }] }],
    [
      'messages[0].content[0].image_url.url',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    ],
    [
      'messages[0].content',
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    ],
    ['messages[1].tool_call_id', { messages: [user, { role: 'tool', tool_call_id: 'c9', content: 'x' }] }],
    ['messages[1].tool_call_id', { messages: [user, { role: 'tool', content: 'x' }] }],
    ['messages[1].tool_calls[1].id', { messages: [user, calls(['c1', 'c1'])] }],
    ['messages[1].tool_calls[0].id', { messages: [user, calls([''])] }],
    [
      'messages[1].tool_calls[0].function.name',
      { messages: [user, { role: 'assistant', tool_calls: [{ id: 'c1', function: {} }] }] },
    ],
    [
      'messages[3].tool_call_id',
      {
        messages: [
          user,
          calls(['c1']),
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
          { role: 'tool', tool_call_id: 'c1', content: 'y' },
        ],
      },
    ],
    ['temperature', { messages: [user], temperature: 'hot' }],
    ['stream', { messages: [user], stream: 'yes' }],
    ['stop', { messages: [user], stop: { a: 1 } }],
    ['reasoning_effort', { messages: [user], reasoning_effort: 'extreme' }],
    ['modalities', { messages: [user], modalities: ['text', 'audio'] }],
    ['response_format.type', { messages: [user], response_format: { type: 'xml' } }],
    ['response_format.json_schema', { messages: [user], response_format: { type: 'json_schema' } }],
    ['tools[0].function.name', { messages: [user], tools: [{ type: 'function', function: {} }] }],
    [
      'tools[0].function.parameters',
      { messages: [user], tools: [{ type: 'function', function: { name: 'a', parameters: 'none' } }] },
    ],
    [
      'tools[0].function.parameters',
      { messages: [user], tools: [{ type: 'function', function: { name: 'a', parameters: deep } }] },
    ],
    ['tool_choice', { messages: [user], tool_choice: { type: 'function', function: { name: 'gone' } } }],
    ['tool_choice', { messages: [user], tool_choice: 'sometimes' }],
  ])('%s', (field, body) => {
    const decoded = chatProtocol.decodeRequest({ model: 'm', ...body })
    expect(decoded).toMatchObject({ kind: 'refused', field })
    expect(decoded.kind === 'refused' && decoded.message.startsWith(`${field}: `)).toBe(true)
  })

  test('ten thousand messages, a megabyte of text and lone surrogates are nothing special', () => {
    const messages = Array.from({ length: 10_000 }, (_, index) =>
      index % 2 === 0 ? { role: 'user', content: `\ud800 ${index}` } : calls([`c${index}`]),
    )
    const request = decode({ messages: [...messages, { role: 'user', content: 'x'.repeat(1 << 20) }] })
    expect(request.turns).toHaveLength(10_001)
    expect(JSON.stringify(encode(request).body).length).toBeGreaterThan(1 << 20)
  })

  test('arguments nested without end are kept as nothing, not run over', () => {
    const [made] = decode({
      messages: [
        user,
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'a', arguments: deep } }] },
      ],
    }).turns.flatMap((turn) => turn.parts.filter((part) => part.type === 'tool-call'))
    expect(made?.arguments).toBe('{}')
  })
})

describe('what a chat upstream gets', () => {
  test('a whole conversation', () => {
    const { body, dropped } = encode(
      {
        system: [{ text: 'be brief' }, { text: 'be kind' }],
        turns: [
          { role: 'user', parts: [text('look'), image] },
          { role: 'assistant', parts: [text('I will'), call('c1'), call('c2')] },
          { role: 'tool', parts: [resultOf('c1', [text('a'), text('b')]), resultOf('c2', [])] },
          { role: 'user', parts: [text('thanks')] },
        ],
        tools: [
          {
            type: 'function',
            name: 'look',
            namespace: undefined,
            description: 'sees',
            parameters: { $schema: 'x', type: 'object', properties: {} },
            strict: true,
          },
        ],
        toolChoice: { kind: 'tool', name: 'look' },
        maxOutputTokens: 50,
        sampling: { ...PLAIN_REQUEST.sampling, temperature: 0.5, topK: 5 },
        stop: ['END'],
        stream: true,
        metadata: { a: 'b' },
      },
      { stopMax: 4 },
    )
    expect(body).toEqual({
      model: 'forward',
      messages: [
        { role: 'system', content: 'be brief\n\nbe kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I will',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
            { id: 'c2', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a\nb' },
        { role: 'tool', tool_call_id: 'c2', content: '' },
        { role: 'user', content: 'thanks' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'sees', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      max_tokens: 50,
      temperature: 0.5,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(clientPaths('messages', dropped)).toEqual(['tools[].strict', 'top_k', 'metadata'])
  })

  test('an image in a tool result goes into the next user message, after all results (docs/protocols.md#trap-31)', () => {
    expect(
      messagesOf([
        { role: 'user', parts: [text('look')] },
        { role: 'assistant', parts: [call('c1'), call('c2')] },
        { role: 'tool', parts: [resultOf('c1', [image]), resultOf('c2', [text('b')])] },
        { role: 'user', parts: [text('well?')] },
      ]),
    ).toMatchObject([
      {},
      {},
      { role: 'tool', tool_call_id: 'c1', content: 'See the attachment for c1.' },
      { role: 'tool', tool_call_id: 'c2', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attached to the result of c1:' },
          { type: 'image_url' },
          { type: 'text', text: 'well?' },
        ],
      },
    ])
  })

  test('an instruction in the middle keeps its place, or is put into the next user message after the results', () => {
    const turns: readonly Turn[] = [
      { role: 'user', parts: [text('a')] },
      { role: 'assistant', parts: [call('c1')] },
      { role: 'tool', parts: [resultOf('c1', [text('r')])] },
      { role: 'system', parts: [text('be brief')] },
      { role: 'user', parts: [text('b')] },
    ]
    expect(messagesOf(turns, { systemRole: 'developer' })).toMatchObject([
      {},
      {},
      {},
      { role: 'developer', content: 'be brief' },
      {},
    ])
    expect(messagesOf(turns, { midSystem: false })).toMatchObject([
      {},
      {},
      { role: 'tool' },
      { role: 'user', content: [{ text: '<system>\nbe brief\n</system>' }, { text: 'b' }] },
    ])
  })

  test('a vendor that wants its reasoning back gets the field on every assistant message (docs/protocols.md#trap-27)', () => {
    const turns: readonly Turn[] = [
      { role: 'user', parts: [text('a')] },
      {
        role: 'assistant',
        parts: [{ type: 'reasoning', kind: 'raw', text: 'hm', signature: undefined }, call('c1')],
      },
      { role: 'tool', parts: [resultOf('c1', [])] },
      { role: 'assistant', parts: [text('b')] },
      { role: 'user', parts: [text('c')] },
    ]
    expect(messagesOf(turns, { replayReasoning: true })).toMatchObject([
      {},
      { reasoning_content: 'hm', tool_calls: [{}] },
      {},
      { reasoning_content: '', content: 'b' },
      {},
    ])
    const without = encode({ turns })
    expect(JSON.stringify(without.body)).not.toContain('reasoning')
    expect(without.dropped).toEqual(['reasoningHistory'])
  })

  test('a signature goes back only to its issuer (docs/protocols.md#trap-23)', () => {
    const turns = (issuer: string): readonly Turn[] => [
      { role: 'user', parts: [text('a')] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', kind: 'raw', text: 'hm', signature: { issuer, id: undefined, data: 'blob' } },
          {
            type: 'tool-call',
            id: 'c1',
            name: 'look',
            namespace: undefined,
            kind: 'function',
            arguments: '',
            signature: { issuer, id: undefined, data: 'thought' },
          },
        ],
      },
      { role: 'tool', parts: [resultOf('c1', [])] },
    ]
    expect(messagesOf(turns('vendor'))).toMatchObject([
      {},
      {
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'blob', index: 0 }],
        tool_calls: [
          { function: { arguments: '{}' }, extra_content: { google: { thought_signature: 'thought' } } },
        ],
      },
      {},
    ])
    const foreign = encode({ turns: turns('somebody else') })
    expect(JSON.stringify(foreign.body)).not.toMatch(/blob|thought/)
    expect(new Set(foreign.dropped)).toEqual(new Set(['reasoningHistory', 'signatures']))
  })

  test('a forced tool becomes a free choice where thinking forbids it (docs/protocols.md#trap-32)', () => {
    const tools = [
      {
        type: 'function',
        name: 'look',
        namespace: undefined,
        description: undefined,
        parameters: undefined,
        strict: undefined,
      } as const,
    ]
    const reasoning = {
      effort: 'high',
      budgetTokens: undefined,
      expose: undefined,
      summary: undefined,
    } as const
    const forced = { tools, reasoning, toolChoice: { kind: 'required' } } as const
    const thinker = { reasoning: 'effort', efforts: ['low', 'high'], forcedToolWithReasoning: false } as const
    expect(encode(forced, thinker)).toMatchObject({ body: { tool_choice: 'auto' }, dropped: ['toolChoice'] })
    expect(encode({ ...forced, reasoning: { ...reasoning, effort: 'none' } }, thinker).body.tool_choice).toBe(
      'required',
    )
    expect(encode(forced, { ...thinker, forcedToolWithReasoning: true }).body.tool_choice).toBe('required')
  })

  test('a chain that takes only a part of JSON Schema gets that part (docs/protocols.md#trap-33)', () => {
    const tools = [
      {
        type: 'function',
        name: 'a',
        namespace: undefined,
        description: undefined,
        parameters: { type: 'object', properties: { x: { const: 'y' } }, additionalProperties: false },
        strict: undefined,
      } as const,
    ]
    const { body } = encode({ tools }, { schemaDialect: 'openapi-subset' })
    expect(JSON.stringify(body.tools)).not.toMatch(/const|additionalProperties/)
  })

  test('one long id is the same short one in the call and in its result (docs/protocols.md#trap-34)', () => {
    const id = 'toolu_'.padEnd(90, 'x')
    const messages = JSON.stringify(
      messagesOf(
        [
          { role: 'user', parts: [text('a')] },
          { role: 'assistant', parts: [call(id)] },
          { role: 'tool', parts: [resultOf(id, [text('r')])] },
        ],
        { toolIdMax: 40 },
      ),
    )
    const made = /"id":"([^"]+)"/.exec(messages)?.[1] ?? ''
    expect(made).toHaveLength(40)
    expect(messages).toContain(`"tool_call_id":"${made}"`)
  })

  test('stop sequences are kept as far as they go (docs/protocols.md#trap-36)', () => {
    expect(encode({ stop: ['a', 'b', 'c', 'd', 'e'] }, { stopMax: 4 })).toMatchObject({
      body: { stop: ['a', 'b', 'c', 'd'] },
      dropped: ['stop'],
    })
    expect(encode({ stop: ['a'] }, { stopMax: 0 })).toMatchObject({ dropped: ['stop'], cutAt: ['a'] })
    expect(encode({ stop: ['a'] }, { stopMax: 4 })).not.toHaveProperty('cutAt')
  })

  test('marks go in the chain’s own words and never more than four (docs/protocols.md#trap-35)', () => {
    const marked = (said: string): Part => ({ type: 'text', text: said, cache: { ttl: '5m' } })
    const turns: readonly Turn[] = [{ role: 'user', parts: ['a', 'b', 'c', 'd', 'e'].map(marked) }]
    const anthropic = encode({ turns }, { cacheMarks: 'anthropic' })
    expect(JSON.stringify(anthropic.body).match(/"cache_control":\{"type":"ephemeral"\}/g)).toHaveLength(4)
    expect(anthropic.dropped).toEqual(['cache'])
    expect(JSON.stringify(encode({ turns }, { cacheMarks: 'breakpoint' }).body)).toContain(
      '"prompt_cache_breakpoint":{"mode":"explicit"}',
    )
    expect(JSON.stringify(encode({ turns }).body)).not.toContain('cache')
  })

  test('a custom tool is a function with one text where there are no custom tools', () => {
    const tools = [
      {
        type: 'custom',
        name: 'patch',
        namespace: undefined,
        description: 'edits',
        grammar: { syntax: 'lark', definition: 'start: x' },
      } as const,
    ]
    const turns: readonly Turn[] = [
      { role: 'user', parts: [text('a')] },
      {
        role: 'assistant',
        parts: [
          {
            type: 'tool-call',
            id: 'c1',
            name: 'patch',
            namespace: undefined,
            kind: 'custom',
            arguments: '*** "x"',
            signature: undefined,
          },
        ],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'c1', kind: 'custom', content: [], isError: true }],
      },
    ]
    expect(encode({ tools, turns }).body).toMatchObject({
      tools: [
        {
          type: 'function',
          function: {
            name: 'patch',
            description: expect.stringContaining('lark grammar:\nstart: x'),
            parameters: { required: ['input'] },
          },
        },
      ],
      messages: [
        {},
        { tool_calls: [{ type: 'function', function: { arguments: '{"input":"*** \\"x\\""}' } }] },
        { content: 'Error: ' },
      ],
    })
    expect(encode({ tools, turns }, { customTools: true }).body).toMatchObject({
      tools: [{ type: 'custom', custom: { format: { type: 'grammar', grammar: { syntax: 'lark' } } } }],
      messages: [{}, { tool_calls: [{ type: 'custom', custom: { name: 'patch', input: '*** "x"' } }] }, {}],
    })
  })

  test.each<[string, Partial<CanonicalRequest>, Partial<Capabilities>, JsonObject]>([
    [
      'effort in the nearest word',
      { reasoning: { effort: 'max', budgetTokens: undefined, expose: true, summary: undefined } },
      { reasoning: 'effort', efforts: ['low', 'medium', 'high'] },
      { reasoning_effort: 'high' },
    ],
    [
      'a budget as effort',
      { reasoning: { effort: undefined, budgetTokens: 2000, expose: true, summary: undefined } },
      { reasoning: 'effort', efforts: ['low', 'high'] },
      { reasoning_effort: 'low' },
    ],
    [
      'a switch',
      { reasoning: { effort: 'none', budgetTokens: undefined, expose: undefined, summary: undefined } },
      { reasoning: 'toggle' },
      { thinking: { type: 'disabled' } },
    ],
    [
      'Qwen’s switch',
      { reasoning: { effort: 'high', budgetTokens: undefined, expose: true, summary: undefined } },
      { reasoning: 'toggle', reasoningSwitch: 'enable_thinking' },
      { enable_thinking: true },
    ],
    [
      'Qwen’s budget',
      { reasoning: { effort: 'low', budgetTokens: undefined, expose: true, summary: undefined } },
      { reasoning: 'budget', reasoningSwitch: 'enable_thinking' },
      { enable_thinking: true, thinking_budget: 2048 },
    ],
    [
      'sampling that the model refuses, with reasoning off',
      {
        sampling: { ...PLAIN_REQUEST.sampling, temperature: 1 },
        reasoning: { effort: 'none', budgetTokens: undefined, expose: undefined, summary: undefined },
      },
      { sampling: 'none', reasoning: 'effort', efforts: ['none', 'high'] },
      { temperature: 1 },
    ],
    [
      'a temperature hotter than the model’s',
      { sampling: { ...PLAIN_REQUEST.sampling, temperature: 1.6 } },
      { temperatureMax: 1 },
      { temperature: 1 },
    ],
    [
      'a temperature no model has is the upstream’s to judge',
      { sampling: { ...PLAIN_REQUEST.sampling, temperature: 9 } },
      { temperatureMax: 1 },
      { temperature: 9 },
    ],
    [
      'a schema as JSON mode',
      { output: { kind: 'json-schema', name: 'x', description: undefined, schema: {}, strict: true } },
      { jsonSchema: false },
      { response_format: { type: 'json_object' } },
    ],
    [
      'the cap under its other name',
      { maxOutputTokens: 5 },
      { outputTokensField: 'max_completion_tokens', outputTokensMin: 16 },
      { max_completion_tokens: 16 },
    ],
    [
      'a whole JSON document as user',
      { user: '{"device":"'.padEnd(90, 'x') },
      {},
      { user: expect.stringMatching(/^user_[a-z0-9]{11}$/) },
    ],
    [
      'tiers of other protocols',
      { serviceTier: 'standard_only' },
      { serviceTier: true },
      { service_tier: 'default' },
    ],
    [
      'web search of another protocol',
      {
        tools: [
          {
            type: 'hosted',
            name: 'web-search',
            protocol: 'responses',
            json: { type: 'web_search', user_location: { type: 'approximate', city: 'Paris' } },
          },
        ],
      },
      { hostedTools: ['web-search'] },
      { web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Paris' } } } },
    ],
    [
      'allowed tools by cutting the list',
      {
        tools: ['a', 'b'].map((name) => ({
          type: 'function',
          name,
          namespace: undefined,
          description: undefined,
          parameters: undefined,
          strict: undefined,
        })),
        toolChoice: { kind: 'allowed', mode: 'required', names: ['b'] },
      },
      {},
      { tools: [{ type: 'function', function: { name: 'b' } }], tool_choice: 'required' },
    ],
  ])('settings: %s', (_name, request, capabilities, expected) => {
    expect(encode(request, capabilities).body).toMatchObject(expected)
  })

  test.each<[string, Partial<CanonicalRequest>, Partial<Capabilities>, string]>([
    ['several answers', { candidates: 2 }, { candidates: false }, 'n'],
    [
      'an image for a model that sees none',
      { turns: [{ role: 'user', parts: [image] }] },
      { images: 'none' },
      'messages',
    ],
    [
      'a begun answer',
      {
        turns: [
          { role: 'user', parts: [text('a')] },
          { role: 'assistant', parts: [text('{')] },
        ],
      },
      { prefill: false },
      'messages',
    ],
    [
      'a file of another provider',
      {
        turns: [
          {
            role: 'user',
            parts: [
              {
                type: 'media',
                media: 'file',
                source: { kind: 'file-id', id: 'f' },
                detail: undefined,
                filename: undefined,
              },
            ],
          },
        ],
      },
      { documents: 'inline' },
      'messages',
    ],
    [
      'a response nobody kept',
      { state: { store: undefined, previousResponseId: 'resp_1' } },
      {},
      'previous_response_id',
    ],
    ['nothing to say', { turns: [] }, {}, 'messages'],
  ])('refused: %s', (_name, request, capabilities, field) => {
    const encoded = chatProtocol.encodeRequest(
      { ...PLAIN_REQUEST, ...request },
      {
        forwardModelId: 'f',
        maxOutputTokens: undefined,
        capabilities: { ...PLAIN, ...capabilities },
        issuer: 'v',
      },
    )
    expect(encoded.kind === 'refused' && clientPath('chat', encoded.field)).toBe(field)
  })
})
