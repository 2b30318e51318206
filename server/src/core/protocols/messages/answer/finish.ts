/** Why an answer ended (docs/protocols.md#endings). */
import type { Finish, FinishReason } from '../../../canonical/response.ts'
import { type Maybe, objectOf, textOf } from '../../read-json.ts'
import type { WireStopDetails, WireStopReason } from '../wire.ts'

export interface StopFields {
  readonly stop_reason?: Maybe
  readonly stop_sequence?: Maybe
  readonly stop_details?: Maybe
}

/** What the answer called: a client's tool, the tool that replaces structured output, or neither. */
export type Called = 'client' | 'json-output' | 'nothing'

/** A call of a client's tool takes precedence over the upstream's reason (docs/protocols.md#rule-8). */
export function decodeFinish(fields: StopFields, called: Called): Finish {
  const raw = textOf(fields.stop_reason)
  return {
    reason: reasonFor(REASONS[raw ?? ''] ?? 'other', called),
    raw,
    stopSequence: textOf(fields.stop_sequence),
    explanation: textOf(objectOf(fields.stop_details)?.explanation),
  }
}

function reasonFor(told: FinishReason, called: Called): FinishReason {
  switch (called) {
    case 'client':
      return told === 'stop' || told === 'other' ? 'tool-calls' : told
    case 'json-output':
      return told === 'tool-calls' ? 'stop' : told
    case 'nothing':
      return told
  }
}

const REASONS: Readonly<Record<string, FinishReason | undefined>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-window',
  // A long turn of server tools, or a compaction, has ended for a client that cannot continue it.
  pause_turn: 'stop',
  compaction: 'stop',
}

export type EncodedFinish = {
  readonly stop_reason: WireStopReason
  readonly stop_sequence: string | null
  readonly stop_details: WireStopDetails | null
}

export function encodeFinish(finish: Finish): EncodedFinish {
  const reason = STOP_REASONS[finish.reason]
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? (finish.stopSequence ?? null) : null,
    stop_details:
      reason === 'refusal'
        ? { type: 'refusal', category: null, explanation: finish.explanation ?? null }
        : null,
  }
}

const STOP_REASONS: Readonly<Record<FinishReason, WireStopReason>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  refusal: 'refusal',
  'context-window': 'model_context_window_exceeded',
  other: 'end_turn',
}
