import { describe, expect, test } from 'vitest'
import { randomJsonObject } from '../../../test/passthrough/random-json.ts'
import { cutAnywhere, cutAt, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import { createSseReader } from './events.ts'
import { LiftedStrings } from './lifted-strings.ts'
import { LongEvent } from './long-event.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Taken apart in pieces, each shown together with all before it, as the framer does. */
function taken(text: string, ends: readonly number[]): unknown {
  const bytes = encoder.encode(`>${text}`)
  const event = new LongEvent(new LiftedStrings(undefined))
  for (const end of ends) event.push(bytes, 1, 1 + end)
  return event.end(bytes, 1, bytes.length)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe('JSON that is taken apart while it comes', () => {
  test.each([
    '{}',
    '[]',
    '""',
    '0',
    '-1.5e+3',
    'true',
    'null',
    ' [ 1 , "a" , { "b" : false } ] ',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1},"constructor":2}',
    '{"a\\"b":"c\\\\","d":"\\u00e9\\ud83d\\ude00 \\n"}',
    '{"":[[],{}],"é你🎈":"é你🎈"}',
    `["${'long '.repeat(100)}\\"${'x'.repeat(300)}"]`,
    '[1,]',
    '{"a"}',
    '"open',
    'tru',
    '',
  ])('%s is what JSON.parse makes of it, cut at any byte', (text) => {
    const length = encoder.encode(text).length
    const every = Array.from({ length }, (_, at) => at + 1)
    for (const ends of [[], every, ...every.map((end) => [end])])
      expect(taken(text, ends)).toEqual(parsed(text))
  })

  test('so is any other, whole or damaged', () => {
    for (let run = 0; run < 2_000; run++) {
      const chance = seededChance(FUZZ_SEED + run)
      const whole = randomJsonObject(chance)
      const text = chance.next() < 0.8 ? whole : whole.slice(0, chance.below(whole.length))
      const bytes = encoder.encode(text)
      const ends: number[] = []
      for (const piece of cutAnywhere(bytes, chance)) ends.push((ends.at(-1) ?? 0) + piece.length)
      expect(taken(text, ends), `seed ${FUZZ_SEED + run}: ${text}`).toEqual(parsed(text))
    }
  })
})

const PICTURE = 'iVBORw0KGgo'.repeat(150_000)
const PIECE = 65_536

function read(stream: string, lifted = new LiftedStrings('mark')) {
  const bytes = encoder.encode(stream)
  const reader = createSseReader({ lifted })
  const cuts = Array.from({ length: Math.floor(bytes.length / PIECE) }, (_, at) => (at + 1) * PIECE)
  const events = cutAt(bytes, cuts).flatMap((piece) => reader.push(piece))
  return { events: [...events, ...reader.end()], lifted, overflow: reader.overflow }
}

describe('a long event', () => {
  test('carries a picture as the bytes it came as: what is decoded and written anew stays small', () => {
    const { events, lifted } = read(
      `event: image\ndata: {"a":[1,{"url":"data:image/png;base64,${PICTURE}"}]}\n\n`,
    )
    expect(events).toHaveLength(1)
    const [event] = events
    expect(event).toMatchObject({ event: 'image', data: '' })
    const written = JSON.stringify({ copy: event?.json })
    expect(written.length).toBeLessThan(10_000)
    expect(written).toContain('data:image/png;base64,iVBOR')
    const pieces = lifted.restore(written)
    expect(pieces.filter((piece) => typeof piece !== 'string')).toHaveLength(1)
    const whole = pieces.map((piece) => (typeof piece === 'string' ? piece : decoder.decode(piece))).join('')
    expect(whole).toBe(`{"copy":{"a":[1,{"url":"data:image/png;base64,${PICTURE}"}]}}`)
    expect(lifted.restoreText(written)).toBe(whole)
  })

  test('a string with escapes is read as it is: it would be written otherwise', () => {
    const text = `${'said\\n'.repeat(200_000)}`
    const { events, lifted } = read(`data: {"text":"${text}"}\n\n`)
    expect(events).toEqual([{ event: '', data: '', json: { text: 'said\n'.repeat(200_000) } }])
    expect(lifted.length).toBe(0)
  })

  test('cut characters survive at the ends of what is lifted', () => {
    for (const shift of ['', 'a', 'ab']) {
      const text = shift + '你好'.repeat(250_000)
      const { events, lifted } = read(`data: {"text":"${text}"}\n\n`)
      expect(lifted.length).toBeGreaterThan(1_000_000)
      expect(lifted.restoreText(JSON.stringify(events[0]?.json))).toBe(`{"text":"${text}"}`)
    }
  })

  test('several strings keep their own places, in any order and as often as they are written', () => {
    const stream = ['A', 'B'].map((letter) => `data: ["${letter.repeat(1_100_000)}"]\n\n`).join('')
    const { events, lifted } = read(stream)
    const [one, other] = events.map(({ json = null }) => JSON.stringify(json))
    const restored = lifted.restoreText([other, one, other].join(''))
    expect(restored.replaceAll(/(.)\1+/g, '$1')).toBe('["B"]["A"]["B"]')
    expect(restored).toHaveLength(3 * 1_100_004)
  })

  test('that is not JSON is reported as such', () => {
    const { events } = read(`data: {"a":"${PICTURE}"]\n\ndata: {"b":1}\n\n`)
    expect(events).toEqual([
      { event: '', data: '{' },
      { event: '', data: '{"b":1}' },
    ])
  })

  test.each([
    ['goes on in a second line', `data: {"a":"${PICTURE}"\ndata: }\n\n`, { a: PICTURE }],
    ['is no JSON', `data: {"a":"${PICTURE}"]\n\n`, undefined],
  ])(
    'that %s keeps nothing that was lifted out of it, so that many are no more than one',
    (_, text, value) => {
      const { events, lifted } = read(text)
      expect(events).toHaveLength(1)
      expect(parsed(events[0]?.data ?? '')).toEqual(value)
      expect([lifted.length, lifted.count]).toEqual([0, 0])
    },
  )

  test('whose text alone is over 4 MiB breaks the stream: rewriting it would delay all other calls', () => {
    const { events, overflow } = read(`data: {"text":"${'said\\n'.repeat(800_000)}"}\n\ndata: {"b":1}\n\n`)
    expect([events, overflow]).toEqual([[], true])
  })
})
