import { describe, expect, test } from 'vitest'
import { randomJsonObject } from '../../../test/passthrough/random-json.ts'
import {
  bytesOf,
  type Chance,
  cutAnywhere,
  cutAt,
  FUZZ_SEED,
  joined,
  seededChance,
  textOf,
} from '../../../test/passthrough/test-kit.ts'
import { type JsonKind, JsonScanner, SCAN_DEPTH_MAX } from './json-scanner.ts'
import { MARKED_BYTES_MAX } from './string-marks.ts'
import { compileWatchTree } from './watch-tree.ts'

interface Found {
  readonly path: string
  readonly kind: JsonKind
  readonly text: string
}

interface Outcome {
  readonly valid: boolean
  readonly found: readonly Found[]
  readonly failure: { readonly offset: number; readonly reason: string } | undefined
}

function scan(pieces: readonly Uint8Array[], paths: readonly string[] = []): Outcome {
  const whole = joined(pieces)
  const found: Found[] = []
  const scanner = new JsonScanner(
    compileWatchTree(paths.map((path, watch) => ({ path, watch, wanted: false }))),
    {
      onValue: (watch, kind, start, end) =>
        found.push({
          path: paths[watch] ?? '',
          kind,
          text: textOf(whole.subarray(start, end)),
        }),
    },
  )
  for (const piece of pieces) scanner.push(piece, 0, piece.length)
  return { valid: scanner.end(), found, failure: scanner.failure }
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false
    throw error
  }
}

