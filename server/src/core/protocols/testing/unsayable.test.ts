/**
 * What a client may say and another protocol’s upstream would refuse, or not understand
 * (docs/protocols.md#what-is-dropped-and-what-is-refused).
 */
import { describe, expect, test } from 'vitest'
import { decoded, sent } from '../../../../test/protocols/trap-kit.ts'
import type { JsonObject } from '../../json.ts'
import { clientPaths } from '../client-fields.ts'
import { protocolOf } from '../index.ts'
import { CAPABLE_TARGET } from './laws.ts'

const VIDEO = { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }
const asked = (...parts: readonly JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts }] })

describe('a video', () => {
  test.each([
    ['messages', 'its bytes', VIDEO],
    ['responses', 'its bytes', VIDEO],
    ['messages', 'its address', { fileData: { mimeType: 'video/mp4', fileUri: 'https://x.example/a.mp4' } }],
    ['responses', 'its address', { fileData: { mimeType: 'video/mp4', fileUri: 'https://x.example/a.mp4' } }],
  ] as const)('is refused for a %s upstream by name: %s', (protocol, _what, part) => {
    const request = decoded('gemini', asked(part, { text: 'what is this?' }))
    expect(protocolOf(protocol).encodeRequest(request, CAPABLE_TARGET)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('this model takes no videos'),
    })
  })

  test('is a video for a chat upstream, not a document without a name', () => {
    expect(sent('gemini', 'chat', asked(VIDEO))).toMatchObject({
      messages: [{ content: [{ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }] }],
    })
  })
})

describe('an unanswered call in the history is closed for every upstream that refuses it open', () => {
  const HI = { role: 'user', content: 'hi' }
  const calling = {
    role: 'assistant',
    content: null,
    tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
  }
  const history = { messages: [HI, calling, { role: 'tool', tool_call_id: 'b', content: 'done' }, HI] }
  const NONE = 'the call was not answered'

  test('messages', () => {
    const { messages } = sent('chat', 'messages', history)
    expect(messages).toMatchObject([
      {},
      {},
      {
        content: [
          { type: 'tool_result', tool_use_id: 'b' },
          { type: 'tool_result', tool_use_id: 'a', is_error: true, content: [{ type: 'text', text: NONE }] },
          { type: 'text', text: 'hi' },
        ],
      },
    ])
  })

  test('responses', () => {
    const { input } = sent('chat', 'responses', history)
    expect(input).toMatchObject([
      {},
      { type: 'function_call', call_id: 'a' },
      { type: 'function_call', call_id: 'b' },
      { type: 'function_call_output', call_id: 'b' },
      { type: 'function_call_output', call_id: 'a', output: `Error: ${NONE}` },
      { type: 'message' },
    ])
  })

  test('chat', () => {
    expect(sent('messages', 'chat', MESSAGES)).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', tool_call_id: 'toolu_1', content: `Error: ${NONE}` },
        { role: 'user' },
      ],
    })
  })

  const MESSAGES = {
    max_tokens: 10,
    messages: [
      HI,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      HI,
    ],
  }
})

describe('what is dropped is named where it stood', () => {
  const control = { cache_control: { type: 'ephemeral' } }

  function droppedBy(protocol: 'chat' | 'gemini', body: JsonObject): readonly string[] {
    const capabilities = { ...CAPABLE_TARGET.capabilities, cacheMarks: 'none', hostedTools: [] } as const
    const target = { ...CAPABLE_TARGET, capabilities }
    const encoded = protocolOf(protocol).encodeRequest(decoded('messages', body), target)
    return encoded.kind === 'refused' ? ['refused'] : clientPaths('messages', encoded.dropped)
  }

  test.each(['chat', 'gemini'] as const)('cache marks of tools, system and messages, for %s', (protocol) => {
    const dropped = droppedBy(protocol, {
      max_tokens: 10,
      system: [{ type: 'text', text: 'be brief', ...control }],
      tools: [{ name: 'f', input_schema: { type: 'object' }, ...control }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...control }] }],
    })
    expect([...dropped].toSorted()).toEqual([
      'messages[].content[].cache_control',
      'system[].cache_control',
      'tools[].cache_control',
    ])
  })

  test('a mark of the system alone is not said to be one of a message', () => {
    const dropped = droppedBy('chat', {
      max_tokens: 10,
      system: [{ type: 'text', text: 'be brief', ...control }],
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(dropped).toEqual(['system[].cache_control'])
  })

  test.each(['chat', 'gemini'] as const)('a tool this model has not, by its place, for %s', (protocol) => {
    const dropped = droppedBy(protocol, {
      max_tokens: 10,
      tools: [
        { name: 'f', input_schema: { type: 'object' } },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(dropped).toEqual(['tools[1]'])
  })

  test('thoughts of a responses client are items of its input', () => {
    expect(clientPaths('responses', ['reasoningHistory'])).toEqual(['input[]'])
  })
})
