import { expect, test } from 'vitest'
import { moved } from './priority.ts'

const chains = (...priorities: readonly number[]) => priorities.map((priority, id) => ({ id, priority }))

test.each([
  [
    'the last to the front',
    chains(1, 2, 3),
    2,
    0,
    [
      [2, 1],
      [0, 2],
      [1, 3],
    ],
  ],
  [
    'one down',
    chains(1, 2, 3),
    0,
    1,
    [
      [1, 1],
      [0, 2],
    ],
  ],
  ['to where it is', chains(1, 2, 3), 1, 1, []],
  [
    'those that share a priority still do',
    chains(5, 5, 6),
    2,
    0,
    [
      [2, 5],
      [0, 6],
      [1, 6],
    ],
  ],
  ['out of those that share one', chains(1, 1), 1, 0, [[0, 2]]],
] as const)('%s', (_what, of, id, place, changes) => {
  expect(moved(of, id, place).map(({ id: each, priority }) => [each, priority])).toEqual(changes)
})
