import type { IncomingMessage, ServerResponse } from 'node:http'
import { callId } from '../../core/ids.ts'
import type { IncomingCall } from '../../pipeline/call.ts'
import type { BodyWatch } from './body-watch.ts'
import { readIncomingBody } from './incoming-body.ts'

export interface IncomingOptions<AnyEndpoint> {
  readonly id: string
  readonly at: number
  readonly endpoint: AnyEndpoint
  readonly address: IncomingCall['address']
  readonly ip: string
  readonly query: string
  readonly bodyWatch: BodyWatch
  /** How long the whole body may take. */
  readonly bodyTimeoutMs: number
}

/** A request as the request pipeline takes it: headers as they are, the body still on the wire. */
export function incomingCall<AnyEndpoint>(
  request: IncomingMessage,
  response: ServerResponse,
  options: IncomingOptions<AnyEndpoint>,
): Omit<IncomingCall, 'endpoint'> & { readonly endpoint: AnyEndpoint } {
  return {
    stage: 'incoming',
    callId: callId(options.id),
    requestId: options.id,
    at: options.at,
    endpoint: options.endpoint,
    address: options.address,
    ip: options.ip,
    headers: request.headers as Readonly<Record<string, string | undefined>>,
    keyInQuery: options.query !== '' && new URLSearchParams(options.query).has('key'),
    contentLength: contentLengthOf(request),
    readBody: (onChunk) =>
      readIncomingBody(request, response, {
        onChunk,
        watch: options.bodyWatch,
        totalTimeoutMs: options.bodyTimeoutMs,
      }),
  }
}

function contentLengthOf(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length']
  return text === undefined ? undefined : Number(text)
}
