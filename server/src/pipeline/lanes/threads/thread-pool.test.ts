import { describe, expect, test, vi } from 'vitest'
import { createThreadPool, type PoolThread } from './thread-pool.ts'
import { WorkFailure } from './work.ts'

interface Thread extends PoolThread<string, string> {
  readonly posted: string[]
  ended: boolean
}

const WAITS = { waitMsMax: 30_000, runMsMax: 10_000, idleMsMax: 60_000 }

function openPool(bounds: { threads?: number; waiting?: number; perOwner?: number } = {}) {
  const threads: Thread[] = []
  const open = (): Thread => {
    const posted: string[] = []
    const thread: Thread = {
      posted,
      ended: false,
      post: (task) => posted.push(task),
      end() {
        thread.ended = true
      },
      events: { onResult: () => undefined, onExit: () => undefined },
    }
    threads.push(thread)
    return thread
  }
  const pool = createThreadPool<string, string>(
    {
      ...WAITS,
      open,
      threadsMax: bounds.threads ?? 2,
      waitingMax: bounds.waiting ?? 100,
      waitingPerOwnerMax: bounds.perOwner ?? 100,
    },
    (reason, detail) => new WorkFailure(reason, detail ?? reason),
  )
  const run = (task: string, owner: string, how?: 'essential') => {
    const work = pool.run(task, owner, how)
    const told = work.result.then(
      (result) => result,
      (failure: WorkFailure) => failure.reason,
    )
    return { outcome: () => told, cancel: work.cancel }
  }
  /** What every thread was given so far, in order. */
  const begun = (): readonly string[] => threads.flatMap(({ posted }) => posted)
  /** The thread that does the task ends it. */
  const finish = (task: string): void =>
    threads.find(({ posted }) => posted.at(-1) === task)?.events.onResult(`${task} done`)
  return { pool, threads, run, begun, finish }
}

describe('a queue filled by one account', () => {
  test('never takes every thread: another account is served at once', () => {
    const { run, begun } = openPool({ threads: 2 })
    for (let at = 0; at < 20; at += 1) run(`greedy-${at}`, 'greedy')
    run('other', 'other')
    expect(begun()).toEqual(['greedy-0', 'other'])
  })

  test('with one thread the other waits for one task, not for the queue', () => {
    const { run, begun, finish } = openPool({ threads: 1 })
    for (let at = 0; at < 20; at += 1) run(`greedy-${at}`, 'greedy')
    run('other', 'other')
    finish('greedy-0')
    expect(begun()).toEqual(['greedy-0', 'other'])
  })

  test('is limited separately, and no other account is refused because of it', async () => {
    const { run } = openPool({ threads: 1, perOwner: 3 })
    const greedy = Array.from({ length: 6 }, (_, at) => run(`greedy-${at}`, 'greedy'))
    const refused = await Promise.all(greedy.slice(4).map(({ outcome }) => outcome()))
    expect(refused).toEqual(['full', 'full'])
    const { pool, run: again } = openPool({ threads: 1, perOwner: 1 })
    again('a', 'one')
    again('b', 'one')
    again('c', 'two')
    expect(pool.waiting).toBe(2)
  })

  test('is bounded for all together', async () => {
    const { run } = openPool({ threads: 1, waiting: 2 })
    for (const owner of ['a', 'b', 'c']) run(owner, owner)
    expect(await run('d', 'd').outcome()).toBe('full')
  })

  test('does not refuse what was paid for', async () => {
    const { run, pool } = openPool({ threads: 1, waiting: 1 })
    for (const owner of ['a', 'b']) run(owner, owner)
    run('answer', 'c', 'essential')
    expect(pool.waiting).toBe(2)
  })
})

describe('a client that leaves', () => {
  test('takes its work out of the queue', async () => {
    const { run, begun, finish, pool } = openPool({ threads: 1 })
    run('first', 'a')
    const left = run('left', 'b')
    run('third', 'c')
    left.cancel()
    expect(await left.outcome()).toBe('cancelled')
    expect(pool.waiting).toBe(1)
    finish('first')
    expect(begun()).toEqual(['first', 'third'])
  })

  test('from running work: no caller waits, and the thread continues with the next work when it is done', async () => {
    const { run, begun, finish } = openPool({ threads: 1 })
    const left = run('left', 'a')
    run('next', 'b')
    left.cancel()
    expect(await left.outcome()).toBe('cancelled')
    expect(begun()).toEqual(['left'])
    finish('left')
    expect(begun()).toEqual(['left', 'next'])
  })
})

describe('a thread that breaks', () => {
  test.each([
    ['crashes', false, 'crashed'],
    ['takes too much memory', true, 'memory'],
  ])('and %s is an error of its own task only; the next gets a new thread', async (_what, memory, reason) => {
    const { run, threads, begun } = openPool({ threads: 1 })
    const doomed = run('doomed', 'a')
    const next = run('next', 'b')
    threads[0]?.events.onExit({ memory, message: 'gone' })
    expect(await doomed.outcome()).toBe(reason)
    expect(begun()).toEqual(['doomed', 'next'])
    threads[1]?.events.onResult('well')
    expect(await next.outcome()).toBe('well')
  })
})

describe('time', () => {
  test('work that runs too long is ended with its thread, the next goes on', async () => {
    vi.useFakeTimers()
    try {
      const { run, threads, begun } = openPool({ threads: 1 })
      const slow = run('slow', 'a')
      run('next', 'b')
      vi.advanceTimersByTime(WAITS.runMsMax)
      expect(await slow.outcome()).toBe('late')
      expect(threads[0]?.ended).toBe(true)
      expect(begun()).toEqual(['slow', 'next'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('work that waits too long is refused, an idle thread is ended', async () => {
    vi.useFakeTimers()
    try {
      const { run, threads, finish, pool } = openPool({ threads: 1 })
      const first = run('first', 'a')
      finish('first')
      expect(await first.outcome()).toBe('first done')
      vi.advanceTimersByTime(WAITS.idleMsMax)
      expect([threads[0]?.ended, pool.threads]).toEqual([true, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  test('a closed pool refuses what waits and what comes', async () => {
    const { run, pool, threads } = openPool({ threads: 1 })
    const running = run('running', 'a')
    const waiting = run('waiting', 'b')
    pool.close()
    const late = run('late', 'c')
    expect(await Promise.all([running, waiting, late].map(({ outcome }) => outcome()))).toEqual([
      'closed',
      'closed',
      'closed',
    ])
    expect(threads.every(({ ended }) => ended)).toBe(true)
  })
})
