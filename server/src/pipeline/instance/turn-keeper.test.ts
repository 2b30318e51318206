import { expect, test } from 'vitest'
import { groupsBySize } from './turn-keeper.ts'

test.each<[string, readonly number[], readonly (readonly number[])[]]>([
  ['nothing is no group', [], []],
  ['what is small goes together', [1, 2, 3], [[1, 2, 3]]],
  ['no more together than the bound', [6, 4, 1], [[6, 4], [1]]],
  ['what is larger than the bound goes alone', [1, 25, 1, 1], [[1], [25], [1, 1]]],
])('turns on their way to and from the store: %s', (_name, sizes, expected) => {
  const groups = groupsBySize(
    sizes.map((bytes) => ({ bytes })),
    10,
  )
  expect(groups.map((group) => group.map(({ bytes }) => bytes))).toEqual(expected)
})
