import { describe, expect, test } from 'vitest'
import { randomRequest } from '../../../../test/passthrough/random-json.ts'
import {
  bytesOf,
  cutAnywhere,
  cutAt,
  FUZZ_SEED,
  joined,
  seededChance,
  textOf,
} from '../../../../test/passthrough/test-kit.ts'
import type { ProtocolId } from '../../catalogue.ts'
import { usageInjection } from './inject.ts'
import { createRequestScanner } from './request-scan.ts'
import type { RequestScan, ScannedRequest } from './scanned-request.ts'
import { modelEdits, spliceChunks } from '../splice.ts'

function scanPieces(pieces: readonly Uint8Array[], protocol: ProtocolId = 'chat'): RequestScan {
  const scanner = createRequestScanner(protocol)
  for (const piece of pieces) scanner.push(piece)
  return scanner.end()
}

function scan(body: string, protocol: ProtocolId = 'chat'): RequestScan {
  return scanPieces([bytesOf(body)], protocol)
}

function scanned(body: string, protocol: ProtocolId = 'chat'): ScannedRequest {
  const result = scan(body, protocol)
  if (result.kind === 'refused') throw new Error(`refused: ${result.message}`)
  return result
}

describe('refusals', () => {
  test.each<[string, string, ProtocolId, number, string]>([
    ['an empty body', '', 'chat', 40000, 'the request body is empty'],
    ['an empty gemini body', '', 'gemini', 40000, 'the request body is empty'],
    ['white space', '  ', 'chat', 40000, 'the request body is not valid JSON: it ends too early at byte 2'],
    ['an array', '[{"model":"m"}]', 'chat', 40000, 'the request body must be a JSON object'],
    ['a string', '"model"', 'messages', 40000, 'the request body must be a JSON object'],
    ['null', 'null', 'responses', 40000, 'the request body must be a JSON object'],
    [
      'an object and more',
      '{"model":"m"}{}',
      'chat',
      40000,
      'the request body is not valid JSON: something follows the end of the document at byte 13',
    ],
    [
      'half an object',
      '{"model":"m"',
      'chat',
      40000,
      'the request body is not valid JSON: it ends too early at byte 12',
    ],
    [
      'a trailing comma',
      '{"model":"m",}',
      'chat',
      40000,
      'the request body is not valid JSON: expected a member name in double quotes at byte 13',
    ],
    ['no model', '{"messages":[{"model":"m"}]}', 'chat', 40002, 'model is required'],
    ['a null model', '{"model":null}', 'responses', 40002, 'model must be a string'],
    ['a number for a model', '{"model":5}', 'messages', 40002, 'model must be a string'],
    ['an empty model', '{"model":""}', 'chat', 40002, 'model must not be empty'],
    ['a good model, then a bad one', '{"model":"m","model":[]}', 'chat', 40002, 'model must be a string'],
  ])('%s', (_name, body, protocol, code, message) => {
    expect(scan(body, protocol)).toEqual({ kind: 'refused', code, message })
  })

  test('gemini names its model in the path, so the body needs none', () => {
    expect(scanned('{"contents":[]}', 'gemini').model).toBeUndefined()
    expect(scanned('{"model":"x"}', 'gemini').modelSpans).toEqual([])
  })

  test('a body that can no longer be valid is reported at once', () => {
    const scanner = createRequestScanner('chat')
    expect(scanner.push(bytesOf('{"model":'))).toBe(true)
    expect(scanner.push(bytesOf('}'))).toBe(false)
    expect(createRequestScanner('chat').push(bytesOf(' [1'))).toBe(false)
  })
})

