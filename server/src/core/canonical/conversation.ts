/**
 * Assembles a conversation in order: adjacent messages of one role become one turn, and every tool result is checked
 * against the calls before it, so that meaningless input is reported at its place.
 */
import type { Part, ToolCallPart, ToolResultPart, Turn } from './request.ts'

export interface Conversation {
  add(role: Turn['role'], parts: readonly Part[]): void
  /** An error message, if the call is invalid. */
  addCall(call: ToolCallPart): string | undefined
  addResult(result: ToolResultPart): string | undefined
  turns(): readonly Turn[]
}

interface GrowingTurn {
  readonly role: Turn['role']
  readonly parts: Part[]
}

type CallState = 'open' | 'answered'

/** `callsElsewhere`: earlier turns are stored elsewhere, so a result may answer a call that is not in this request. */
export function conversation(callsElsewhere: boolean): Conversation {
  const turns: GrowingTurn[] = []
  const calls = new Map<string, CallState>()

  function turnOf(role: Turn['role']): GrowingTurn {
    const last = turns.at(-1)
    if (last !== undefined && last.role === role) return last
    const turn: GrowingTurn = { role, parts: [] }
    turns.push(turn)
    return turn
  }

  return {
    add(role, parts) {
      if (parts.length === 0) return
      const turn = turnOf(role)
      for (const part of parts) turn.parts.push(part)
    },
    addCall(call) {
      if (calls.get(call.id) === 'open') return `two tool calls share the id ${quoted(call.id)}`
      calls.set(call.id, 'open')
      turnOf('assistant').parts.push(call)
      return undefined
    },
    addResult(result) {
      const state = calls.get(result.callId)
      if (state === undefined && !callsElsewhere) {
        return `no tool call before it has the id ${quoted(result.callId)}`
      }
      if (state === 'answered') return `the tool call ${quoted(result.callId)} already has a result`
      calls.set(result.callId, 'answered')
      turnOf('tool').parts.push(result)
      return undefined
    },
    turns: () => turns,
  }
}

/** Ids come from outside and go into messages, so they are shortened. */
function quoted(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id)
}
