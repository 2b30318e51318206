import { expect, test } from 'vitest'
import { type AttemptBucket, decideAttempt, returnAttempt } from './attempt-bucket.ts'

const BUCKET: AttemptBucket = { subject: 's', limit: 3, windowMs: 9_000 }

function takeAll(times: readonly number[]): readonly (number | 'taken')[] {
  let emptyAt: number | undefined
  return times.map((at) => {
    const decision = decideAttempt(BUCKET, emptyAt, at)
    if (decision.kind === 'full') return decision.retryAfterMs
    emptyAt = decision.emptyAt
    return 'taken'
  })
}

test.each([
  ['as many as the limit fit at once', [0, 0, 0], ['taken', 'taken', 'taken']],
  ['one more is told how long to wait', [0, 0, 0, 0, 1_000], ['taken', 'taken', 'taken', 3_000, 2_000]],
  [
    'after that wait one fits, and no second',
    [0, 0, 0, 3_000, 3_000],
    ['taken', 'taken', 'taken', 'taken', 3_000],
  ],
  [
    'a refused try does not make the wait longer',
    [0, 0, 0, 2_999, 3_000],
    ['taken', 'taken', 'taken', 1, 'taken'],
  ],
  ['a whole window empties it', [0, 0, 0, 9_000, 9_000, 9_000], Array.from({ length: 6 }, () => 'taken')],
])('%s', (_sentence, times, expected) => {
  expect(takeAll(times)).toEqual(expected)
})

test('a try given back can be taken again', () => {
  const full = decideAttempt(BUCKET, 6_000, 0)
  if (full.kind !== 'taken') throw new Error('the third try fits')
  expect(decideAttempt(BUCKET, full.emptyAt, 0).kind).toBe('full')
  expect(decideAttempt(BUCKET, returnAttempt(BUCKET, full.emptyAt), 0).kind).toBe('taken')
})
