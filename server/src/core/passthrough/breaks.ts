/**
 * What the gateway itself writes into a stream that is passed on: keep-alives, and an error if the upstream broke off
 * after the answer had begun (docs/reference/contract.md#D-errors-36).
 */
import type { JsonObject } from '../json.ts'
import type { ProtocolId } from '../catalogue.ts'

export interface Break {
  /** undefined: this protocol's streams have none. */
  readonly keepAlive: string | undefined
  failure(failure: StreamFailure, answer: BrokenAnswer): string
}

/** A failure of the gateway's own inside a stream: the same fields as in the envelope. */
export interface StreamFailure {
  /** Gateway code, as text. */
  readonly code: string
  /** HTTP status of the code. */
  readonly status: number
  readonly message: string
  readonly requestId: string
}

export const GATEWAY_ERROR = 'gateway_error'

export interface BrokenAnswer {
  /** Platform id of the model used. */
  readonly model: string
  /** Id of the answer as the client knows it. */
  readonly responseId: string
  /** The event's place in the stream, where the protocol numbers its events. */
  readonly sequenceNumber: number
  /** Unix seconds. */
  readonly createdAt: number
}

export const BREAKS: Readonly<Record<ProtocolId, Break>> = {
  chat: {
    keepAlive: ': keep-alive\n\n',
    failure: (failure) => `data: ${JSON.stringify({ error: ownErrorOfChat(failure) })}\n\n`,
  },
  responses: {
    keepAlive: ': keep-alive\n\n',
    failure: ({ code, message, requestId }, { model, responseId, sequenceNumber, createdAt }) => {
      const response = {
        id: responseId,
        object: 'response',
        created_at: createdAt,
        status: 'failed',
        error: { code, message, type: GATEWAY_ERROR, request_id: requestId },
        incomplete_details: null,
        model,
        output: [],
        usage: null,
      }
      return `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', sequence_number: sequenceNumber, response })}\n\n`
    },
  },
  messages: {
    keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
    failure: ({ code, message, requestId }) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: GATEWAY_ERROR, message, code, request_id: requestId } })}\n\n`,
  },
  gemini: {
    keepAlive: undefined,
    failure: ({ code, status, message, requestId }) =>
      `data: ${JSON.stringify({ error: { code: status, message, status: WORDS[status] ?? 'INTERNAL', type: GATEWAY_ERROR, gateway_code: code, request_id: requestId } })}\r\n\r\n`,
  },
}

/** For forms that are passed on unchanged: the format that most of their clients read. */
export const PASSED_BREAK: Break = BREAKS.chat

/** The `error` of an event in a chat stream. */
export function ownErrorOfChat({ code, message, requestId }: StreamFailure): JsonObject {
  return { message, type: GATEWAY_ERROR, param: null, code, request_id: requestId }
}

/** Google's status words for the gateway's own failures. */
const WORDS: Readonly<Record<number, string>> = {
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
