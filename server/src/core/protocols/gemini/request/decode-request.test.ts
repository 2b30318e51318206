import { describe, expect, test } from 'vitest'
import { sealSignature } from '../../../canonical/envelope.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { geminiProtocol } from '../index.ts'
import { NO_SIGNATURE } from '../wire.ts'

const user = (...parts: readonly JsonValue[]): JsonObject => ({ role: 'user', parts })
const model = (...parts: readonly JsonValue[]): JsonObject => ({ role: 'model', parts })
const hi = user({ text: 'hi' })
const call = (name: string, more: JsonObject = {}): JsonObject => ({
  functionCall: { name, args: { x: 1 }, ...more },
})
const answer = (name: string, response: JsonObject, more: JsonObject = {}): JsonObject => ({
  functionResponse: { name, response, ...more },
})

function decode(body: JsonObject): { readonly value: CanonicalRequest; readonly dropped: readonly string[] } {
  const decoded = geminiProtocol.decodeRequest({ contents: [hi], ...body })
  if (decoded.kind === 'refused') throw new Error(decoded.message)
  return decoded
}

function refusedField(body: JsonObject): string | undefined {
  const decoded = geminiProtocol.decodeRequest({ contents: [hi], ...body })
  return decoded.kind === 'refused' ? decoded.field : undefined
}

