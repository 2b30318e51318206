import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDropped } from './dropped-fields.ts'

test('a few ordinary paths are listed unchanged', () => {
  const paths = ['seed', 'messages[].content[].cache_control', 'tools[0]']
  expect(formatDropped(paths)).toEqual(paths)
  expect(formatDropped([])).toEqual([])
})

test('of many, the first 64 are listed, and the number of the others', () => {
  const told = formatDropped(Array.from({ length: 5_000 }, (_, index) => `x${index}`))
  expect(told).toHaveLength(65)
  expect(told.at(0)).toBe('x0')
  expect(told.at(-1)).toBe('(4936 more)')
})

test.each([
  ['a comma', 'a,b', 'a%2Cb'],
  ['a blank', 'a b', 'a%20b'],
  ['a line break', 'a\r\nb', 'a%0D%0Ab'],
  ['the sign of encoding itself', '100%', '100%25'],
  ['another script', '温度', '%E6%B8%A9%E5%BA%A6'],
  ['a lone surrogate', '\ud83d', '%EF%BF%BD'],
  ['a pair', '\ud83d\ude00', '%F0%9F%98%80'],
  ['a null', '\u0000', '%00'],
  ['a long name', 'n'.repeat(5_000), `${'n'.repeat(97)}...`],
])('%s', (_what, path, told) => {
  expect(formatDropped([path])).toEqual([told])
})

test('whatever the names are, the list stays small and valid in a header', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 200 }), (paths) => {
      const text = formatDropped(paths).join(',')
      expect(text.length).toBeLessThanOrEqual(2_048 + '(200 more)'.length)
      expect(text).toMatch(/^[\x20-\x7e]*$/)
    }),
  )
})
