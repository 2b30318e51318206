import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, FunctionTool, Part, Signature, Turn } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import { CAPABLE, CAPABLE_TARGET, PLAIN_REQUEST } from '../../testing/laws.ts'
import type { Capabilities } from '../../protocol.ts'
import { listOf, objectOf } from '../../read-json.ts'
import { geminiProtocol } from '../index.ts'
import { NO_SIGNATURE } from '../wire.ts'

const LEVELS: Partial<Capabilities> = { reasoning: 'level', efforts: ['low', 'medium', 'high'] }

function encode(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = LEVELS) {
  const encoded = geminiProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, ...capabilities } },
  )
  if (encoded.kind === 'refused') throw new Error(encoded.message)
  return encoded
}

function refusedField(request: Partial<CanonicalRequest>, capabilities: Partial<Capabilities> = LEVELS) {
  const encoded = geminiProtocol.encodeRequest(
    { ...PLAIN_REQUEST, ...request },
    { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, ...capabilities } },
  )
  return encoded.kind === 'refused' ? encoded.field : undefined
}

const text = (said: string): Part => ({ type: 'text', text: said })
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts })
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts })
const call = (id: string, signature?: Signature): Part => ({
  type: 'tool-call',
  id,
  name: `tool_${id}`,
  namespace: undefined,
  kind: 'function',
  arguments: '{"x":1}',
  signature,
})
const result = (...ids: readonly string[]): Turn => ({
  role: 'tool',
  parts: ids.map((callId) => ({
    type: 'tool-result',
    callId,
    kind: 'function',
    content: [{ type: 'text', text: `result of ${callId}` }],
    isError: false,
  })),
})
const tool = (name: string, parameters?: JsonObject): FunctionTool => ({
  type: 'function',
  name,
  namespace: undefined,
  description: undefined,
  parameters,
  strict: undefined,
})
const own = (data: string): Signature => ({ issuer: CAPABLE_TARGET.issuer, id: undefined, data })
const foreign: Signature = { issuer: 'anthropic', id: undefined, data: 'theirs' }

const contentsOf = (request: Partial<CanonicalRequest>, capabilities?: Partial<Capabilities>) =>
  encode(request, capabilities).body.contents

