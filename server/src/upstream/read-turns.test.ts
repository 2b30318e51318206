import { describe, expect, test } from 'vitest'
import { type Chance, seededChance } from '../../test/passthrough/test-kit.ts'
import { ReadTurns, type TurnReader } from './read-turns.ts'
import { openUpstream } from './send.ts'
import { CollectingSink } from './testing/collecting-sink.ts'
import { plainAnswer, scriptedServer } from './testing/scripted-server.ts'

const KIB = 1_024
const ONE = 64 * KIB
const MUCH = 128 * KIB
const ALL = 256 * KIB
/** What a socket reads at once. */
const READ = 64 * KIB
const LITTLE = 32 * KIB
const CONTINUING = 16

class Reader implements TurnReader {
  turn = 0
  turnBytes = 0
  line: TurnReader['line'] = undefined
  before: TurnReader | undefined = undefined
  after: TurnReader | undefined = undefined
  reads = true

  wait(): void {
    this.reads = false
  }

  continue(): void {
    this.reads = true
  }
}

/** Turns that end when the test says so. */
function stage(): { turns: ReadTurns; endTurn: () => void; ending: () => boolean } {
  let end: (() => void)[] = []
  const turns = new ReadTurns((go) => end.push(go))
  return {
    turns,
    ending: () => end.length > 0,
    endTurn: () => {
      const due = end
      end = []
      for (const go of due) go()
    },
  }
}

interface Row {
  readonly name: string
  /** `a64`: reader `a` reads 64 KiB; `|`: the turn ends; `a-`: it leaves, `a+`: it enters again. */
  readonly play: string
  /** The readers `a`, `b` and so on that read on then. */
  readonly read: string
}

/** Four others read 32 KiB each, and four more. */
const OTHERS = 'h32 i32 j32 k32'
const MORE = 'l32 m32 n32 o32'

const ROWS: readonly Row[] = [
  { name: 'little is read in one turn', play: 'a32', read: 'ab' },
  { name: 'one that has read 64 KiB waits', play: 'a32 a32', read: 'b' },
  { name: 'and continues in the next turn', play: 'a32 a32 |', read: 'ab' },
  { name: 'each turn is counted anew', play: 'a64 | b32 a32', read: 'ab' },
  { name: 'once all have read 128 KiB, who has read nothing waits too', play: OTHERS, read: '' },
  { name: 'and who reads much', play: `a32 ${OTHERS}`, read: '' },
  { name: 'who read little does not wait', play: `a31 ${OTHERS}`, read: 'a' },
  { name: 'nor who read little in an earlier turn', play: `a31 b64 | ${OTHERS}`, read: 'a' },
  { name: 'unless it reads much then', play: `a31 ${OTHERS} a1`, read: '' },
  { name: 'until all have read 256 KiB', play: `a31 ${OTHERS} ${MORE}`, read: '' },
  { name: 'all continue', play: `${OTHERS} |`, read: 'ab' },
  { name: 'who has left does not', play: `${OTHERS} a- |`, read: 'b' },
  { name: 'nor one that left after it had read', play: `a32 ${OTHERS} a- |`, read: 'b' },
  { name: 'who comes back reads again', play: `${OTHERS} a- a+`, read: 'a' },
]

describe('what exchanges read in one turn', () => {
  test.each(ROWS)('$name', ({ play, read }) => {
    const { turns, endTurn } = stage()
    const readers = new Map('abcdefghijklmnopqrstuvw'.split('').map((name) => [name, new Reader()]))
    const reader = (name: string): Reader => readers.get(name) ?? expect.unreachable()
    for (const one of readers.values()) turns.enter(one)
    for (const step of play.split(' ')) {
      const [name, what] = [step.slice(0, 1), step.slice(1)]
      if (step === '|') endTurn()
      else if (what === '-') {
        reader(name).wait()
        turns.leave(reader(name))
      } else if (what === '+') {
        reader(name).continue()
        turns.enter(reader(name))
      } else turns.count(reader(name), Number(what) * KIB)
    }
    expect(['a', 'b'].filter((name) => reader(name).reads).join('')).toBe(read)
  })

  test('a turn in which little is read costs nothing at its end', () => {
    const { turns, ending } = stage()
    const reader = new Reader()
    turns.enter(reader)
    turns.count(reader, ONE - 1)
    expect(ending()).toBe(false)
    turns.count(reader, 1)
    expect(ending()).toBe(true)
  })

  test('who has read nothing yet continues before those who have, and those in the order they stopped', () => {
    const { turns, endTurn } = stage()
    const busy = Array.from({ length: 100 }, () => new Reader())
    const fresh = Array.from({ length: 40 }, () => new Reader())
    for (const reader of [...busy, ...fresh]) turns.enter(reader)
    for (const reader of busy.slice(0, 2)) turns.count(reader, ONE)
    // The turn is used up: the other 98 had not read yet either, and entered before the fresh ones.
    const order: number[] = []
    while (order.length < 140) {
      endTurn()
      for (const [index, reader] of [...busy, ...fresh].entries())
        if (reader.reads && !order.includes(index)) order.push(index)
      expect(order.length % CONTINUING === 0 || order.length === 140).toBe(true)
    }
    const unread = Array.from({ length: 138 }, (_, index) => index + 2)
    expect(order.slice(0, 128)).toEqual(unread.slice(0, 128))
    expect(order.slice(128).toSorted((a, b) => a - b)).toEqual([0, 1, ...unread.slice(128)])
  })
})

