/** Fields of a head, as they are sent to clients and upstreams, and read from them. */
import { describe, expect, test } from 'vitest'
import { fieldLine, parseFields } from './fields.ts'
import { HttpSyntaxError } from './syntax-error.ts'

test('a field is a line; every byte of a value that may be sent is sent', () => {
  expect(fieldLine('x-Model', 'a\tb \x7e\x80\xff')).toBe('x-Model: a\tb \x7e\x80\xff\r\n')
})

describe('what would be more than one line, or none, is not sent, and not shown', () => {
  test.each([
    ['a CR and an LF in a value', 'x', 'secret\r\nset-cookie: a'],
    ['a CR alone', 'x', 'secret\r'],
    ['an LF alone', 'x', 'secret\ny: 1'],
    ['a NUL', 'x', 'secret\0'],
    ['what no byte is', 'x', 'secret\u0100'],
    ['a name of nothing', '', 'secret'],
    ['a colon in a name', 'x:', 'secret'],
    ['a line in a name', 'x\r\ny', 'secret'],
    ['a space in a name', 'x y', 'secret'],
  ])('%s', (_what, name, value) => {
    const send = () => fieldLine(name, value)
    expect(send).toThrow(HttpSyntaxError)
    expect(send).not.toThrow(/secret/)
  })
})

test('names are read in small letters, values without the blanks around them, and each value of a name in its order', () => {
  const { headers, lines, repeats } = parseFields('line\r\nA: 1\r\nb:\t 2 3 \t\r\na:\r\nA:4\r\n', 6)
  expect({ ...headers }).toEqual({ a: ['1', '', '4'], b: '2 3' })
  expect({ lines, repeats }).toEqual({ lines: 4, repeats: true })
})

describe('is no field', () => {
  test.each([
    ['a line without a colon', 'a: 1\r\nb\r\nc: 1\r\n'],
    ['a space before the colon', 'a : 1\r\n'],
    ['a continued line', 'a: 1\r\n b: 2\r\n'],
    ['a name of nothing', ': 1\r\n'],
  ])('%s', (_what, text) => {
    expect(() => parseFields(text, 0)).toThrow(HttpSyntaxError)
  })
})
