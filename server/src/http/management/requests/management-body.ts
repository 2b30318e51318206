/**
 * Bodies of requests that are not calls. They can be sent without a key, so they have the same limits as those of calls
 * before the framework sees them: time, decoded size, and the bytes of all requests together.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { asError } from '../../../core/errors/as-error.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { BodyBudget } from '../../../pipeline/instance/body-budget.ts'
import { type BodyBounds, boundsOf } from '../../request-head.ts'
import { announcesBody, readIncomingBody } from '../../calls/incoming.ts'
import { NodeBody } from '../../calls/node-wire.ts'
import type { Api } from '../api-context.ts'

export interface ManagementBodies {
  readonly budget: BodyBudget
  /** The largest body, decoded. */
  readonly bytesMax: number
}

/** Applies those limits before the framework's parsers. */
export function boundBodies(app: Api, bodies: ManagementBodies): void {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bounds = boundsOf(request.raw)
    if (bounds === undefined || !announcesBody(request.raw)) return done()
    done(null, openBody(request.raw, reply.raw, { ...bodies, ...bounds }))
  })
}

function openBody(
  request: IncomingMessage,
  response: ServerResponse,
  { budget, bytesMax, watch, totalTimeoutMs }: ManagementBodies & BodyBounds,
): Readable & { receivedEncodedLength: number } {
  let held = 0
  let begun = false
  let over = false
  const source = new NodeBody(request, response)
  const encoding = request.headers['content-encoding']
  const onChunk = (chunk: Uint8Array): void => {
    if (over) return
    if (held + chunk.byteLength > bytesMax) throw new GatewayError(41301)
    budget.take(chunk.byteLength)
    held += chunk.byteLength
    body.push(chunk)
  }
  const fill = async (): Promise<void> => {
    await readIncomingBody(source, { encoding, onChunk, watch, totalTimeoutMs })
    body.push(null)
  }
  const body = new Readable({
    // If the request is refused before its body is needed, the body is not requested.
    read() {
      if (begun) return
      begun = true
      fill().catch((error: unknown) => body.destroy(asError(error)))
    },
  })
  // The framework stops listening once it has refused; later errors do not matter.
  body.on('error', () => undefined)
  response.once('close', () => {
    over = true
    budget.give(held)
    body.destroy()
  })
  // The framework compares it with Content-Length; the server enforces that the body has that length.
  return Object.assign(body, { receivedEncodedLength: Number(request.headers['content-length'] ?? 0) })
}
