import type { IncomingMessage, ServerResponse } from 'node:http'
import { callId } from '../../core/ids.ts'
import type { Arrival, ArrivingCall } from '../../pipeline/call.ts'
import type { BodyWatch } from './body-watch.ts'
import { readIncomingBody } from './incoming-body.ts'
import { readForm } from './read-form.ts'

export interface IncomingOptions extends Pick<Arrival, 'asked'> {
  readonly id: string
  readonly at: number
  readonly endpoint: ArrivingCall['endpoint']
  readonly address: ArrivingCall['address']
  readonly ip: string
  readonly bodyWatch: BodyWatch
  /** How long the whole body may take. */
  readonly bodyTimeoutMs: number
  /** Of the text parts of a form. */
  readonly textBytesMax: number
}

/** A request as the request pipeline takes it: headers as they are, the body still on the wire. */
export function arrivalOf(
  request: IncomingMessage,
  response: ServerResponse,
  options: IncomingOptions,
): Arrival {
  const { asked, textBytesMax } = options
  const readBody: ArrivingCall['readBody'] = (onChunk) =>
    readIncomingBody(request, response, {
      onChunk,
      watch: options.bodyWatch,
      totalTimeoutMs: options.bodyTimeoutMs,
    })
  return {
    asked,
    call: {
      stage: 'incoming',
      callId: callId(options.id),
      requestId: options.id,
      at: options.at,
      endpoint: options.endpoint,
      address: options.address,
      ip: options.ip,
      headers: request.headers as Readonly<Record<string, string | undefined>>,
      keyInQuery: asked.query !== '' && new URLSearchParams(asked.query).has('key'),
      contentLength: contentLengthOf(request),
      readBody,
    },
    readForm: (onBytes) =>
      readForm({ contentType: request.headers['content-type'], readBody, onBytes, textBytesMax }),
  }
}

function contentLengthOf(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length']
  return text === undefined ? undefined : Number(text)
}
