import { describe, expect, test } from 'vitest'
import { conversation } from './conversation.ts'
import type { ToolCallPart, ToolResultPart } from './request.ts'

const call = (id: string): ToolCallPart => ({
  type: 'tool-call',
  id,
  name: 'tool',
  namespace: undefined,
  kind: 'function',
  arguments: '{}',
  signature: undefined,
})
const result = (callId: string): ToolResultPart => ({
  type: 'tool-result',
  callId,
  kind: 'function',
  content: [],
  isError: false,
})

describe('a conversation', () => {
  test('neighbours of one role are one turn', () => {
    const talk = conversation(false)
    talk.add('user', [{ type: 'text', text: 'a' }])
    talk.add('user', [{ type: 'text', text: 'b' }])
    talk.add('assistant', [])
    expect(talk.turns()).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })

  test('a result needs its call before it', () => {
    expect(conversation(false).addResult(result('c1'))).toBe('no tool call before it has the id "c1"')
  })

  test('a result may answer a call that is kept elsewhere', () => {
    expect(conversation(true).addResult(result('c1'))).toBeUndefined()
  })

  test('a call has one result', () => {
    const talk = conversation(false)
    talk.addCall(call('c1'))
    expect(talk.addResult(result('c1'))).toBeUndefined()
    expect(talk.addResult(result('c1'))).toBe('the tool call "c1" already has a result')
  })

  test('two open calls of one id cannot be distinguished', () => {
    const talk = conversation(false)
    expect(talk.addCall(call('c1'))).toBeUndefined()
    expect(talk.addCall(call('c1'))).toBe('two tool calls share the id "c1"')
  })

  test('an id may come again once its call is answered, as some models count anew in every turn', () => {
    const talk = conversation(false)
    talk.addCall(call('call_0'))
    talk.addResult(result('call_0'))
    expect(talk.addCall(call('call_0'))).toBeUndefined()
    expect(talk.addResult(result('call_0'))).toBeUndefined()
    expect(talk.turns().map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool'])
  })

  test('a long id is not repeated in full', () => {
    expect(conversation(false).addResult(result('x'.repeat(10_000)))?.length).toBeLessThan(200)
  })
})
