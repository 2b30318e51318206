import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, Part, Turn } from '../../../canonical/request.ts'
import { sealSignature } from '../../../canonical/envelope.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { chatProtocol } from '../../chat/index.ts'
import { clientPath, clientPaths } from '../../client-fields.ts'
import { CAPABLE, PLAIN_REQUEST } from '../../testing/laws.ts'
import type { Capabilities, Encoded } from '../../protocol.ts'
import { responsesProtocol } from '../index.ts'

function decode(body: JsonObject): CanonicalRequest {
  const decoded = responsesProtocol.decodeRequest({ model: 'm', ...body })
  if (decoded.kind === 'refused') throw new Error(decoded.message)
  return decoded.value
}

function droppedOf(body: JsonObject): readonly string[] {
  const decoded = responsesProtocol.decodeRequest({ model: 'm', input: 'hello', ...body })
  return decoded.kind === 'decoded' ? decoded.dropped : []
}

/** What OpenAI's own reasoning models take. */
const OPENAI: Capabilities = {
  ...CAPABLE,
  replayReasoning: false,
  audio: false,
  cacheMarks: 'none',
  toolNameMax: 64,
  toolIdMax: 64,
  outputTokensMin: 16,
}

function encode(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = {}): Encoded {
  const encoded = responsesProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    {
      forwardModelId: 'forward',
      maxOutputTokens: 99,
      capabilities: { ...OPENAI, ...capabilities },
      issuer: 'openai',
    },
  )
  if (encoded.kind === 'refused') throw new Error(encoded.message)
  return encoded
}

function itemsOf(turns: readonly Turn[], capabilities: Partial<Capabilities> = {}): JsonValue | undefined {
  return encode({ turns }, capabilities).body.input
}

const text = (said: string): Part => ({ type: 'text', text: said })
const call = (id: string): Part => ({
  type: 'tool-call',
  id,
  name: 'look',
  namespace: undefined,
  kind: 'function',
  arguments: '{"at":1}',
  signature: undefined,
})
const user: Turn = { role: 'user', parts: [text('hello')] }
const image: Part = {
  type: 'media',
  media: 'image',
  source: { kind: 'url', url: 'https://x/i.png', mediaType: undefined },
  detail: 'original',
  filename: undefined,
}

