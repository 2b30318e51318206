import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { callId } from '../core/ids.ts'
import type { BodyWatch } from './body-watch.ts'
import type { IncomingCall } from '../gateway/call.ts'

export interface IncomingOptions<AnyEndpoint> {
  readonly id: string
  readonly at: number
  readonly endpoint: AnyEndpoint
  readonly address: IncomingCall['address']
  readonly ip: string
  readonly query: string
  readonly bodyWatch: BodyWatch
}

/** A request as the corridor takes it: headers as they are, the body still on the wire. */
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
    readBody: (onChunk) => readBody(request, response, { onChunk, watch: options.bodyWatch }),
  }
}

function contentLengthOf(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length']
  return text === undefined ? undefined : Number(text)
}

interface BodyReading {
  readonly onChunk: (chunk: Uint8Array) => void
  readonly watch: BodyWatch
}

/** Rejects with what `onChunk` threw, when the client goes, or when it sends nothing for too long. */
function readBody(request: IncomingMessage, response: ServerResponse, reading: BodyReading): Promise<void> {
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve, reject) => {
    let over = false
    const leave = (): boolean => {
      if (over) return false
      over = true
      reading.watch.remove(watched)
      return true
    }
    const watched = reading.watch.add(() => {
      if (leave())
        reject(new GatewayError(40000, { status: 408, message: 'the request body did not arrive in time' }))
    })
    request.on('data', (chunk: Buffer) => {
      if (over) return
      watched.alive = true
      try {
        reading.onChunk(chunk)
      } catch (error) {
        leave()
        request.pause()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    request.on('end', () => {
      if (leave()) resolve()
    })
    const cut = (): void => {
      if (leave())
        reject(new GatewayError(40000, { message: 'the request body ended before it was complete' }))
    }
    request.on('close', cut)
    request.on('error', cut)
  })
}
