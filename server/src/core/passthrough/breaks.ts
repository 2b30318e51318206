/**
 * What the gateway itself writes into a passed stream: a sign of life, and the truth when the upstream broke off after
 * the answer had begun (decisions, Errors: never a fake normal end).
 */
import type { UpstreamError } from '../canonical/response.ts'
import type { ProtocolId } from '../catalogue.ts'

export interface Break {
  /** undefined: this protocol's streams have none. */
  readonly keepAlive: string | undefined
  failure(error: UpstreamError, answer: BrokenAnswer): string
}

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
    failure: ({ message }) =>
      `data: ${JSON.stringify({ error: { message, type: 'upstream_error', param: null, code: null } })}\n\n`,
  },
  responses: {
    keepAlive: ': keep-alive\n\n',
    failure: ({ message }, { model, responseId, sequenceNumber, createdAt }) => {
      const response = {
        id: responseId,
        object: 'response',
        created_at: createdAt,
        status: 'failed',
        error: { code: 'server_error', message },
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
    failure: ({ message }) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message } })}\n\n`,
  },
  gemini: {
    keepAlive: undefined,
    failure: ({ message }) =>
      `data: ${JSON.stringify({ error: { code: 502, message, status: 'UNAVAILABLE' } })}\r\n\r\n`,
  },
}
