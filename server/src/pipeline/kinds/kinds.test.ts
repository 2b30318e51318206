import { describe, expect, test } from 'vitest'
import { CHAIN_PROTOCOL_IDS, PASSED_FORM_IDS, WIRE_IDS } from '../../core/catalogue.ts'
import type { JsonValue } from '../../core/json.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { EMBEDDINGS } from './embeddings.ts'
import { GEMINI_EMBEDDINGS } from './gemini-embeddings.ts'
import { endpointsOf, KINDS, kindOf } from './index.ts'
import { MODERATION } from './moderation.ts'
import { passedForm, wireOf } from './wire.ts'

describe('the registry', () => {
  test.each(CHAIN_PROTOCOL_IDS)('chains of %s serve one kind of calls, which has a path', (protocol) => {
    expect(kindOf(protocol).chains).toContain(protocol)
    expect(endpointsOf(protocol, undefined).length).toBeGreaterThan(0)
  })

  test.each(WIRE_IDS)('%s can be read as it passes', (id) => {
    const scanner = createRequestScanner(wireOf(id).requests)
    scanner.push(Buffer.from('{"model":"m"}'))
    expect(scanner.end()).toMatchObject({ kind: 'scanned' })
    expect(wireOf(id).decodeError(400, { error: { message: 'no', type: 't' } }).message).toBe('no')
  })

  test.each(PASSED_FORM_IDS)('%s is a form of one kind, whose smallest request can be asked', (id) => {
    expect(KINDS.filter(({ form }) => form?.id === id)).toHaveLength(1)
    const scanner = createRequestScanner(wireOf(id).requests)
    scanner.push(Buffer.from(JSON.stringify({ model: 'm', ...passedForm(id).smallest })))
    expect(scanner.end()).toMatchObject({
      kind: 'scanned',
      ...(wireOf(id).requests.modelPlace === 'path' ? {} : { model: 'm' }),
    })
  })

  test('every exchange says what it holds and counts', () => {
    const exchanges = KINDS.filter(({ flow }) => flow === 'exchange')
    expect(
      exchanges.filter(({ estimate, counts }) => estimate === undefined || counts === undefined),
    ).toEqual([])
  })
})

test('of a message of parts its texts are moderated, and what stands behind an address was not seen', () => {
  const body = {
    model: 'm',
    input: [
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: 'https://a/b.png' } },
    ],
  }
  expect(MODERATION.form?.text(body)).toEqual({ texts: ['one'], tokens: 0, messages: 0, media: 0 })
  const scanner = createRequestScanner(wireOf('moderation').requests)
  scanner.push(Buffer.from(JSON.stringify(body)))
  expect(scanner.end()).toMatchObject({ extras: { unseenInput: true } })
})

describe('embeddings', () => {
  test.each<[string, JsonValue, texts: readonly string[], tokens: number]>([
    ['a text', 'one', ['one'], 0],
    ['texts, in order', ['one', 'two', 'three'], ['one', 'two', 'three'], 0],
    ['tokens', [5, 6, 7], [], 3],
    ['lists of tokens', [[5, 6], [7]], [], 3],
    ['objects with a text', [{ text: 'one' }, { image: 'https://a/b.png' }], ['one'], 0],
    ['nothing', null, [], 0],
  ])('%s', (_what, input, texts, tokens) => {
    expect(EMBEDDINGS.form?.text({ model: 'm', input })).toEqual({ texts, tokens, messages: 0, media: 0 })
  })

  const estimated = (body: object, contextTokens?: number) => {
    const scanner = createRequestScanner(wireOf('embeddings').requests)
    const bytes = Buffer.from(JSON.stringify({ model: 'm', ...body }))
    scanner.push(bytes)
    const scan = scanner.end()
    if (scan.kind === 'refused') throw new Error(scan.message)
    const estimate = EMBEDDINGS.estimate?.(
      { contextTokens } as never,
      { scan, at: 0, endpoint: { protocol: 'embeddings' } },
      {} as never,
    )
    return { estimate, length: bytes.byteLength }
  }

  test('hold a token for each byte, and nothing for output', () => {
    const { estimate, length } = estimated({ input: 'x'.repeat(400) }, 8_192)
    expect(estimate).toMatchObject({
      inputTokens: Math.ceil(length / 4),
      worstInputTokens: length,
      outputTokens: 0,
      worstOutputTokens: 0,
      bound: 'strict',
    })
  })

  test('hold a whole context besides, where a picture is behind an address', () => {
    const { estimate, length } = estimated({ input: [{ image: 'https://a/b.png' }] }, 8_192)
    expect(estimate?.worstInputTokens).toBe(length + 8_192)
  })
})

describe('Google’s embed calls', () => {
  const bounds = { bodyMembersMax: 1_000, bodyMessagesMax: 3, bodyDepthMax: 16 }
  const scanned = (body: object) => {
    const scanner = createRequestScanner(wireOf('gemini-embeddings').requests, bounds)
    scanner.push(Buffer.from(JSON.stringify(body)))
    return scanner.end()
  }
  const request = {
    model: 'models/m',
    content: { parts: [{ text: 'one' }, { text: 'two' }] },
    title: 'three',
  }

  test('hold as many requests as a conversation may hold messages', () => {
    expect(scanned({ requests: [request, request, request] })).toMatchObject({
      kind: 'scanned',
      resourceSpans: [{}, {}, {}],
    })
    expect(scanned({ requests: [request, request, request, request] })).toEqual({
      kind: 'refused',
      code: 40000,
      message: 'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    })
  })

  test.each(['inlineData', 'inline_data', 'fileData', 'file_data'])('%s was not seen', (name) => {
    const content = { parts: [{ [name]: {} }] }
    expect(scanned({ content })).toMatchObject({ extras: { unseenInput: true } })
    expect(scanned({ requests: [{ content }] })).toMatchObject({ extras: { unseenInput: true } })
    expect(scanned({ requests: [request] })).toMatchObject({ extras: { unseenInput: false } })
  })

  test.each([
    ['one', request, ['three', 'one', 'two']],
    ['many', { requests: [request, request] }, ['three', 'one', 'two', 'three', 'one', 'two']],
    ['what is none', { requests: ['one', 7] }, []],
  ])('are read: %s', (_what, body, texts) => {
    expect(GEMINI_EMBEDDINGS.form?.text(body).texts).toEqual(texts)
  })
})
