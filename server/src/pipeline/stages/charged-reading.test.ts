import { describe, expect, test } from 'vitest'
import { sampleModel } from '../../../test/management/sample-catalogue.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { WireId } from '../../core/catalogue.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { wireOf } from '../kinds/wire.ts'
import { chargedReading, possibleUsage } from './charged-reading.ts'

const HELD = { inputTokens: 50, worstOutputTokens: 1_000, imagesAsked: 0 }
const UNSEEN = { observed: undefined, expected: 100, reasons: false }
const SEEN = { observed: 40, expected: 40, reasons: false }
const REASONS = { observed: undefined, expected: 100, reasons: true }

interface Row {
  readonly name: string
  readonly generation: 'none' | 'whole' | 'broken' | 'cut'
  /** Output tokens seen, those included that the upstream told; undefined: nothing could be read. */
  readonly output: number | undefined
  readonly told?: number
  readonly produced?: false
  readonly seconds: number
  readonly rates: typeof SEEN | typeof UNSEEN
  /** Output tokens charged; undefined: nothing is. */
  readonly charged: number | undefined
}

const ROWS: readonly Row[] = [
  {
    name: 'nothing was made',
    generation: 'none',
    output: undefined,
    seconds: 9,
    rates: SEEN,
    charged: undefined,
  },
  {
    name: 'a whole answer costs what the vendor told',
    generation: 'whole',
    output: 12,
    told: 12,
    seconds: 9,
    rates: SEEN,
    charged: 12,
  },
  {
    name: 'told to be none at all: none',
    generation: 'whole',
    output: 0,
    told: 0,
    seconds: 9,
    rates: SEEN,
    charged: 0,
  },
  {
    name: 'without usage: the larger of what was visible …',
    generation: 'whole',
    output: 500,
    seconds: 9,
    rates: SEEN,
    charged: 500,
  },
  {
    name: '… and what the chain makes in the time',
    generation: 'whole',
    output: 12,
    seconds: 9,
    rates: SEEN,
    charged: 360,
  },
  {
    name: 'without usage, on a chain nobody has seen, of a model that shows all: what was visible',
    generation: 'whole',
    output: 12,
    seconds: 9,
    rates: UNSEEN,
    charged: 12,
  },
  {
    name: 'the same of a model that may reason: what such models make',
    generation: 'whole',
    output: 12,
    seconds: 9,
    rates: REASONS,
    charged: 900,
  },
  {
    name: 'text after the last usage: the time since then counts',
    generation: 'whole',
    output: 105,
    told: 100,
    seconds: 2,
    rates: SEEN,
    charged: 180,
  },
  {
    name: 'a vendor that breaks off: what was visible',
    generation: 'broken',
    output: 12,
    seconds: 9,
    rates: SEEN,
    charged: 12,
  },
  {
    name: 'a vendor that breaks off before a word: nothing',
    generation: 'broken',
    output: 0,
    produced: false,
    seconds: 9,
    rates: SEEN,
    charged: undefined,
  },
  {
    name: 'cut by us: the larger of what was visible …',
    generation: 'cut',
    output: 700,
    seconds: 9,
    rates: SEEN,
    charged: 700,
  },
  {
    name: '… and what the chain makes in the time',
    generation: 'cut',
    output: 12,
    seconds: 9,
    rates: SEEN,
    charged: 360,
  },
  {
    name: 'cut on a chain nobody has seen',
    generation: 'cut',
    output: 12,
    seconds: 9,
    rates: UNSEEN,
    charged: 900,
  },
  {
    name: 'cut, never above the worst case',
    generation: 'cut',
    output: 12,
    seconds: 900,
    rates: SEEN,
    charged: 1_000,
  },
  {
    name: 'what was visible counts even above the worst case',
    generation: 'cut',
    output: 1_200,
    seconds: 1,
    rates: SEEN,
    charged: 1_200,
  },
  {
    name: 'cut soon after the usage was told',
    generation: 'cut',
    output: 100,
    told: 100,
    seconds: 0.5,
    rates: SEEN,
    charged: 120,
  },
  {
    name: 'cut before anything came: input, and the time',
    generation: 'cut',
    output: undefined,
    seconds: 3,
    rates: SEEN,
    charged: 120,
  },
  {
    name: 'a clock that went backwards makes nothing',
    generation: 'cut',
    output: 12,
    seconds: -60,
    rates: SEEN,
    charged: 12,
  },
]

