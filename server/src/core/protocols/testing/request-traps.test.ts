/** Requests that real gateways got wrong (docs/protocols.md#traps): one test a trap, which ends with its id. */
import { describe, expect, test } from 'vitest'
import { openSignature } from '../../canonical/envelope.ts'
import { withoutSignatures } from '../../canonical/signatures.ts'
import type { JsonObject } from '../../json.ts'
import { refusesSignatures } from '../../routing/signature-refusal.ts'
import { textOf } from '../read-json.ts'
import { answered, decoded, encoded, ISSUER, listIn, sent } from '../../../../test/protocols/trap-kit.ts'

const HI: JsonObject = { role: 'user', content: 'hi' }
const THOUGHT = { type: 'thinking', thinking: 'deep', signature: 'c2ln' }
const ANSWER: JsonObject = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [THOUGHT, { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1 },
}

/** The answer's turn as a client of `protocol` sends it back, with the result of its call. */
function chatHistory(): readonly JsonObject[] {
  const [choice] = listIn(answered('messages', 'chat', ANSWER).choices)
  return [HI, choice?.message as JsonObject, { role: 'tool', tool_call_id: 't1', content: 'seen' }]
}

function responsesHistory(): readonly JsonObject[] {
  const { output } = answered('messages', 'responses', ANSWER)
  return [HI, ...listIn(output), { type: 'function_call_output', call_id: 't1', output: 'seen' }]
}

const contentOf = (message: JsonObject | undefined) => listIn(message?.content)
const messagesOf = (body: JsonObject) => listIn(body.messages)

describe('reasoning', () => {
  test.each([
    ['chat', () => sent('chat', 'messages', { messages: chatHistory() })],
    ['responses', () => sent('responses', 'messages', { input: responsesHistory() })],
  ])(
    'a thought signature survives a %s client and returns to its issuer (docs/protocols.md#trap-20)',
    (_client, send) => {
      expect(contentOf(messagesOf(send())[1])[0]).toEqual(THOUGHT)
    },
  )

  test('thoughts keep their blocks, order and words (docs/protocols.md#trap-21)', () => {
    const content = [
      THOUGHT,
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      { type: 'thinking', thinking: 'again', signature: 'dHdv' },
      { type: 'text', text: 'so' },
    ]
    const { output } = answered('messages', 'responses', { ...ANSWER, content, stop_reason: 'end_turn' })
    const body = sent('responses', 'messages', { input: [HI, ...listIn(output), HI] })
    expect(contentOf(messagesOf(body)[1])).toEqual(content)
  })

  test('a call of the turn in progress has a thought signature for Gemini: its own, else the placeholder (docs/protocols.md#trap-22)', () => {
    const own = answered('gemini', 'chat', {
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [{ functionCall: { id: 't1', name: 'look', args: {} }, thoughtSignature: 'Z2Vt' }],
          },
          finishReason: 'STOP',
        },
      ],
    })
    const [choice] = listIn(own.choices)
    const level = { reasoning: 'level' } as const
    const parts = (turn: unknown): readonly JsonObject[] => {
      const messages = [HI, turn as JsonObject, { role: 'tool', tool_call_id: 't1', content: 'seen' }]
      return listIn(listIn(sent('chat', 'gemini', { messages }, level).contents)[1]?.parts)
    }
    expect(parts(choice?.message)[0]?.thoughtSignature).toBe('Z2Vt')
    const foreign = {
      role: 'assistant',
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    expect(parts(foreign)[0]?.thoughtSignature).toBe('skip_thought_signature_validator')
  })

  test('a blob is sent only to its issuer, without leaving an orphan, and can be left out (docs/protocols.md#trap-23)', () => {
    const request = decoded('responses', { input: responsesHistory() })
    const [, reasoning] = responsesHistory()
    expect(openSignature(textOf(reasoning?.encrypted_content) ?? '').signature.issuer).toBe(ISSUER)
    for (const upstream of ['chat', 'responses', 'messages', 'gemini'] as const) {
      const elsewhere = encoded(upstream, request, {}, 'another gateway')
      expect(JSON.stringify(elsewhere.body)).not.toContain('c2ln')
      if (upstream === 'messages') expect(elsewhere.dropped).toContain('reasoningHistory')
    }
    const left = encoded('messages', withoutSignatures(request))
    expect(JSON.stringify(left.body)).not.toContain('thinking":"deep')
    expect(messagesOf(left.body).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(
      refusesSignatures({
        status: 400,
        headers: {},
        body: { error: { message: 'x', code: 'invalid_encrypted_content' } },
      }),
    ).toBe(true)
    expect(
      refusesSignatures({
        status: 400,
        headers: {},
        body: { error: { message: 'The encrypted content could not be verified', code: null } },
      }),
    ).toBe(true)
    expect(refusesSignatures({ status: 500, headers: {}, body: { error: { message: 'signature' } } })).toBe(
      false,
    )
  })

  test('an upstream that wants its thoughts back finds them on every turn of the history (docs/protocols.md#trap-27)', () => {
    const turns = [
      HI,
      {
        role: 'assistant',
        content: [
          { ...THOUGHT, signature: '' },
          { type: 'text', text: 'a' },
        ],
      },
      HI,
    ]
    const body = sent('messages', 'chat', { max_tokens: 9, messages: turns }, { replayReasoning: true })
    expect(messagesOf(body)[1]).toMatchObject({ role: 'assistant', content: 'a', reasoning_content: 'deep' })
  })
})