describe('the conversation', () => {
  test('the calls are followed by as many answers, in the order of the calls, with a placeholder for a missing one (docs/protocols.md#trap-29)', () => {
    const turns = [
      user(text('x')),
      assistant(call('a'), call('b'), call('c')),
      result('c', 'a'),
      user(text('y')),
    ]
    expect(contentsOf({ turns })).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{}, {}, {}] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'tool_a', response: { output: 'result of a' } } },
          { functionResponse: { name: 'tool_b', response: { error: 'the call was not answered' } } },
          { functionResponse: { name: 'tool_c', response: { output: 'result of c' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'y' }] },
    ])
  })

  test('calls at the very end wait for the client', () => {
    expect(contentsOf({ turns: [user(text('x')), assistant(call('a'))] })).toHaveLength(2)
  })

  test('a system message is said by the user and does not part answers from their calls', () => {
    const system: Turn = { role: 'system', parts: [text('hurry')] }
    expect(contentsOf({ turns: [user(text('x')), assistant(call('a')), system, result('a')] })).toMatchObject(
      [
        {},
        {},
        { parts: [{ functionResponse: {} }] },
        { role: 'user', parts: [{ text: '<system>\nhurry\n</system>' }] },
      ],
    )
  })

  test('the first call of every step of the turn in progress carries a signature or the placeholder (docs/protocols.md#trap-22)', () => {
    const turns = [
      user(text('old')),
      assistant(call('past')),
      result('past'),
      user(text('new')),
      assistant(call('a'), call('b')),
      result('a', 'b'),
      assistant(call('c', own('known')), call('d')),
      result('c', 'd'),
      assistant(call('e', foreign)),
      result('e'),
    ]
    const signatures = listOf(contentsOf({ turns })).flatMap((content) =>
      listOf(objectOf(content)?.parts)
        .map((part) => objectOf(part) ?? {})
        .filter(({ functionCall }) => functionCall !== undefined)
        .map(({ thoughtSignature }) => thoughtSignature),
    )
    expect(signatures).toEqual([undefined, NO_SIGNATURE, undefined, 'known', undefined, NO_SIGNATURE])
    expect(JSON.stringify(contentsOf({ turns }, { reasoning: 'budget' }))).not.toContain(NO_SIGNATURE)
  })

  test('signatures of others are dropped and named (docs/protocols.md#trap-23)', () => {
    const turns = [user(text('x')), assistant(call('a', foreign)), result('a')]
    expect(encode({ turns }).dropped).toContain('signatures')
  })

  test('visible thoughts are separate parts, a signature alone belongs to the text before it (docs/protocols.md#trap-21)', () => {
    const thought = (kind: 'summary' | 'redacted', said: string, signature: Signature): Part => ({
      type: 'reasoning',
      kind,
      text: said,
      signature,
    })
    const turns = [
      user(text('x')),
      assistant(
        thought('summary', 'hm', own('one')),
        text('said'),
        thought('redacted', '', own('two')),
        thought('summary', 'foreign', foreign),
      ),
      user(text('y')),
    ]
    const { body, dropped } = encode({ turns })
    expect(objectOf(listOf(body.contents)[1])?.parts).toEqual([
      { text: 'hm', thought: true, thoughtSignature: 'one' },
      { text: 'said', thoughtSignature: 'two' },
    ])
    expect(dropped).toEqual(['reasoningHistory'])
  })

  test('pictures of a result are inside it where the model supports this, beside it otherwise (docs/protocols.md#trap-31)', () => {
    const picture: Part = {
      type: 'media',
      media: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA' },
      detail: undefined,
      filename: undefined,
    }
    const turns: readonly Turn[] = [
      user(text('x')),
      assistant(call('a')),
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'a', kind: 'function', content: [picture], isError: false }],
      },
    ]
    const inlineData = { mimeType: 'image/png', data: 'AA' }
    expect(contentsOf({ turns })).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { response: { output: '' }, parts: [{ inlineData }] } }] },
    ])
    expect(contentsOf({ turns }, { imagesInToolResults: false })).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: {} }] },
      { role: 'user', parts: [{ text: expect.stringContaining('tool_a') }, { inlineData }] },
    ])
  })

  test('media that this model does not support is refused', () => {
    const media = (kind: 'image' | 'audio' | 'file'): Part => ({
      type: 'media',
      media: kind,
      source: { kind: 'url', url: 'https://x/y', mediaType: undefined },
      detail: undefined,
      filename: undefined,
    })
    expect(refusedField({ turns: [user(media('image'))] }, { images: 'none' })).toBe('turns')
    expect(refusedField({ turns: [user(media('image'))] }, { images: 'inline' })).toBe('turns')
    expect(refusedField({ turns: [user(media('file'))] }, { documents: 'none' })).toBe('turns')
    expect(refusedField({ turns: [user(media('audio'))] }, { audio: false })).toBe('turns')
    expect(refusedField({ turns: [user(text(''))] })).toBe('turns')
  })

  test('a JSON object of a tool is the response itself, an error is in its member `error`', () => {
    const gave = (said: string, isError: boolean): Turn => ({
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'a',
          kind: 'function',
          content: [{ type: 'text', text: said }],
          isError,
        },
      ],
    })
    const responseOf = (turn: Turn) => {
      const [, , content] = listOf(contentsOf({ turns: [user(text('x')), assistant(call('a')), turn] }))
      return objectOf(objectOf(listOf(objectOf(content)?.parts)[0])?.functionResponse)?.response
    }
    expect(responseOf(gave('{"a":1}', false))).toEqual({ a: 1 })
    expect(responseOf(gave('[1]', false))).toEqual({ output: '[1]' })
    expect(responseOf(gave('{"a":1}', true))).toEqual({ error: '{"a":1}' })
  })

  test('a deferred tool that was found is sent as text', () => {
    const found: Turn = {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'a',
          kind: 'function',
          content: [{ type: 'tool-reference', toolName: 'Found' }],
          isError: false,
        },
      ],
    }
    expect(JSON.stringify(contentsOf({ turns: [user(text('x')), assistant(call('a')), found] }))).toContain(
      '[Loaded tool: Found]',
    )
  })
})