describe('what cannot mean anything is refused by the name of its field', () => {
  test.each<[string, JsonObject, string]>([
    ['no contents', { contents: null }, 'contents'],
    ['contents of nothing', { contents: [] }, 'contents'],
    ['only empty contents', { contents: [user({ text: '' })] }, 'contents'],
    ['a content that is no object', { contents: [7] }, 'contents[0]'],
    ['an unknown role', { contents: [{ role: 'robot', parts: [{ text: 'x' }] }] }, 'contents[0].role'],
    ['parts that are no list', { contents: [{ role: 'user', parts: 'x' }] }, 'contents[0].parts'],
    ['a part that is no object', { contents: [user('x')] }, 'contents[0].parts[0]'],
    ['an unknown part', { contents: [user({ smell: 1 })] }, 'contents[0].parts[0]'],
    [
      'data without its kind',
      { contents: [user({ inlineData: { data: 'AA' } })] },
      'contents[0].parts[0].inlineData',
    ],
    ['a file without address', { contents: [user({ fileData: {} })] }, 'contents[0].parts[0].fileData'],
    [
      'an answer without its call',
      { contents: [user(answer('f', {}))] },
      'contents[0].parts[0].functionResponse',
    ],
    [
      'more answers than calls',
      { contents: [hi, model(call('f')), user(answer('f', {}), answer('f', {}))] },
      'contents[2].parts[1].functionResponse',
    ],
    [
      'a call without name',
      { contents: [hi, model({ functionCall: { args: {} } })] },
      'contents[1].parts[0].functionCall.name',
    ],
    [
      'two calls of one id',
      { contents: [hi, model(call('f', { id: 'a' }), call('f', { id: 'a' }))] },
      'contents[1].parts[1].functionCall.id',
    ],
    ['state kept elsewhere', { cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [
      'a cap that is no number',
      { generationConfig: { maxOutputTokens: '9' } },
      'generationConfig.maxOutputTokens',
    ],
    ['a cap of nothing', { generationConfig: { maxOutputTokens: 0 } }, 'generationConfig.maxOutputTokens'],
    ['a temperature in words', { generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature'],
    [
      'stop sequences of numbers',
      { generationConfig: { stopSequences: [1] } },
      'generationConfig.stopSequences',
    ],
    ['a tool that is none', { tools: ['x'] }, 'tools[0]'],
    [
      'a function without name',
      { tools: [{ functionDeclarations: [{}] }] },
      'tools[0].functionDeclarations[0].name',
    ],
    [
      'a mode of no kind',
      { toolConfig: { functionCallingConfig: { mode: 'MAYBE' } } },
      'toolConfig.functionCallingConfig.mode',
    ],
    [
      'a choice of a function that is not there',
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
      'toolConfig.functionCallingConfig.allowedFunctionNames',
    ],
    [
      'parameters that are no schema',
      { tools: [{ functionDeclarations: [{ name: 'f', parameters: 'x' }] }] },
      'tools[0].functionDeclarations[0].parameters',
    ],
    [
      'a schema of no kind',
      { generationConfig: { responseMimeType: 'application/json', responseSchema: 'x' } },
      'generationConfig.responseSchema',
    ],
  ])('%s', (_name, body, field) => {
    expect(refusedField(body)).toBe(field)
  })

  test('what is nested without end is refused, not written', () => {
    let deep: JsonValue = {}
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect(refusedField({ contents: [hi, model(call('f', { args: { deep } }))] })).toBe(
      'contents[1].parts[0].functionCall.args',
    )
    expect(refusedField({ contents: [hi, model(call('f')), user(answer('f', { deep }))] })).toBe(
      'contents[2].parts[0].functionResponse.response',
    )
    expect(refusedField({ tools: [{ functionDeclarations: [{ name: 'f', parameters: { deep } }] }] })).toBe(
      'tools[0]',
    )
    expect(
      refusedField({
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { deep } },
      }),
    ).toBe('generationConfig.responseJsonSchema')
  })
})

test('both spellings of every name mean the same', () => {
  const camel = decode({
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [user({ inlineData: { mimeType: 'image/png', data: 'AA' } })],
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: { maxOutputTokens: 9, topP: 0.5, thinkingConfig: { thinkingBudget: 0 } },
  })
  const snake = decode({
    system_instruction: { parts: [{ text: 'be brief' }] },
    contents: [user({ inline_data: { mime_type: 'image/png', data: 'AA' } })],
    tools: [{ function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object' } }] }],
    tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
    generation_config: { max_output_tokens: 9, top_p: 0.5, thinking_config: { thinking_budget: 0 } },
  })
  expect(snake).toEqual(camel)
  expect(camel.value).toMatchObject({
    system: [{ text: 'be brief' }],
    turns: [{ role: 'user', parts: [{ type: 'media', media: 'image' }] }],
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    toolChoice: { kind: 'tool', name: 'f' },
    maxOutputTokens: 9,
    sampling: { topP: 0.5 },
    reasoning: { budgetTokens: 0 },
  })
  expect(camel.dropped).toEqual([])
})

describe('the conversation', () => {
  test('calls get ids from their place, answers find their call by id or by name', () => {
    const { value } = decode({
      contents: [
        hi,
        model(call('f'), call('g', { id: 'mine' }), call('f')),
        user(
          answer('g', { output: 'G' }, { id: 'mine' }),
          answer('f', { output: 'F1' }),
          answer('f', { output: 'F2' }),
        ),
      ],
    })
    const [, calls, results] = value.turns
    expect(calls?.parts.map((part) => (part.type === 'tool-call' ? part.id : ''))).toEqual([
      'call_1_0',
      'mine',
      'call_1_2',
    ])
    expect(results?.role).toBe('tool')
    expect(results?.parts).toMatchObject([
      { callId: 'mine', content: [{ text: 'G' }] },
      { callId: 'call_1_0', content: [{ text: 'F1' }] },
      { callId: 'call_1_2', content: [{ text: 'F2' }] },
    ])
  })

  test.each<[string, JsonObject, { readonly text: string; readonly isError: boolean }]>([
    ['an output', { output: 'fine' }, { text: 'fine', isError: false }],
    ['an error', { error: 'broken' }, { text: 'broken', isError: true }],
    ['an object as output', { output: { a: 1 } }, { text: '{"a":1}', isError: false }],
    ['anything else', { result: 'x', took: 3 }, { text: '{"result":"x","took":3}', isError: false }],
  ])('%s in an answer', (_name, response, expected) => {
    const { value } = decode({ contents: [hi, model(call('f')), user(answer('f', response))] })
    expect(value.turns[2]?.parts[0]).toMatchObject({
      content: [{ type: 'text', text: expected.text }],
      isError: expected.isError,
    })
  })

  test('answers come directly after their calls, before other parts (docs/protocols.md#trap-28)', () => {
    const { value } = decode({
      contents: [hi, model(call('f')), user({ text: 'also' }, answer('f', { output: 'F' }))],
    })
    expect(value.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  })

  test('an answer that the client kept in fragments is one again, thoughts up to their signature', () => {
    const sealed = sealSignature({ issuer: 'anthropic', id: undefined, data: 'sig' }, 'summary', 'x')
    const { value } = decode({
      contents: [
        hi,
        model({ text: 'Let me', thought: true }),
        model({ text: ' see.', thought: true }),
        model({ text: '', thought: true, thoughtSignature: sealed }),
        model({ text: 'It ' }),
        model({ text: 'is so.' }),
        model({ text: '' }),
        user({ text: 'and?' }),
      ],
    })
    expect(value.turns[1]?.parts).toEqual([
      {
        type: 'reasoning',
        kind: 'summary',
        text: 'Let me see.',
        signature: { issuer: 'anthropic', id: undefined, data: 'sig' },
      },
      { type: 'text', text: 'It is so.' },
    ])
  })

  test('signatures are kept with their call, the placeholder is dropped (docs/protocols.md#trap-22)', () => {
    const { value } = decode({
      contents: [
        hi,
        model({ ...call('f'), thoughtSignature: 'bare' }, { ...call('g'), thoughtSignature: NO_SIGNATURE }),
      ],
    })
    expect(value.turns[1]?.parts).toMatchObject([
      { signature: { issuer: undefined, data: 'bare', protocol: 'gemini' } },
      { signature: undefined },
    ])
  })

  test('pictures, sounds and files by their kind, Google’s own files by their id (docs/protocols.md#trap-31)', () => {
    const { value } = decode({
      contents: [
        user(
          { inlineData: { mimeType: 'audio/wav', data: 'AA' } },
          { inlineData: { mimeType: 'application/pdf', data: 'AA' } },
          { fileData: { fileUri: 'https://example.org/a.png', mimeType: 'image/png' } },
          { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
        ),
      ],
    })
    expect(value.turns[0]?.parts).toMatchObject([
      { media: 'audio' },
      { media: 'file' },
      { media: 'image', source: { kind: 'url' } },
      { source: { kind: 'file-id' } },
    ])
  })

  test('a bare text is a content, a content without role is the user’s', () => {
    expect(decode({ contents: ['hi', { parts: [{ text: 'there' }] }] }).value.turns).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'there' },
        ],
      },
    ])
  })
})

describe('settings', () => {
  test.each<[string, JsonObject, Partial<CanonicalRequest>]>([
    [
      'a level',
      { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } },
      {
        reasoning: { effort: 'low', budgetTokens: undefined, expose: true, summary: 'auto' },
      },
    ],
    [
      'a budget left to the model',
      { thinkingConfig: { thinkingBudget: -1 } },
      {
        reasoning: { effort: undefined, budgetTokens: -1, expose: undefined, summary: undefined },
      },
    ],
    ['an empty thinking config', { thinkingConfig: {} }, { reasoning: undefined }],
    ['JSON', { responseMimeType: 'application/json' }, { output: { kind: 'json' } }],
    ['candidates', { candidateCount: 2 }, { candidates: 2 }],
    ['log probabilities', { responseLogprobs: true, logprobs: 3 }, { logprobs: { top: 3 } }],
    [
      'penalties and seed',
      { presencePenalty: 1, frequencyPenalty: 2, seed: 3, topK: 4 },
      {
        sampling: {
          temperature: undefined,
          topP: undefined,
          topK: 4,
          presencePenalty: 1,
          frequencyPenalty: 2,
          seed: 3,
        },
      },
    ],
  ])('%s', (_name, generationConfig, expected) => {
    expect(decode({ generationConfig }).value).toMatchObject(expected)
  })

  test('a schema in Google’s own words becomes JSON Schema', () => {
    const responseSchema = { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } }
    expect(
      decode({ generationConfig: { responseMimeType: 'application/json', responseSchema } }).value.output,
    ).toMatchObject({
      kind: 'json-schema',
      schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } },
    })
  })

  test.each<[string, JsonObject, CanonicalRequest['toolChoice']]>([
    ['AUTO', {}, { kind: 'auto' }],
    ['ANY', {}, { kind: 'required' }],
    ['NONE', {}, { kind: 'none' }],
    ['ANY', { allowedFunctionNames: ['f', 'g'] }, { kind: 'allowed', mode: 'required', names: ['f', 'g'] }],
    ['VALIDATED', { allowedFunctionNames: ['f'] }, { kind: 'allowed', mode: 'auto', names: ['f'] }],
  ])('mode %s with %j', (mode, more, expected) => {
    const tools = [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }]
    expect(
      decode({ tools, toolConfig: { functionCallingConfig: { mode, ...more } } }).value.toolChoice,
    ).toEqual(expected)
  })

  test('one entry of tools may hold functions and hosted tools', () => {
    const entry = {
      functionDeclarations: [{ name: 'f' }],
      googleSearch: {},
      codeExecution: {},
      googleMaps: {},
    }
    expect(decode({ tools: [entry, { urlContext: {} }] }).value.tools).toMatchObject([
      { type: 'function', name: 'f' },
      { type: 'hosted', name: 'web-search' },
      { type: 'hosted', name: 'code-interpreter' },
      { type: 'hosted', name: 'other' },
      { type: 'hosted', name: 'url-context' },
    ])
  })

  test('members without a counterpart are named', () => {
    const { dropped } = decode({
      safetySettings: [],
      labels: {},
      'evil\r\nheader': 1,
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], speechConfig: {} },
    })
    expect(dropped).toEqual([
      'safetySettings',
      'labels',
      'generationConfig.speechConfig',
      'generationConfig.responseModalities',
    ])
  })
})

test('ten thousand contents, five thousand of them calls, are read like any other', () => {
  const contents = Array.from({ length: 10_000 }, (_, index) =>
    index % 2 === 0 ? model(call('f')) : user(answer('f', { output: '\ud800' })),
  )
  expect(decode({ contents: [hi, ...contents] }).value.turns).toHaveLength(10_001)
})
