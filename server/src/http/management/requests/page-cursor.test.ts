import { expect, test } from 'vitest'
import { readCursor, writeCursor } from './page-cursor.ts'

test.each(['acc_1', '1717171717171.call_7#3', 'ü/1'])('%s comes back from its cursor', (place) => {
  expect(readCursor('/accounts', writeCursor('/accounts', place))).toBe(place)
})

test('a cursor says nothing to whoever reads it', () => {
  expect(writeCursor('/accounts', 'acc_1')).not.toContain('acc_1')
})

test.each([
  ['made up', 'acc_1'],
  ['empty', ''],
  ['of another list', writeCursor('/logs', 'acc_1')],
  ['changed', `${writeCursor('/accounts', 'acc_1')}A`],
])('one that is %s is refused with its path', (_, cursor) => {
  expect(() => readCursor('/accounts', cursor)).toThrow('cursor does not come from an earlier page')
})
