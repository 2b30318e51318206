import { expect, test } from 'vitest'
import {
  bytesOf,
  cutAnywhere,
  cutAt,
  FUZZ_SEED,
  joined,
  seededChance,
  textOf,
} from '../../../test/passthrough/test-kit.ts'
import { modelEdits, spliceChunks } from './splice.ts'

test.each([
  ['a value in the middle', 'abcdef', [{ start: 2, end: 4, text: 'XYZ' }], 'abXYZef'],
  ['a value at the start', 'abc', [{ start: 0, end: 1, text: 'X' }], 'Xbc'],
  ['a value at the end', 'abc', [{ start: 2, end: 3, text: 'X' }], 'abX'],
  ['an insertion', 'abc', [{ start: 1, end: 1, text: 'X' }], 'aXbc'],
  ['an insertion behind the last byte', 'abc', [{ start: 3, end: 3, text: 'X' }], 'abcX'],
  [
    'several, in any order',
    'abcdef',
    [
      { start: 4, end: 5, text: '2' },
      { start: 0, end: 2, text: '1' },
    ],
    '1cd2f',
  ],
  [
    'neighbours',
    'abcdef',
    [
      { start: 2, end: 4, text: '2' },
      { start: 4, end: 5, text: '3' },
    ],
    'ab23f',
  ],
  ['nothing', 'abc', [], 'abc'],
])('%s is replaced wherever the body is cut', (_name, body, edits, expected) => {
  const bytes = bytesOf(body)
  const byteEdits = edits.map(({ start, end, text }) => ({ start, end, replacement: bytesOf(text) }))
  for (let one = 0; one <= bytes.length; one++) {
    for (let other = one; other <= bytes.length; other++) {
      const spliced = spliceChunks(cutAt(bytes, [one, other]), byteEdits)
      expect(textOf(joined(spliced.chunks)), `cut at ${one} and ${other}`).toBe(expected)
      expect(spliced.length).toBe(expected.length)
    }
  }
})

test('untouched chunks are handed on, not copied', () => {
  const chunks = [bytesOf('aaaa'), bytesOf('bbbb'), bytesOf('cccc')]
  const spliced = spliceChunks(chunks, [{ start: 5, end: 7, replacement: bytesOf('X') }])
  expect(spliced.chunks[0]).toBe(chunks[0])
  expect(spliced.chunks.at(-1)).toBe(chunks[2])
  expect(spliced.chunks[1]?.buffer).toBe(chunks[1]?.buffer)
})

test('a model name is written as JSON', () => {
  const spliced = spliceChunks(
    [bytesOf('{"model":"a"}')],
    modelEdits([{ start: 9, end: 12 }], 'an "odd" näme\\'),
  )
  expect(JSON.parse(textOf(joined(spliced.chunks)))).toEqual({ model: 'an "odd" näme\\' })
})

test('any edits on any cuts give what the same edits on the whole text give', () => {
  for (let run = 0; run < 2_000; run++) {
    const chance = seededChance(FUZZ_SEED + run)
    const body = 'abcdefghijklmnopqrstuvwxyz'.slice(0, chance.below(27))
    const places = Array.from({ length: 2 * chance.below(4) }, () => chance.below(body.length + 1)).toSorted(
      (one, other) => one - other,
    )
    const edits = Array.from({ length: places.length / 2 }, (_, index) => ({
      start: places[index * 2] ?? 0,
      end: places[index * 2 + 1] ?? 0,
      replacement: bytesOf(String(index)),
    }))
    let expected = ''
    let at = 0
    for (const { start, end, replacement } of edits) {
      expected += body.slice(at, start) + textOf(replacement)
      at = end
    }
    expected += body.slice(at)
    const spliced = spliceChunks(cutAnywhere(bytesOf(body), chance), edits)
    expect(textOf(joined(spliced.chunks)), `seed ${FUZZ_SEED + run}`).toBe(expected)
    expect(spliced.length).toBe(expected.length)
  }
})
