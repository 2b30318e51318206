/**
 * The responses protocol on the wire: the objects the gateway writes (docs/protocols.md#responses). Input is read field
 * by field with checks.
 */
import type { JsonObject, JsonValue } from '../../json.ts'

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface ResponsesUsage extends JsonObject {
  readonly input_tokens: number
  readonly input_tokens_details: JsonObject
  readonly output_tokens: number
  readonly output_tokens_details: JsonObject
  readonly total_tokens: number
}

export interface OutputText extends JsonObject {
  readonly type: 'output_text'
  readonly text: string
  readonly annotations: readonly JsonValue[]
  readonly logprobs: readonly JsonValue[]
}

export interface Refusal extends JsonObject {
  readonly type: 'refusal'
  readonly refusal: string
}
