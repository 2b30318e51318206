import { describe, expect, test } from 'vitest'
import type { StreamPart } from '../canonical/response.ts'
import { serializeBlocks } from './serial-blocks.ts'

const open = (block: number, candidate = 0): StreamPart => ({
  type: 'block-start',
  block,
  candidate,
  kind: { type: 'text' },
})
const say = (block: number, text: string): StreamPart => ({ type: 'text-delta', block, text })
const close = (block: number): StreamPart => ({ type: 'block-end', block })
const finish = (candidate = 0): StreamPart => ({
  type: 'finish',
  candidate,
  finish: { reason: 'stop', raw: undefined, stopSequence: undefined, explanation: undefined },
})

function told(parts: readonly StreamPart[], max?: number): readonly string[] {
  const serial = serializeBlocks(max)
  return parts.flatMap((part) => serial.push(part)).map(inWords)
}

function inWords(part: StreamPart): string {
  if (part.type === 'block-start') return `+${part.block}`
  if (part.type === 'block-end') return `-${part.block}`
  return part.type === 'text-delta' ? `${part.block}:${part.text}` : part.type
}

describe('blocks that overlap', () => {
  test.each<[string, readonly StreamPart[], readonly string[]]>([
    [
      'go through as they are when they do not',
      [open(0), say(0, 'a'), close(0), open(1), close(1)],
      ['+0', '0:a', '-0', '+1', '-1'],
    ],
    [
      'wait for the one before, their deltas joined',
      [open(0), open(1), say(1, 'b'), say(0, 'a'), say(1, 'c'), close(0), say(1, 'd'), close(1)],
      ['+0', '0:a', '-0', '+1', '1:bc', '1:d', '-1'],
    ],
    [
      'come out in the order they opened, whichever ended first',
      [open(0), open(1), open(2), say(2, 'c'), close(2), say(1, 'b'), close(1), close(0)],
      ['+0', '-0', '+1', '1:b', '-1', '+2', '2:c', '-2'],
    ],
    [
      'of other candidates do not wait',
      [open(0), open(1, 1), say(1, 'b'), say(0, 'a')],
      ['+0', '+1', '1:b', '0:a'],
    ],
    [
      'are closed before a finish that forgot them',
      [open(0), open(1), say(1, 'b'), finish()],
      ['+0', '-0', '+1', '1:b', '-1', 'finish'],
    ],
    ['say nothing once they are closed', [open(0), close(0), say(0, 'a'), close(0)], ['+0', '-0']],
    ['say nothing after the end', [open(0), { type: 'end' }, say(0, 'a'), open(1)], ['+0', '-0', 'end']],
  ])('%s', (_name, parts, expected) => {
    expect(told(parts)).toEqual(expected)
  })

  test('are held up to a bound; more ends the stream with an error and lets go of what was held', () => {
    expect(told([open(0), open(1), say(1, 'x'.repeat(200)), close(0)], 100)).toEqual(['+0', '-0', 'error'])
    const many = Array.from({ length: 100 }, (_, index) => open(index))
    expect(told(many, 1_000).at(-1)).toBe('error')
  })
})
