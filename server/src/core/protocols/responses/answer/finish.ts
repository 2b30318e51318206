/** Why an answer ended, this protocol's status and the canonical reasons (docs/protocols.md#endings). */
import type { Finish, FinishReason } from '../../../canonical/response.ts'
import type { JsonObject } from '../../../json.ts'
import { objectOf, tagOf, wordOf } from '../../read-json.ts'
import type { ResponseStatus } from '../wire.ts'

export interface Seen {
  readonly toolCall: boolean
  readonly refusal: boolean
}

export function decodeFinish(response: JsonObject, seen: Seen): Finish {
  const details = wordOf(objectOf(response.incomplete_details)?.reason)
  return {
    reason: response.status === 'incomplete' ? incompleteReason(details) : completeReason(seen),
    raw: details ?? wordOf(response.status),
    stopSequence: undefined,
    explanation: undefined,
  }
}

function incompleteReason(details: string | undefined): FinishReason {
  return tagOf(details) === 'content_filter' ? 'content-filter' : 'length'
}

function completeReason({ toolCall, refusal }: Seen): FinishReason {
  if (toolCall) return 'tool-calls'
  return refusal ? 'refusal' : 'stop'
}

export interface EncodedFinish {
  readonly status: Extract<ResponseStatus, 'completed' | 'incomplete'>
  readonly incomplete_details: JsonObject | null
}

/** A refusal with text is a complete answer; one without can only be reported as filtered. */
export function encodeFinish({ reason }: Pick<Finish, 'reason'>, seen: Seen): EncodedFinish {
  switch (reason) {
    case 'length':
    case 'context-window':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'refusal':
      return seen.refusal
        ? { status: 'completed', incomplete_details: null }
        : { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'stop':
    case 'stop-sequence':
    case 'tool-calls':
    case 'other':
      return { status: 'completed', incomplete_details: null }
  }
}
