import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBodyWatch } from './incoming.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const FOR_EVER_MS = 1_000_000

/** How long after its last byte a body is ended that goes silent `afterMs` into the watch's life. */
function silenceOf(afterMs: number, idleTimeoutMs: number): number {
  const watch = createBodyWatch(idleTimeoutMs)
  let endedAt: number | undefined
  const body = watch.add(() => {
    endedAt ??= Date.now()
    watch.remove(body)
  }, FOR_EVER_MS)
  vi.advanceTimersByTime(afterMs)
  body.alive = true
  const silentSince = Date.now()
  vi.advanceTimersByTime(10 * idleTimeoutMs)
  watch.stop()
  return (endedAt ?? Number.POSITIVE_INFINITY) - silentSince
}

test.each([1, 250, 499, 501, 750, 999, 1_001])(
  'a body that stalls from %d ms on is ended after one time-out at least and one and a half at most',
  (afterMs) => {
    const silence = silenceOf(afterMs, 1_000)
    expect(silence).toBeGreaterThanOrEqual(1_000)
    expect(silence).toBeLessThanOrEqual(1_500)
  },
)

test('a body that drips for ever is ended when its whole time is over', () => {
  const watch = createBodyWatch(1_000)
  let ended = 0
  const body = watch.add(() => {
    ended += 1
    watch.remove(body)
  }, 10_000)
  const startedAt = Date.now()
  while (ended === 0 && Date.now() - startedAt < 60_000) {
    body.alive = true
    vi.advanceTimersByTime(100)
  }
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(10_000)
  expect(Date.now() - startedAt).toBeLessThanOrEqual(11_100)
  vi.advanceTimersByTime(60_000)
  expect(ended).toBe(1)
  watch.stop()
})

test('a body that keeps coming in time is left alone', () => {
  const watch = createBodyWatch(1_000)
  const onLate = vi.fn()
  const body = watch.add(onLate, FOR_EVER_MS)
  for (let step = 0; step < 100; step += 1) {
    vi.advanceTimersByTime(900)
    body.alive = true
  }
  expect(onLate).not.toHaveBeenCalled()
  watch.stop()
})
