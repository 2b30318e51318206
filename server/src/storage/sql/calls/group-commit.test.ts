import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { exampleLog, exampleReserve, exampleSettle } from '../../../core/calls/examples.ts'
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'
import type { HotResult } from './hot-batch.ts'

const DONE: HotResult = { kind: 'outcome', outcome: { kind: 'done' } }

/** Runs batches when the test says so, and tells which there were. */
function scripted(options: Partial<GroupCommitOptions> = {}) {
  const batches: string[][] = []
  const running: ((error?: Error) => void)[] = []
  const group = new GroupCommit({
    concurrency: 1,
    ...options,
    run: (operations) =>
      new Promise((resolve, reject) => {
        batches.push(operations.map(nameOf))
        running.push((error) => (error === undefined ? resolve(operations.map(() => DONE)) : reject(error)))
      }),
  })
  return { group, batches, finish: (error?: Error) => running.shift()?.(error) }
}

const nameOf = (operation: HotOperation): string =>
  operation.kind === 'log' ? operation.log.callId : operation.callId
const reserve = (id: string) => exampleReserve(id)
/** Until everything that can start has started. */
const settled = () => vi.advanceTimersByTimeAsync(10)

describe('group commit', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('operations of one turn share a transaction; what comes while it runs makes the next', async () => {
    const { group, batches, finish } = scripted()
    const first = [group.submit(reserve('a')), group.submit(reserve('b'))]
    await settled()
    const second = [group.submit(reserve('c')), group.submit(reserve('d'))]
    await settled()
    expect(batches).toEqual([['a', 'b']])
    finish()
    await Promise.all(first)
    await settled()
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    finish()
    await Promise.all(second)
  })

  test('what nobody waits for goes too, with or without company', async () => {
    const { group, batches, finish } = scripted()
    const log = group.submit({ kind: 'log', log: exampleLog('alone') })
    await settled()
    expect(batches).toEqual([['alone']])
    finish()
    await log
  })

  test.each([
    { what: 'a place', operation: reserve('a'), waited: true },
    {
      what: 'a charge, which the end of an answer waits for',
      operation: exampleSettle('a', {}, {}),
      waited: true,
    },
    { what: 'a log row', operation: { kind: 'log', log: exampleLog('a') }, waited: false },
  ] as const)('where others do not keep the process busy, $what goes at once: $waited', async (row) => {
    const idle = { idle: 1, active: 0, utilization: 0 }
    const utilization = vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue(idle)
    const { group, batches, finish } = scripted()
    const answered = group.submit(row.operation)
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual(row.waited ? [['a']] : [])
    await settled()
    finish()
    await answered
    utilization.mockRestore()
  })

  test('a batch is limited, the other operations follow in order', async () => {
    const { group, batches, finish } = scripted({ batchMax: 2 })
    const all = ['a', 'b', 'c'].map((id) => group.submit(reserve(id)))
    await settled()
    finish()
    await settled()
    finish()
    await Promise.all(all)
    expect(batches).toEqual([['a', 'b'], ['c']])
  })

  test('more than may wait is refused at once instead of answered too late', async () => {
    const { group, finish } = scripted({ queueMax: 2 })
    const accepted = [group.submit(reserve('a')), group.submit(reserve('b'))]
    await expect(group.submit(reserve('c'))).rejects.toThrow(StorageUnavailable)
    await settled()
    finish()
    await Promise.all(accepted)
  })

  test('as many batches run at once as the engine can take', async () => {
    const { group, batches, finish } = scripted({ concurrency: 2, batchMax: 1 })
    const all = ['a', 'b', 'c'].map((id) => group.submit(reserve(id)))
    await settled()
    expect(batches).toEqual([['a'], ['b']])
    finish()
    finish()
    await settled()
    finish()
    await Promise.all(all)
  })

  test('one operation that cannot be written does not take the others with it', async () => {
    const group = new GroupCommit({
      concurrency: 1,
      run: async (operations) => {
        if (operations.some((operation) => nameOf(operation) === 'bad')) throw new Error('not this one')
        return operations.map(() => DONE)
      },
    })
    const names = ['a', 'b', 'bad', 'c', 'd']
    const all = Promise.allSettled(names.map((id) => group.submit(reserve(id))))
    await settled()
    const results = await all
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
  })

  test('a database that is away refuses the whole batch at once, and the next batch is tried again', async () => {
    const { group, batches, finish } = scripted()
    const lost = [group.submit(reserve('a')), group.submit(reserve('b'))]
    await settled()
    finish(new StorageUnavailable('away'))
    const outcomes = await Promise.allSettled(lost)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const next = group.submit(reserve('c'))
    await settled()
    finish()
    await next
    expect(batches).toEqual([['a', 'b'], ['c']])
  })

  test('closing waits for what was accepted and takes nothing more', async () => {
    const { group, finish } = scripted({ batchMax: 1 })
    const accepted = [group.submit(reserve('a')), group.submit({ kind: 'log', log: exampleLog('b') })]
    let closed = false
    const closing = group.close().then(() => {
      closed = true
    })
    await expect(group.submit(reserve('c'))).rejects.toThrow(StorageUnavailable)
    await settled()
    finish()
    await settled()
    expect(closed).toBe(false)
    finish()
    await Promise.all([...accepted, closing])
  })
})
