import { describe, expect, test } from 'vitest'
import { cutAnywhere, cutAt, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import { EventScan } from './event-scan.ts'
import { compileWatchTree } from './watch-tree.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const TREE = compileWatchTree([
  { path: 'items[]', watch: 0, wanted: false },
  { path: 'name', watch: 1, wanted: false },
])

interface Told {
  /** Texts of the watched values, and `|` where an event was begun. */
  readonly values: string[]
  readonly readable: boolean[]
}

/** Reads a stream piece by piece; `after` gets the number of values known after each piece. */
function read(pieces: readonly Uint8Array[], after?: (values: number) => void): Told {
  const told: Told = { values: [], readable: [] }
  const events = new EventScan(TREE, {
    onEvent: () => told.values.push('|'),
    onValue: (_watch, _kind, start, end) =>
      told.values.push(decoder.decode(events.data.subarray(events.base + start, events.base + end))),
  })
  const readOne = (): void => {
    if (events.framer.dataLines === 0) return
    events.show()
    told.readable.push(events.read())
  }
  for (const piece of pieces) {
    events.framer.push(piece)
    while (events.framer.next()) readOne()
    events.readAhead()
    after?.(told.values.length)
  }
  if (events.framer.finish()) readOne()
  return told
}

const PIECE = 65_536
const evenly = (stream: string): readonly Uint8Array[] => {
  const bytes = encoder.encode(stream)
  return cutAt(
    bytes,
    Array.from({ length: Math.floor(bytes.length / PIECE) }, (_, at) => (at + 1) * PIECE),
  )
}

test('each piece of a long event is read when it comes, so the last is no more work than the others', () => {
  const items = Array.from({ length: 200_000 }, (_, at) => 100_000 + at)
  const pieces = evenly(`data: {"items":[${items.join(',')}]}\n\n`)
  const known: number[] = []
  const { values, readable } = read(pieces, (count) => known.push(count))
  expect(values).toEqual(['|', ...items.map(String)])
  expect(readable).toEqual([true])
  const most = Math.max(...known.map((count, at) => count - (known[at - 1] ?? 0)))
  expect(pieces.length).toBeGreaterThan(20)
  expect(most).toBeLessThanOrEqual(PIECE / 7 + 2)
})

describe('a long event says the same in pieces as in one', () => {
  const long = 'x'.repeat(90_000)
  test.each([
    ['in one line', `data: {"name":"a","text":"${long}","items":[1,"2"]}\n\n`],
    ['after its name', `event: x\ndata: {"name":"a","text":"${long}"}\nid: 7\n\n`],
    ['with CRLF', `data: {"name":"a","text":"${long}"}\r\n\r\ndata: {"name":"b"}\r\n\r\n`],
    ['over several lines', `data: {"name":"a",\ndata: "text":"${long}",\ndata: "name":"b"}\n\n`],
    ['whose first line alone is long', `data: {"name":"a","text":"${long}"\ndata: ,"name":"b"}\n\n`],
    ['behind a byte order mark', `\ufeffdata: {"name":"a","text":"${long}"}\n\n`],
    ['that is no JSON at its end', `data: {"name":"a","text":"${long}"]\n\ndata: {"name":"b"}\n\n`],
    ['that is no JSON at its beginning', `data: {"name":"a",,"text":"${long}"}\n\ndata: {"name":"b"}\n\n`],
    ['between small ones', `data: {"name":"0"}\n\ndata: {"name":"${long}"}\n\ndata: {"name":"b"}\n\n`],
    ['that is only a comment', `: ${long}\n\ndata: {"name":"b"}\n\n`],
    ['without its blank line', `data: {"name":"a","text":"${long}"}`],
  ])('%s', (_how, stream) => {
    const whole = read([encoder.encode(stream)])
    for (let run = 0; run < 60; run++) {
      const chance = seededChance(FUZZ_SEED + run)
      expect(read(cutAnywhere(encoder.encode(stream), chance)), `seed ${FUZZ_SEED + run}`).toEqual(whole)
    }
  })
})