describe('what a responses client sends', () => {
  test('a text is one user message', () => {
    expect(decode({ input: 'hello' }).turns).toEqual([user])
  })

  test('items without type, roles in any place, ids, statuses and phases of their own', () => {
    const request = decode({
      instructions: 'be brief',
      input: [
        {
          type: 'message',
          id: 'msg_6b3c',
          role: 'developer',
          content: [{ type: 'input_text', text: 'in French' }],
        },
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          phase: 'commentary',
          content: [{ type: 'output_text', text: 'hm', annotations: [] }],
        },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'c1',
          name: 'look',
          arguments: '{}',
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
        { role: 'system', content: 'now in German' },
        { role: 'user', content: 'and now?' },
      ],
    })
    expect(request.system).toEqual([{ text: 'be brief', instructions: true }, { text: 'in French' }])
    expect(request.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system', 'user'])
    expect(request.turns[1]?.parts).toMatchObject([
      { type: 'text', text: 'hm' },
      { type: 'tool-call', id: 'c1' },
    ])
    expect(request.turns[2]?.parts).toMatchObject([{ callId: 'c1', content: [text('seen')] }])
  })

  test('Codex: namespaces, grammars, tool_search, web_search, reasoning, client_metadata', () => {
    const body: JsonObject = {
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      client_metadata: { a: 'b' },
      parallel_tool_calls: true,
      reasoning: { effort: 'high', summary: 'auto' },
      text: {},
      tools: [
        {
          type: 'namespace',
          name: 'mcp',
          description: 'x',
          tools: [
            { type: 'function', name: 'read', strict: null, parameters: { type: 'object' } },
            { type: 'custom', name: 'raw' },
          ],
        },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'edits',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
        },
        { type: 'tool_search', execution: 'client' },
        { type: 'web_search', external_web_access: false },
        { type: 'local_shell' },
      ],
      input: [
        { role: 'user', content: 'go' },
        {
          type: 'reasoning',
          id: 'rs_9',
          summary: [
            { type: 'summary_text', text: 'a' },
            { type: 'summary_text', text: 'b' },
          ],
          encrypted_content: 'blob',
        },
        { type: 'function_call', call_id: 'c1', name: 'read', namespace: 'mcp', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '***' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'r' },
            { type: 'input_image', image_url: 'data:image/png;base64,QUJD' },
          ],
        },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} },
        { type: 'local_shell_call', call_id: 'c3', action: {} },
        { type: 'local_shell_call_output', call_id: 'c3', output: '' },
      ],
    }
    const request = decode(body)
    expect(request.tools).toMatchObject([
      { type: 'function', name: 'read', namespace: 'mcp', strict: undefined },
      { type: 'custom', name: 'raw', namespace: 'mcp' },
      { type: 'custom', name: 'apply_patch', grammar: { syntax: 'lark', definition: 'start: x' } },
      { type: 'hosted', name: 'other' },
      { type: 'hosted', name: 'web-search' },
      { type: 'hosted', name: 'other' },
    ])
    expect(request.turns[1]?.parts).toMatchObject([
      {
        type: 'reasoning',
        kind: 'summary',
        text: 'a\n\nb',
        signature: { id: 'rs_9', data: 'blob', protocol: 'responses' },
      },
      { type: 'tool-call', name: 'read', namespace: 'mcp' },
      { type: 'tool-call', kind: 'custom', arguments: '***' },
    ])
    expect(request.turns[2]?.parts).toMatchObject([
      { callId: 'c1', content: [text('r'), { type: 'media', source: { kind: 'base64' } }] },
      { callId: 'c2', kind: 'custom' },
    ])
    expect(request.turns[3]?.parts.map(({ type }) => type)).toEqual(['opaque', 'opaque', 'opaque'])
    expect(request.state).toEqual({ store: false, previousResponseId: undefined })
    expect(droppedOf(body)).toEqual(['client_metadata'])
  })

  test('an image the assistant drew is an image to every protocol', () => {
    const request = decode({
      input: [
        { role: 'user', content: 'draw' },
        { type: 'image_generation_call', id: 'ig_1', result: 'QUJD', output_format: 'webp' },
        { role: 'user', content: 'bigger' },
      ],
    })
    expect(request.turns[1]?.parts).toMatchObject([
      { type: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/webp', data: 'QUJD' } },
    ])
    expect(itemsOf(request.turns)).toMatchObject([
      {},
      {
        role: 'user',
        content: [{ text: 'Made by the assistant:' }, { type: 'input_image' }, { text: 'bigger' }],
      },
    ])
  })

  test('reasoning keeps its blocks, their order and every letter (docs/protocols.md#trap-21)', () => {
    const parts: readonly Part[] = ['a ', ' b'].flatMap((said, index): readonly Part[] => [
      {
        type: 'reasoning',
        kind: 'summary',
        text: said,
        signature: { issuer: 'openai', id: `rs_${index}`, data: said },
      },
      call(`c${index}`),
    ])
    expect(itemsOf([user, { role: 'assistant', parts }])).toMatchObject([
      {},
      { id: 'rs_0', summary: [{ text: 'a ' }], encrypted_content: 'a ' },
      { call_id: 'c0' },
      { id: 'rs_1', summary: [{ text: ' b' }], encrypted_content: ' b' },
      { call_id: 'c1' },
    ])
  })

  test('what a call must be replayed with comes back from the item beside it (docs/protocols.md#trap-22)', () => {
    const sealed = sealSignature({ issuer: undefined, id: 'c1', data: 'thought' }, 'call', 'google')
    const request = decode({
      input: [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed },
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
      ],
    })
    expect(request.turns[1]?.parts).toEqual([
      {
        type: 'tool-call',
        id: 'c1',
        name: 'look',
        namespace: undefined,
        kind: 'function',
        arguments: '{}',
        signature: { issuer: 'google', id: undefined, data: 'thought' },
      },
    ])
  })

  test('our envelope brings kind, issuer and native id back (docs/protocols.md#trap-20)', () => {
    const sealed = sealSignature({ issuer: undefined, id: undefined, data: 'sig' }, 'summary', 'anthropic')
    const request = decode({
      input: [
        { role: 'user', content: 'go' },
        {
          type: 'reasoning',
          id: 'rs_ours',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: sealed,
        },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: 'and?' },
      ],
    })
    expect(request.turns[1]?.parts[0]).toEqual({
      type: 'reasoning',
      kind: 'summary',
      text: 'hm',
      signature: { issuer: 'anthropic', id: undefined, data: 'sig' },
    })
  })

  test('a continued response may begin with results', () => {
    const request = decode({
      previous_response_id: 'resp_1',
      input: [{ type: 'function_call_output', call_id: 'c1', output: 'x' }],
    })
    expect(request.state.previousResponseId).toBe('resp_1')
    expect(request.turns).toHaveLength(1)
  })

  test.each<[string, JsonObject, Partial<CanonicalRequest>]>([
    [
      'a schema',
      {
        text: {
          format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true },
          verbosity: 'low',
        },
      },
      {
        output: {
          kind: 'json-schema',
          name: 'x',
          description: undefined,
          schema: { type: 'object' },
          strict: true,
        },
        verbosity: 'low',
      },
    ],
    ['logprobs by include', { include: ['message.output_text.logprobs'] }, { logprobs: { top: 0 } }],
    ['no logprobs by default', { top_logprobs: 0 }, { logprobs: undefined }],
    [
      'effort without a summary',
      { reasoning: { effort: 'low', summary: null } },
      { reasoning: { effort: 'low', budgetTokens: undefined, expose: undefined, summary: undefined } },
    ],
    [
      'a custom tool by name',
      { tools: [{ type: 'custom', name: 'p' }], tool_choice: { type: 'custom', name: 'p' } },
      { toolChoice: { kind: 'tool', name: 'p' } },
    ],
    [
      'allowed tools',
      {
        tools: [{ type: 'function', name: 'p' }],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'p' }] },
      },
      { toolChoice: { kind: 'allowed', mode: 'required', names: ['p'] } },
    ],
    ['safety_identifier is a user', { safety_identifier: 'u' }, { user: 'u' }],
  ])('settings: %s', (_name, body, expected) => {
    expect(decode({ input: 'hello', ...body })).toMatchObject(expected)
  })

  test('fields that ask for nothing are not called dropped', () => {
    expect(
      droppedOf({
        background: false,
        truncation: 'disabled',
        stream_options: { include_obfuscation: false },
        max_tool_calls: null,
        conversation: null,
      }),
    ).toEqual([])
    expect(
      droppedOf({
        truncation: 'auto',
        max_tool_calls: 3,
        prompt_cache_retention: '24h',
        tool_choice: { type: 'file_search' },
        tools: [],
      }),
    ).toEqual(['truncation', 'max_tool_calls', 'prompt_cache_retention', 'tool_choice'])
  })
})

