import { describe, expect, test } from 'vitest'
import { PLAIN_REQUEST } from '../protocols/testing/laws.ts'
import { CACHE_MARKS_MAX, keepCacheMarks, markedFields } from './cache-marks.ts'
import type { CacheMark } from './request.ts'

function requestWith(marks: readonly (CacheMark | undefined)[]) {
  return {
    ...PLAIN_REQUEST,
    system: marks.map((cache, index) => ({ text: `s${index}`, ...(cache === undefined ? {} : { cache }) })),
  }
}

function kept(marks: readonly (CacheMark | undefined)[]): readonly (string | undefined)[] {
  const keeper = keepCacheMarks(requestWith(marks), CACHE_MARKS_MAX)
  return marks.map((mark) => keeper.take(mark)?.ttl)
}

const FUNCTION = {
  type: 'function',
  name: 'f',
  namespace: undefined,
  description: undefined,
  parameters: undefined,
  strict: undefined,
} as const
const short = { ttl: '5m' } as const
const long = { ttl: '1h' } as const

describe('cache marks (docs/protocols.md#trap-35)', () => {
  test('of more than four the last four stay', () => {
    expect(kept([short, short, undefined, short, short, short])).toEqual([
      undefined,
      '5m',
      undefined,
      '5m',
      '5m',
      '5m',
    ])
    expect(keepCacheMarks(requestWith([short, short, short, short, short]), 4).cut).toEqual(['systemCache'])
    expect(keepCacheMarks(requestWith([short, short, short, short]), 4).cut).toEqual([])
  })

  test('the places of marks are distinguished: tools, system, conversation', () => {
    const marked = {
      ...requestWith([short]),
      tools: [{ ...FUNCTION, cache: short }],
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'x', cache: short }] } as const],
    }
    expect(markedFields(marked)).toEqual(['toolCache', 'systemCache', 'cache'])
    expect(keepCacheMarks(marked, 1).cut).toEqual(['toolCache', 'systemCache'])
    expect(markedFields(PLAIN_REQUEST)).toEqual([])
  })

  test('of several lifetimes the shortest is used, since a longer one after a shorter one is refused', () => {
    expect(kept([short, long])).toEqual(['5m', '5m'])
  })

  test('one life stays as it is and nothing is added', () => {
    expect(kept([long, undefined, long])).toEqual(['1h', undefined, '1h'])
    expect(kept([undefined])).toEqual([undefined])
  })
})
