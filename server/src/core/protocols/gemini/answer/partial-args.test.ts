import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../canonical/json-text.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { collectArguments } from './partial-args.ts'

function collect(...pieces: readonly JsonObject[]): JsonValue | undefined {
  const collected = collectArguments()
  return pieces.every((piece) => collected.add(piece)) ? parseJson(collected.text()) : undefined
}

describe('arguments in pieces', () => {
  test.each<[string, readonly JsonObject[], JsonValue]>([
    ['none', [], {}],
    [
      'a text in pieces',
      [
        { jsonPath: '$.city', stringValue: 'Bos' },
        { jsonPath: '$.city', stringValue: 'ton' },
      ],
      { city: 'Boston' },
    ],
    [
      'every kind of value',
      [
        { jsonPath: '$.n', numberValue: 0 },
        { jsonPath: '$.b', boolValue: false },
        { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
        { jsonPath: '$.s', stringValue: '' },
      ],
      { n: 0, b: false, z: null, s: '' },
    ],
    [
      'arrays and objects inside each other',
      [
        { jsonPath: '$.list[0].name', stringValue: 'a' },
        { jsonPath: '$.list[0].tags[0]', stringValue: 'x' },
        { jsonPath: '$.list[1].name', stringValue: 'b' },
      ],
      { list: [{ name: 'a', tags: ['x'] }, { name: 'b' }] },
    ],
    [
      'names in brackets',
      [
        { jsonPath: "$['a b']", numberValue: 1 },
        { jsonPath: '$["it\\"s"]', numberValue: 2 },
      ],
      { 'a b': 1, 'it"s': 2 },
    ],
  ])('%s', (_name, pieces, expected) => {
    expect(collect(...pieces)).toEqual(expected)
  })

  test('no name is special', () => {
    const collected = collectArguments()
    collected.add({ jsonPath: '$.__proto__.polluted', boolValue: true })
    expect(collected.text()).toBe('{"__proto__":{"polluted":true}}')
    expect({}).not.toHaveProperty('polluted')
  })

  test.each<[string, readonly JsonObject[]]>([
    ['a gap in an array', [{ jsonPath: '$.list[99999]', numberValue: 1 }]],
    ['a path that is none', [{ jsonPath: '$..x', numberValue: 1 }]],
    ['a path without end', [{ jsonPath: `$${'.a'.repeat(1_000)}`, numberValue: 1 }]],
    ['a piece without value', [{ jsonPath: '$.a' }]],
    [
      'an object where a text is',
      [
        { jsonPath: '$.a', stringValue: 'x' },
        { jsonPath: '$.a.b', stringValue: 'y' },
      ],
    ],
    ['the whole at once', [{ jsonPath: '$', stringValue: 'x' }]],
  ])('%s has no place', (_name, pieces) => {
    expect(collect(...pieces)).toBeUndefined()
  })
})