describe('tools', () => {
  const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'look', input: {} })
  const result = (id: string, content: unknown = 'seen'): JsonObject =>
    ({ type: 'tool_result', tool_use_id: id, content }) as JsonObject
  const turns = (user: readonly JsonObject[]): JsonObject => ({
    max_tokens: 9,
    messages: [HI, { role: 'assistant', content: [use('a'), use('b')] }, { role: 'user', content: user }],
  })

  test('results come directly after their calls, whatever text came between or before (docs/protocols.md#trap-28)', () => {
    const mixed = turns([
      { type: 'text', text: 'note' },
      result('b'),
      { type: 'text', text: 'more' },
      result('a'),
    ])
    const chat = messagesOf(sent('messages', 'chat', mixed)).map(({ role }) => role)
    expect(chat).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    const history: readonly JsonObject[] = [
      HI,
      {
        role: 'assistant',
        tool_calls: ['a', 'b'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'look', arguments: '{}' },
        })),
      },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'user', content: 'go on' },
    ]
    const back = contentOf(messagesOf(sent('chat', 'messages', { messages: history }))[2])
    expect(back.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'text'])
  })

  test('Gemini gets one response for each call, a made one where the client sent none (docs/protocols.md#trap-29)', () => {
    const body = sent('messages', 'gemini', turns([result('b')]))
    const [, asked, told] = listIn(body.contents)
    expect(listIn(asked?.parts)).toHaveLength(2)
    const responses = listIn(told?.parts).map(({ functionResponse }) => functionResponse as JsonObject)
    expect(responses).toHaveLength(2)
    expect(responses[0]?.response).toHaveProperty('error')
    expect(responses[1]?.response).toEqual({ output: 'seen' })
  })

  test('blank texts go to no messages upstream, and no message is left empty (docs/protocols.md#trap-30)', () => {
    const messages = [
      { role: 'user', content: '' },
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'assistant', content: ' \n' },
      { role: 'user', content: 'and?' },
    ]
    const body = sent('chat', 'messages', { messages })
    for (const message of messagesOf(body)) {
      const content = contentOf(message)
      expect(content.length).toBeGreaterThan(0)
      for (const { type, text } of content) if (type === 'text') expect(textOf(text)?.trim()).not.toBe('')
    }
  })

  test('a picture in a result reaches every upstream as a picture (docs/protocols.md#trap-31)', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
    const body = turns([result('a', [{ type: 'text', text: 'see' }, picture]), result('b')])
    const inside = { imagesInToolResults: false }
    const chat = messagesOf(sent('messages', 'chat', body, inside))
    expect(chat.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    expect(JSON.stringify(chat.at(-1))).toContain('data:image/png;base64,aGk=')
    expect(JSON.stringify(sent('messages', 'responses', body))).toContain('"type":"input_image"')
    expect(JSON.stringify(sent('messages', 'gemini', body, inside))).toContain(
      '"inlineData":{"mimeType":"image/png"',
    )
  })

  test('a forced tool where thinking forbids it becomes a free choice, and is listed as dropped (docs/protocols.md#trap-32)', () => {
    const request = decoded('chat', {
      messages: [HI],
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: { name: 'look' } }],
      tool_choice: 'required',
    })
    const { body, dropped } = encoded('messages', request, {
      reasoning: 'adaptive',
      forcedToolWithReasoning: false,
    })
    expect(body.tool_choice).toMatchObject({ type: 'auto' })
    expect(dropped).toContain('toolChoice')
  })

  test('schemas keep to what the upstream takes, and a schema that holds itself ends (docs/protocols.md#trap-33)', () => {
    const schema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { next: { $ref: '#' }, n: { type: 'integer', exclusiveMinimum: 1 }, k: { const: 'x' } },
      additionalProperties: false,
      $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } } },
    }
    const body = {
      messages: [HI],
      tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
    }
    const subset = JSON.stringify(sent('chat', 'gemini', body, { schemaDialect: 'openapi-subset' }).tools)
    for (const word of ['$schema', '$ref', '$defs', 'additionalProperties', 'exclusiveMinimum', '"const"']) {
      expect(subset).not.toContain(word)
    }
    const whole = JSON.stringify(sent('chat', 'gemini', body).tools)
    expect(whole).toContain('parametersJsonSchema')
  })

  test('names and ids beyond the limits change the same way for call and result, and come back as they were (docs/protocols.md#trap-34)', () => {
    const name = `namespace.${'very_'.repeat(20)}long`
    const id = `call:${'x'.repeat(90)}`
    const messages = [
      HI,
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content: 'seen' },
    ]
    const request = decoded('chat', { messages, tools: [{ type: 'function', function: { name } }] })
    const { body } = encoded('messages', request, { toolNameMax: 64, toolIdMax: 64 })
    const [call] = contentOf(messagesOf(body)[1])
    const [result] = contentOf(messagesOf(body)[2])
    expect(call?.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(call?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(result?.tool_use_id).toBe(call?.id)
    expect(listIn(body.tools)[0]?.name).toBe(call?.name)
    const answer = {
      ...ANSWER,
      content: [{ type: 'tool_use', id: 't1', name: textOf(call?.name) ?? '', input: {} }],
    }
    const [choice] = listIn(answered('messages', 'chat', answer, request).choices)
    expect(JSON.stringify(choice)).toContain(JSON.stringify(name))
  })
})

