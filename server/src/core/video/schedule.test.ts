import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRange } from './range.ts'
import { backOffMs, nextPollMs } from './schedule.ts'

describe('polls', () => {
  test.each([
    ['as the vendor advises', { ageMs: 0, draw: 0.5 }, 10_000],
    ['a fifth earlier at the most', { ageMs: 0, draw: 0 }, 8_000],
    ['a fifth later at the most', { ageMs: 0, draw: 1 }, 12_000],
    ['at the same pace for two minutes', { ageMs: 120_000, draw: 0.5 }, 10_000],
    ['slower then', { ageMs: 180_000, draw: 0.5 }, 15_000],
    ['at half the pace in the end', { ageMs: 3_600_000, draw: 0.5 }, 20_000],
  ])('%s', (_name, when, expected) => {
    expect(nextPollMs({ afterMs: 10_000, ...when })).toBe(expected)
  })

  test.each([
    ['by the vendor’s word', 1, 30_000, 30_500],
    ['never under a second, whatever the word', 1, 0, 1_500],
    ['twice as long without one', 1, undefined, 10_000],
    ['and twice again', 2, undefined, 20_000],
    ['to a minute', 6, undefined, 60_000],
  ])('back off %s', (_name, failures, hintMs, expected) => {
    expect(backOffMs({ afterMs: 5_000, ageMs: 0, draw: 0.5 }, failures, hintMs)).toBe(expected)
  })
})

describe('ranges', () => {
  test.each([
    [undefined, { kind: 'whole' }],
    ['bytes=0-', { kind: 'part', start: 0, end: 99 }],
    ['bytes=90-200', { kind: 'part', start: 90, end: 99 }],
    ['bytes=-5', { kind: 'part', start: 95, end: 99 }],
    ['bytes=-500', { kind: 'part', start: 0, end: 99 }],
    ['bytes=100-', { kind: 'unsatisfiable' }],
    ['bytes=-0', { kind: 'unsatisfiable' }],
    ['bytes=5-2', { kind: 'whole' }],
    ['lines=1-2', { kind: 'whole' }],
  ])('%s', (header, expected) => {
    expect(readRange(header, 100)).toEqual(expected)
  })

  test('a part is always within the bytes', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat({ max: 1_000 }), (noise, first, last, bytes) => {
        for (const header of [noise, `bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
          const range = readRange(header, bytes)
          if (range.kind !== 'part') continue
          expect(range.start).toBeGreaterThanOrEqual(0)
          expect(range.end).toBeGreaterThanOrEqual(range.start)
          expect(range.end).toBeLessThan(bytes)
        }
      }),
    )
  })
})
