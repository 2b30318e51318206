import { describe, expect, test } from 'vitest'
import { answerOpenCalls } from './answer-open-calls.ts'
import type { Part, Turn } from '../request.ts'

const call = (id: string): Part => ({
  type: 'tool-call',
  id,
  name: 'f',
  namespace: undefined,
  kind: 'function',
  arguments: '{}',
  signature: undefined,
})
const result = (callId: string, text = 'done', isError = false): Part => ({
  type: 'tool-result',
  callId,
  kind: 'function',
  content: [{ type: 'text', text }],
  isError,
})
const none = (callId: string): Part => result(callId, 'the call was not answered', true)
const user: Turn = { role: 'user', parts: [{ type: 'text', text: 'x' }] }
const system: Turn = { role: 'system', parts: [{ type: 'text', text: 'hurry' }] }
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts })
const tool = (...parts: readonly Part[]): Turn => ({ role: 'tool', parts })

describe('a call without an answer', () => {
  test.each<[string, readonly Turn[], readonly Turn[]]>([
    [
      'is answered behind its turn',
      [user, assistant(call('a')), user],
      [user, assistant(call('a')), tool(none('a')), user],
    ],
    [
      'stands behind the answers that came',
      [assistant(call('a'), call('b')), tool(result('b')), user],
      [assistant(call('a'), call('b')), tool(result('b'), none('a')), user],
    ],
    [
      'is answered although the others’ answers are the last word',
      [assistant(call('a'), call('b')), tool(result('b'))],
      [assistant(call('a'), call('b')), tool(result('b'), none('a'))],
    ],
    [
      'is answered before a system message',
      [assistant(call('a')), system, user],
      [assistant(call('a')), tool(none('a')), system, user],
    ],
    [
      'is answered before the assistant goes on',
      [assistant(call('a')), assistant(call('b')), tool(result('b'))],
      [assistant(call('a')), tool(none('a')), assistant(call('b')), tool(result('b'))],
    ],
  ])('%s', (_what, turns, told) => {
    expect(answerOpenCalls(turns)).toEqual(told)
  })
})

test.each<[string, readonly Turn[]]>([
  ['calls at the very end wait for the client', [user, assistant(call('a'))]],
  ['nothing is added to answered calls', [user, assistant(call('a')), system, tool(result('a')), user]],
  ['nothing is added where nothing was called', [user, system, assistant({ type: 'text', text: 'y' })]],
])('%s', (_what, turns) => {
  expect(answerOpenCalls(turns)).toEqual(turns)
})
