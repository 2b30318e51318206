import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { classifyFailure, CONSEQUENCES, errorWords, retryHintMs, type UpstreamFailure } from './failure.ts'

const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT'

function failure(
  status: number,
  headers: Record<string, string | string[]> = {},
  body?: JsonValue,
): UpstreamFailure {
  return { status, headers, body }
}

describe('the retry hint', () => {
  test.each<[string, Record<string, string | string[]>, JsonValue | undefined, number | undefined]>([
    ['retry-after in seconds', { 'retry-after': '7' }, undefined, 7_000],
    ['retry-after with a fraction', { 'retry-after': '0.25' }, undefined, 250],
    ['retry-after of zero', { 'retry-after': '0' }, undefined, 0],
    [
      'retry-after as a date, against the date of the answer',
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT', date: DATE },
      undefined,
      30_000,
    ],
    [
      'a date in the past is no wait',
      { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT', date: DATE },
      undefined,
      0,
    ],
    [
      'a date without the date of the answer says nothing',
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' },
      undefined,
      undefined,
    ],
    [
      'retry-after-ms goes before retry-after',
      { 'retry-after-ms': '1500', 'retry-after': '9' },
      undefined,
      1_500,
    ],
    ['x-ms-retry-after-ms', { 'x-ms-retry-after-ms': '40' }, undefined, 40],
    ['unreadable', { 'retry-after': 'soon' }, undefined, undefined],
    ['a repeated header: the first', { 'retry-after': ['3', '9'] }, undefined, 3_000],
    [
      'OpenAI: the limit that is used up',
      {
        'x-ratelimit-remaining-requests': '12',
        'x-ratelimit-reset-requests': '120ms',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      undefined,
      360_000,
    ],
    [
      'OpenAI: nothing says it is used up: the shortest',
      {
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-reset-tokens': '2m59.56s',
      },
      undefined,
      1_000,
    ],
    [
      'Anthropic: dates',
      {
        date: DATE,
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:12Z',
      },
      undefined,
      12_000,
    ],
    [
      'OpenRouter: epoch milliseconds',
      { date: DATE, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.parse(DATE) + 5_000) },
      undefined,
      5_000,
    ],
    [
      'epoch seconds',
      { date: DATE, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.parse(DATE) / 1000 + 5) },
      undefined,
      5_000,
    ],
    [
      'Gemini: RetryInfo in the body',
      {},
      {
        error: {
          status: 'RESOURCE_EXHAUSTED',
          details: [
            { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
          ],
        },
      },
      34_400,
    ],
    ['Gemini: the same inside an array', {}, [{ error: { details: [{ retryDelay: '2s' }] } }], 2_000],
    ['nothing at all', {}, undefined, undefined],
  ])('%s', (_what, headers, body, expected) => {
    expect(retryHintMs(failure(429, headers, body))).toBe(expected)
  })

  test('is part of the classes that pass after a wait, and of no other', () => {
    const headers = { 'retry-after': '2' }
    expect(classifyFailure(failure(429, headers))).toEqual({ kind: 'rate-limited', retryAfterMs: 2_000 })
    expect(classifyFailure(failure(503, headers))).toEqual({ kind: 'overloaded', retryAfterMs: 2_000 })
    expect(classifyFailure(failure(401, headers))).toEqual({ kind: 'auth' })
  })
})

describe('the class', () => {
  test.each<[string, UpstreamFailure, string]>([
    [
      'code before status: a 429 that waiting does not resolve',
      failure(429, {}, { error: { code: 'insufficient_quota' } }),
      'quota',
    ],
    [
      'code before type',
      failure(500, {}, { error: { code: 'rate_limit_exceeded', type: 'server_error' } }),
      'rate-limited',
    ],
    [
      'a general type does not outweigh a status',
      failure(404, {}, { error: { type: 'invalid_request_error', code: null } }),
      'not-found',
    ],
    ['a redirect of an API is a wrong address', failure(301), 'not-found'],
    ['a status nobody knows below 500 is the request', failure(418), 'request'],
    ['a status nobody knows above is the upstream', failure(599), 'overloaded'],
    [
      'prose is not read',
      failure(400, {}, { error: { message: 'rate limit exceeded, insufficient_quota' } }),
      'request',
    ],
    ['a body that is no object', failure(502, {}, '<html>'), 'overloaded'],
    [
      'inside a 200: an overload',
      failure(200, {}, { type: 'error', error: { type: 'overloaded_error' } }),
      'overloaded',
    ],
    ['inside a 200: the request', failure(200, {}, { error: { type: 'invalid_request_error' } }), 'request'],
    [
      'inside a 200: a failed response',
      failure(200, {}, { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded' } } }),
      'rate-limited',
    ],
    ['inside a 200: nobody knows what', failure(200, {}, { error: { message: '?' } }), 'overloaded'],
    [
      'a word named like a member of every object',
      failure(400, {}, { error: { code: 'constructor' } }),
      'request',
    ],
  ])('%s', (_what, given, expected) => {
    expect(classifyFailure(given).kind).toBe(expected)
  })

  test('a vendor words go before the general ones', () => {
    const given = failure(429, {}, { error: { code: 'rate_limit_exceeded' } })
    expect(classifyFailure(given, { rate_limit_exceeded: 'quota' }).kind).toBe('quota')
  })

  test('words come out most telling first, numbers too', () => {
    expect(
      errorWords({
        code: 7,
        error: { code: 'A', innererror: { code: 'B' }, details: [{ reason: 'C' }], type: 'D', status: 'E' },
      }),
    ).toEqual(['a', 'b', 'c', 'd', 'e', '7'])
    expect(errorWords({ error: 'no_such_thing' })).toEqual(['no_such_thing'])
    expect(errorWords(null)).toEqual([])
  })
})

describe('what follows', () => {
  test('only what blames the request, is a refusal, or may have been made, stays with its chain', () => {
    const staying = Object.entries(CONSEQUENCES).filter(([, consequence]) => !consequence.nextChain)
    expect(staying.map(([kind]) => kind).toSorted()).toEqual(['lost-task', 'refused-content', 'request'])
  })

  test('the fallback model is tried for exactly what moves to the next chain', () => {
    for (const { nextChain, fallback } of Object.values(CONSEQUENCES)) expect(fallback).toBe(nextChain)
  })

  test('only a broken connection is tried again on the same chain', () => {
    const again = Object.entries(CONSEQUENCES).filter(([, consequence]) => consequence.sameChainAgain)
    expect(again.map(([kind]) => kind)).toEqual(['connect'])
  })
})
