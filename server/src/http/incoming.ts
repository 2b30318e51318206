import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { callId } from '../core/ids.ts'
import type { Endpoint, IncomingCall } from '../gateway/call.ts'

export interface IncomingOptions {
  readonly id: string
  readonly at: number
  readonly endpoint: Endpoint
  readonly address: IncomingCall['address']
  readonly ip: string
  readonly query: string
  readonly bodyIdleTimeoutMs: number
}

/** A request as the corridor takes it: headers as they are, the body still on the wire. */
export function incomingCall(
  request: IncomingMessage,
  response: ServerResponse,
  options: IncomingOptions,
): IncomingCall {
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
    readBody: (onChunk) => readBody(request, response, { onChunk, idleTimeoutMs: options.bodyIdleTimeoutMs }),
  }
}

function contentLengthOf(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length']
  return text === undefined ? undefined : Number(text)
}

interface BodyReading {
  readonly onChunk: (chunk: Uint8Array) => void
  readonly idleTimeoutMs: number
}

/** Rejects with what `onChunk` threw, when the client goes, or when it sends nothing for too long. */
function readBody(request: IncomingMessage, response: ServerResponse, reading: BodyReading): Promise<void> {
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve, reject) => {
    const { socket } = request
    const leave = (): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('close', onClose)
      request.off('error', onClose)
      socket.setTimeout(0)
      socket.off('timeout', onTimeout)
    }
    const onData = (chunk: Buffer): void => {
      try {
        reading.onChunk(chunk)
      } catch (error) {
        leave()
        request.pause()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
    const onEnd = (): void => {
      leave()
      resolve()
    }
    const onClose = (): void => {
      leave()
      reject(new GatewayError(40000, { message: 'the request body ended before it was complete' }))
    }
    const onTimeout = (): void => {
      leave()
      reject(new GatewayError(40000, { status: 408, message: 'the request body did not arrive in time' }))
    }
    socket.setTimeout(reading.idleTimeoutMs)
    socket.on('timeout', onTimeout)
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('close', onClose)
    request.on('error', onClose)
  })
}
