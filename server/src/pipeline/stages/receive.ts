import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type ModelId, modelId } from '../../core/ids.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import type { ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import type { AuthenticatedCall, ReceivedBody, ReceivedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { wireOf } from '../kinds/wire.ts'

/**
 * Reads the body and learns from its bytes what routing and accounting need; the document is never built. Refuses
 * what is too large (before reading where the length is told), no JSON object, or names no model.
 */
export async function receive(
  pipeline: Pick<Pipeline, 'bodyBudget' | 'limits'>,
  call: AuthenticatedCall,
): Promise<ReceivedCall> {
  const { body, scan } = await readBody(pipeline, call)
  try {
    return {
      body,
      scan,
      modelId: requestedModel(call, scan),
      stream: call.endpoint.streamVerb ?? scan.stream,
      user: scan.user,
      ...call,
      stage: 'received',
    }
  } catch (error) {
    body.release()
    throw error
  }
}

function requestedModel(call: AuthenticatedCall, scan: ScannedRequest): ModelId {
  const named = call.endpoint.pathModel ?? scan.model
  if (named === undefined || named === '') throw new GatewayError(40002)
  return modelId(named)
}

interface BodyReading {
  readonly body: ReceivedBody
  readonly scan: ScannedRequest
}

async function readBody(
  pipeline: Pick<Pipeline, 'bodyBudget' | 'limits'>,
  call: AuthenticatedCall,
): Promise<BodyReading> {
  const { bodyLimitBytes } = pipeline.limits
  if (call.contentLength !== undefined && call.contentLength > bodyLimitBytes) throw new GatewayError(41301)
  const scanner = createRequestScanner(wireOf(call.endpoint.protocol).requests, pipeline.limits)
  const chunks: Uint8Array[] = []
  let length = 0
  let arrived = 0
  const release = (): void => {
    pipeline.bodyBudget.give(length)
    length = 0
    chunks.length = 0
  }
  const hold = (bytes: number): void => {
    pipeline.bodyBudget.take(bytes)
    length += bytes
  }
  try {
    await call.readBody((chunk) => {
      arrived += chunk.byteLength
      if (arrived > bodyLimitBytes) throw new GatewayError(41301)
      // Of a body that is refused the rest is read, so that the client hears why, but not kept.
      if (!scanner.push(chunk)) return release()
      hold(chunk.byteLength)
      chunks.push(chunk)
    })
  } catch (error) {
    release()
    throw error
  }
  const scan = scanner.end()
  if (scan.kind === 'refused') {
    release()
    throw new GatewayError(scan.code, { message: scan.message })
  }
  return { body: { chunks, length, memo: {}, hold, release }, scan }
}
