import { describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { AnswerLane, Lane, StreamLane, WholeLane } from '../lanes/lane.ts'
import type { Answer } from './answer.ts'
import { AnswerUsage } from './answer-usage.ts'
import type { Ended } from './exchange-outcome.ts'

/** An answer whose output is what a test says it is. */
class Stage {
  now = 1_000
  output = 0
  told: number | undefined
  breaks: '' | 'exact' | 'both' | 'kept' = ''
  readonly noted: string[] = []
  readonly errors: unknown[] = []
  readonly usage: AnswerUsage
  readonly answer: Answer

  constructor(form: Answer['form']) {
    const reading = (output: number): MeterReading => ({
      usage: { ...NO_USAGE, input: 7, output },
      source: 'estimated',
      produced: output > 0,
      images: 0,
    })
    const answered: AnswerLane = {
      kept: () => {
        if (this.breaks === 'kept') throw new Error('nothing to keep')
        return { kind: 'id', id: 'resp_1' }
      },
      meter: Object.defineProperty(
        {
          read: () => {
            if (this.breaks === 'exact' || this.breaks === 'both') throw new Error('the counter broke')
            return reading(this.output)
          },
          glance: () => {
            if (this.breaks === 'both') throw new Error('the glance broke')
            return reading(this.output)
          },
          reportedOutput: undefined,
        },
        'reportedOutput',
        { get: () => this.told },
      ),
    }
    const whole: WholeLane = {
      ...answered,
      push: () => [],
      end: () => ({ output: [], failure: undefined }),
      meter: { read: () => reading(0), glance: () => reading(0), reportedOutput: undefined },
    }
    const lane: Lane = {
      body: [],
      bodyLength: 0,
      dropped: [],
      inputEstimated: () => false,
      openStream: (): StreamLane => {
        throw new Error('usage opens no stream')
      },
      openWhole: () => whole,
    }
    this.answer = {
      form,
      contentType: undefined,
      holdBytes: 0,
      lane: answered,
      keepAliveBytes: 0,
      push: () => ({ output: [], meaningful: false, stage: 'flowing', failure: undefined }),
      end: () => ({ output: [], failure: undefined }),
      endDrained: () => 'whole',
      keepAlive: () => undefined,
      failure: () => undefined,
    }
    this.usage = new AnswerUsage(
      {
        lane,
        extras: undefined,
        now: () => this.now,
        onError: (error) => this.errors.push(error),
        onProgress: ({ usage }, answerBytes) => this.noted.push(`${String(usage.output)}/${answerBytes}`),
      },
      { bytes: 42, unhindered: true },
    )
  }

  ended(generation: Ended['generation']): Ended {
    return this.usage.ended({ ending: 'complete', generation })
  }
}

describe('what is noted while an answer runs', () => {
  test('is told when it has grown, and only then', () => {
    const stage = new Stage('stream')
    stage.usage.tell()
    stage.usage.open(stage.answer)
    for (const output of [1, 1, 3, 3]) {
      stage.output = output
      stage.usage.tell()
    }
    expect(stage.noted).toEqual(['1/42', '3/42'])
  })

  test.each([
    { name: 'a stream: since its upstream told its output last', form: 'stream', unreportedMs: 200 },
    { name: 'a document tells it at its end, which says nothing of when', form: 'whole', unreportedMs: 500 },
  ] as const)('$name', ({ form, unreportedMs }) => {
    const stage = new Stage(form)
    stage.usage.open(stage.answer)
    stage.now += 300
    stage.told = 5
    stage.usage.noteReport()
    stage.now += 100
    stage.usage.noteReport()
    stage.now += 100
    expect(stage.ended('cut')).toMatchObject({ unreportedMs, generatedMs: 500, reportedOutput: 5 })
  })
})

describe('what is known at the end', () => {
  test.each([
    { generation: 'whole', opened: true, output: 4 },
    { generation: 'broken', opened: true, output: 4 },
    { generation: 'cut', opened: true, output: 4 },
    { generation: 'none', opened: true, output: undefined },
    // Cut before its head came: it may have been generated all the same, and its input was read.
    { generation: 'cut', opened: false, output: 0 },
    { generation: 'broken', opened: false, output: undefined },
    { generation: 'none', opened: false, output: undefined },
  ] as const)('$generation, opened: $opened', ({ generation, opened, output }) => {
    const stage = new Stage('stream')
    stage.output = 4
    if (opened) stage.usage.open(stage.answer)
    const { reading, ending } = stage.ended(generation)
    expect([reading?.usage.output, ending]).toEqual([output, 'complete'])
  })

  test.each([
    { breaks: 'exact', output: 4, name: 'the glance stands in for a counter that breaks' },
    { breaks: 'both', output: 2, name: 'the last that was noted stands in for both' },
  ] as const)('$name', ({ breaks, output }) => {
    const stage = new Stage('stream')
    stage.usage.open(stage.answer)
    stage.output = 2
    stage.usage.tell()
    stage.output = 4
    stage.breaks = breaks
    const { reading, ending } = stage.ended('whole')
    expect([reading?.usage.output, ending]).toEqual([output, 'gateway-error'])
    expect(stage.errors).toHaveLength(breaks === 'exact' ? 1 : 2)
  })

  test('an answer that cannot be remembered is not', () => {
    const stage = new Stage('stream')
    expect(stage.usage.kept()).toBeUndefined()
    stage.usage.open(stage.answer)
    expect(stage.usage.kept()).toEqual({ kind: 'id', id: 'resp_1' })
    stage.breaks = 'kept'
    expect(stage.usage.kept()).toBeUndefined()
    expect(stage.errors).toHaveLength(1)
  })
})
