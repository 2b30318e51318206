/** Why an answer ended: chat's values and the canonical ones (docs/protocols.md#endings). */
import type { Finish, FinishReason } from '../../../canonical/response.ts'
import type { ChatFinishReason } from '../wire.ts'

/**
 * What was seen of a candidate: the finish reason is derived from its content, not only from the reported one
 * (docs/protocols.md#rule-8).
 */
export interface Seen {
  readonly toolCall: boolean
  readonly refusal: boolean
}

/** `stopSequence`: vLLM and SGLang name the sequence they stopped at. */
export function decodeFinish(raw: string | undefined, seen: Seen, stopSequence: string | undefined): Finish {
  return {
    reason: reasonOf(raw, seen, stopSequence),
    raw,
    stopSequence,
    explanation: undefined,
  }
}

function reasonOf(raw: string | undefined, seen: Seen, stopSequence: string | undefined): FinishReason {
  switch (raw ?? '') {
    case 'length':
    case 'model_length':
    case 'max_tokens':
      return 'length'
    case 'content_filter':
    case 'sensitive':
      return 'content-filter'
    default:
      if (seen.toolCall) return 'tool-calls'
      if (seen.refusal) return 'refusal'
      if (stopSequence !== undefined) return 'stop-sequence'
      return isPlainStop(raw) ? 'stop' : 'other'
  }
}

/** A missing reason after the terminator is a normal end too (Snowflake sends none). */
function isPlainStop(raw: string | undefined): boolean {
  return (
    raw === undefined ||
    raw === 'stop' ||
    raw === 'eos' ||
    raw === 'end_turn' ||
    raw === 'tool_calls' ||
    raw === 'function_call'
  )
}

/** Values that some vendors send as a finish reason to report a failure (OpenRouter, DeepSeek). */
export function isFailureWord(raw: string | undefined): boolean {
  return raw === 'error' || raw === 'insufficient_system_resource'
}

/** A refusal with text in the `refusal` field ends normally; one without text can only be reported by the reason. */
export function encodeFinish(finish: Finish, seen: Seen): ChatFinishReason {
  switch (finish.reason) {
    case 'length':
    case 'context-window':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'refusal':
      return seen.refusal ? 'stop' : 'content_filter'
    case 'tool-calls':
    case 'stop':
    case 'stop-sequence':
    case 'other':
      return seen.toolCall ? 'tool_calls' : 'stop'
  }
}
