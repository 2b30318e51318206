import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('the last so many are kept for certain, and never more than twice as many', () => {
  const recent = new Recent<number, string>(4)
  for (let key = 0; key < 100; key++) recent.set(key, `value ${key}`)
  const kept = Array.from({ length: 100 }, (_, key) => key).filter((key) => recent.get(key) !== undefined)
  expect(kept).toEqual(expect.arrayContaining([96, 97, 98, 99]))
  expect(kept.length).toBeLessThanOrEqual(8)
})

test('what is used again and again stays', () => {
  const recent = new Recent<number, string>(4)
  recent.set(-1, 'busy')
  for (let key = 0; key < 100; key++) {
    recent.set(key, 'once')
    expect(recent.get(-1)).toBe('busy')
  }
})

test('what was dropped is gone from both generations, and may come back', () => {
  const recent = new Recent<number, string>(2)
  for (let key = 0; key < 3; key++) recent.set(key, 'first')
  recent.drop(0)
  recent.drop(2)
  expect([recent.get(0), recent.get(1), recent.get(2)]).toEqual([undefined, 'first', undefined])
  recent.set(0, 'second')
  expect(recent.get(0)).toBe('second')
})

test('a newer value stands before an older one', () => {
  const recent = new Recent<number, string>(2)
  recent.set(0, 'old')
  recent.set(1, 'other')
  recent.set(2, 'other')
  recent.set(0, 'new')
  expect(recent.get(0)).toBe('new')
})

test('nothing is left after clear', () => {
  const recent = new Recent<number, string>(2)
  for (let key = 0; key < 3; key++) recent.set(key, 'kept')
  recent.clear()
  expect([0, 1, 2].map((key) => recent.get(key))).toEqual([undefined, undefined, undefined])
})