describe('what an ended answer is charged by', () => {
  test.each(ROWS)('$name', ({ generation, output, told, produced, seconds, rates, charged }) => {
    const reading =
      output === undefined
        ? undefined
        : {
            usage: { ...NO_USAGE, input: 30, output },
            source: told === output ? ('upstream' as const) : ('estimated' as const),
            produced: produced ?? true,
            images: 0,
          }
    const found = chargedReading(
      { generation, reading, reportedOutput: told, unreportedMs: seconds * 1_000 },
      HELD,
      () => rates,
    )
    expect(found?.usage.output).toBe(charged)
    if (found === undefined) return
    expect(found.usage.input).toBe(output === undefined ? 50 : 30)
    const exact = generation === 'whole' && told === output
    expect(found.source).toBe(exact ? 'upstream' : 'estimated')
  })
})

describe('images of an answer that was left', () => {
  const rates = { observed: undefined, expected: 0, reasons: false }
  const reading = (images: number) => ({
    usage: { ...NO_USAGE, input: 30, output: 0 },
    source: 'upstream' as const,
    produced: images > 0,
    images,
  })

  test.each([
    ['none came: the first was under way', 'cut', 0, 2, 1],
    ['one of two came: the second was under way', 'cut', 1, 2, 2],
    ['all came', 'cut', 2, 2, 2],
    ['more came than were asked for', 'cut', 3, 2, 3],
    ['none were asked for', 'cut', 0, 0, 0],
    ['the vendor broke off', 'broken', 1, 2, 1],
    ['it is whole', 'whole', 1, 2, 1],
  ] as const)('%s', (_name, generation, came, imagesAsked, charged) => {
    const found = chargedReading(
      { generation, reading: reading(came), reportedOutput: 0, unreportedMs: 0 },
      { ...HELD, imagesAsked },
      () => rates,
    )
    expect(found?.images).toBe(charged)
  })

  test('all of an answer that is no stream are made together, and each has tokens where none are told', () => {
    const found = chargedReading(
      { generation: 'cut', reading: reading(0), reportedOutput: undefined, unreportedMs: 0 },
      { ...HELD, imagesAsked: 3, imagesAtOnce: true, tokensPerImage: 100 },
      () => rates,
    )
    expect(found).toMatchObject({ images: 3, usage: { output: 300 } })
  })
})

const CONTEXT_TOKENS = 50_000
const OUTPUT_TOKENS = 1_000
/** What a vendor's own framing may add to what was sent. */
const FRAMING_TOKENS = 10_000
const BODY = { model: 'm', input: 'hi' }
const BODY_BYTES = JSON.stringify(BODY).length
const PICTURE = { model: 'm', input: [{ image: 'https://a.example/b.png' }] }

describe('usage that cannot be', () => {
  test.each<[string, WireId, body: object, told: [number, number], charged: [number, number]]>([
    ['what can be is left as it is', 'responses', BODY, [40_000, 900], [40_000, 900]],
    ['input beyond the context', 'responses', BODY, [60_000, 900], [CONTEXT_TOKENS, 900]],
    ['output beyond the maximum', 'responses', BODY, [10, 9_000], [10, OUTPUT_TOKENS]],
    [
      'an embedding reads what was sent, whatever its context',
      'embeddings',
      BODY,
      [40_000, 0],
      [BODY_BYTES + FRAMING_TOKENS, 0],
    ],
    ['and makes no tokens', 'embeddings', BODY, [10, 5], [10, 0]],
    ['but behind an address may be a whole context', 'embeddings', PICTURE, [40_000, 0], [40_000, 0]],
    ['and no more', 'embeddings', PICTURE, [60_000, 0], [CONTEXT_TOKENS, 0]],
  ])('%s (%s)', (_sentence, protocol, body, [input, output], [chargedInput, chargedOutput]) => {
    const scanner = createRequestScanner(wireOf(protocol).requests)
    scanner.push(Buffer.from(JSON.stringify(body)))
    const scan = scanner.end()
    if (scan.kind === 'refused') throw new Error(scan.message)
    const model = sampleModel('m', [], { contextTokens: CONTEXT_TOKENS, maxOutputTokens: OUTPUT_TOKENS })
    const { usage, suspect } = possibleUsage(
      { scan, endpoint: { protocol } as never },
      { leg: { model }, answerBytes: 100 },
      { ...NO_USAGE, input, output },
    )
    expect([usage.input, usage.output]).toEqual([chargedInput, chargedOutput])
    expect(suspect === undefined).toBe(input === chargedInput && output === chargedOutput)
  })
})
