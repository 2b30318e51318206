/** Why a candidate ended (docs/protocols.md#gemini-answers, #endings). */
import type { Finish, FinishReason } from '../../../canonical/response.ts'

/** The model tried to call a tool and failed: not an answer, although the status is 200. */
const FAILED_CALLS: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
])

export function isFailedCall(raw: string): boolean {
  return FAILED_CALLS.has(raw)
}

export interface FinishFields {
  readonly raw: string
  readonly message: string | undefined
  /** This protocol ends with STOP whether or not tools were called (docs/protocols.md#rule-8). */
  readonly calledTool: boolean
}

export function decodeFinish({ raw, message, calledTool }: FinishFields): Finish {
  const reason = REASONS[raw] ?? 'other'
  return {
    reason: calledTool && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason,
    raw,
    stopSequence: undefined,
    explanation: reason === 'content-filter' ? message : undefined,
  }
}

const REASONS: Readonly<Record<string, FinishReason | undefined>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
}

export function encodeFinish(finish: Finish): {
  readonly finishReason: string
  readonly finishMessage?: string
} {
  const finishReason = FINISH_REASONS[finish.reason]
  return finish.explanation === undefined
    ? { finishReason }
    : { finishReason, finishMessage: finish.explanation }
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  refusal: 'SAFETY',
  'context-window': 'MAX_TOKENS',
  other: 'OTHER',
}
