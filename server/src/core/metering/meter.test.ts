import { describe, expect, test } from 'vitest'
import { NO_USAGE, type Usage } from '../canonical/usage.ts'
import { createMeter, type Meter } from './meter.ts'

interface Bench {
  readonly meter: Meter
  readonly counted: string[]
  readonly inputsCounted: () => number
}

/** A tokenizer that takes every word for a token, and remembers what it was asked. */
function bench(): Bench {
  const counted: string[] = []
  let inputs = 0
  const meter = createMeter({
    countTokens: (text) => {
      counted.push(text)
      return text.split(/\s+/).filter((word) => word !== '').length
    },
    countInput: () => {
      inputs++
      return 1_000
    },
    inputTokensEstimate: 900,
  })
  return { meter, counted, inputsCounted: () => inputs }
}

const usage = (given: Partial<Usage>): Usage => ({ ...NO_USAGE, ...given })

describe('what an answer used', () => {
  test("the upstream's figures go before our own, and nothing is counted then", () => {
    const { meter, counted, inputsCounted } = bench()
    meter.observeText('one two three')
    meter.observeUsage(usage({ input: 12, cachedInput: 3, output: 7, reasoning: 2 }))
    expect(meter.read()).toEqual({
      usage: usage({ input: 12, cachedInput: 3, output: 7, reasoning: 2 }),
      source: 'upstream',
      produced: true,
      images: 0,
    })
    expect([counted, inputsCounted()]).toEqual([[], 0])
  })

  test('without usage both sides are counted, the input once', () => {
    const { meter, inputsCounted } = bench()
    meter.observeText('one two ')
    expect(meter.read()).toMatchObject({ usage: { input: 1_000, output: 2 }, source: 'estimated' })
    meter.observeText('three')
    expect(meter.read().usage.output).toBe(3)
    expect(inputsCounted()).toBe(1)
  })

  test('a stream that broke after its input was reported is charged for the text that came', () => {
    const { meter, inputsCounted } = bench()
    meter.observeUsage(usage({ input: 40, cachedInput: 2 }))
    meter.observeText('one two three')
    expect(meter.read()).toMatchObject({
      usage: { input: 40, cachedInput: 2, output: 3 },
      source: 'estimated',
    })
    expect(inputsCounted()).toBe(0)
  })

  test('text after cumulative counters is added to them', () => {
    const { meter } = bench()
    meter.observeText('one two three four')
    meter.observeUsage(usage({ input: 9, output: 6 }))
    expect(meter.read()).toMatchObject({ usage: { input: 9, output: 6 }, source: 'upstream' })
    meter.observeText('five six')
    expect(meter.read()).toMatchObject({ usage: { input: 9, output: 8 }, source: 'estimated' })
    meter.observeUsage(usage({ input: 9, output: 10 }))
    expect(meter.read()).toMatchObject({ usage: { output: 10 }, source: 'upstream' })
  })

  test('input alone, with nothing generated, is the whole truth', () => {
    const { meter } = bench()
    meter.observeUsage(usage({ input: 9 }))
    expect(meter.read()).toMatchObject({
      usage: { input: 9, output: 0 },
      source: 'upstream',
      produced: false,
    })
  })

  test('text inside JSON strings is counted as what it says, also where escapes were torn apart', () => {
    const { meter, counted } = bench()
    const pieces = ['one\\ntwo ', 'th', 'ree \\"', 'x\\" \\ud83c', '\\udf88 ', 'déjà']
    for (const piece of pieces) {
      const bytes = new TextEncoder().encode(`"${piece}"`)
      meter.observeJsonText(bytes, 1, bytes.length - 1)
    }
    expect(meter.read().usage.output).toBe(6)
    expect(counted).toEqual(['one\ntwo three "x" 🎈 déjà'])
  })

  test('a text that is kept counts as one that was copied: alone, before others, and not once its tokens were reported', () => {
    const texts = ['one\\ntwo ', 'three', ' four'].map((text) => new TextEncoder().encode(text))
    for (let count = 1; count <= texts.length; count += 1) {
      const [kept, copied] = [bench(), bench()]
      for (const bytes of texts.slice(0, count)) {
        kept.meter.observeKeptText(bytes, bytes.length)
        copied.meter.observeJsonText(bytes, 0, bytes.length)
        expect(kept.meter.glance()).toEqual(copied.meter.glance())
      }
      expect(kept.meter.read()).toEqual(copied.meter.read())
      expect([kept.counted.length, kept.counted]).toEqual([1, copied.counted])
    }
    const [first] = texts
    if (first === undefined) throw new Error('no text')
    const { meter, counted } = bench()
    meter.observeKeptText(first, first.length)
    meter.observeUsage(usage({ input: 3, output: 7 }))
    expect([meter.read().usage.output, counted]).toEqual([7, []])
  })

  test('long text is counted as it comes, so little of it is kept', () => {
    const { meter, counted } = bench()
    const bytes = new TextEncoder().encode('word '.repeat(100))
    for (let times = 0; times < 100; times++) {
      meter.observeText('word '.repeat(100))
      meter.observeJsonText(bytes, 0, bytes.length)
    }
    expect(meter.read().usage.output).toBe(20_000)
    expect(Math.max(...counted.map((text) => text.length))).toBeLessThan(10_000)
  })

  test('a glance counts nothing and comes near', () => {
    const { meter, counted, inputsCounted } = bench()
    meter.observeText('x'.repeat(400))
    expect(meter.glance()).toMatchObject({
      usage: { input: 900, output: 100 },
      source: 'estimated',
      produced: true,
    })
    expect([counted, inputsCounted()]).toEqual([[], 0])
  })
})

