import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayError } from '../core/errors/gateway-error.ts'
import { renderError } from './error-envelope.ts'
import { closeUnlessRead } from './calls/incoming.ts'

/** Answers a request that was refused before it was read. */
export function sendError(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  error: GatewayError,
  requestId: string,
): void {
  const rendered = renderError(error, { requestId, path: request.url ?? '/' })
  closeUnlessRead(request, response)
  response.writeHead(rendered.status, {
    ...rendered.headers,
    'content-length': Buffer.byteLength(rendered.body),
  })
  response.end(rendered.body)
}