describe('tools', () => {
  const schema = { $schema: 'x', type: 'object', properties: { a: { type: 'string', minLength: 1 } } }

  test('schemas go as JSON Schema where the chain takes it, else in the subset (docs/protocols.md#trap-33)', () => {
    const declared = (capabilities: Partial<Capabilities>) =>
      listOf(
        objectOf(listOf(encode({ tools: [tool('f', schema)] }, capabilities).body.tools)[0])
          ?.functionDeclarations,
      )
    expect(declared(LEVELS)).toEqual([
      {
        name: 'f',
        parametersJsonSchema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
      },
    ])
    expect(declared({ schemaDialect: 'openapi-subset' })).toEqual([
      { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', minLength: '1' } } } },
    ])
  })

  test('a function without parameters names none', () => {
    expect(encode({ tools: [tool('f'), tool('g', { type: 'object', properties: {} })] }).body.tools).toEqual([
      { functionDeclarations: [{ name: 'f' }, { name: 'g' }] },
    ])
  })

  test('Google’s own tools beside functions only in the third generation', () => {
    const search = { type: 'hosted', name: 'web-search', protocol: 'chat', json: {} } as const
    const request = { tools: [tool('f'), search] }
    expect(encode(request).body.tools).toEqual([
      { functionDeclarations: [{ name: 'f' }] },
      { googleSearch: {} },
    ])
    const older = encode(request, { reasoning: 'budget' })
    expect(older.body.tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }])
    expect(older.dropped).toEqual(['tools[1]'])
  })

  test.each<[CanonicalRequest['toolChoice'], JsonObject]>([
    [{ kind: 'auto' }, { mode: 'AUTO' }],
    [{ kind: 'none' }, { mode: 'NONE' }],
    [{ kind: 'required' }, { mode: 'ANY' }],
    [
      { kind: 'tool', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    [
      { kind: 'allowed', mode: 'auto', names: ['f'] },
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    ],
  ])('the choice %j', (toolChoice, expected) => {
    const { body } = encode({ tools: [tool('f')], toolChoice })
    expect(body.toolConfig).toEqual({ functionCallingConfig: expected })
  })

  test('a choice among a hundred thousand tools costs one walk over them: anything else would run into the time-out', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `f${index}`)
    const { body } = encode({
      tools: names.map((name) => tool(name)),
      toolChoice: { kind: 'allowed', mode: 'auto', names },
    })
    const { functionCallingConfig } = objectOf(body.toolConfig) ?? {}
    expect(listOf(objectOf(functionCallingConfig)?.allowedFunctionNames)).toHaveLength(names.length)
  })

  test('names too long are shortened, the same in tool, call, answer and choice (docs/protocols.md#trap-34)', () => {
    const name = 'n'.repeat(90)
    const long: Part = {
      type: 'tool-call',
      id: 'a',
      name,
      namespace: undefined,
      kind: 'function',
      arguments: '',
      signature: undefined,
    }
    const { body } = encode(
      {
        tools: [tool(name)],
        toolChoice: { kind: 'tool', name },
        turns: [user(text('x')), assistant(long), result('a')],
      },
      { ...LEVELS, toolNameMax: 64 },
    )
    const names = JSON.stringify(body).match(/n{20,}[a-zA-Z0-9_-]*/g)
    expect(names).toHaveLength(4)
    expect(new Set(names).size).toBe(1)
    expect(names?.[0]?.length).toBeLessThanOrEqual(64)
  })
})