describe('whether an answer produced something', () => {
  const fresh = (): Meter => bench().meter

  test.each<[string, (meter: Meter) => void, boolean]>([
    ['nothing at all', () => {}, false],
    ['input counters alone', (meter) => meter.observeUsage(usage({ input: 9 })), false],
    ['output counters', (meter) => meter.observeUsage(usage({ output: 1 })), true],
    ['text', (meter) => meter.observeText('a'), true],
    ['empty text', (meter) => meter.observeText(''), false],
    ['an image', (meter) => meter.observeImages(1), true],
    ['a clean finish', (meter) => meter.observeProduced(), true],
  ])('%s', (_name, observe, produced) => {
    const meter = fresh()
    observe(meter)
    expect(meter.read().produced).toBe(produced)
  })

  test('images are added up', () => {
    const meter = fresh()
    meter.observeImages(1)
    meter.observeImages(2)
    expect(meter.read().images).toBe(3)
  })
})

test('a converted stream gives the same figures to the meter through its parts', () => {
  const { meter } = bench()
  meter.observePart({ type: 'start', id: 'a', createdAt: 1 })
  meter.observePart({ type: 'ping' })
  expect(meter.read().produced).toBe(false)
  meter.observePart({ type: 'block-start', block: 0, candidate: 0, kind: { type: 'text' } })
  meter.observePart({ type: 'text-delta', block: 0, text: 'one two ' })
  meter.observePart({
    type: 'block-start',
    block: 1,
    candidate: 0,
    kind: { type: 'tool-call', id: 'c', name: 'lookup ', namespace: undefined, kind: 'function' },
  })
  meter.observePart({ type: 'arguments-delta', block: 1, text: '{"a": 1}' })
  meter.observePart({
    type: 'block-start',
    block: 2,
    candidate: 0,
    kind: { type: 'media', mediaType: 'image/png', data: 'AAAA' },
  })
  expect(meter.read()).toMatchObject({
    usage: { input: 1_000, output: 5 },
    source: 'estimated',
    produced: true,
    images: 1,
  })
  meter.observePart({ type: 'usage', usage: usage({ input: 4, output: 6 }) })
  meter.observePart({
    type: 'finish',
    candidate: 0,
    finish: { reason: 'stop', raw: 'stop', stopSequence: undefined, explanation: undefined },
  })
  meter.observePart({ type: 'end' })
  expect(meter.read()).toMatchObject({ usage: { input: 4, output: 6 }, source: 'upstream' })
})

describe('a piece too long to be counted at once', () => {
  test('is counted at its beginning, the remainder in proportion', () => {
    const { meter, counted } = bench()
    // Two characters a word: more tokens than a text has by its length.
    meter.observeText('a '.repeat(100_000))
    expect(meter.read().usage.output).toBe(100_000)
    expect(counted.join('').length).toBe(16_384)
  })

  test('so is one inside a JSON string, without half an escape at the cut', () => {
    const { meter, counted } = bench()
    const bytes = new TextEncoder().encode('\\u0061 '.repeat(50_000))
    meter.observeJsonText(bytes, 0, bytes.length)
    expect(counted.every((text) => /^[a ]*$/.test(text))).toBe(true)
    const output = meter.read().usage.output ?? 0
    expect(Math.abs(output - 87_500)).toBeLessThan(2_000)
  })

  test('a beginning of blanks makes no discount', () => {
    const { meter } = bench()
    meter.observeText(`${' '.repeat(16_384)}${'word '.repeat(20_000)}`)
    expect(meter.read().usage.output).toBe(25_000)
  })
})
