import { describe, expect, test } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import { Secret } from '../../core/secret.ts'
import type { TransportFailure, Upstream } from '../../upstream/upstream.ts'
import { askUpstream } from './ask-upstream.ts'

const CHAINS = [sampleChain(1, 'm', 'a'), sampleChain(2, 'm', 'b')]
const MODEL = sampleModel('m', CHAINS)
const CATALOGUE = sampleCatalogue({ vendors: [sampleVendor('a'), sampleVendor('b')], models: [MODEL] })
const BYTES_MAX = 100

const status = (code: number, body = '{}') => ({ status: code, body })
const broken = (kind: TransportFailure['kind'], sent: boolean) => ({ kind, sent, detail: kind })

/** What each vendor does, one try after the other; the last goes on. */
const ACTS = {
  answers: status(200, '{"n":1}'),
  busy: status(503),
  'refuses the request': status(400),
  'sends too much': status(200, 'x'.repeat(BYTES_MAX + 1)),
  'takes no connection': broken('connect', false),
  'breaks after it was asked': broken('reset', true),
}
type Act = keyof typeof ACTS | 'is not asked'

async function ask(script: Record<string, readonly Act[]>, { tookMs = 0 } = {}) {
  const asked: string[] = []
  const outcomes: string[] = []
  let now = 0
  const actOf = (vendor: string): Act => {
    const acts = script[vendor] ?? []
    const tries = asked.filter((each) => each === vendor).length
    return acts[Math.min(tries, acts.length - 1)] ?? 'is not asked'
  }
  const open: Upstream['open'] = ({ request }, sink) => {
    const vendor = new URL(request.url).host
    const act = ACTS[actOf(vendor) as keyof typeof ACTS]
    asked.push(vendor)
    now += tookMs
    let over = false
    const abort = (): void => {
      over = true
      sink.fail(broken('aborted', true))
    }
    queueMicrotask(() => {
      if ('kind' in act) return sink.fail(act)
      sink.head({ status: act.status, headers: {} })
      sink.data(Buffer.from(act.body))
      if (!over) sink.end()
    })
    return { sent: true, pause: () => undefined, resume: () => undefined, abort }
  }
  const result = await askUpstream(
    {
      now: () => now,
      limits: { answerDeadlineMs: 1_000 } as never,
      telemetry: {
        metrics: { attemptEnded: ({ outcome }: { outcome: string }) => outcomes.push(outcome) },
      } as never,
      upstream: { open, close: () => Promise.resolve() },
    },
    {
      at: 0,
      catalogue: CATALOGUE,
      model: MODEL,
      chains: CHAINS,
      byok: false,
      requestOver: ({ chain }) =>
        Promise.resolve(
          actOf(chain.vendorCode) === 'is not asked'
            ? undefined
            : {
                request: { method: 'POST', url: `https://${chain.vendorCode}/count`, headers: {} },
                secret: { secret: new Secret('s'), fields: {} },
              },
        ),
      answerBytesMax: BYTES_MAX,
      isAnswer: (answer) => answer.status === 200,
    },
  )
  return { result, asked, outcomes }
}

describe('a question goes through the loop of every call', () => {
  test.each<[string, Record<string, readonly Act[]>, asked: string[], outcomes: string[]]>([
    ['the first that answers ends it', { a: ['answers'], b: ['answers'] }, ['a'], ['answered']],
    [
      'another chain is asked after a failure',
      { a: ['busy'], b: ['answers'] },
      ['a', 'b'],
      ['overloaded', 'answered'],
    ],
    [
      'a chain without the operation is passed over',
      { a: ['is not asked'], b: ['answers'] },
      ['b'],
      ['not offered', 'answered'],
    ],
    [
      'what never left goes over the same chain once more',
      { a: ['takes no connection', 'answers'], b: ['answers'] },
      ['a', 'a'],
      ['connect', 'answered'],
    ],
    [
      'what may have arrived does not',
      { a: ['breaks after it was asked', 'answers'], b: ['answers'] },
      ['a', 'b'],
      ['cut', 'answered'],
    ],
    [
      'an answer that is too long is none',
      { a: ['sends too much'], b: ['answers'] },
      ['a', 'b'],
      ['cut', 'answered'],
    ],
  ])('%s', async (_sentence, script, asked, outcomes) => {
    const trial = await ask(script)
    expect(trial.result).toMatchObject({ kind: 'over', end: { status: 200 } })
    expect(trial.result.kind === 'over' && trial.result.end.body.toString()).toBe('{"n":1}')
    expect([trial.asked, trial.outcomes]).toEqual([asked, outcomes])
  })

  test('a refused request is refused by all, so nobody else is asked', async () => {
    const { result, asked } = await ask({ a: ['refuses the request'], b: ['answers'] })
    expect(result).toMatchObject({
      kind: 'failed',
      failure: { kind: 'upstream', class: { kind: 'request' } },
    })
    expect(asked).toEqual(['a'])
  })

  test('of all failures the most telling one is told', async () => {
    const { result } = await ask({ a: ['takes no connection'], b: ['busy'] })
    expect(result).toMatchObject({ kind: 'failed', failure: { failure: { kind: 'status', status: 503 } } })
  })

  test('when the time of a call is over, nobody else is asked', async () => {
    const { result, asked } = await ask({ a: ['busy'], b: ['answers'] }, { tookMs: 1_000 })
    expect(result.kind).toBe('failed')
    expect(asked).toEqual(['a'])
  })

  test('nobody to ask is told as such', async () => {
    const { result } = await ask({ a: ['is not asked'], b: ['is not asked'] })
    expect(result).toEqual({ kind: 'failed', failure: { kind: 'no-chain' } })
  })
})