describe('settings', () => {
  const reasoning = (more: Partial<NonNullable<CanonicalRequest['reasoning']>>) => ({
    reasoning: { effort: undefined, budgetTokens: undefined, expose: undefined, summary: undefined, ...more },
  })

  test.each<[string, Partial<CanonicalRequest>, Partial<Capabilities>, JsonObject]>([
    [
      'a level for an effort',
      reasoning({ effort: 'medium' }),
      LEVELS,
      { includeThoughts: true, thinkingLevel: 'MEDIUM' },
    ],
    [
      'the lowest level for none',
      reasoning({ effort: 'none' }),
      LEVELS,
      { includeThoughts: false, thinkingLevel: 'LOW' },
    ],
    [
      'a level for a budget',
      reasoning({ budgetTokens: 20_000 }),
      LEVELS,
      { includeThoughts: true, thinkingLevel: 'HIGH' },
    ],
    ['no level left to the model', reasoning({ budgetTokens: -1 }), LEVELS, { includeThoughts: true }],
    [
      'a budget for an effort',
      reasoning({ effort: 'low' }),
      { reasoning: 'budget' },
      { includeThoughts: true, thinkingBudget: 4096 },
    ],
    [
      'a budget as it is',
      reasoning({ budgetTokens: 5000, expose: false }),
      { reasoning: 'budget' },
      { includeThoughts: false, thinkingBudget: 5000 },
    ],
    [
      'a budget within the model’s',
      reasoning({ budgetTokens: 31_999 }),
      { reasoning: 'budget' },
      { includeThoughts: true, thinkingBudget: 24_576 },
    ],
    [
      'zero for none',
      reasoning({ effort: 'none' }),
      { reasoning: 'budget' },
      { includeThoughts: false, thinkingBudget: 0 },
    ],
    [
      'the least there is for none, where thinking cannot be stopped',
      reasoning({ effort: 'none' }),
      { reasoning: 'budget', efforts: ['minimal', 'low', 'medium', 'high'] },
      { includeThoughts: false, thinkingBudget: 128 },
    ],
  ])('%s', (_name, request, capabilities, expected) => {
    expect(objectOf(encode(request, capabilities).body.generationConfig)?.thinkingConfig).toEqual(expected)
  })

  test('a model that cannot think is not asked to', () => {
    const { body, dropped } = encode(reasoning({ effort: 'high' }), { reasoning: 'none' })
    expect(body.generationConfig).toBeUndefined()
    expect(dropped).toEqual(['reasoning'])
  })

  test('JSON: a schema where the model takes one, words where it cannot beside functions', () => {
    const output = {
      kind: 'json-schema',
      name: 'a',
      description: undefined,
      schema: { type: 'object' },
      strict: undefined,
    } as const
    expect(encode({ output }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    })
    expect(encode({ output }, { schemaDialect: 'openapi-subset' }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT' },
    })
    const older = encode({ output, tools: [tool('f')] }, { reasoning: 'budget' }).body
    expect(older.generationConfig).toBeUndefined()
    expect(JSON.stringify(older.systemInstruction)).toContain('JSON Schema')
  })

  test('several answers at once, but not in a stream', () => {
    expect(encode({ candidates: 2 }).body.generationConfig).toEqual({ candidateCount: 2 })
    expect(refusedField({ candidates: 2, stream: true })).toBe('candidates')
    expect(refusedField({ candidates: 2 }, { candidates: false })).toBe('candidates')
  })

  test('what this model refuses is dropped and named', () => {
    const { dropped } = encode(
      {
        sampling: { ...PLAIN_REQUEST.sampling, temperature: 1, topK: 3, seed: 1, presencePenalty: 1 },
        stop: ['a', 'b'],
        verbosity: 'low',
        user: 'u',
        parallelToolCalls: false,
        turns: [user({ type: 'text', text: 'x', cache: { ttl: '5m' } })],
      },
      { sampling: 'none', topK: false, seed: false, penalties: false, stopMax: 1 },
    )
    const named = 'cache parallelToolCalls presencePenalty seed stop temperature topK user verbosity'
    expect([...dropped].toSorted()).toEqual(named.split(' '))
  })
})
