import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTelemetry } from '../../../telemetry/telemetry.ts'
import { createConversions } from './conversions.ts'
import type { PoolThread } from './thread-pool.ts'
import { type Task, type TaskResult, WorkFailure } from './work.ts'

const TASK: Task = { kind: 'past', bodies: [] }
const DONE: TaskResult = { kind: 'unreadable' }
const LATER_THAN_ANY_RUN_MS = 60_000

interface Thread extends PoolThread<Task, TaskResult> {
  posted: number
  ended: boolean
}

/** Threads of which the first never answers, and those after it at once. */
function openWithHungThread() {
  const threads: Thread[] = []
  const conversions = createConversions(createTelemetry({ level: 'silent', now: () => 0, version: 'test' }), {
    bodyLimitBytes: 1_000,
    open() {
      const isHung = threads.length === 0
      const thread: Thread = {
        posted: 0,
        ended: false,
        post() {
          thread.posted += 1
          if (!isHung) queueMicrotask(() => thread.events.onResult(DONE))
        },
        end() {
          thread.ended = true
        },
        events: { onResult: () => undefined, onExit: () => undefined },
      }
      threads.push(thread)
      return thread
    },
  })
  return { conversions, threads }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a thread that never answers', () => {
  test('is ended; its call is refused with 413/41301, and the next one is served by another thread', async () => {
    const { conversions, threads } = openWithHungThread()
    const refused = expect(conversions.run(TASK, { accountId: 'a' })).rejects.toMatchObject({ code: 41301 })
    await vi.advanceTimersByTimeAsync(LATER_THAN_ANY_RUN_MS)
    await refused
    expect(threads.map(({ ended }) => ended)).toEqual([true])
    expect(await conversions.run(TASK, { accountId: 'a' })).toEqual(DONE)
    expect(threads.map(({ ended, posted }) => [ended, posted])).toEqual([
      [true, 1],
      [false, 1],
    ])
    conversions.close()
  })

  test('what waited behind it is done by the thread in its place', async () => {
    const { conversions } = openWithHungThread()
    const refused = expect(conversions.run(TASK, { accountId: 'a' })).rejects.toMatchObject({ code: 41301 })
    const waited = conversions.runAnswer(TASK, 'a')
    await vi.advanceTimersByTimeAsync(LATER_THAN_ANY_RUN_MS)
    await refused
    expect(await waited).toEqual(DONE)
    conversions.close()
  })

  test('loses an answer that was paid for: the call gets an error as for a broken answer', async () => {
    const { conversions } = openWithHungThread()
    const failed = expect(conversions.runAnswer(TASK, 'a')).rejects.toBeInstanceOf(WorkFailure)
    await vi.advanceTimersByTimeAsync(LATER_THAN_ANY_RUN_MS)
    await failed
    conversions.close()
  })
})

test('of documents that are nearly too large for where the calls run, the second waits for its turn', () => {
  const { conversions } = openWithHungThread()
  expect(conversions.turn({ bytes: 250_000, values: 0 })).toBeUndefined()
  expect(conversions.turn({ bytes: 0, values: 4_000 })).toBeInstanceOf(Promise)
  expect(conversions.turn({ bytes: 100, values: 10 })).toBeUndefined()
  conversions.close()
})