/** Sockets as libuv reads them: 64 KiB, again and again while there is more, until they are stopped. */
class Sockets {
  readonly #chance: Chance
  readonly #left = new Map<Reader, number>()
  /** Streams that stay open when they have been read. */
  readonly #quiet = new Set<Reader>()
  readonly turns: ReadTurns
  /** What the turn read, without those of which little was read before; of all; and the most that one of all read. */
  read = 0
  all = 0
  most = 0

  constructor(turns: ReadTurns, chance: Chance) {
    this.turns = turns
    this.#chance = chance
  }

  get open(): number {
    return this.#left.size
  }

  add(bytes: number, quiet = false): void {
    const reader = new Reader()
    this.#left.set(reader, bytes)
    if (quiet) this.#quiet.add(reader)
    this.turns.enter(reader)
  }

  /** The streams that stayed open send that much more, and end. */
  pour(bytes: number): void {
    for (const reader of this.#quiet) this.#left.set(reader, (this.#left.get(reader) ?? 0) + bytes)
    this.#quiet.clear()
  }

  poll(): void {
    this.read = 0
    this.all = 0
    this.most = 0
    const order = [...this.#left.keys()].toSorted(() => this.#chance.next() - 0.5)
    for (const reader of order) this.#readAll(reader)
  }

  #readAll(reader: Reader): void {
    const calm = reader.turn !== 0 && reader.turnBytes < LITTLE
    let read = 0
    for (let left = this.#left.get(reader) ?? 0; reader.reads && left > 0; ) {
      const bytes = Math.min(left, READ)
      read += bytes
      left -= bytes
      this.turns.count(reader, bytes)
      this.#left.set(reader, left)
      if (left > 0 || this.#quiet.has(reader)) continue
      this.turns.leave(reader)
      this.#left.delete(reader)
    }
    this.most = Math.max(this.most, read)
    this.all += read
    if (!calm) this.read += read
  }
}

test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
  'however many read, a turn is short and all of them end (seed %i)',
  (seed) => {
    const chance = seededChance(seed)
    const { turns, endTurn, ending } = stage()
    const sockets = new Sockets(turns, chance)
    const many = 20 + chance.below(200)
    for (let count = 0; count < many; count += 1) sockets.add(1 + Math.floor(chance.next() ** 4 * 2 * ALL))
    for (let count = 0; count < many; count += 1) sockets.add(1 + chance.below(KIB), true)
    for (let turn = 0; sockets.open > 0; turn += 1) {
      expect(turn).toBeLessThan(10_000)
      if (chance.next() < 0.2) sockets.add(1 + chance.below(READ))
      if (turn === 50) sockets.pour(ONE)
      sockets.poll()
      // One read more than allowed, as bytes are counted once they are here.
      expect(sockets.most).toBeLessThan(ONE + READ)
      expect(sockets.read).toBeLessThan(MUCH + READ)
      expect(sockets.all).toBeLessThan(ALL + READ)
      if (ending()) endTurn()
    }
  },
)

test('100 vendors that send as fast as they can are read in turns of 128 KiB', async () => {
  const answer = plainAnswer('x'.repeat(ALL))
  const server = await scriptedServer(({ socket, onRequest }) => onRequest(() => socket.write(answer)))
  const upstream = openUpstream()
  let turn = 0
  let most = 0
  let over = false
  const count = (): void => {
    most = Math.max(most, turn)
    turn = 0
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const sinks = Array.from({ length: 100 }, () => {
    const sink = new CollectingSink()
    sink.onData = () => {
      turn += sink.chunks.at(-1)?.byteLength ?? 0
    }
    upstream.open(
      {
        request: { method: 'GET', url: server.url, headers: {} },
        auth: { kind: 'none' },
        credential: { secret: undefined, fields: {} },
        body: undefined,
        bodyLength: 0,
        timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
      },
      sink,
    )
    return sink
  })
  for (const sink of sinks) expect(await sink.outcome).toEqual({ kind: 'end' })
  over = true
  expect(sinks.map((sink) => sink.length)).toEqual(sinks.map(() => ALL))
  expect(most).toBeGreaterThan(MUCH / 2)
  // What was counted before the turn began, and one read more.
  expect(most).toBeLessThan(MUCH + ONE + READ)
  await upstream.close()
  await server.close()
})
