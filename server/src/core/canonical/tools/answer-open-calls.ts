/** For upstreams that refuse a history with an unanswered call: adds results that say so (docs/protocols.md#trap-29). */
import type { ToolCallPart, ToolResultPart, Turn } from '../request.ts'

/**
 * The turns, with a result added after each unanswered call. Calls at the very end are left: the client has yet to
 * answer them.
 */
export function answerOpenCalls(turns: readonly Turn[]): readonly Turn[] {
  const answered = new Set(turns.flatMap(({ parts }) => parts.filter(isResult).map(({ callId }) => callId)))
  const told: Turn[] = []
  let open: readonly ToolCallPart[] = []
  for (const turn of turns) {
    // A system message may stand between calls and their answers.
    if (open.length > 0 && turn.role !== 'system') {
      const answers = open.map(noAnswer)
      open = []
      if (turn.role === 'tool') {
        told.push({ ...turn, parts: [...turn.parts, ...answers] })
        continue
      }
      told.splice(endOfCalls(told), 0, { role: 'tool', parts: answers })
    }
    told.push(turn)
    if (turn.role === 'assistant')
      open = turn.parts.filter((part) => part.type === 'tool-call').filter(({ id }) => !answered.has(id))
  }
  return told
}

function isResult(part: Turn['parts'][number]): part is ToolResultPart {
  return part.type === 'tool-result'
}

/** Directly after the turn with the calls, before any system message. */
function endOfCalls(told: readonly Turn[]): number {
  return told.findLastIndex(({ role }) => role === 'assistant') + 1
}

function noAnswer({ id, kind }: ToolCallPart): ToolResultPart {
  return {
    type: 'tool-result',
    callId: id,
    kind,
    content: [{ type: 'text', text: 'the call was not answered' }],
    isError: true,
  }
}