describe('marks and stops', () => {
  test('at most four cache marks are sent, the last ones, and all with the same lifetime (docs/protocols.md#trap-35)', () => {
    const mark = (text: string, ttl?: string): JsonObject => ({
      type: 'text',
      text,
      cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) },
    })
    const request = decoded('messages', {
      max_tokens: 9,
      system: [mark('a'), mark('b')],
      messages: [{ role: 'user', content: [mark('c'), mark('d', '1h'), mark('e'), mark('f')] }],
    })
    const { body } = encoded('messages', request)
    const marks = JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g) ?? []
    expect(marks).toHaveLength(4)
    expect(new Set(marks).size).toBe(1)
    expect(JSON.stringify(listIn(body.system))).not.toContain('cache_control')
  })

  test('stop sequences that an upstream does not support are left for the gateway, which cuts the answer (docs/protocols.md#trap-36)', () => {
    const request = decoded('messages', { max_tokens: 9, messages: [HI], stop_sequences: ['END', 'STOP'] })
    expect(encoded('responses', request).cutAt).toEqual(['END', 'STOP'])
    expect(encoded('chat', request, { stopMax: 1 })).toMatchObject({ cutAt: ['STOP'] })
    expect(encoded('gemini', request).body).toMatchObject({
      generationConfig: { stopSequences: ['END', 'STOP'] },
    })
  })
})
