import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findTools, upstreamCallId, upstreamToolName } from './tool-names.ts'

const long = 'mcp__a_server_with_a_name__a_tool_with_a_name_that_no_vendor_takes_as_it_is'

describe('tool names and call ids within a target’s limits (docs/protocols.md#trap-34)', () => {
  test.each([
    ['a name that fits stays', { name: 'get_weather', namespace: undefined }, 64, 'get_weather'],
    ['a namespace is flattened', { name: 'read', namespace: 'files' }, 64, 'files__read'],
  ])('%s', (_sentence, tool, max, expected) => {
    expect(upstreamToolName(tool, max)).toBe(expected)
  })

  test('a long name is cut and keeps a mark of its own', () => {
    const short = upstreamToolName({ name: long, namespace: undefined }, 64)
    const other = upstreamToolName({ name: `${long}_2`, namespace: undefined }, 64)
    expect(short).toMatch(/^mcp__a_server_with_a_name__a_tool_with_a_name_th\w*_[a-z0-9]{11}$/)
    expect(short).toHaveLength(64)
    expect(other).not.toBe(short)
  })

  test('whatever comes in fits, is of plain letters and is the same every time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(9, 20, 40, 64), (id, max) => {
        const bounded = upstreamCallId(id, max)
        expect(bounded).toMatch(/^[a-zA-Z0-9_-]+$/)
        expect(bounded.length).toBeLessThanOrEqual(max)
        expect(upstreamCallId(id, max)).toBe(bounded)
        expect(upstreamCallId(bounded, max)).toBe(bounded)
      }),
    )
  })

  test('a limit of nine means nine letters or digits, as Mistral wants it', () => {
    expect(upstreamCallId('gSIMJiOkT', 9)).toBe('gSIMJiOkT')
    expect(upstreamCallId('call_1', 9)).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  test('different ids stay different', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => upstreamCallId(`call_${index}`, 9))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('the client’s own tool is found behind its upstream name', () => {
    const find = findTools(
      [
        {
          type: 'function',
          name: long,
          namespace: undefined,
          description: undefined,
          parameters: undefined,
          strict: undefined,
        },
        { type: 'custom', name: 'patch', namespace: 'git', description: undefined, grammar: undefined },
      ],
      64,
    )
    expect(find(upstreamToolName({ name: long, namespace: undefined }, 64))).toMatchObject({ name: long })
    expect(find(long)).toMatchObject({ name: long })
    expect(find('git__patch')).toEqual({ name: 'patch', namespace: 'git', kind: 'custom' })
    expect(find('never_declared')).toEqual({ name: 'never_declared', namespace: undefined, kind: 'function' })
  })
})