describe('what is read', () => {
  test.each([
    ['the last model counts', '{"model":"a","x":1,"model":"b"}', 'b'],
    ['a byte order mark at its start is part of it', '{"model":"\ufeffm"}', '\ufeffm'],
    ['escapes are understood', '{"model":"gpt\\u002d5\\n"}', 'gpt-5\n'],
    ['a bad model is mended by a later one', '{"model":1,"model":"b"}', 'b'],
    ['a name beyond all bounds matches nothing', `{"model":"${'m'.repeat(600)}"}`, `${'m'.repeat(512)}…`],
  ])('%s', (_name, body, model) => expect(scanned(body).model).toBe(model))

  test.each([
    ['true', true],
    ['false', false],
    ['null', false],
    ['true,"stream":false', false],
    ['false,"stream":true', true],
  ])('stream %s means %s: the last one counts', (value, stream) => {
    expect(scanned(`{"model":"m","stream":${value}}`).stream).toBe(stream)
  })

  test.each(['1', '0', '"true"', '"yes"', '{}', '[true]', '"true","stream":false'])(
    'stream %s is refused: an upstream that reads it as yes would stream what is read as one document here',
    (value) => {
      const result = scanPieces([bytesOf(`{"model":"m","stream":${value}}`)])
      expect(result).toEqual({ kind: 'refused', code: 40000, message: 'stream must be true or false' })
    },
  )

  test.each<[ProtocolId, string, string]>([
    ['chat', '"Model":"expensive"', 'Model'],
    ['chat', '"MODEL":"expensive"', 'MODEL'],
    ['chat', '"\\u004dodel":"expensive"', 'Model'],
    ['chat', '"Stream":true', 'Stream'],
    ['chat', '"\u017ftream":true', '\u017ftream'],
    ['chat', '"max_to\u212aens":5', 'max_to\u212aens'],
    ['responses', '"Background":true', 'Background'],
    ['messages', '"Service_Tier":"x"', 'Service_Tier'],
  ])(
    '%s: %s is refused: to upstreams that do not mind the case of letters it is another value of a field',
    (protocol, members, name) => {
      const body = `{"model":"m",${members}}`
      for (let at = 0; at <= body.length; at++) {
        const result = scanPieces(cutAt(bytesOf(body), [at]), protocol)
        expect(result).toEqual({
          kind: 'refused',
          code: 40000,
          message: `${JSON.stringify(name)}: field names are lower case`,
        })
      }
    },
  )

  test.each<[ProtocolId, string]>([
    ['chat', '"Models":1,"MyField":2,"metadata":{"Model":"x"},"messages":[{"Model":1}]'],
    ['gemini', '"Model":"x","generationconfig":{}'],
  ])('%s: %s goes on: no reader takes it for a field', (protocol, members) => {
    expect(scanned(`{"model":"m",${members}}`, protocol).kind).toBe('scanned')
  })

  test.each<[ProtocolId, string, boolean]>([
    ['responses', '"background":true', true],
    ['responses', '"background":"true"', true],
    ['responses', '"background":1', true],
    ['responses', '"background":true,"background":false', true],
    ['responses', '"background":false', false],
    ['responses', '"background":null', false],
    ['responses', '"metadata":{"background":true}', false],
    ['chat', '"background":true', false],
  ])(
    '%s %s asks for a background answer: %s, whatever an upstream may read as yes',
    (protocol, members, asked) => {
      expect(scanned(`{"model":"m",${members}}`, protocol).background).toBe(asked)
    },
  )

  test.each<[ProtocolId, string, string | undefined]>([
    ['chat', '"user":"u-1"', 'u-1'],
    ['chat', '"user":7', undefined],
    ['chat', '"user":"a","user":null', undefined],
    ['chat', '"metadata":{"user_id":"u"}', undefined],
    ['responses', '"user":"u-1"', 'u-1'],
    ['messages', '"metadata":{"user_id":"u-1"}', 'u-1'],
    ['messages', '"metadata":{"user_id":"a"},"metadata":{}', undefined],
    ['messages', '"user":"u-1"', undefined],
    ['messages', '"metadata":{"user_id":{"user_id":"u"}}', undefined],
    ['gemini', '"user":"u-1"', undefined],
  ])('user of %s %s is %s', (protocol, members, user) => {
    expect(scanned(`{"model":"m",${members}}`, protocol).user).toBe(user)
  })

  test.each([
    ['characters', 'u'.repeat(90_000), 'u'.repeat(512)],
    ['escapes, none of them cut in two', '\\u00e9'.repeat(2_000), 'é'.repeat(512)],
    ['backslashes', '\\\\'.repeat(3_000), '\\'.repeat(512)],
    ['characters of three bytes', '你'.repeat(2_000), '你'.repeat(512)],
  ])('a user of many %s is cut', (_name, written, user) => {
    expect(scanned(`{"model":"m","user":"${written}"}`).user).toBe(user)
  })

  test.each<[ProtocolId, string, number | undefined]>([
    ['chat', '"max_tokens":100', 100],
    ['chat', '"max_completion_tokens":200', 200],
    ['chat', '"max_tokens":100,"max_completion_tokens":200', 200],
    ['chat', '"max_completion_tokens":200,"max_tokens":100', 200],
    ['chat', '"max_output_tokens":5', undefined],
    ['responses', '"max_output_tokens":300', 300],
    ['messages', '"max_tokens":400', 400],
    ['gemini', '"generationConfig":{"maxOutputTokens":500}', 500],
    ['gemini', '"generation_config":{"max_output_tokens":500}', 500],
    ['gemini', '"generationConfig":{"maxOutputTokens":500},"generationConfig":{}', undefined],
    ['gemini', '"generationConfig":{},"generation_config":{"maxOutputTokens":500}', undefined],
    ['gemini', '"generationConfig":{"maxOutputTokens":500},"generation_config":{"maxOutputTokens":1}', 500],
    ['gemini', '"maxOutputTokens":500', undefined],
    ['chat', '"max_tokens":1e2', 100],
    ['chat', '"max_tokens":0', undefined],
    ['chat', '"max_tokens":-5', undefined],
    ['chat', '"max_tokens":1.5', undefined],
    ['chat', '"max_tokens":"100"', undefined],
    ['chat', '"max_tokens":null', undefined],
    ['chat', '"max_tokens":123456789012345678901234567890', undefined],
  ])('the output cap of %s %s is %s', (protocol, members, cap) => {
    expect(scanned(`{"model":"m",${members}}`, protocol).maxOutputTokens).toBe(cap)
  })

  test.each<[ProtocolId, string, number | undefined]>([
    ['chat', '"n":3', 3],
    ['chat', '"n":"3"', 3],
    ['gemini', '"generationConfig":{"candidateCount":2}', 2],
    ['gemini', '"generationConfig":{"candidateCount":8},"generation_config":{}', 8],
    ['messages', '"n":3', undefined],
  ])('candidates of %s %s are %s', (protocol, members, candidates) => {
    expect(scanned(`{"model":"m",${members}}`, protocol).candidates).toBe(candidates)
  })

  test('a responses request names the answer it continues', () => {
    expect(scanned('{"model":"m","previous_response_id":"resp_1"}', 'responses').previousResponseId).toBe(
      'resp_1',
    )
    expect(
      scanned('{"model":"m","previous_response_id":null}', 'responses').previousResponseId,
    ).toBeUndefined()
  })

  test.each<[ProtocolId, string]>([
    ['chat', '"messages":[{"content":[{"type":"image_url","image_url":{"url":"0123456789"}},{"text":"x"}]}]'],
    ['responses', '"input":[{"content":[{"type":"input_image","image_url":"0123456789"}]}]'],
    [
      'messages',
      '"messages":[{"content":[{"type":"image","source":{"type":"base64","data":"0123456789"}}]}]',
    ],
    ['gemini', '"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"0123456789"}}]}]'],
  ])('an image written into a %s body is measured, so that it is not taken for text', (protocol, members) => {
    const { mediaBytes, mediaCount, bodyBytes } = scanned(`{"model":"m",${members}}`, protocol)
    expect([mediaBytes, mediaCount]).toEqual([12, 1])
    expect(bodyBytes).toBe(members.length + 14)
  })
})

