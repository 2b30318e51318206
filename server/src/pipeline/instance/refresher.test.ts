import { afterEach, describe, expect, test, vi } from 'vitest'
import { createRefresher } from './refresher.ts'

/** A store whose reads end when the test says so, with the state of the moment in which they began. */
function slowStore() {
  let state = 'first'
  const reads: { readonly end: () => void; readonly fail: (error: Error) => void }[] = []
  const kept: string[] = []
  const failures: unknown[] = []
  const refresher = createRefresher(
    async () => {
      const seen = state
      await new Promise<void>((end, fail) => reads.push({ end, fail }))
      kept.push(seen)
    },
    (error) => failures.push(error),
  )
  return {
    refresher,
    failures,
    reads,
    kept,
    change: (next: string) => {
      state = next
    },
  }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a read that began before a change never ends after the one that the change started', async () => {
  const { refresher, reads, kept, change } = slowStore()
  const before = refresher.refresh()
  change('second')
  const after = refresher.refresh()
  expect(reads).toHaveLength(1)
  reads[0]?.end()
  await before
  await turn()
  expect(reads).toHaveLength(2)
  reads[1]?.end()
  await after
  expect(kept).toEqual(['first', 'second'])
})

test('calls that come while one runs share one read, which sees all that was changed before', async () => {
  const { refresher, reads, kept, change } = slowStore()
  const all = [refresher.refresh()]
  for (const state of ['second', 'third', 'fourth']) {
    change(state)
    all.push(refresher.refresh())
  }
  reads[0]?.end()
  await turn()
  reads[1]?.end()
  await Promise.all(all)
  expect([reads.length, kept]).toEqual([2, ['first', 'fourth']])
})

test('a read that fails is told to those who waited for it, and the next one goes on', async () => {
  const { refresher, reads, kept } = slowStore()
  const failing = refresher.refresh()
  const next = refresher.refresh()
  reads[0]?.fail(new Error('no store'))
  await expect(failing).rejects.toThrow('no store')
  await turn()
  reads[1]?.end()
  await next
  expect(kept).toEqual(['first'])
  const later = refresher.refresh()
  reads[2]?.end()
  await later
  expect(kept).toHaveLength(2)
})

describe('a refresh that nobody waits for', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('is repeated a second after each failure until one succeeds', async () => {
    vi.useFakeTimers()
    const { refresher, reads, kept, failures } = slowStore()
    refresher.refreshLater()
    for (const index of [0, 1]) {
      reads[index]?.fail(new Error('no store'))
      await vi.advanceTimersByTimeAsync(999)
      expect(reads).toHaveLength(index + 1)
      await vi.advanceTimersByTimeAsync(1)
      expect(reads).toHaveLength(index + 2)
    }
    reads[2]?.end()
    await vi.advanceTimersByTimeAsync(10_000)
    expect([reads.length, kept, failures.length]).toEqual([3, ['first'], 2])
  })

  test('is not repeated after a stop', async () => {
    vi.useFakeTimers()
    const { refresher, reads, failures } = slowStore()
    refresher.refreshLater()
    refresher.stop()
    reads[0]?.fail(new Error('closed'))
    await vi.advanceTimersByTimeAsync(10_000)
    expect([reads.length, failures]).toEqual([1, []])
  })
})
