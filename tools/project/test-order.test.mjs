import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LONG, placeOf, spread, WAITING } from './test-order.mjs'
import { root } from './tree.mjs'

test('what begins first is there: a file that moved is not forgotten in the order', () => {
  const missing = [...LONG, ...WAITING].filter((beginning) => !existsSync(join(root, beginning)))
  expect(missing).toEqual([])
  for (const folder of LONG.filter((beginning) => beginning.endsWith('/')))
    expect(readdirSync(join(root, folder), { recursive: true }).join('\n')).toMatch(/\.test\.ts$/m)
})

test('a file that takes a minute is earlier than one that does not', () => {
  expect(placeOf('server/test/processes/kill.test.ts')).toBeLessThan(
    placeOf('server/src/core/calendar.test.ts'),
  )
  expect(placeOf('server/src/storage/sqlite/sqlite.test.ts')).toBeLessThan(
    placeOf('server/src/storage/sqlite/recent.test.ts'),
  )
})

test.each([
  ['none to spread', 'a B c D', '', 'a B c D'],
  ['none to be spread among', 'a b c', 'x y', 'a b c x y'],
  ['as many', 'a B c D', 'x y', 'a B x c D y'],
  ['fewer', 'A B C D e', 'x y', 'A x B C y D e'],
  ['more', 'a B C', 'w x y z', 'a B w x C y z'],
])('files that wait begin at equal distances, each once: %s', (_, files, others, order) => {
  const named = (names) => names.split(' ').filter((name) => name !== '')
  expect(spread(named(files), named(others), (file) => file < 'a').join(' ')).toBe(order)
})
