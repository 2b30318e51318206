import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wrapCustomInput } from './custom-tools.ts'
import { PLAIN_REQUEST } from '../../protocols/testing/laws.ts'
import { callRestorer, CustomInputReader } from './restore-calls.ts'

function readInPieces(text: string, length: number): string {
  const reader = new CustomInputReader()
  let read = ''
  for (let at = 0; at < text.length; at += length) read += reader.push(text.slice(at, at + length))
  return read + reader.end()
}

describe('free text inside the arguments of a function', () => {
  test('is read as it is written, wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 9 }), (input, length) => {
        expect(readInPieces(wrapCustomInput(input), length)).toBe(input)
      }),
    )
  })

  test('is sent before its end has arrived', () => {
    const reader = new CustomInputReader()
    expect(reader.push('{ "input" : "*** Begin')).toBe('*** Begin')
    expect(reader.push(' Patch\\n')).toBe(' Patch\n')
  })

  test.each([
    ['escapes', '{"input":"a\\"b\\\\c\\/\\u00e4\\ud83e\\udda5\\t"}', 'a"b\\c/ä🦥\t'],
    ['a half pair of surrogates', '{"input":"\\ud83e!"}', '\ud83e!'],
    ['another member first', '{"why":"x","input":"y"}', 'y'],
    ['no input at all', '{"patch":"y"}', '{"patch":"y"}'],
    ['no JSON', 'just text', 'just text'],
    ['an end too early', '{"input":"half', 'half'],
    ['nothing', '', ''],
  ])('%s', (_name, text, expected) => {
    expect(readInPieces(text, 1)).toBe(expected)
    expect(readInPieces(text, 100)).toBe(expected)
  })
})

describe('calls in the client’s terms', () => {
  const request = {
    ...PLAIN_REQUEST,
    tools: [
      {
        type: 'custom',
        name: 'apply_patch',
        namespace: undefined,
        description: undefined,
        grammar: undefined,
      },
      {
        type: 'function',
        name: 'read',
        namespace: 'files',
        description: undefined,
        parameters: undefined,
        strict: undefined,
      },
    ],
  } as const
  const call = { type: 'tool-call', id: 'c1', kind: 'function', namespace: undefined } as const

  test('a custom tool that was a function upstream is custom again', () => {
    const whole = { ...call, name: 'apply_patch', arguments: '{"input":"x"}', signature: undefined }
    expect(callRestorer(request).whole(whole)).toMatchObject({ kind: 'custom', arguments: 'x' })
    expect(callRestorer(request).start({ ...call, name: 'apply_patch' }).input).toBeDefined()
  })

  test('a flat name goes back into its namespace', () => {
    const { start, input } = callRestorer(request).start({ ...call, name: 'files__read' })
    expect(start).toMatchObject({ name: 'read', namespace: 'files', kind: 'function' })
    expect(input).toBeUndefined()
  })

  test('an undeclared tool stays as it is', () => {
    expect(callRestorer(request).start({ ...call, name: 'surprise' }).start).toEqual({
      ...call,
      name: 'surprise',
    })
  })
})
