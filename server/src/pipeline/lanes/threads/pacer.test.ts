import { describe, expect, test } from 'vitest'
import { createPacer } from './in-turns.ts'

/** Plays the turns of an event loop; returns which of the requested works have begun. */
function loop() {
  const next: (() => void)[] = []
  const pacer = createPacer((work) => next.push(work))
  const begun: string[] = []
  const waits: Promise<unknown>[] = []
  return {
    begun,
    get idle() {
      return next.length === 0
    },
    ask(name: string, share: number): void {
      const wait = pacer.turn(share)
      if (wait === undefined) begun.push(name)
      else waits.push(wait.then(() => begun.push(name)))
    },
    waits,
    async turn(): Promise<readonly string[]> {
      const before = begun.length
      for (const work of next.splice(0)) work()
      await Promise.resolve()
      return begun.slice(before)
    },
  }
}

describe('works that take turns of the event loop', () => {
  test('of forty that fill a turn, one begins at once and one in each turn after, in their order', async () => {
    const played = loop()
    for (let at = 0; at < 40; at += 1) played.ask(`${at}`, 0.98)
    expect(played.begun).toEqual(['0'])
    for (let at = 1; at < 40; at += 1) expect(await played.turn()).toEqual([`${at}`])
    expect(await played.turn()).toEqual([])
    expect(played.idle).toBe(true)
    await Promise.all(played.waits)
  })

  test('those that fit into one turn together begin in it together', async () => {
    const played = loop()
    for (const name of ['a', 'b', 'c', 'd', 'e']) played.ask(name, 0.4)
    expect(played.begun).toEqual(['a', 'b'])
    expect(await played.turn()).toEqual(['c', 'd'])
    expect(await played.turn()).toEqual(['e'])
  })

  test('a small one never waits', () => {
    const played = loop()
    for (const name of ['a', 'b']) played.ask(name, 1)
    for (const name of ['c', 'd']) played.ask(name, 0.01)
    expect(played.begun).toEqual(['a', 'c', 'd'])
  })

  test('a later work does not begin before a waiting one, even if it would fit', async () => {
    const played = loop()
    for (const [name, share] of [
      ['a', 0.5],
      ['b', 1],
      ['c', 0.1],
    ] as const)
      played.ask(name, share)
    expect(played.begun).toEqual(['a'])
    expect(await played.turn()).toEqual(['b'])
    expect(await played.turn()).toEqual(['c'])
  })

  test('after a quiet turn one begins at once again', async () => {
    const played = loop()
    played.ask('a', 1)
    await played.turn()
    expect(played.idle).toBe(true)
    played.ask('b', 1)
    expect(played.begun).toEqual(['a', 'b'])
  })

  test('one that is larger than a turn begins alone', async () => {
    const played = loop()
    for (const name of ['a', 'b']) played.ask(name, 3)
    expect(played.begun).toEqual(['a'])
    expect(await played.turn()).toEqual(['b'])
  })
})
