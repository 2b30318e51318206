import type { JsonObject } from '../../core/json.ts'
import { isJsonObject } from '../../core/json.ts'
import type { OfflineAnswer } from '../../core/offline-answer.ts'
import type { OfflineRequest } from '../provider.ts'
import { composeReply } from './conversation/compose.ts'
import { SANDBOX_MODELS } from './models.ts'
import { countTokens } from './tokens.ts'
import type { Stamp, Voice } from './conversation/voice.ts'

/** The sandbox parses synchronously, so it only accepts bodies that take a few milliseconds. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024

/** One answer of the sandbox: the same for the same request, id and time. */
export function respondAs(voice: Voice, request: OfflineRequest): OfflineAnswer {
  const stamp: Stamp = {
    id: request.id.replace(/[^A-Za-z0-9]/g, ''),
    createdAt: Math.floor(request.at / 1000),
  }
  const refuse = (status: number, message: string, code: string): OfflineAnswer =>
    json(status, voice.error(message, status, code, stamp), stamp)
  if (!SANDBOX_MODELS.some((model) => model === request.forwardModelId)) {
    return refuse(404, `The sandbox has no model ${request.forwardModelId}.`, 'model_not_found')
  }
  const length = request.body.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  if (length > BODY_BYTES_MAX) {
    return refuse(413, `The sandbox takes bodies of up to ${BODY_BYTES_MAX} bytes.`, 'request_too_large')
  }
  const body = parseBody(request.body)
  if (body === undefined) return refuse(400, 'The body is not a JSON object.', 'invalid_json')
  const prompt = voice.readPrompt(body)
  if (request.operation === 'count-tokens') {
    const counted = voice.count(countTokens(prompt.read))
    if (counted === undefined) return refuse(404, 'The sandbox does not count tokens here.', 'not_found')
    return json(200, counted, stamp)
  }
  const reply = composeReply(prompt, request.forwardModelId)
  if (request.operation === 'generate' && !prompt.stream)
    return json(200, voice.whole(reply, stamp, body), stamp)
  return {
    status: 200,
    headers: headersOf('text/event-stream', stamp),
    chunks: voice.stream(reply, stamp, body),
  }
}

export function json(status: number, body: JsonObject, stamp: Stamp): OfflineAnswer {
  return {
    status,
    headers: headersOf('application/json', stamp),
    chunks: [{ data: JSON.stringify(body), afterMs: 0 }],
  }
}

function headersOf(contentType: string, stamp: Stamp): Readonly<Record<string, string>> {
  return { 'content-type': contentType, 'x-request-id': `req_${stamp.id}` }
}

export function parseBody(chunks: readonly Uint8Array[]): JsonObject | undefined {
  const decoder = new TextDecoder()
  let text = ''
  for (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  text += decoder.decode()
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) ? body : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