describe('what cannot mean anything is refused by its field', () => {
  test.each<[string, JsonObject]>([
    ['input', {}],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: { role: 'user' } }],
    ['instructions', { input: 'x', instructions: 7 }],
    ['input[0]', { input: ['hello'] }],
    ['input[0].role', { input: [{ role: 'robot', content: 'x' }] }],
    ['input[0].content', { input: [{ role: 'user', content: 7 }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'smell' }] }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
    ['input[0].type', { input: [{ type: 'wish' }] }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'c1', output: 'x' }] }],
    ['input[0].name', { input: [{ type: 'function_call', call_id: 'c1', arguments: '{}' }] }],
    [
      'input[1].call_id',
      {
        input: [
          { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
          { type: 'function_call', call_id: 'c1', name: 'b', arguments: '{}' },
        ],
      },
    ],
    ['background', { input: 'x', background: true }],
    ['conversation', { input: 'x', conversation: 'conv_1' }],
    ['prompt', { input: 'x', prompt: { id: 'p' } }],
    ['reasoning.effort', { input: 'x', reasoning: { effort: 'extreme' } }],
    ['max_output_tokens', { input: 'x', max_output_tokens: 'many' }],
    ['store', { input: 'x', store: 'yes' }],
    ['text.format.type', { input: 'x', text: { format: { type: 'xml' } } }],
    ['text.format.schema', { input: 'x', text: { format: { type: 'json_schema', name: 'a' } } }],
    ['tools[0].name', { input: 'x', tools: [{ type: 'function' }] }],
    [
      'tools[0].tools[0].name',
      { input: 'x', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] },
    ],
    ['tools[0].parameters', { input: 'x', tools: [{ type: 'function', name: 'a', parameters: [] }] }],
    ['tool_choice', { input: 'x', tool_choice: { type: 'function', name: 'gone' } }],
  ])('%s', (field, body) => {
    const decoded = responsesProtocol.decodeRequest({ model: 'm', ...body })
    expect(decoded).toMatchObject({ kind: 'refused', field })
    expect(decoded.kind === 'refused' && decoded.message.startsWith(`${field}: `)).toBe(true)
  })

  test('more items than the stack holds arguments are nothing special, nor as many tools and names of tools', () => {
    const count = 200_000
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'x' }
    const names = Array.from({ length: 20_000 }, (_, index) => ({ type: 'function', name: `f${index}` }))
    const request = decode({
      input: [
        { role: 'user', content: 'go' },
        ...Array.from({ length: count }, () => thought),
        { role: 'assistant', content: 'so' },
        { role: 'user', content: 'on' },
      ],
      tools: [{ type: 'namespace', name: 'n', tools: names }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: names },
    })
    expect(request.turns[1]?.parts).toHaveLength(count + 1)
    expect(encode(request).body.input).toHaveLength(count + 3)
  })

  test('what is nested without end is refused, not run over', () => {
    let deep: JsonObject = {}
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep }
    const fields = [
      { metadata: deep },
      { tools: [{ type: 'web_search', filters: deep }] },
      { input: [{ type: 'web_search_call', action: deep }] },
      { text: { format: { type: 'json_schema', name: 'x', schema: deep } } },
    ].map((body) => {
      const decoded = responsesProtocol.decodeRequest({ model: 'm', input: 'x', ...body })
      return decoded.kind === 'refused' ? decoded.field : 'decoded'
    })
    expect(fields).toEqual(['metadata', 'tools[0]', 'input[0]', 'text.format.schema'])
  })

  test('ten thousand items are nothing special', () => {
    const input = Array.from({ length: 10_000 }, (_, index) =>
      index % 2 === 0
        ? { type: 'function_call', call_id: `c${index}`, name: 'a', arguments: '{}' }
        : { type: 'function_call_output', call_id: `c${index - 1}`, output: `\ud800${index}` },
    )
    const request = decode({ input: [{ role: 'user', content: 'go' }, ...input] })
    expect(request.turns).toHaveLength(10_001)
    expect(itemsOf(request.turns)).toHaveLength(10_001)
  })
})

