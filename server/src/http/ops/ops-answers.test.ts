import { describe, expect, test } from 'vitest'
import { answerChains, answerHealth, answerMetrics, answerReadiness } from './ops-answers.ts'

const HUNG_MS = 60_000

describe('/healthz', () => {
  test.each([
    ['a process that beats is well', 300, 200, 'ok'],
    ['one that is busy for seconds is alive and not restarted', 20_000, 200, 'busy'],
    ['one that is silent for longer than it may hangs and is restarted', 60_000, 503, 'hung'],
  ])('%s', (_what, silentMs, status, word) => {
    const answer = answerHealth({ silentMs, lagMs: 7 }, HUNG_MS)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      status,
      { status: word, main_thread: { silent_ms: silentMs, lag_ms: 7 } },
    ])
  })
})

describe('/readyz', () => {
  const ready = { what: 'readiness', readiness: 'ready' } as const
  const draining = { what: 'readiness', readiness: 'draining' } as const
  test.each([
    ['is what was told just now', ready, true, 0, 200, 'ready'],
    ['says so when it is not ready', draining, true, 0, 503, 'draining'],
    ['while the silence is short: what was told last', ready, false, 4_000, 200, 'ready'],
    ['in a longer silence: not ready, whatever was told last', ready, false, 5_000, 503, 'not responding'],
    ['before anything was told: not ready', undefined, false, 0, 503, 'not responding'],
    ['could not be told: not ready', { what: 'failed' } as const, true, 0, 503, 'storage unavailable'],
  ])('%s', (_what, known, fresh, silentMs, status, word) => {
    const answer = answerReadiness(known, { fresh, silentMs })
    expect([answer.status, (JSON.parse(answer.body) as { status: string }).status]).toEqual([status, word])
  })
})

describe('/metrics', () => {
  const main = { silentMs: 1_500, lagMs: 20 }
  test('is the last page with its age, and the silence of the serving thread', () => {
    const known = { what: 'metrics', text: 'sluice_open_calls 3', contentType: 'text/plain' } as const
    const { status, body } = answerMetrics(known, { ageMs: 2_000, main })
    expect(status).toBe(200)
    expect(body.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      'sluice_open_calls 3',
      'sluice_main_thread_silent_seconds 1.5',
      'sluice_main_thread_lag_seconds 0.02',
      'sluice_metrics_age_seconds 2',
      '',
    ])
  })

  test('could not be made is 500', () => {
    expect(answerMetrics({ what: 'failed' }, { ageMs: 0, main }).status).toBe(500)
  })
})

test('chains without a report are unknown, not healthy', () => {
  expect(answerChains(undefined).status).toBe(503)
})
