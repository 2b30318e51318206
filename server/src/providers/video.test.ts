/** Every form of a vendor, where `video-laws.test.ts` takes one model of each, and answers that are all but right. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../core/json.ts'
import { providerKinds, providerOf } from './index.ts'
import type { VideoDialect } from './video.ts'
import { contextOf, type Order, reply, submitted } from './video-forms/testing/order.ts'

/** A model of each vendor; where two forms lie behind one vendor, one of each. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  openai: ['sora-2-pro'],
  'openai-compatible': ['sora-2', 'any-video-1'],
  google: ['veo-3.1-generate-preview', 'gemini-omni-1.2-flash'],
  vertex: ['veo-3.1-generate-001'],
  kling: ['kling-v2-6', 'kling-v3-omni', 'kling-3.0', 'kling-3.0-omni'],
  ark: ['doubao-seedance-2-0-260128', 'seedance-1-0-pro-250528'],
  minimax: ['MiniMax-Hailuo-02', 'MiniMax-H3'],
  vidu: ['viduq3-turbo'],
}
const FIELDS = { project: 'my-project', region: 'us-central1' }

function everyVideo(): readonly [kind: string, model: string, dialect: VideoDialect, order: Order][] {
  return providerKinds.flatMap((kind) => {
    const provider = providerOf(kind)
    const dialect = provider?.video
    if (dialect === undefined) return []
    const baseUrl = provider?.defaultBaseUrl ?? 'https://operator.example/v1'
    return (MODELS[kind] ?? [`${kind}-video-1`]).map((model): [string, string, VideoDialect, Order] => [
      kind,
      model,
      dialect,
      { model, baseUrl, fields: FIELDS },
    ])
  })
}

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

describe('every form of every vendor', () => {
  test.each(everyVideo())('%s (%s) forms a whole request', (_, _model, dialect, order) => {
    const { request, state, dropped } = submitted(dialect, order)
    expect(URL.canParse(request.url)).toBe(true)
    expect(request.url).not.toMatch(/[{}]|undefined/)
    const names = Object.keys(request.headers)
    expect(names.filter((name) => name !== name.toLowerCase() || name === 'authorization')).toEqual([])
    expect(textOf(request.body)).toContain('a red kite')
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
    expect(dropped).toEqual([])
    expect(dialect.imageForms.length).toBeGreaterThan(0)
  })

  test.each(everyVideo())('%s (%s) reads any answer without falling over', (_, _model, dialect, order) => {
    const kinds = new Set(['poll', 'done', 'failed', 'unreadable'])
    const first = submitted(dialect, order)
    fc.assert(
      fc.property(answers(), (body) => {
        const context = contextOf(order, first.state)
        expect(kinds).toContain(dialect.accepted(reply(body), context).kind)
        const known = contextOf(order, { ...first.state, id: 't1', name: 'operations/1' })
        expect(kinds).toContain(dialect.step(reply(body), known).kind)
        expect(dialect.classify({ status: 400, headers: {}, body }).kind).toBeTypeOf('string')
      }),
      { numRuns: 150 },
    )
  })
})

/** Answers like those vendors give, broken in every way. */
function answers(): fc.Arbitrary<JsonValue | undefined> {
  const names = fc.constantFrom(
    'id',
    'task_id',
    'status',
    'state',
    'task_status',
    'code',
    'data',
    'output',
    'error',
    'message',
    'url',
    'response',
    'done',
    'content',
    'creations',
    'video',
    'videos',
    'steps',
    'base_resp',
    'status_code',
    'name',
    'task',
    'file',
    'outputs',
    'task_result',
    'generateVideoResponse',
    'generatedSamples',
    'request_id',
  )
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.constantFrom('', 'succeeded', 'failed', 'constructor', 'running', 'https://cdn.example/v.mp4', 't1'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 5 }),
    ),
  }))
  return fc.option(value, { nil: undefined })
}
