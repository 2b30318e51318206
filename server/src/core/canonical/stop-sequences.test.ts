import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectLawfulStream } from '../protocols/testing/laws.ts'
import { foldStream, unfoldResponse } from './fold.ts'
import type { CanonicalResponse, StreamPart } from './response.ts'
import { cutResponse, stopCutter } from './stop-sequences.ts'

function answer(...texts: readonly string[]): CanonicalResponse {
  return {
    id: 'x',
    createdAt: 1,
    candidates: [
      {
        index: 0,
        blocks: texts.map((text) => ({ type: 'text', text, citations: [], logprobs: undefined })),
        finish: { reason: 'stop', raw: 'stop', stopSequence: undefined, explanation: undefined },
      },
    ],
    usage: undefined,
    serviceTier: undefined,
  }
}

/** The stream of an answer, its texts in pieces of one length, cut as it passes. */
function cutStream(
  response: CanonicalResponse,
  sequences: readonly string[],
  length: number,
): readonly StreamPart[] {
  const cutter = stopCutter(sequences)
  return unfoldResponse(response)
    .flatMap((part): readonly StreamPart[] => {
      if (part.type !== 'text-delta') return [part]
      const pieces: StreamPart[] = []
      for (let at = 0; at < part.text.length; at += length) {
        pieces.push({ ...part, text: part.text.slice(at, at + length) })
      }
      return pieces
    })
    .flatMap((part) => cutter.push(part))
}

function toldBy(response: CanonicalResponse): string {
  return response.candidates
    .flatMap(({ blocks }) => blocks.map((block) => (block.type === 'text' ? block.text : '')))
    .join('|')
}

describe('an answer cut at a stop sequence the upstream cannot take (docs/protocols.md#trap-36)', () => {
  test('a stream cut anywhere says the same as the whole answer', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'STOP', 'ST', 'OP', 'S'), { maxLength: 12 })
      .map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 2 }),
        fc.subarray(['STOP', 'ba', 'aSTx'], { minLength: 1 }),
        fc.integer({ min: 1, max: 5 }),
        (texts, sequences, length) => {
          const whole = cutResponse(answer(...texts), sequences)
          const parts = cutStream(answer(...texts), sequences, length)
          expectLawfulStream(parts)
          const folded = foldStream(parts)
          expect(toldBy(folded).replaceAll('|', '')).toBe(toldBy(whole).replaceAll('|', ''))
          expect(folded.candidates[0]?.finish.stopSequence).toBe(whole.candidates[0]?.finish.stopSequence)
          expect(
            sequences.some((sequence) =>
              toldBy(whole)
                .split('|')
                .some((said) => said.includes(sequence)),
            ),
          ).toBe(false)
        },
      ),
    )
  })

  test('the sequence that was hit is named, the earliest wins', () => {
    expect(cutResponse(answer('one END two STOP'), ['STOP', 'END']).candidates).toMatchObject([
      { blocks: [{ text: 'one ' }], finish: { reason: 'stop-sequence', stopSequence: 'END' } },
    ])
  })

  test('nothing is held back that cannot be the beginning of a sequence', () => {
    const cutter = stopCutter(['STOP'])
    cutter.push({ type: 'block-start', block: 0, candidate: 0, kind: { type: 'text' } })
    expect(cutter.push({ type: 'text-delta', block: 0, text: 'hello' })).toEqual([
      { type: 'text-delta', block: 0, text: 'hello' },
    ])
    expect(cutter.push({ type: 'text-delta', block: 0, text: ' ST' })).toEqual([
      { type: 'text-delta', block: 0, text: ' ' },
    ])
    expect(cutter.push({ type: 'text-delta', block: 0, text: 'AR' })).toEqual([
      { type: 'text-delta', block: 0, text: 'STAR' },
    ])
  })

  test('after the end only counters still pass', () => {
    const cutter = stopCutter(['X'])
    cutter.push({ type: 'block-start', block: 0, candidate: 0, kind: { type: 'text' } })
    expect(cutter.push({ type: 'text-delta', block: 0, text: 'aXb' }).map(({ type }) => type)).toEqual([
      'text-delta',
      'block-end',
      'finish',
      'end',
    ])
    expect(cutter.stopped).toBe(true)
    expect(cutter.push({ type: 'text-delta', block: 0, text: 'c' })).toEqual([])
    expect(cutter.push({ type: 'end' })).toEqual([])
    const usage: StreamPart = {
      type: 'usage',
      usage: {
        input: 1,
        cachedInput: undefined,
        cacheWrite: undefined,
        cacheWrite1h: undefined,
        output: 1,
        reasoning: undefined,
      },
    }
    expect(cutter.push(usage)).toEqual([usage])
  })

  test('an answer without the sequence stays as it is', () => {
    expect(cutResponse(answer('abc'), ['X'])).toEqual(answer('abc'))
    expect(foldStream(cutStream(answer('abST'), ['STOP'], 1)).candidates).toMatchObject([
      { blocks: [{ text: 'abST' }], finish: { reason: 'stop' } },
    ])
  })
})
