import { createParser } from 'eventsource-parser'
import { describe, expect, test } from 'vitest'
import {
  type Chance,
  cutAnywhere,
  cutAt,
  FUZZ_SEED,
  joined,
  seededChance,
} from '../../../test/passthrough/test-kit.ts'
import type { SseEvent } from '../protocols/protocol.ts'
import { createSseReader } from './events.ts'
import { SseFramer } from './framer.ts'
import { LiftedStrings } from './lifted-strings.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface Event {
  readonly event: string
  readonly data: string
}

function read(stream: string | Uint8Array, cuts: readonly number[] = []): SseEvent[] {
  const reader = createSseReader({ lifted: new LiftedStrings(undefined) })
  const events: SseEvent[] = []
  for (const piece of cut(stream, cuts)) events.push(...reader.push(piece))
  return [...events, ...reader.end()]
}

function cut(stream: string | Uint8Array, places: readonly number[]): Uint8Array[] {
  return cutAt(typeof stream === 'string' ? encoder.encode(stream) : stream, places)
}

describe('events of a stream', () => {
  test.each([
    ['a line feed ends a line', 'data: a\n\n', [['', 'a']]],
    [
      'a carriage return ends a line',
      'data: a\r\rdata: b\r\r',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    [
      'carriage return and line feed end one line',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    [
      'line ends may be mixed',
      'data: a\r\ndata: b\r\n\ndata: c\n\r\n',
      [
        ['', 'a\nb'],
        ['', 'c'],
      ],
    ],
    [
      'the space after the colon is optional',
      'data:a\n\ndata:  b\n\n',
      [
        ['', 'a'],
        ['', ' b'],
      ],
    ],
    ['data of several lines is joined by line feeds', 'data: a\ndata:\ndata: b\n\n', [['', 'a\n\nb']]],
    ['a field without a colon has an empty value', 'data\n\n', [['', '']]],
    ['an event line names the event', 'event: ping\ndata: {}\n\n', [['ping', '{}']]],
    ['the last event line counts', 'event: a\nevent: b\ndata: 1\n\n', [['b', '1']]],
    [
      'an event name does not outlive its event',
      'event: a\ndata: 1\n\ndata: 2\n\n',
      [
        ['a', '1'],
        ['', '2'],
      ],
    ],
    ['an event without data is none', 'event: a\n\ndata: 1\n\n', [['', '1']]],
    ['comments are no events', ': keep-alive\n\n:\n\ndata: 1\n: inside\n\n', [['', '1']]],
    [
      'ids, retries and unknown fields are skipped',
      'id: 7\nretry: 5\nfoo: x\ndatas: y\ndata: 1\n\n',
      [['', '1']],
    ],
    ['blank lines between events mean nothing', '\n\n\ndata: 1\n\n\n\r\n\n', [['', '1']]],
    ['a byte order mark may stand first', '\ufeffdata: 1\n\n', [['', '1']]],
    ['a byte order mark stands nowhere else', 'data: 1\n\n\ufeffdata: 2\n\n', [['', '1']]],
    [
      'an event that never got its blank line is still told',
      'data: 1\n\ndata: [DONE]',
      [
        ['', '1'],
        ['', '[DONE]'],
      ],
    ],
    ['a last line end is enough', 'data: [DONE]\n', [['', '[DONE]']]],
  ])('%s', (_name, stream, expected) => {
    const events = expected.map(([event, data]) => ({ event, data }))
    expect(read(stream)).toEqual(events)
    const bytes = encoder.encode(stream)
    for (let at = 1; at < bytes.length; at++) expect(read(stream, [at]), `cut at ${at}`).toEqual(events)
    expect(read(stream, [...bytes.keys()].slice(1)), 'cut at every byte').toEqual(events)
  })

  test('an event of several hundred kilobytes comes whole, in whatever pieces', () => {
    const data = 'x'.repeat(300_000)
    const stream = `data: "${data}"\n\ndata: after\n\n`
    const cuts = Array.from({ length: 299 }, (_, index) => (index + 1) * 1_000)
    expect(read(stream, cuts)).toEqual([
      { event: '', data: '', json: data },
      { event: '', data: 'after' },
    ])
  })

  test('text is decoded only when the event is complete, so a cut character survives', () => {
    const stream = encoder.encode('data: déjà 你好 🎈\n\n')
    expect(read(stream, [...stream.keys()].slice(1))).toEqual([{ event: '', data: 'déjà 你好 🎈' }])
  })

  test('an event beyond the bound is reported, and nothing comes after it', () => {
    const reader = createSseReader({ eventBytesMax: 64, lifted: new LiftedStrings(undefined) })
    expect(reader.push(encoder.encode('data: ok\n\ndata: '))).toHaveLength(1)
    for (let count = 0; count < 10; count++) reader.push(encoder.encode('0123456789'))
    expect(reader.overflow).toBe(true)
    expect(reader.push(encoder.encode('\n\ndata: late\n\n'))).toEqual([])
    expect(reader.end()).toEqual([])
  })
})

describe('bytes of a stream', () => {
  test('an event in one piece is passed as a view, not copied', () => {
    const framer = new SseFramer()
    const piece = encoder.encode('event: a\ndata: {"x":1}\n\ndata: y\n\n')
    framer.push(piece)
    expect(framer.next()).toBe(true)
    expect(framer.bytes).toBe(piece)
    expect(decoder.decode(framer.data())).toBe('{"x":1}')
    expect(framer.data().buffer).toBe(piece.buffer)
    expect([framer.start, framer.end]).toEqual([0, 24])
  })

  test('a place in joined data leads back to the byte it came from', () => {
    const framer = new SseFramer()
    framer.push(encoder.encode('data: {"a":\ndata:1,\ndata\ndata: "b":2}\n\n'))
    expect(framer.next()).toBe(true)
    const data = framer.data()
    for (let offset = 0; offset < data.length; offset++) {
      if (data[offset] === 0x0a) continue
      expect(framer.bytes[framer.place(offset)]).toBe(data[offset])
    }
  })
})

/** A stream of odd but possible lines; the seed makes it again. */
function randomStream({ pick, next, below }: Chance): string {
  const style = pick(['\n', '\r\n', '\r', 'mixed'])
  let stream = next() < 0.1 ? '\ufeff' : ''
  for (let count = below(20); count > 0; count--) {
    const line = pick([
      'data: {"text":"héllo 你"}',
      'data:x',
      'data',
      'data: ',
      'event: message_start',
      'event:',
      ': comment',
      ':',
      'id: 1',
      'retry: 10',
      'dat: no',
      'datax: no',
      'eventx: no',
      '',
      '',
      '',
    ])
    stream += line + (style === 'mixed' ? pick(['\n', '\r\n', '\r']) : style)
  }
  return stream
}

test('any stream, cut anywhere, gives what an independent parser gives, and its blocks are its bytes', () => {
  for (let run = 0; run < 3_000; run++) {
    const chance = seededChance(FUZZ_SEED + run)
    const stream = randomStream(chance)
    const bytes = encoder.encode(stream)
    const label = `seed ${FUZZ_SEED + run}`

    const expected: Event[] = []
    const oracle = createParser({
      onEvent: ({ event, data }) => expected.push({ event: event ?? '', data }),
    })
    // It reads a byte order mark as the three characters of another encoding.
    oracle.feed(stream.replace(/^\ufeff/, ''))
    // A carriage return that came last waits there for a line feed.
    if (stream.endsWith('\r')) oracle.feed('\n')

    const framer = new SseFramer()
    const reader = createSseReader({ lifted: new LiftedStrings(undefined) })
    const events: Event[] = []
    const passed: Uint8Array[] = []
    for (const piece of cutAnywhere(bytes, chance)) {
      events.push(...reader.push(piece))
      framer.push(piece)
      while (framer.next()) passed.push(framer.bytes.slice(framer.start, framer.end))
    }
    if (framer.finish()) passed.push(framer.bytes.slice(framer.start, framer.end))
    expect(events, label).toEqual(expected)
    expect(Buffer.from(joined(passed)).equals(bytes), label).toBe(true)
  }
})

describe('bounds of a block that is cut', () => {
  const line = encoder.encode(`data: ${'x'.repeat(65_530)}`)
  const taken = (between: string): boolean => {
    const framer = new SseFramer()
    for (let count = 0; count < 70; count++) {
      framer.push(line)
      while (framer.next());
      framer.push(encoder.encode(between))
      while (framer.next());
    }
    return !framer.overflow
  }

  test('one line of data may be long', () => {
    expect(taken('y')).toBe(true)
  })

  test('data of several lines, which has to be joined, may be 4 MiB', () => {
    expect(taken('\n')).toBe(false)
  })
})