describe('the grammar', () => {
  test.each([
    ['{}'],
    ['[]'],
    [' \t\r\n{ } '],
    ['[[],{},[{}]]'],
    ['"a"'],
    ['0'],
    ['-0.0e-0'],
    ['1E400'],
    ['true'],
    ['null '],
    ['{"":""}'],
    ['{"a":1,"a":2}'],
    ['["\\u0000\\ud800\\"\\\\\\/\\b\\f\\n\\r\\t"]'],
    ['"\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}"'],
  ])('%s is JSON', (text) => {
    const bytes = bytesOf(text)
    expect(isJson(bytes)).toBe(true)
    for (let at = 0; at <= bytes.length; at++)
      expect(scan(cutAt(bytes, [at])).valid, `cut at ${at}`).toBe(true)
  })

  test.each([
    ['', 0],
    ['   ', 3],
    ['{', 1],
    ['{"a"', 4],
    ['{"a":1', 6],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1 "b":2}', 7],
    ['[1,]', 3],
    ['[,1]', 1],
    ['[1}', 2],
    ['{"a":1]', 6],
    ['01', 1],
    ['-', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.e1', 2],
    ['1e', 2],
    ['1e+', 3],
    ['[1.,2]', 3],
    ['0x10', 1],
    ['NaN', 0],
    ['nul', 3],
    ['nulx', 3],
    ['truee', 4],
    ['"a', 2],
    ['"\\x"', 2],
    ['"\\u12g4"', 5],
    ['"\\u123"', 6],
    ['"a\nb"', 2],
    ['"a\tb"', 2],
    ['{} {}', 3],
    ['{}x', 2],
    ['// c\n{}', 0],
    ['\ufeff{}', 0],
    ['\u00a0{}', 0],
  ])('%j is no JSON, and the offset says where', (text, offset) => {
    const bytes = bytesOf(text)
    expect(isJson(bytes)).toBe(false)
    for (let at = 0; at <= bytes.length; at++) {
      const { valid, failure } = scan(cutAt(bytes, [at]))
      expect(valid).toBe(false)
      expect(failure?.offset, `cut at ${at}`).toBe(offset)
    }
  })

  test.each([
    ['a lone continuation', [0x80]],
    ['a lead without its continuation', [0xc3, 0x22]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong three-byte form', [0xe0, 0x80, 0xaf]],
    ['an overlong four-byte form', [0xf0, 0x80, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond the last code point', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that is never used', [0xff]],
    ['a cut character', [0xe4, 0xbd]],
  ])('a string holding %s is not UTF-8', (_name, inside) => {
    const bytes = Uint8Array.from([0x22, ...inside, 0x22])
    expect(isJson(bytes)).toBe(false)
    for (let at = 0; at <= bytes.length; at++)
      expect(scan(cutAt(bytes, [at])).valid, `cut at ${at}`).toBe(false)
  })

  test('nesting is bounded, and one less is read', () => {
    const nested = (levels: number): Uint8Array => bytesOf('['.repeat(levels) + ']'.repeat(levels))
    expect(scan([nested(SCAN_DEPTH_MAX)]).valid).toBe(true)
    const { valid, failure } = scan([nested(SCAN_DEPTH_MAX + 1)])
    expect(valid).toBe(false)
    expect(failure).toEqual({ offset: SCAN_DEPTH_MAX, reason: 'more than 1000 nested arrays and objects' })
  })

  test('nothing is read after the first failure', () => {
    const scanner = new JsonScanner(compileWatchTree([]), { onValue() {} })
    expect(scanner.push(bytesOf('[}'), 0, 2)).toBe(false)
    expect(scanner.push(bytesOf(']'), 0, 1)).toBe(false)
    expect(scanner.end()).toBe(false)
    expect(scanner.failure?.offset).toBe(1)
    scanner.reset()
    expect(scanner.push(bytesOf('[]'), 0, 2) && scanner.end()).toBe(true)
  })
})

describe('watched values', () => {
  const PATHS = ['', 'model', 'a.b', 'list[]', 'list[].x', '[].y']

  test.each<[string, string, readonly (readonly [string, JsonKind, string])[]]>([
    [
      'a member by name',
      '{"model": "x"}',
      [
        ['model', 'string', '"x"'],
        ['', 'object', '{"model": "x"}'],
      ],
    ],
    ['not one inside another', '{"a":{"model":1}}', [['', 'object', '{"a":{"model":1}}']]],
    ['nor inside a string', '{"s":"\\"model\\":1"}', [['', 'object', '{"s":"\\"model\\":1"}']]],
    [
      'a name written with escapes',
      '{"m\\u006fdel":1}',
      [
        ['model', 'number', '1'],
        ['', 'object', '{"m\\u006fdel":1}'],
      ],
    ],
    [
      'every one of several',
      '{"model":1,"model":null}',
      [
        ['model', 'number', '1'],
        ['model', 'null', 'null'],
        ['', 'object', '{"model":1,"model":null}'],
      ],
    ],
    ['a longer name is another', '{"models":1,"mode":2}', [['', 'object', '{"models":1,"mode":2}']]],
    [
      'below an object',
      '{"a":{"b":[ ]}}',
      [
        ['a.b', 'array', '[ ]'],
        ['', 'object', '{"a":{"b":[ ]}}'],
      ],
    ],
    ['not below an array instead', '{"a":[{"b":1}]}', [['', 'object', '{"a":[{"b":1}]}']]],
    [
      'every element, after what is in it',
      '{"list":[1,{"x":true}]}',
      [
        ['list[]', 'number', '1'],
        ['list[].x', 'true', 'true'],
        ['list[]', 'object', '{"x":true}'],
        ['', 'object', '{"list":[1,{"x":true}]}'],
      ],
    ],
    ['an empty list has no elements', '{"list":[ ]}', [['', 'object', '{"list":[ ]}']]],
    [
      'elements of a root array',
      '[{"y":false},2]',
      [
        ['[].y', 'false', 'false'],
        ['', 'array', '[{"y":false},2]'],
      ],
    ],
    ['a number at the very end', '12', [['', 'number', '12']]],
  ])('%s', (_name, text, expected) => {
    const bytes = bytesOf(text)
    const rows = expected.map(([path, kind, value]) => ({ path, kind, text: value }))
    for (let at = 0; at <= bytes.length; at++)
      expect(scan(cutAt(bytes, [at]), PATHS).found, `cut at ${at}`).toEqual(rows)
    expect(scan(cutAt(bytes, [...bytes.keys()]), PATHS).found).toEqual(rows)
  })

  test('a very long key is skipped without being kept', () => {
    const text = `{"${'model'.repeat(40_000)}":1,"model":2}`
    expect(scan(cutAt(bytesOf(text), [3, 7, 90_000]), ['model']).found).toEqual([
      { path: 'model', kind: 'number', text: '2' },
    ])
  })
})

test('a long piece, read by its marks, is judged as short ones are: any byte, at any place, anywhere in memory', () => {
  const filled = bytesOf(`["${'plain text '.repeat(120)}"]`)
  for (let byte = 0; byte < 256; byte++) {
    for (let place = 600; place < 608; place++) {
      const ahead = (byte + place) % 16
      const bytes = new Uint8Array(ahead + filled.length).subarray(ahead)
      bytes.set(filled)
      bytes[place] = byte
      const short = scan(cutAt(bytes, [400, 800, 1_200]))
      expect({ byte, place, ...scan([bytes]) }).toEqual({ byte, place, ...short })
    }
  }
})

test('a sink may push long pieces to another scanner', () => {
  const text = 'plain text, "quoted" and\nbroken '.repeat(40)
  const inner = bytesOf(JSON.stringify([text.replaceAll('a', '"')]))
  const outer = bytesOf(JSON.stringify({ first: text, second: [text, text] }))
  const seen: boolean[] = []
  const scanner = new JsonScanner(
    compileWatchTree(['first', 'second.[]'].map((path, watch) => ({ path, watch, wanted: false }))),
    { onValue: () => seen.push(isScanned(inner)) },
  )
  expect(scanner.push(outer, 0, outer.length) && scanner.end()).toBe(true)
  expect(seen).toEqual([true, true, true])
})

function isScanned(bytes: Uint8Array): boolean {
  const { valid, failure } = scan([bytes])
  return valid && failure === undefined
}

test('whatever JSON.parse says of a text, the scanner says too, cut anywhere, whole or damaged', () => {
  let damagedButValid = 0
  for (let run = 0; run < 6_000; run++) {
    const chance = seededChance(FUZZ_SEED + run)
    const bytes = bytesOf(randomJsonObject(chance))
    const label = `seed ${FUZZ_SEED + run}`
    expect(isJson(bytes), label).toBe(true)
    expect(scan(cutAnywhere(bytes, chance)).valid, label).toBe(true)
    expect(scan(asOneLongPiece(bytes, chance)).valid, label).toBe(true)
    const damaged = damage(bytes, chance.below(4), () => chance.below(bytes.length), chance.below(256))
    const valid = isJson(damaged)
    if (valid) damagedButValid++
    expect(scan(cutAnywhere(damaged, chance)).valid, `${label}: ${textOf(damaged)}`).toBe(valid)
    expect(scan(asOneLongPiece(damaged, chance)).valid, `${label}, long: ${textOf(damaged)}`).toBe(valid)
  }
  expect(damagedButValid, 'some damage must be harmless, or only one side is tested').toBeGreaterThan(300)
})

/** Behind so much white space that it is marked, now and then across the bound of what is marked at once. */
function asOneLongPiece(bytes: Uint8Array, chance: Chance): Uint8Array[] {
  const blanks = chance.below(20) > 0 ? 600 : MARKED_BYTES_MAX - chance.below(bytes.length + 1)
  const long = new Uint8Array(blanks + bytes.length).fill(0x20)
  long.set(bytes, blanks)
  return [long]
}

/** A byte changed, left out, said twice, or everything behind it cut off. */
function damage(bytes: Uint8Array, how: number, where: () => number, byte: number): Uint8Array {
  const at = where()
  const all = [...bytes]
  if (how === 0) all[at] = byte
  else if (how === 1) all.splice(at, 1)
  else if (how === 2) all.splice(at, 0, all[where()] ?? byte)
  else all.length = at
  return Uint8Array.from(all)
}
