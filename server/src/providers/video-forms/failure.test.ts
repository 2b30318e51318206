import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../core/json.ts'
import { failedStep, withoutIds } from './failure.ts'

describe('internal ids of a vendor', () => {
  test.each([
    [
      'The text may contain sensitive content. Request id: 0217a4-9f',
      'The text may contain sensitive content.',
    ],
    ['bad size (request_id=abc-1)', 'bad size'],
    ['too fast [trace-id: 00ff], wait', 'too fast, wait'],
    ['no video. Support codes: 15236754, 310', 'no video.'],
    ['your request identity is wrong', 'your request identity is wrong'],
    ['', ''],
  ])('%s', (message, shown) => {
    expect(withoutIds(message)).toBe(shown)
  })

  test('are looked for in no more time than a message is long', () => {
    const quoted = `${' '.repeat(200_000)}request id${' '.repeat(200_000)}`
    expect(withoutIds(`no: ${quoted}.`)).toContain('no:')
  })

  test('in a body nested without end, its depths are left out', () => {
    let body: JsonValue = 'deep'
    for (let depth = 0; depth < 50_000; depth += 1) body = [body]
    const failure = { class: 'upstream', code: 'X', message: 'X', body } as const
    expect(failedStep(failure, {})).toMatchObject({ kind: 'failed' })
  })

  test('are taken out of the body too, at any depth', () => {
    const body = {
      request_id: 'r1',
      requestId: 'r2',
      error: {
        code: 'X',
        message: 'no Request id: r3',
        trace_id: 't',
        list: [{ 'x-request-id': 'r4', kept: 1 }],
      },
    }
    expect(failedStep({ class: 'invalid', code: 'X', message: 'Request id: r3', body }, { id: '1' })).toEqual(
      {
        kind: 'failed',
        failure: {
          class: 'invalid',
          code: 'X',
          message: 'X',
          body: { error: { code: 'X', message: 'no', list: [{ kept: 1 }] } },
        },
        state: { id: '1' },
      },
    )
  })
})
