/** When processes of a group that ended are started again. */
import { expect, test } from 'vitest'
import { Restarts } from './restarts.ts'

const FAILED = { wasReady: false }
const KILLED = { wasReady: true }
const times = (count: number, act: () => number | undefined) => Array.from({ length: count }, act)

test('a group that never ran gives up after three starts that failed', () => {
  const restarts = new Restarts()
  expect(times(3, () => restarts.ended(FAILED))).toEqual([500, 1_000, undefined])
})

test('one process of a group that is ready does not make the group one that ran', () => {
  const restarts = new Restarts()
  restarts.ready(false)
  expect(times(3, () => restarts.ended(FAILED))).toEqual([500, 1_000, undefined])
})

test('a group that ran never gives up, and waits at most half a minute', () => {
  const restarts = new Restarts()
  restarts.ready(true)
  expect(times(9, () => restarts.ended(FAILED))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ])
})

test('a process that becomes ready shortens the pauses again', () => {
  const restarts = new Restarts()
  restarts.ready(true)
  expect(times(3, () => restarts.ended(FAILED))).toEqual([500, 1_000, 2_000])
  restarts.ready(false)
  expect(restarts.ended(KILLED)).toBe(500)
  // It ran: only starts that failed count.
  expect(restarts.ended(KILLED)).toBe(1_000)
})

test('processes that were ready and are killed again and again before all are ready do not end the group', () => {
  const restarts = new Restarts()
  restarts.ready(false)
  expect(times(4, () => restarts.ended(KILLED))).toEqual([500, 1_000, 2_000, 4_000])
})