describe('asking for usage', () => {
  test.each([
    [
      'unset',
      '{"model":"m","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","stream":true}',
    ],
    [
      'unset, with white space',
      '{ "model":"m","stream":true}',
      '{"stream_options":{"include_usage":true}, "model":"m","stream":true}',
    ],
    [
      'an empty object',
      '{"model":"m","stream":true,"stream_options":{ }}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true }}',
    ],
    [
      'another option',
      '{"model":"m","stream":true,"stream_options":{"x":1}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1}}',
    ],
    [
      'null',
      '{"model":"m","stream":true,"stream_options":null}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      'a null inside',
      '{"model":"m","stream":true,"stream_options":{"include_usage":null}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      'the client wants none',
      '{"model":"m","stream":true,"stream_options":{"include_usage":false}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      'a word that upstreams read as no',
      '{"model":"m","stream":true,"stream_options":{"include_usage":"off","x":1}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1}}',
    ],
    [
      'only the first of two objects',
      '{"stream_options":{"include_usage":true},"stream":true,"model":"m","stream_options":{}}',
      '{"stream_options":{"include_usage":true},"stream":true,"model":"m","stream_options":{"include_usage":true}}',
    ],
  ])('%s: it is added', (_name, body, expected) => {
    for (let at = 0; at <= body.length; at++) {
      const chunks = cutAt(bytesOf(body), [at])
      const result = scanPieces(chunks)
      if (result.kind === 'refused') throw new Error(result.message)
      const edit = usageInjection(result)
      expect(textOf(joined(spliceChunks(chunks, edit === undefined ? [] : [edit]).chunks))).toBe(expected)
    }
  })

  test.each([
    ['the client wants it', '"stream":true,"stream_options":{"include_usage":true}'],
    ['the value is no object', '"stream":true,"stream_options":"yes"'],
    ['the answer is not streamed', '"stream":false'],
    ['nothing says stream', '"n":1'],
  ])('%s: the body stays as it is', (_name, members) => {
    expect(usageInjection(scanned(`{"model":"m",${members}}`))).toBeUndefined()
  })
})

