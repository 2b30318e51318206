import type { JsonObject, JsonValue } from '../json.ts'
import { type Sentence, sentenceForm } from '../sentences/say.ts'
import { ERRORS, type ErrorCode } from './catalogue.ts'

export interface GatewayErrorDetails {
  /** For the client; the catalogue's own sentence when absent. The rule of a sentence is sent to clients, which may translate it. */
  readonly message?: string | Sentence
  /** Appended to the message in `error.message`, where SDKs read it: the contract fixes some messages word by word. */
  readonly explanation?: string
  /** For the log only. */
  readonly internal?: string
  /** Sent as whole seconds in `Retry-After`, rounded up, at least 1. */
  readonly retryAfterMs?: number
  /** The upstream's untouched answer, where one exists (docs/reference/contract.md#2.7). */
  readonly upstreamBody?: JsonValue
  /** Extra members of `error` that a client's SDK recovers from. */
  readonly details?: JsonObject
  /** Another status than the code's own: 409 or 400 for 40000, 404 for a model unknown at the gateway address. */
  readonly status?: number
  /** Further headers of the answer for the client's SDK, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** The message followed by its explanation. */
export function explainedMessage({
  message,
  explanation,
}: Pick<GatewayError, 'message' | 'explanation'>): string {
  return explanation === undefined ? message : `${message}: ${explanation}`
}

/** A refusal or failure of the gateway's own making, thrown by a stage and rendered once by `http/`. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly explanation: string | undefined
  readonly internal: string | undefined
  readonly retryAfterMs: number | undefined
  readonly upstreamBody: JsonValue | undefined
  readonly details: JsonObject | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, details: GatewayErrorDetails = {}) {
    const { message = ERRORS[code].message } = details
    super(
      typeof message === 'string' ? message : message.text,
      details.cause === undefined ? {} : { cause: details.cause },
    )
    this.name = 'GatewayError'
    this.code = code
    this.status = details.status ?? ERRORS[code].status
    this.explanation = details.explanation
    this.internal = details.internal
    this.retryAfterMs = details.retryAfterMs
    this.upstreamBody = details.upstreamBody
    this.details =
      typeof message === 'string' ? details.details : { ...sentenceForm(message), ...details.details }
    this.headers = details.headers ?? {}
  }
}
