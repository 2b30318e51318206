import { describe, expect, test } from 'vitest'
import { ManualTimers } from '../../upstream/testing/manual-timers.ts'
import { Patience } from './patience.ts'

interface Row {
  readonly name: string
  readonly graceMs: number
  /** `left`, `last-word`, `end`, or ms that pass. */
  readonly play: string
  /** How often the waiting was over by itself, and how many answers that were read on have ended. */
  readonly over: number
  readonly unheardEnds: number
}

const ROWS: readonly Row[] = [
  { name: 'an answer is read on for its grace', graceMs: 3_000, play: 'left 2999', over: 0, unheardEnds: 0 },
  { name: 'and no longer', graceMs: 3_000, play: 'left 3000', over: 1, unheardEnds: 0 },
  {
    name: 'one that ends before is no longer waited for',
    graceMs: 3_000,
    play: 'left 100 end 9999',
    over: 0,
    unheardEnds: 1,
  },
  { name: 'it ends once', graceMs: 3_000, play: 'left end end', over: 0, unheardEnds: 1 },
  { name: 'without grace nothing is waited for', graceMs: 0, play: 'left 9999 end', over: 0, unheardEnds: 0 },
  {
    name: 'an upstream that said its last word has a second to end',
    graceMs: 3_000,
    play: 'last-word 999',
    over: 0,
    unheardEnds: 0,
  },
  { name: 'and is let go then', graceMs: 3_000, play: 'last-word 1000', over: 1, unheardEnds: 0 },
  {
    name: 'one that ends in time is not, and was no answer that is read on',
    graceMs: 3_000,
    play: 'last-word end 9999',
    over: 0,
    unheardEnds: 0,
  },
]

describe('what an exchange waits for', () => {
  test.each(ROWS)('$name', ({ graceMs, play, over, unheardEnds }) => {
    const timers = new ManualTimers()
    const seen = { over: 0, unheardEnds: 0 }
    const patience = new Patience({
      timers,
      graceMs: () => graceMs,
      onUnheardEnd: () => (seen.unheardEnds += 1),
    })
    const onOver = (): void => {
      seen.over += 1
    }
    for (const step of play.split(' ')) {
      if (step === 'left') expect(patience.readOn(true, onOver)).toBe(graceMs > 0)
      else if (step === 'last-word') patience.linger(onOver)
      else if (step === 'end') patience.end()
      else timers.advance(Number(step))
    }
    expect(seen).toEqual({ over, unheardEnds })
    patience.end()
    expect(timers.pending).toBe(0)
  })

  test.each([true, false])('the grace is asked for an answer that has begun: %s', (begun) => {
    const asked: boolean[] = []
    const patience = new Patience({
      timers: new ManualTimers(),
      graceMs: (answer) => {
        asked.push(answer.begun)
        return 0
      },
      onUnheardEnd: () => undefined,
    })
    patience.readOn(begun, () => undefined)
    expect(asked).toEqual([begun])
  })
})