test('thousands of odd bodies, cut anywhere: what goes on equals what came but for the model', () => {
  const replacement = JSON.stringify('vendor/"odd" näme')
  for (let run = 0; run < 5_000; run++) {
    const chance = seededChance(FUZZ_SEED + run)
    const { body, withModel, model } = randomRequest(chance)
    const label = `seed ${FUZZ_SEED + run}: ${body}`
    const chunks = cutAnywhere(bytesOf(body), chance)
    const result = scanPieces(chunks, chance.pick(['chat', 'responses', 'messages']))
    if (result.kind === 'refused') {
      expect([result.code, model], label).toEqual([40002, ''])
      continue
    }
    expect(result.model, label).toBe(model.length > 512 ? `${model.slice(0, 512)}…` : model)
    const spliced = spliceChunks(chunks, modelEdits(result.modelSpans, 'vendor/"odd" näme'))
    expect(textOf(joined(spliced.chunks)), label).toBe(withModel(replacement))
    expect(spliced.length, label).toBe(bytesOf(withModel(replacement)).length)
  }
})

test('a body of 20 MB in socket-sized pieces is read without keeping it', () => {
  const filler = bytesOf(`"${'x'.repeat(65_534)}",`)
  const scanner = createRequestScanner('chat')
  scanner.push(bytesOf('{"messages":['))
  for (let count = 0; count < 320; count++) scanner.push(filler)
  scanner.push(bytesOf('0],"mod'))
  scanner.push(bytesOf('el":"m"}'))
  expect(scanner.end()).toMatchObject({ kind: 'scanned', model: 'm', bodyBytes: 320 * filler.length + 28 })
})

