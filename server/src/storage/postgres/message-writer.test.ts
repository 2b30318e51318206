/** The bytes of the messages; what the server makes of them is shown by the conformance suite. */
import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { MessageWriter, type Parameter } from './message-writer.ts'

const int16 = (value: number) => [value >> 8, value & 255]
const int32 = (value: number) => [...int16(value >>> 16), ...int16(value & 0xffff)]
const int64 = (value: bigint) => [
  ...int32(Number(BigInt.asUintN(32, value >> 32n))),
  ...int32(Number(BigInt.asUintN(32, value))),
]
const text = (value: string) => {
  const bytes = [...Buffer.from(value)]
  return [...int32(bytes.length), ...bytes]
}
const integer = (value: bigint) => [...int32(8), ...int64(value)]
const NULL = int32(-1 >>> 0)

/** The one parameter of a statement, without its length. */
function parameterOf(value: Parameter): readonly number[] {
  const writer = new MessageWriter()
  writer.run('s', [value])
  const bytes = [...writer.take()]
  // B, length, portal, name, one format, one value; behind it one count and the message that runs it.
  const head = 1 + 4 + 1 + 2 + 2 + 2 + 2
  return bytes.slice(head + 4, bytes.length - 2 - 10)
}

test.each<{ name: string; value: Parameter; bytes: readonly number[] }>([
  { name: 'a text', value: 'a"é', bytes: text('a"é').slice(4) },
  {
    name: 'a column of texts, one of them not there',
    value: { kind: 'text', cells: ['{"a\\b"}', null, '', '汉'] },
    bytes: [1, 1, 25, 4, 1].flatMap(int32).concat(text('{"a\\b"}'), NULL, text(''), text('汉')),
  },
  {
    name: 'a column of integers, as numbers and as bigints',
    value: { kind: 'integer', cells: [-1, -(2 ** 40) - 3, 2 ** 53 - 1, 0, 2n ** 63n - 1n, -(2n ** 63n)] },
    bytes: [1, 0, 20, 6, 1]
      .flatMap(int32)
      .concat(...[-1n, -(2n ** 40n) - 3n, 2n ** 53n - 1n, 0n, 2n ** 63n - 1n, -(2n ** 63n)].map(integer)),
  },
  { name: 'a column of nothing', value: { kind: 'integer', cells: [] }, bytes: [0, 0, 20].flatMap(int32) },
])('$name', ({ value, bytes }) => {
  expect(parameterOf(value)).toEqual(bytes)
})

test('a number that is no exact integer is refused, never rounded', () => {
  const writer = new MessageWriter()
  expect(() => writer.run('s', [{ kind: 'integer', cells: [2 ** 53] }])).toThrow('integers')
  expect(() => writer.run('s', [{ kind: 'integer', cells: [0.5] }])).toThrow('integers')
})

test('a message longer than the buffer is whole', () => {
  const writer = new MessageWriter()
  const long = 'x'.repeat(200_000)
  writer.run('s', [{ kind: 'text', cells: ['short', long] }])
  writer.sync()
  const written = Buffer.from(writer.take())
  expect(written.includes(long)).toBe(true)
  expect(written.readInt32BE(1)).toBe(written.byteLength - 1 - 10 - 5)
})