describe('what a responses upstream gets', () => {
  test('a whole conversation', () => {
    const { body, dropped } = encode({
      system: [{ text: 'be brief' }, { text: 'be kind' }],
      turns: [
        { role: 'user', parts: [text('look'), image] },
        {
          role: 'assistant',
          parts: [
            {
              type: 'reasoning',
              kind: 'summary',
              text: 'hm',
              signature: { issuer: 'openai', id: 'rs_1', data: 'blob' },
            },
            text('I will'),
            call('c1'),
          ],
        },
        {
          role: 'tool',
          parts: [
            {
              type: 'tool-result',
              callId: 'c1',
              kind: 'function',
              content: [{ type: 'text', text: 'a' }],
              isError: true,
            },
          ],
        },
        { role: 'system', parts: [text('be quick')] },
      ],
      tools: [
        {
          type: 'function',
          name: 'look',
          namespace: 'eyes',
          description: undefined,
          parameters: undefined,
          strict: undefined,
        },
      ],
      toolChoice: { kind: 'tool', name: 'look' },
      maxOutputTokens: 5,
      stop: ['END'],
      candidates: 1,
      sampling: { ...PLAIN_REQUEST.sampling, seed: 1, temperature: 1 },
      reasoning: { effort: 'low', budgetTokens: undefined, expose: true, summary: undefined },
      stream: true,
    })
    expect(body).toEqual({
      model: 'forward',
      instructions: 'be brief\n\nbe kind',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'look' },
            { type: 'input_image', image_url: 'https://x/i.png', detail: 'original' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'blob',
        },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I will', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'Error: a' },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'be quick' }] },
      ],
      tools: [
        {
          type: 'function',
          name: 'eyes__look',
          parameters: { type: 'object', properties: {} },
          strict: false,
        },
      ],
      tool_choice: { type: 'function', name: 'eyes__look' },
      max_output_tokens: 16,
      temperature: 1,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    })
    expect(clientPaths('chat', dropped)).toEqual(['seed', 'stop'])
  })

  test('foreign and orphaned reasoning is left out, with what it says (docs/protocols.md#trap-23)', () => {
    const thought = (issuer: string, data: string): Part => ({
      type: 'reasoning',
      kind: 'summary',
      text: 'hm',
      signature: { issuer, id: 'rs_1', data },
    })
    const { body, dropped } = encode({
      turns: [
        user,
        {
          role: 'assistant',
          parts: [
            thought('anthropic', 'foreign'),
            thought('openai', 'ours'),
            text('yes'),
            thought('openai', 'orphan'),
          ],
        },
        user,
      ],
    })
    expect(JSON.stringify(body.input).match(/foreign|ours|orphan/g)).toEqual(['ours'])
    expect(dropped).toEqual(['reasoningHistory'])
  })

  test('ids that are not of this protocol stay at home (docs/protocols.md#trap-23)', () => {
    const items = itemsOf([
      user,
      {
        role: 'assistant',
        parts: [
          {
            type: 'reasoning',
            kind: 'redacted',
            text: '',
            signature: { issuer: 'openai', id: 'thinking-1', data: 'blob' },
          },
          call('c1'),
        ],
      },
    ])
    expect(items).toMatchObject([{}, { type: 'reasoning', summary: [], encrypted_content: 'blob' }, {}])
    expect(JSON.stringify(items)).not.toContain('thinking-1')
  })

  test('images stay in results where the chain takes them, else follow in a user message (docs/protocols.md#trap-31)', () => {
    const turns: readonly Turn[] = [
      user,
      { role: 'assistant', parts: [call('c1'), call('c2')] },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'c1',
            kind: 'function',
            content: [{ type: 'text', text: 'a' }, ...(image.type === 'media' ? [image] : [])],
            isError: false,
          },
          {
            type: 'tool-result',
            callId: 'c2',
            kind: 'function',
            content: [{ type: 'text', text: 'b' }],
            isError: false,
          },
        ],
      },
      user,
    ]
    expect(itemsOf(turns)).toMatchObject([
      {},
      {},
      {},
      { output: [{ type: 'input_text', text: 'a' }, { type: 'input_image' }] },
      { output: 'b' },
      {},
    ])
    expect(itemsOf(turns, { imagesInToolResults: false })).toMatchObject([
      {},
      {},
      {},
      { type: 'function_call_output', output: 'a' },
      { type: 'function_call_output', output: 'b' },
      {
        type: 'message',
        role: 'user',
        content: [{ text: 'Attached to the result of c1:' }, { type: 'input_image' }, { text: 'hello' }],
      },
    ])
  })

  test('one long id is the same short one in the call and in its result (docs/protocols.md#trap-34)', () => {
    const id = 'toolu_'.padEnd(90, 'x')
    const items = JSON.stringify(
      itemsOf([
        user,
        { role: 'assistant', parts: [call(id)] },
        {
          role: 'tool',
          parts: [{ type: 'tool-result', callId: id, kind: 'function', content: [], isError: false }],
        },
      ]),
    )
    const ids = [...items.matchAll(/"call_id":"([^"]+)"/g)].map((match) => match[1])
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toHaveLength(64)
  })

  test('stop sequences have no place here: they are named as dropped, and as what to cut at (docs/protocols.md#trap-36)', () => {
    const { dropped, cutAt } = encode({ stop: ['a'] })
    expect(clientPaths('messages', dropped)).toEqual(['stop_sequences'])
    expect(cutAt).toEqual(['a'])
  })

  test('instructions marked for the cache become a message that can hold the mark', () => {
    const system = [{ text: 'long', cache: { ttl: '5m' } as const }, { text: 'short' }]
    expect(encode({ system }, { cacheMarks: 'breakpoint', systemRole: 'developer' }).body).toMatchObject({
      input: [
        {
          role: 'developer',
          content: [{ text: 'long', prompt_cache_breakpoint: { mode: 'explicit' } }, { text: 'short' }],
        },
        { role: 'user' },
      ],
    })
    expect(encode({ system })).toMatchObject({
      body: { instructions: 'long\n\nshort' },
      dropped: ['systemCache'],
    })
  })

  test('instructions alone are sent as a message', () => {
    expect(encode({ system: [{ text: 'be' }], turns: [] }).body).toMatchObject({
      input: [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: 'be' }] }],
    })
  })

  test.each<[string, Partial<CanonicalRequest>, Partial<Capabilities>, JsonObject]>([
    [
      'strict only where it was asked for and is taken',
      {
        tools: [
          {
            type: 'function',
            name: 'a',
            namespace: undefined,
            description: undefined,
            parameters: { type: 'object' },
            strict: true,
          },
        ],
      },
      { strictTools: false },
      { tools: [{ strict: false }] },
    ],
    [
      'chat’s web search',
      {
        tools: [
          {
            type: 'hosted',
            name: 'web-search',
            protocol: 'chat',
            json: {
              search_context_size: 'low',
              user_location: { type: 'approximate', approximate: { city: 'Paris' } },
            },
          },
        ],
      },
      {},
      {
        tools: [
          {
            type: 'web_search',
            search_context_size: 'low',
            user_location: { type: 'approximate', city: 'Paris' },
          },
        ],
      },
    ],
    [
      'messages’ web search',
      {
        tools: [
          { type: 'hosted', name: 'web-search', protocol: 'messages', json: { allowed_domains: ['a.b'] } },
        ],
      },
      {},
      { tools: [{ type: 'web_search', filters: { allowed_domains: ['a.b'] } }] },
    ],
    [
      'logprobs',
      { logprobs: { top: 2 } },
      { reasoning: 'none' },
      { include: ['message.output_text.logprobs'], top_logprobs: 2 },
    ],
    [
      'kept only on demand',
      { state: { store: true, previousResponseId: 'resp_1' } },
      {},
      { store: true, previous_response_id: 'resp_1' },
    ],
    [
      'a schema',
      {
        output: {
          kind: 'json-schema',
          name: undefined,
          description: undefined,
          schema: { type: 'object' },
          strict: undefined,
        },
      },
      {},
      {
        text: {
          format: { type: 'json_schema', name: 'response', schema: { type: 'object' }, strict: false },
        },
      },
    ],
  ])('settings: %s', (_name, request, capabilities, expected) => {
    expect(encode(request, capabilities).body).toMatchObject(expected)
  })

  test.each<[string, Partial<CanonicalRequest>, string]>([
    ['several answers', { candidates: 2 }, 'n'],
    [
      'a sound',
      {
        turns: [
          {
            role: 'user',
            parts: [
              {
                type: 'media',
                media: 'audio',
                source: { kind: 'base64', mediaType: 'audio/wav', data: 'QUJD' },
                detail: undefined,
                filename: undefined,
              },
            ],
          },
        ],
      },
      'messages',
    ],
    ['nothing to say', { turns: [] }, 'messages'],
  ])('refused: %s', (_name, request, field) => {
    const encoded = responsesProtocol.encodeRequest(
      { ...PLAIN_REQUEST, ...request },
      { forwardModelId: 'f', maxOutputTokens: undefined, capabilities: OPENAI, issuer: 'v' },
    )
    expect(encoded.kind === 'refused' && clientPath('chat', encoded.field)).toBe(field)
  })
})

describe('chat and responses correspond', () => {
  const decoded = chatProtocol.decodeRequest({
    model: 'm',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
      { role: 'user', content: 'bye' },
    ],
    max_tokens: 77,
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
  })
  const body: JsonObject = decoded.kind === 'decoded' ? encode(decoded.value).body : {}

  test('messages to input [4.2-20]', () => {
    expect(body.input).toMatchObject([
      { role: 'user', content: [{ text: 'hello' }] },
      { role: 'assistant', content: [{ text: 'hi' }] },
      { role: 'user', content: [{ text: 'bye' }] },
    ])
  })
  test('the system message to instructions [4.2-21]', () => expect(body.instructions).toBe('be brief'))
  test('max_tokens to max_output_tokens [4.2-22]', () => expect(body.max_output_tokens).toBe(77))
  test('tools[].function.name to tools[].name [4.2-25]', () =>
    expect(body.tools).toMatchObject([{ name: 'look' }]))
})