describe('what a body may hold', () => {
  const BOUNDS = { bodyMembersMax: 20, bodyMessagesMax: 3, bodyDepthMax: 16 }
  const judged = (body: string, protocol: ProtocolId = 'chat'): RequestScan => {
    const scanner = createRequestScanner(protocol, BOUNDS)
    // Piece by piece, as bodies arrive: what is too much is known before the end.
    for (const piece of cutAt(bytesOf(body), [40, 80])) scanner.push(piece)
    return scanner.end()
  }
  const keys = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const turns = (count: number): string => Array.from({ length: count }, () => '{}').join(',')

  test.each<[string, string, ProtocolId, string]>([
    [
      'a million unknown members at the top',
      `{"model":"m",${keys(20)}}`,
      'chat',
      'the request body holds more than 20 members and items (SLUICE_BODY_MEMBERS_LIMIT)',
    ],
    [
      'members inside of members',
      `{"model":"m","a":{"b":{${keys(20)}}}}`,
      'messages',
      'the request body holds more than 20 members and items (SLUICE_BODY_MEMBERS_LIMIT)',
    ],
    [
      'an array of numbers',
      `{"model":"m","a":[${'0,'.repeat(20)}0]}`,
      'responses',
      'the request body holds more than 20 members and items (SLUICE_BODY_MEMBERS_LIMIT)',
    ],
    [
      'a hundred thousand turns of a chat',
      `{"model":"m","messages":[${turns(4)}]}`,
      'chat',
      'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    ],
    [
      'of messages',
      `{"model":"m","messages":[${turns(4)}]}`,
      'messages',
      'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    ],
    [
      'of responses',
      `{"model":"m","input":[${turns(4)}]}`,
      'responses',
      'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    ],
    [
      'of gemini',
      `{"contents":[${turns(4)}]}`,
      'gemini',
      'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    ],
    [
      'turns in two lists of one name',
      `{"model":"m","messages":[${turns(2)}],"messages":[${turns(2)}]}`,
      'chat',
      'the request body holds more than 3 messages (SLUICE_BODY_MESSAGES_LIMIT)',
    ],
    [
      'arrays in arrays',
      `{"model":"m","a":${deep(16)}}`,
      'chat',
      'the request body holds more than 16 nested arrays and objects (SLUICE_BODY_DEPTH_LIMIT)',
    ],
    [
      'a model named again and again',
      `{${Array.from({ length: 17 }, () => '"model":"m"').join(',')}}`,
      'chat',
      'the request body names its model more than 16 times',
    ],
  ])('%s are refused by the bound and its setting', (_what, body, protocol, message) => {
    expect(judged(body, protocol)).toEqual({ kind: 'refused', code: 40000, message })
  })

  test.each([
    ['as many members as may be', `{"model":"m",${keys(19)}}`],
    ['as many messages as may be', `{"model":"m","messages":[${turns(3)}]}`],
    ['as deep as may be', `{"model":"m","a":${deep(15)}}`],
  ])('%s pass', (_what, body) => {
    expect(judged(body)).toMatchObject({ kind: 'scanned' })
  })

  test('a refused body is known to be so before its end', () => {
    const scanner = createRequestScanner('chat', BOUNDS)
    expect(scanner.push(bytesOf(`{"model":"m",${keys(30)},`))).toBe(false)
    expect(scanner.push(bytesOf('"more":0'))).toBe(false)
  })

  test('values are counted at every depth', () => {
    expect(scanned('{"model":"m","a":[1,{"b":true}]}').values).toBe(6)
  })
})

describe('items that are only named', () => {
  test.each<[string, readonly unknown[], readonly string[]]>([
    [
      'are found by their type',
      [
        { type: 'item_reference', id: 'rs_1' },
        { id: 'fc_2', type: 'item_reference' },
      ],
      ['rs_1', 'fc_2'],
    ],
    ['are found without it', [{ id: 'rs_1' }, { type: null, id: 'rs_2' }], ['rs_1', 'rs_2']],
    ['are no items of another type', [{ type: 'reasoning', id: 'rs_1', summary: [] }], []],
    [
      'are no messages',
      [{ role: 'assistant', id: 'msg_1', content: 'x' }, 'x', 7, { role: 'user', content: 'x' }],
      [],
    ],
    ['are none without an id', [{ type: 'item_reference' }, { type: 'item_reference', id: 7 }], []],
    ['are none by an endless id', [{ type: 'item_reference', id: 'x'.repeat(300) }], []],
  ])('%s', (_what, input, ids) => {
    const body = JSON.stringify({ model: 'm', input })
    const { references } = scanned(body, 'responses')
    expect(references.map(({ id }) => id)).toEqual(ids)
    for (const { id, start, end } of references)
      expect(JSON.parse(body.slice(start, end))).toMatchObject({ id })
    expect(scanned(body.replace('"input"', '"messages"'), 'chat').references).toEqual([])
  })
})
