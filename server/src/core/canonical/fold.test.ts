import { expect, test } from 'vitest'
import { foldStream, unfoldResponse } from './fold.ts'
import type { CanonicalResponse, StreamPart } from './response.ts'
import { NO_USAGE } from './usage.ts'

const answer: CanonicalResponse = {
  id: 'x',
  createdAt: 7,
  candidates: [
    {
      index: 0,
      blocks: [
        {
          type: 'reasoning',
          kind: 'summary',
          text: 'hm',
          signature: { issuer: 'i', id: undefined, data: 'd' },
        },
        {
          type: 'text',
          text: 'Hi',
          citations: [{ url: 'https://a', title: undefined, startIndex: 0, endIndex: 2 }],
          logprobs: [{ token: 'Hi', logprob: -1 }],
        },
        {
          type: 'tool-call',
          id: 'a',
          name: 'f',
          namespace: undefined,
          kind: 'function',
          arguments: '{}',
          signature: undefined,
        },
        { type: 'media', mediaType: 'image/png', data: 'AA' },
        { type: 'refusal', text: 'no' },
      ],
      finish: { reason: 'tool-calls', raw: 'x', stopSequence: undefined, explanation: undefined },
    },
    {
      index: 1,
      blocks: [],
      finish: { reason: 'stop', raw: undefined, stopSequence: undefined, explanation: undefined },
    },
  ],
  usage: { ...NO_USAGE, input: 1, output: 2 },
  serviceTier: undefined,
}

test('a whole answer converted to a stream and back is the same answer', () => {
  expect(foldStream(unfoldResponse(answer))).toEqual(answer)
})

test('later counters replace earlier ones, those not reported stay', () => {
  const parts: readonly StreamPart[] = [
    { type: 'usage', usage: { ...NO_USAGE, input: 5, output: 1 } },
    { type: 'usage', usage: { ...NO_USAGE, output: 9 } },
  ]
  expect(foldStream(parts).usage).toEqual({ ...NO_USAGE, input: 5, output: 9 })
})

test('a failure keeps what came before it', () => {
  const error = { status: 500, type: undefined, code: undefined, message: 'x', raw: null }
  const parts = unfoldResponse({ ...answer, failure: error })
  expect(parts.at(-1)).toEqual({ type: 'error', error })
  const folded = foldStream(parts)
  expect(folded.failure).toEqual(error)
  expect(folded.candidates[0]?.blocks).toEqual(answer.candidates[0]?.blocks)
})
