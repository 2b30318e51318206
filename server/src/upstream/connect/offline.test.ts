import { expect, test } from 'vitest'
import type { OfflineAnswer, OfflineChunk } from '../../core/offline-answer.ts'
import { playOffline } from './offline.ts'
import { CollectingSink } from '../testing/collecting-sink.ts'
import { ManualTimers } from '../testing/manual-timers.ts'

function answer(chunks: Iterable<OfflineChunk>): OfflineAnswer {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, chunks }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('plays head, chunks and end, none of them before it has returned', async () => {
  const sink = new CollectingSink()
  const chunks = ['a', '', 'b'].map((data) => ({ data, afterMs: 0 }))
  playOffline(answer(chunks), sink, new ManualTimers())
  expect(sink.heads).toEqual([])
  expect(await sink.outcome).toEqual({ kind: 'end' })
  expect(sink.heads[0]?.status).toBe(200)
  expect(sink.text).toBe('ab')
})

test('waits before a chunk as long as it asks', async () => {
  const timers = new ManualTimers()
  const sink = new CollectingSink()
  playOffline(
    answer([
      { data: 'a', afterMs: 0 },
      { data: 'b', afterMs: 20 },
    ]),
    sink,
    timers,
  )
  await turn()
  expect(sink.text).toBe('a')
  timers.advance(19)
  expect(sink.text).toBe('a')
  timers.advance(1)
  expect(sink.text).toBe('ab')
  expect(await sink.outcome).toEqual({ kind: 'end' })
})

test('a paused exchange pulls nothing, a resumed one goes on where it was', async () => {
  let pulled = 0
  function* endless(): Generator<OfflineChunk> {
    while (pulled < 1_000) {
      pulled += 1
      yield { data: 'x', afterMs: 0 }
    }
  }
  const sink = new CollectingSink()
  const exchange = playOffline(answer(endless()), sink, new ManualTimers())
  sink.onData = () => {
    if (sink.length === 10) exchange.pause()
  }
  await turn()
  expect(sink.length).toBe(10)
  expect(pulled).toBeLessThan(13)
  exchange.resume()
  expect(await sink.outcome).toEqual({ kind: 'end' })
  expect(sink.length).toBe(1_000)
})

test('an abort is reported at once and stops timers', async () => {
  const timers = new ManualTimers()
  const sink = new CollectingSink()
  const exchange = playOffline(answer([{ data: 'a', afterMs: 20 }]), sink, timers)
  await turn()
  exchange.abort()
  exchange.abort()
  expect(sink.over).toBe(true)
  expect(await sink.outcome).toMatchObject({ kind: 'fail', failure: { kind: 'aborted' } })
  expect(timers.pending).toBe(0)
})

test('abort from within data ends there', async () => {
  const sink = new CollectingSink()
  const exchange = playOffline(answer([1, 2, 3].map((data) => ({ data: `${data}`, afterMs: 0 }))), sink)
  sink.onData = () => exchange.abort()
  expect(await sink.outcome).toMatchObject({ kind: 'fail' })
  expect(sink.text).toBe('1')
})
