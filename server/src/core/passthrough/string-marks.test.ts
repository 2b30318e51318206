import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import wabt from 'wabt'
import { bytesOf, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import { COMPILED, MARKED_BYTES_MAX, nextMark, StringMarks } from './string-marks.ts'

test('what is committed is the source, compiled', async () => {
  const { parseWat } = await wabt()
  const source = readFileSync(new URL('string-marks.wat', import.meta.url), 'utf8')
  const { buffer } = parseWat('string-marks.wat', source, { simd: true }).toBinary({})
  expect(Buffer.from(buffer).toString('base64')).toBe(COMPILED)
})

function stops(byte: number): boolean {
  return byte < 0x20 || byte >= 0x80 || byte === 0x22 || byte === 0x5c
}

test.each(Array.from({ length: 256 }, (_, byte) => [byte]))(
  'byte %i is marked if it ends or interrupts plain text',
  (byte) => {
    const marks = new StringMarks()
    const text = bytesOf('plain text '.repeat(12))
    for (let place = 30; place < 50; place++) {
      const changed = text.with(place, byte)
      expect(marks.take()).toBe(true)
      const marked = marks.mark(changed, 0, changed.length)
      if (marked === undefined) throw new Error('nothing was marked')
      expect(nextMark(marked, 0, changed.length)).toBe(stops(byte) ? place : changed.length)
      expect(nextMark(marked, place, changed.length)).toBe(stops(byte) ? place : changed.length)
      expect(nextMark(marked, place + 1, changed.length)).toBe(changed.length)
      marks.giveBack()
    }
  },
)

test('the next mark is the next byte that stops, from and to anywhere, whatever was marked before', () => {
  const marks = new StringMarks()
  expect(marks.take()).toBe(true)
  for (let run = 0; run < 2_000; run++) {
    const chance = seededChance(FUZZ_SEED + run)
    const density = chance.pick([0, 0.002, 0.05, 0.6])
    const length = chance.below(chance.below(50) === 0 ? MARKED_BYTES_MAX + 1 : 1_500)
    const ahead = chance.below(40)
    const bytes = Uint8Array.from({ length: ahead + length }, () =>
      chance.next() < density ? chance.below(256) : 0x61,
    )
    const marked = marks.mark(bytes, ahead, ahead + length)
    if (marked === undefined) throw new Error('nothing was marked')
    for (let look = 0; look < 5 && length > 0; look++) {
      const from = chance.below(length)
      const found = bytes.subarray(ahead + from).findIndex(stops)
      const label = `seed ${FUZZ_SEED + run}, from ${from} of ${length}`
      expect(nextMark(marked, from, length), label).toBe(found === -1 ? length : from + found)
    }
  }
})

test('there is one place: taken until it is given back', () => {
  const marks = new StringMarks()
  expect(marks.mark(bytesOf('text'), 0, 4)).toBeUndefined()
  expect([marks.take(), marks.take()]).toEqual([true, false])
  marks.giveBack()
  expect(marks.take()).toBe(true)
})
