import { expect, test } from 'vitest'
import { newAccountId, newKeyId, timeOrderedId } from './new-id.ts'

test('an id is a UUIDv7 of its instant', () => {
  const id = timeOrderedId(1_798_761_600_000)
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(1_798_761_600_000)
})

test('ids of one millisecond differ and sort in the order they were made', () => {
  const ids = Array.from({ length: 1000 }, () => timeOrderedId(1_798_761_600_001))
  expect(new Set(ids).size).toBe(1000)
  expect(ids.toSorted()).toEqual(ids)
})

test('the kind of thing is in front', () => {
  expect(newAccountId(0)).toMatch(/^acc_/)
  expect(newKeyId(0)).toMatch(/^key_/)
})
