import { describe, expect, test } from 'vitest'
import { ManualTimers } from '../../upstream/testing/manual-timers.ts'
import type { GuardedSink, UpstreamExchange } from '../../upstream/upstream.ts'
import { Patience, UpstreamReader } from './upstream-reader.ts'

const SINK: GuardedSink = {
  broke: () => undefined,
  head: () => undefined,
  data: () => undefined,
  end: () => undefined,
  fail: () => undefined,
}

/** A reader, and what it did to its upstream (`p`ause, `r`esume, `a`bort). */
function reading(sent = true): { readonly reader: UpstreamReader; readonly did: () => string } {
  let did = ''
  const upstream: UpstreamExchange = {
    sent,
    pause: () => (did += 'p'),
    resume: () => (did += 'r'),
    abort: () => (did += 'a'),
  }
  return { reader: new UpstreamReader({ send: () => upstream }), did: () => did }
}

describe('an upstream that is read', () => {
  test('waits for a client that is slow, which is remembered', () => {
    const { reader, did } = reading()
    reader.send(SINK)
    expect([reader.held, reader.unhindered]).toEqual([false, true])
    reader.hold()
    expect([did(), reader.held, reader.unhindered]).toEqual(['p', true, false])
    reader.resume()
    expect([did(), reader.held, reader.unhindered]).toEqual(['pr', false, false])
  })

  test('counts the bytes of its answer', () => {
    const { reader } = reading()
    for (const bytes of [3, 5]) reader.count(new Uint8Array(bytes))
    expect(reader.bytes).toBe(8)
  })

  test('was asked only once it is sent, and says whether that reached it', () => {
    const { reader } = reading()
    expect(reader.sent).toBe(false)
    reader.send(SINK)
    expect(reader.sent).toBe(true)
    const unsent = reading(false).reader
    unsent.send(SINK)
    expect(unsent.sent).toBe(false)
  })

  test('one that was never asked can be let go', () => {
    const { reader, did } = reading()
    reader.abort()
    expect(did()).toBe('')
    reader.send(SINK)
    reader.abort()
    expect(did()).toBe('a')
  })
})

interface Wait {
  readonly name: string
  readonly graceMs: number
  /** `left`, `last-word`, `end`, or ms that pass. */
  readonly play: string
  /** How often the waiting was over by itself, and how many answers that were read on have ended. */
  readonly over: number
  readonly drainEnds: number
}

const WAITS: readonly Wait[] = [
  { name: 'an answer is read on for its grace', graceMs: 3_000, play: 'left 2999', over: 0, drainEnds: 0 },
  { name: 'and no longer', graceMs: 3_000, play: 'left 3000', over: 1, drainEnds: 0 },
  {
    name: 'one that ends before is no longer waited for',
    graceMs: 3_000,
    play: 'left 100 end 9999',
    over: 0,
    drainEnds: 1,
  },
  { name: 'it ends once', graceMs: 3_000, play: 'left end end', over: 0, drainEnds: 1 },
  { name: 'without grace nothing is waited for', graceMs: 0, play: 'left 9999 end', over: 0, drainEnds: 0 },
  {
    name: 'an upstream that said its last word has a second to end',
    graceMs: 3_000,
    play: 'last-word 999',
    over: 0,
    drainEnds: 0,
  },
  { name: 'and is let go then', graceMs: 3_000, play: 'last-word 1000', over: 1, drainEnds: 0 },
  {
    name: 'one that ends in time is not, and was no answer that is read on',
    graceMs: 3_000,
    play: 'last-word end 9999',
    over: 0,
    drainEnds: 0,
  },
]

describe('what an exchange waits for', () => {
  test.each(WAITS)('$name', ({ graceMs, play, over, drainEnds }) => {
    const timers = new ManualTimers()
    const seen = { over: 0, drainEnds: 0 }
    const patience = new Patience({
      timers,
      graceMs: () => graceMs,
      onDrainEnd: () => (seen.drainEnds += 1),
    })
    const onOver = (): void => {
      seen.over += 1
    }
    for (const step of play.split(' ')) {
      if (step === 'left') expect(patience.drain(true, onOver)).toBe(graceMs > 0)
      else if (step === 'last-word') patience.awaitEnd(onOver)
      else if (step === 'end') patience.end()
      else timers.advance(Number(step))
    }
    expect(seen).toEqual({ over, drainEnds })
    patience.end()
    expect(timers.pending).toBe(0)
  })

  test.each([true, false])('the grace is asked for an answer that has begun: %s', (begun) => {
    const asked: boolean[] = []
    const patience = new Patience({
      timers: new ManualTimers(),
      graceMs: (answerBegun) => {
        asked.push(answerBegun)
        return 0
      },
      onDrainEnd: () => undefined,
    })
    patience.drain(begun, () => undefined)
    expect(asked).toEqual([begun])
  })
})
